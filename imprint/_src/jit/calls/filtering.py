"""Calls of `filter_jit`: arrays among the leaves are traced, all other leaves are static.

A `Split` is the spec of such a call: which leaves are arrays. The exact values of the
other leaves are part of the key (`fingerprint.exact`), and tracing puts them back. On the
warm path one generated match splits the arguments. Tokens of numbers and strings are kept
between calls, as they cannot change; others are recomputed: 0.4 µs for a function, 7 µs
for a partial.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, final
from weakref import WeakValueDictionary

import numpy as np

from imprint._src.array import ArrayImpl
from imprint._src.core.array import Array
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.signature import (
    Call,
    CallForm,
    CallSpec,
    Recalled,
    Signature,
    Slot,
    no_match,
)
from imprint._src.jit.fingerprint.content import scalar_function_token
from imprint._src.jit.fingerprint.static_values import is_plain_value, static_token
from imprint._src.tree import internal as tree

Donate: TypeAlias = Literal[
    "all", "all-except-first", "warn", "warn-except-first", "none"
]
"""Which arrays a call donates, and whether an unused donation warns."""


@final
class Filter(NamedTuple):
    """The options that only `filter_jit` has.

    Args:
        donate: which arrays are donated.
        first: the position of the first argument; 1 if the function's own arrays are
            an argument before it.
    """

    donate: Donate = "none"
    first: int = 0

    @property
    def is_quiet(self) -> bool:
        """Whether a donated array that no result can take is not worth a warning."""
        return self.donate.startswith("all")

    def donates(self, slot: Slot) -> bool:
        """Return whether the arrays of a parameter are donated."""
        if self.donate == "none":
            return False
        return slot != self.first or not self.donate.endswith("except-first")


def is_traced(leaf: object) -> bool:
    """Return whether a leaf is traced: an array, or a `ShapeDtypeStruct`."""
    return leaf.__class__ in _TRACED or isinstance(leaf, _ARRAYS)


_TRACED: Final = frozenset({ArrayImpl, np.ndarray})
_ARRAYS: Final = (Array, np.ndarray, np.generic, ShapeDtypeStruct)

for _kind in (FunctionType, BuiltinFunctionType):  # else optree looks them up: 2 µs
    tree.register_leaf(_kind)


# ---- the form of a call ----


@final
class Split(CallSpec):
    """The spec of a filtered call: the names and places of traced and static leaves.

    Args:
        base: which parameters the call gives.
        treedef: the tree of their values.
        places: which leaves are static.
    """

    __slots__ = (
        *("__weakref__", "_calls", "_kept", "_match"),
        *("base", "places", "whole"),
    )

    def __init__(
        self,
        base: CallSpec,
        treedef: tree.TreeDef,
        places: tuple[int, ...],
    ) -> None:
        names = base.leaf_names(treedef)
        traced = [i for i in range(len(names)) if i not in frozenset(places)]
        roots = [getattr(path[0], "idx", 0) for path in treedef.paths()]
        self.dynamic: tuple[int, ...] = ()
        self.static: tuple[int, ...] = ()
        self.plain: bool = False
        self.names: tuple[str, ...] = tuple([names[i] for i in traced])
        self.static_names: tuple[str, ...] = tuple([names[i] for i in places])
        self.donated: tuple[bool, ...] = tuple([base.donated[roots[i]] for i in traced])
        self.base = base
        self.roots: tuple[str, ...] = base.names
        self.omitted: dict[str, Any] = base.omitted
        self.whole: tree.TreeDef = treedef
        self.treedef: tree.TreeDef | None = treedef
        self.places = places
        self._calls = 0
        self._match: Callable[[Any], tuple[list[Any], tuple[Any, ...]]] = no_match
        self._kept: tuple[list[int], tuple[Any, ...], tuple[Any, ...]] | None = None

    def join(self, call: Call) -> Call:
        """Return the call with static and traced leaves back in their places."""
        traced, static = iter(call.dynamic), iter(call.static)
        places = frozenset(self.places)
        count = self.whole.num_leaves
        leaves = [next(static if i in places else traced) for i in range(count)]
        return Call(self.base, self.whole.unflatten(leaves), ())

    def call_of(self, leaves: Iterable[Any], treedef: tree.TreeDef) -> Call:
        """Return the call with these traced leaves, and None for the static ones."""
        del treedef
        return self.join(Call(self, tuple(leaves), (None,) * len(self.places)))

    def whole_of(self, call: Call) -> tuple[CallSpec, tuple[Any, ...], frozenset[int]]:
        """Return which parameters have which values, and which leaves are not traced."""
        return self.base, self.join(call).dynamic, frozenset(self.places)

    # ---- the warm path ----

    def recall(self, values: tuple[Any, ...]) -> Recalled:
        """Return how to split later calls; the second call makes a match."""
        if self._match is no_match and self._calls < 2:
            self._calls += 1
            if self._calls == 2:
                with suppress(KeyError):  # a tree that has no match
                    self._match = tree.split_match_of(values, frozenset(self.places))
        return (None if self._match is no_match else self.take), self, None

    def take(self, values: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...]]:
        """Return the traced leaves of a call, and the tokens of the static ones; hot.

        Raises:
            KeyError: the call is of another form.
        """
        leaves, static = self._match(values)
        kept = self._kept
        if kept is not None and kept[0] == [*map(id, static)]:
            return leaves, kept[1]
        return leaves, self.tokens(static)

    def tokens(self, static: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the tokens of static leaves.

        Raises:
            KeyError: one of them cannot be static, so the call is of another form.
        """
        known: dict[int, Any] = {}  # the activation of 50 layers is read once
        tokens: list[Any] = []
        for i, value in enumerate(static):
            kind = value.__class__
            if kind is int or kind is str:
                token = value
            else:
                token = known.get(id(value))
                if token is None:
                    token = known[id(value)] = self._token(i, value, kind)
            tokens.append(token)
        found = tuple(tokens)
        if not known or all(map(is_plain_value, static)):
            self._kept = [*map(id, static)], found, static  # which keeps the ids taken
        return found

    def _token(self, i: int, value: Any, kind: Any) -> Any:
        if kind is FunctionType:  # as `static_token`, 300 ns less
            token = scalar_function_token(value)
            if token is not None:
                return token
        try:
            return static_token(value, self.static_names[i])
        except ArgumentError:
            raise KeyError from None


