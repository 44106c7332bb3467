"""Definitions: what all jitted functions of one definition share.

A function that is made anew with equal code and equal captures has an equal token
(`definition.share`), and finds the definition of the one before: its signature, its
versions, its traces. A definition outlives its functions, until the table is full or an
object that its token knows by identity is gone. Where captured arrays are too large to
be compared, it belongs to one function and goes with it. A `Family` is the definitions
that one place in the program made, such as a lambda in a loop whose captures differ: it
tells what a miss of a new definition has to do with the one before.
"""

import os
import re
import sys
import threading
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any, Final, NamedTuple, TypeAlias, final

from imprint.calls.options import JitOptions
from imprint.calls.signature import Signature
from imprint.calls.tracing import TracedCall
from imprint.core.identity import Identity, Inner, Standin, identity
from imprint.core.source import is_library, warn
from imprint.definition.code import Code, code_of
from imprint.definition.share import definition_token, sharing_of, strict_token
from imprint.definition.token import Token, referents
from imprint.definition.walk import NO_EFFECTS, Effects, scalar_function_token
from imprint.errors import RecompileWarning
from imprint.explain.explanation import Difference, Explanation
from imprint.runtime import Executable
from imprint.versions.budget import BUDGET
from imprint.versions.table import Table
from imprint.versions.version import Version

_KEPT: Final = 32  # executables of functions that share none of their versions
_HOLDING: Final = 64  # definitions of functions whose callbacks hold what they capture
_AT_ONCE: Final = 64  # as a share of the table, dropped where it is full
_WRAPPERS: Final = 8  # partials of partials of methods
_MANY: Final = 8  # versions of one family, at which it warns


@final
class Definition(Inner):
    """A function as its content defines it, with its versions.

    Args:
        token: what the function is.
        signature: its parameters.
        options: how it is compiled.
        owner: what stands for the jitted function that it belongs to; None if it
            belongs to all that are found to be equal.
    """

    __slots__ = (
        *("__weakref__", "_tethers", "family", "last_miss", "options", "signature"),
        *("is_wanted", "owner", "sized", "token", "traced", "versions"),
    )

    def __init__(
        self,
        token: Token,
        signature: Signature,
        options: JitOptions,
        owner: Standin | None = None,
    ) -> None:
        self.token = token
        self.signature = signature
        self.options = options
        self.owner = owner
        self.versions: Table[Version] = Table()
        self.traced: Table[TracedCall] = Table()
        self.last_miss: Explanation | None = None
        self.family: Family | None = None  # known from the first miss on
        self.is_wanted = True
        """Whether it was made or found since `Definitions` last made room."""
        self._tethers: list[weakref.ref[Any]] = []
        self.sized: Any = None  # what `dynamic` knows of calls whose axes have names

    def clear(self) -> None:
        """Forget all versions, and what the keys of the last misses hold."""
        self.versions.clear()
        self.traced.clear()
        self.sized = None
        if self.last_miss is not None:
            self.last_miss.settle()
        if self.family is not None:
            self.family.settle()

    def tie(self, key: Hashable) -> None:
        """Leave the table of definitions with the first object that the token knows.

        So does one that belongs to a function with its owner.
        """
        drop = DEFINITIONS.drop  # the name is gone when the interpreter ends
        known = referents(self.token)
        if self.owner is not None:
            known.append(self.owner())
        self._tethers += [weakref.ref(x, lambda _: drop(key)) for x in known]


Identified: TypeAlias = tuple[Hashable, Token, Standin | None]
"""By what a definition is found: its key in the table; what the function is, captures and
all; what stands for the jitted function that it belongs to alone, if any. A named tuple
takes 200 ns more, of 3,000 for a function made anew."""


class Made(NamedTuple):
    """What a version of a family was made of.

    Args:
        token: what the function was.
        options: how it was compiled.
        code: what ran; None if that is not Python's.
        function: the object that was called, if it takes weak references.
    """

    token: Token
    options: JitOptions
    code: Code | None
    function: Identity | None

    def is_of(self, fun: Callable[..., Any]) -> bool:
        """Tell whether it was made of the same function, or method of the same object."""
        return self.function is not None and self.function is _standin_of(fun)


