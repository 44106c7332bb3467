"""Binding: which definition answers a function as it is now?

A function may be another at each call: its code, its captures and its defaults can be
replaced, and what it captures can be written into. So its token is read when it is
called, or, once it is called more often, what the token was read from is watched, which
costs less. What is traced belongs to the definition of that moment.
"""

from collections.abc import Callable
from typing import Any

from imprint.calls.filtering import FilteredSignature
from imprint.calls.options import JitOptions
from imprint.calls.signature import Signature
from imprint.core.identity import Inner
from imprint.core.libraries import adopt
from imprint.definition.token import Token
from imprint.versions.definitions import DEFINITIONS, Definition
from imprint.watch.captures import are_containers
from imprint.watch.guard import Watch, watch_definition


def _never() -> bool:
    """Tell that the function may be another now: its token has to be read."""
    return False


class Binding(Inner):
    """A function with the definition that it has now.

    Args:
        fun: the user's function.
        options: what `jit` was asked for; part of what the definition is.
    """

    def __init__(self, fun: Callable[..., Any], options: JitOptions) -> None:
        adopt(fun)
        self.__wrapped__ = self._fun = fun
        self.__doc__ = fun.__doc__
        self.__module__ = getattr(fun, "__module__", "")
        self._options = options
        self.is_filtered: bool = options.filtered is not None
        """Whether it is a `filter_jit` function, which binds as a node of pytrees."""
        self._is_as_made: Callable[[], bool] = _never
        self._own: Watch | None = None  # kept for `_is_as_made`
        self._token: Token | None = None  # until it is bound
        self._reads = 0
        self._is_called = (
            False  # until then each look binds: what it captures may change
        )
        self._is_fresh = False  # whether the last look at the function bound it
        if options.names_arguments:  # those that are not there are told now
            self._bind(DEFINITIONS.token_of(fun, strict=options.strict))

    def _bound(self) -> Definition:
        """Return the definition of the function as it is now."""
        self._is_fresh = False
        if not self._is_as_made():
            token = DEFINITIONS.token_of(self._fun, strict=self._options.strict)
            if token is not self._token or not self._is_called:
                return self._bind(token)
            self._reads += 1
            if self._reads == 1:  # it will be called more
                self._watch(token)
        return self._definition

    def _bound_to_call(self) -> Definition:
        """Return the definition of the function as it is now, when it is called."""
        definition = self._bound()
        self._is_called = True
        return definition

    def _watch(self, token: Token) -> None:
        """Watch what the function captures, if that tells all that its token does."""
        fun, effects = self._fun, DEFINITIONS.effects_of(self._fun)
        if token.volatile and (
            self._options.strict or not are_containers(fun, effects)
        ):
            return
        own = watch_definition(fun, effects)
        if DEFINITIONS.token_of(fun, strict=self._options.strict) is not token:
            return  # another thread wrote into it: the watch knows more than the token
        self._is_as_made, self._own = own.guard or own.holds, own
        if self._token is not token:  # another thread bound it
            self._is_as_made = _never

    def _bind(self, token: Token) -> Definition:
        """Find the definition of the function, whose token is given, or make it.

        A definition is known by what captured objects and arrays contain, too, so that
        a function that is made anew sees what changed in them.
        """
        options = self._options
        key, content, owner = DEFINITIONS.identify(self._fun, token, options, self)
        found = DEFINITIONS.find(key)
        if found is None:
            signature = _signature(self._fun, options)
            made = Definition(content, signature, options, owner)
            found = DEFINITIONS.add(key, made)
        self._token = token
        self._is_as_made = _never
        self._reads = 0
        self._is_fresh = True
        return self._use(found)

    def _use(self, definition: Definition) -> Definition:
        self._definition = definition
        self._current = definition.versions.current
        return definition

    def _definition_of_now(self) -> Definition:
        """Return the definition for what is traced now; to be asked after `_bound`.

        If captured objects or arrays changed since the function was bound, a trace sees
        them as they are: functions with the captures of then must not find it.
        """
        definition = self._definition
        if self._is_fresh or definition.owner is not None:
            return definition
        token = DEFINITIONS.token_of(self._fun, strict=self._options.strict)
        if token is not self._token:  # a trace told it apart from its equals
            return self._bind(token)
        key, *_ = DEFINITIONS.identify(self._fun, token, self._options, self)
        if DEFINITIONS.find(key) is definition:
            return definition
        return self._use(DEFINITIONS.fork(definition, self))


def _signature(fun: Callable[..., Any], options: JitOptions) -> Signature:
    if options.filtered is not None:
        signature: Signature = FilteredSignature(fun, options.filtered)
    else:
        signature = Signature(fun, options.static, options.donate)
    if options.abstracted_axes is not None:
        options.abstracted_axes.check(signature)
    return signature