# ---- the signature ----


@final
class FilteredSignature(Signature):
    """The parameters of a `filter_jit` function, whose calls are split by their leaves."""

    __slots__ = ("_filter", "_splits")

    def __init__(self, fun: Callable[..., Any], asked: Filter) -> None:
        self._filter = asked
        # Weak: a tree may hold user objects.
        self._splits: WeakValueDictionary[Any, Split] = WeakValueDictionary()
        super().__init__(fun)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """Return a call in canonical form."""
        call = super().call(args, kwargs)
        split, traced, static = self.split(call.spec, call.dynamic)
        return Call(split, tuple(traced), static)

    def split(
        self, spec: CallSpec, values: tuple[Any, ...]
    ) -> tuple[Split, list[Any], tuple[Any, ...]]:
        """Return the form of a call, its traced leaves and its static ones."""
        leaves, treedef = tree.flatten(values)
        places = tuple([i for i, x in enumerate(leaves) if not is_traced(x)])
        key = spec, treedef, places
        found = self._splits.get(key)
        if found is None:
            made = Split(spec, treedef, places)
            found = self._splits.setdefault(key, made)
        static = tuple([leaves[i] for i in places])
        for i in reversed(places):
            del leaves[i]
        return found, leaves, static

    def take(
        self, form: CallForm, values: tuple[Any, ...]
    ) -> tuple[CallSpec, list[Any], tuple[Any, ...]] | None:
        """Return the form of a call, its traced leaves, and the tokens of the others.

        None if one of them cannot be static.
        """
        match, spec, _ = form.recalled
        try:
            leaves, tokens = (match or no_match)(values)
        except KeyError:
            spec, leaves, static = self.split(form.spec, values)
            try:
                tokens = spec.tokens(static)
            except KeyError:
                return None
            form.recalled = spec.recall(values)
        return spec, leaves, tokens

    def arguments(self, call: Call) -> tuple[list[Any], dict[str, Any]]:
        """Return positional and keyword arguments with which to call the function."""
        assert isinstance(call.spec, Split)
        return super().arguments(call.spec.join(call))

    def donates(self, slot: Slot) -> bool:
        """Return whether the arrays of a parameter are donated."""
        return self._filter.donates(slot)

    def is_static_result(self, out: object) -> bool:
        """Return whether a leaf of a result is returned as it was while tracing."""
        return not is_traced(out)

    def is_known_default(self, default: object) -> bool:
        """Return whether an argument can be compared with the default of its parameter."""
        return is_plain_value(default) or isinstance(default, _NAMED)


_NAMED: Final = (FunctionType, BuiltinFunctionType, type, Enum)  # the same if identical