def _made_of(fun: Callable[..., Any], definition: Definition) -> Made:
    function = _function_of(fun)
    code = None if function is None else code_of(function.__code__)
    return Made(definition.token, definition.options, code, _standin_of(fun))


def _standin_of(fun: Any) -> Identity | None:
    standin = identity(fun.__self__ if type(fun) is MethodType else fun)
    return standin if isinstance(standin, Identity) else None  # else it holds it


@final
class Family:
    """The definitions that one place in the program made.

    Args:
        defined: the place, as `/path/file.py:12`; empty if it has no Python code.
    """

    __slots__ = (*("_made", "_misses", "captured", "defined", "made"),)

    def __init__(self, defined: str) -> None:
        self.defined = defined
        self.made: int = 0
        """How many versions were compiled since the function was edited."""
        self.captured: set[object] = set()
        """Large captured arrays that were warned about."""
        self._made: deque[Made] = deque(maxlen=4)
        self._misses: list[Explanation] = []

    def before(self, fun: Callable[..., Any], definition: Definition) -> list[Made]:
        """Return what was compiled last, the last one first.

        If the same function was compiled, as it was before it was changed, that is all.
        A function of other code that lives beside this one is another function, not what
        this one was before it was edited.
        """
        now = _made_of(fun, definition)
        found = [
            x
            for x in reversed(self._made)
            if not (x.token is now.token and x.options is now.options)
        ]
        own = [x for x in found if x.is_of(fun)]
        if own:
            return own[:1]
        return [
            x
            for x in found
            if x.code is now.code
            or not (x.code and now.code and x.function and x.function())
            or x.code.file != now.code.file
        ]

    def note(
        self, fun: Callable[..., Any], definition: Definition, miss: Explanation
    ) -> None:
        """Count a compilation; warn at the eighth, of the slot that keeps changing.

        Only then the misses are read, and what differed is worked out. What was edited
        is counted anew.
        """
        token, options = definition.token, definition.options
        if all(x.token is not token or x.options is not options for x in self._made):
            self._made.append(_made_of(fun, definition))
        if miss.is_edit:
            self.made = 0
            self._misses.clear()
        self.made += 1
        if options.max_versions is not None:
            return
        if self.made > _MANY or is_library(self.defined):
            return
        self._misses.append(miss)
        if self.made == _MANY:
            misses, self._misses = self._misses, []
            self._warn(misses)

    def settle(self) -> None:
        """Work out what differed in the misses so far; then they hold no keys."""
        for miss in self._misses:
            miss.settle()

    def _warn(self, misses: list[Explanation]) -> None:
        reasons: Counter[str] = Counter()
        for miss in misses:
            counted = [d for d in miss.differences if d.kind != "cleared"]
            reasons.update([*dict.fromkeys(map(_cause, counted))])
        last = {_cause(d): d for d in reversed(misses[-1].differences)}
        # What was cleared on purpose is no cause.
        most = next((c for c, _ in reasons.most_common() if c in last), None)
        if most is None:
            return
        change = last[most]
        where = f" ({self.defined})" if self.defined else ""
        shown = str(change)
        if change.slot == most:
            shown = f"{change.old} → {change.new}"
        warn(
            f"{misses[-1].function}{where} was compiled {self.made} times, "
            f"{reasons[most]} of them because of {most}, the last time {shown}. "
            f"{change.remedy}",
            RecompileWarning,
        )


def _cause(change: Difference) -> str:
    """Return what keeps changing: for a list that grows the argument, not its item."""
    if change.kind == "evicted":
        return "versions that were dropped"
    if change.kind != "structure":
        return change.slot
    return f"the structure of {re.split(r'[.[]', change.slot)[0]}"


@final
class Definitions:
    """The definitions of a process, by token and options.

    Args:
        limit: how many there may be; what they hold is bounded by the byte budget. Those
            that no function found since room was made last go first.
    """

    def __init__(self, limit: int = 4096) -> None:
        self._limit = limit
        self._table: OrderedDict[Hashable, Definition] = OrderedDict()
        # By what the code is, which lives as long as any code object that is equal: the
        # first of these may go before the functions that are made of others.
        self._effects: weakref.WeakKeyDictionary[Code, Effects] = (
            weakref.WeakKeyDictionary()
        )
        self._has_effects = False  # the length of a weak dictionary takes 150 ns
        self._families: OrderedDict[Hashable, Family] = OrderedDict()
        self._forks: weakref.WeakSet[Definition] = weakref.WeakSet()
        self._kept: deque[Executable] = deque(maxlen=_KEPT)
        self._holding: OrderedDict[Hashable, None] = OrderedDict()
        self._lock = threading.RLock()  # a weak reference may die inside
        self._unwanted: deque[Hashable] = deque()

    def token_of(self, fun: Callable[..., Any], *, strict: bool) -> Token:
        """Return the token of a function, without what its trace is known to write.

        It is read to find out whether a function is as it was. A strict one counts the
        state of captured objects and arrays too.
        """
        effects = self.effects_of(fun)
        if type(fun) is FunctionType and not effects:
            token = scalar_function_token(fun)  # captures nothing but numbers
            if token is not None:
                return token
        return strict_token(fun, effects) if strict else definition_token(fun, effects)

    def identify(
        self, fun: Callable[..., Any], token: Token, options: JitOptions, owner: object
    ) -> Identified:
        """Return by what the definition of a function is found.

        Args:
            fun: the function.
            token: its own, from `token_of`.
            options: how it is compiled.
            owner: the jitted function, to which the definition belongs if what is
                captured is too large to be compared.
        """
        if token.is_scalar or options.strict:  # all that counts is in it
            return (token, options), token, None
        content, is_whole = sharing_of(fun, token, self.effects_of(fun))
        if is_whole:
            return (content, options), content, None
        standin = identity(owner)
        return (token, options, standin), content, standin

    def effects_of(self, fun: Callable[..., Any]) -> Effects:
        """Return the state that tracing a function is known to write."""
        function = _function_of(fun) if self._has_effects else None
        return NO_EFFECTS if function is None else self._effects_of(function)

    def _effects_of(self, function: Any) -> Effects:
        return self._effects.get(code_of(function.__code__), NO_EFFECTS)

    def find(self, key: Hashable) -> Definition | None:
        """Return the definition of a token and options, if there is one."""
        found = self._table.get(key)
        if found is not None:
            found.is_wanted = True
        return found

    def add(self, key: Hashable, definition: Definition) -> Definition:
        """Keep a definition; return the one that was there first."""
        with self._lock:
            self._sweep()
            kept = self._table.setdefault(key, definition)
            if kept is definition:
                definition.tie(key)
                if len(self._table) > self._limit:
                    self._make_room()
            return kept

    def _make_room(self) -> None:
        """Drop the oldest that were not found since they were looked at last.

        Of a big table several at once: to list its keys takes as long as a short trace.
        """
        left = self._limit - self._limit // _AT_ONCE
        for key in list(self._table):  # of keys: a list of pairs lets a collection in
            if len(self._table) <= left:
                return
            definition = self._table.get(key)
            if definition is None:  # collected since
                continue
            if definition.is_wanted:
                definition.is_wanted = False
                self._table.move_to_end(key)
            else:
                del self._table[key]
        while len(self._table) > left:
            self._table.popitem(last=False)

    def fork(self, definition: Definition, owner: object) -> Definition:
        """Return a copy of a definition, with its versions, for one function alone."""
        token, options = definition.token, definition.options
        own = Definition(token, definition.signature, options, identity(owner))
        own.family = definition.family
        own.last_miss = definition.last_miss
        for version in definition.versions:
            BUDGET.add(own.versions, version, version.nbytes)
            own.versions.put(definition.versions.key_of(version), version)
            version.tables.add(own.versions)
        for traced in definition.traced:
            BUDGET.add(own.traced, traced, traced.nbytes)
            own.traced.put(definition.traced.key_of(traced), traced)
        with self._lock:
            self._forks.add(own)
        return own

    def keep(self, executable: Executable) -> None:
        """Keep the executable of a function that others do not find.

        They are traced, and need not be compiled: what they capture is an argument.
        """
        with self._lock:
            if all(kept is not executable for kept in self._kept):
                self._kept.append(executable)

    def holds(self, key: Hashable) -> None:
        """Note that a token holds what callbacks do, which take no weak reference.

        Such definitions are few: what is captured would stay, whatever becomes of the
        function.
        """
        with self._lock:
            self._holding[key] = None
            self._holding.move_to_end(key)
            while len(self._holding) > _HOLDING:
                old, _ = self._holding.popitem(last=False)
                self._table.pop(old, None)

    def clear(self) -> None:
        """Forget all that is compiled; the definitions stay that hold nothing."""
        for definition in self:
            definition.clear()
        with self._lock:
            self._kept.clear()
            for key in self._holding:
                self._table.pop(key, None)
            self._holding.clear()

    def drop(self, key: Hashable) -> None:
        """Forget a definition, at once if no other thread is at work here.

        A weak reference that dies asks for it, in any thread, whatever locks that holds:
        it must not wait.
        """
        self._unwanted.append(key)
        if self._lock.acquire(blocking=False):
            try:
                self._sweep()
            finally:
                self._lock.release()

    def _sweep(self) -> None:
        while self._unwanted:
            self._table.pop(self._unwanted.popleft(), None)

    def learn(
        self,
        fun: Callable[..., Any],
        definition: Definition,
        options: JitOptions,
        effects: Effects,
    ) -> None:
        """Remember that tracing a function writes some state, which does not count."""
        function = _function_of(fun)
        if function is not None:
            with self._lock:
                self._has_effects = True
                known = self._effects_of(function)
                self._effects[code_of(function.__code__)] = known | effects
        token = self.token_of(fun, strict=options.strict)
        if definition.owner is not None:
            self.add((token, options, definition.owner), definition)
            return
        key, _, owner = self.identify(fun, token, options, definition)
        if owner is None:
            self.add(key, definition)

    def family_of(self, fun: Callable[..., Any], definition: Definition) -> Family:
        """Return the family of a definition of a function."""
        with self._lock:
            if definition.family is None:
                function = _function_of(fun)
                if function is None:
                    definition.family = Family("")
                else:
                    code = function.__code__
                    new = Family(f"{code.co_filename}:{code.co_firstlineno}")
                    place = _place_of(function)
                    definition.family = self._families.setdefault(place, new)
                    self._families.move_to_end(place)
                    while len(self._families) > self._limit:
                        self._families.popitem(last=False)
            return definition.family

    def __iter__(self) -> Iterator[Definition]:
        with self._lock:
            return iter([*self._table.values(), *self._forks])


def _place_of(function: Any) -> Hashable:
    """Return what stays when a function is made anew, or edited and defined again.

    A module has one function of a name, whose code is edited: in a notebook each time in
    another file, which is none. Else functions of other code are other functions, as are
    those of a list of lambdas.
    """
    code, names = function.__code__, getattr(function, "__globals__", None)
    qualname = getattr(function, "__qualname__", code.co_qualname)
    if "<" not in qualname and names is not None:
        module = str(names.get("__name__"))
        if getattr(sys.modules.get(module), "__dict__", None) is names:
            has_file = os.path.exists(code.co_filename)  # any text: `Path` may raise
            return code.co_filename if has_file else "", module, qualname
    return code.co_filename, qualname, code.co_firstlineno, code_of(code)


def _function_of(fun: Any) -> Any:
    """Return what has the code that runs when a callable is called, if it is Python's."""
    for _ in range(_WRAPPERS):
        if type(fun) is FunctionType and "__wrapped__" in fun.__dict__:
            fun = fun.__dict__["__wrapped__"]  # by a decorator, or by `grad`
            continue
        if isinstance(getattr(fun, "__code__", None), CodeType):
            return fun
        inner = getattr(fun, "func", None) or getattr(fun, "__func__", None)
        fun = type(fun).__call__ if inner is None else inner
    return None


DEFINITIONS: Final = Definitions()
"""The definitions of this process."""
