"""use_key: the identity that marks where a program uses a PRNG key; for `debug_key_reuse`.

Samplers and `split` consume a key, and `clone` makes a new one of the same words. With the
flag on, they pass the words through this primitive, and `control_flow.key_reuse` looks for
keys of a program that are consumed twice. Outside of traces the arrays of words have
their states in a table here (`keys_in`). Words have a state each, so it does not matter
which axis they are along. `Keys` has those of an array: several for an element that may be
any of several words, by a dynamic index.
"""

import itertools
import weakref
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any, Final, NamedTuple, final

import numpy as np

from imprint._src.core.aval import Shape, ShapedArray, get_aval
from imprint._src.core.dims import is_symbolic
from imprint._src.core.fusion import NO_WORK
from imprint._src.core.padding import EACH
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.trace import current_trace
from imprint._src.diagnostics.source import Source, current_source
from imprint._src.errors import KeyReuseError
from imprint._src.primitives.core_ops import moveaxis
from imprint._src.stablehlo import Builder, Value

CONSUME: Final = "consume"
CLONE: Final = "clone"

# ---- keys ----


class KeyUse(NamedTuple):
    """One use of a key.

    Args:
        user: the function of `imprint.random`.
        source: the line of user code.
        call: the line that called the program which uses it, if there was one.
    """

    user: str
    source: Source | None
    call: Source | None = None

    def __str__(self) -> str:
        at = _shown("at", self.source)
        return f"{self.user}{at}{_shown('called at', self.call)}"


def _shown(what: str, source: Source | None) -> str:
    return "" if source is None else f" {what} {source} (`{source.expression}`)"


@final
class KeyState:
    """The state of one word of a key: the use that consumed the key, if any did."""

    __slots__ = ("use",)

    def __init__(self) -> None:
        self.use: KeyUse | None = None


Possible = tuple[KeyState, ...]
"""The words of which an element is one."""


@final
class Keys:
    """The states of an array of words.

    Args:
        shape: the shape of the array.
        each: the `Possible` of each element, an array of objects; by default new ones,
            which are made when they are needed.
    """

    __slots__ = ("_each", "shape")

    def __init__(self, shape: Shape, each: Any = None) -> None:
        self.shape: Shape = () if any(map(is_symbolic, shape)) else shape
        self._each: Any = each

    @property
    def is_new(self) -> bool:
        """Whether nothing has looked at its states, and so nothing can share them."""
        return self._each is None

    @property
    def each(self) -> Any:
        """The `Possible` of each element."""
        if self._each is None:
            self._each = filled(self.shape, ((KeyState(),) for _ in itertools.count()))
        return self._each

    def all(self) -> Possible:
        """Return every state that is in it."""
        return tuple(dict.fromkeys(itertools.chain.from_iterable(self.each.flat)))

    def consume(self, use: KeyUse) -> Possible:
        """Consume every key; raise KeyReuseError if one is consumed already."""
        states = self.all()
        for state in states:
            if state.use is not None:
                raise _reused(state.use, use)
        for state in states:
            state.use = use
        return states


def filled(shape: Shape, possible: Iterable[Possible]) -> Any:
    """Return an array of objects, of a `Possible` for each element."""
    each = np.empty(shape, object)
    flat, rest = each.reshape(-1), iter(possible)
    for i in range(flat.size):
        flat[i] = next(rest)
    return each


def any_of(shape: Shape, sources: Iterable[Keys]) -> Keys:
    """Return the states of elements that are any of those of other arrays."""
    states = tuple(dict.fromkeys(s for keys in sources for s in keys.all()))
    made = Keys(shape)
    return Keys(shape, filled(made.shape, itertools.repeat(states)))


def _reused(first: KeyUse, second: KeyUse) -> KeyReuseError:
    again = ", in an earlier step" if first == second else ""
    return KeyReuseError(
        f"{second}: expected a key that is used for the first time, got one that {first} "
        f"used before{again}. Split it first, as in `key, subkey = "
        "imprint.random.split(key)`; to draw the same numbers on purpose, pass "
        "imprint.random.clone(key)."
    )


# ---- outside of traces ----

_known: Final[dict[int, tuple[weakref.ref[Any], Keys]]] = {}
_is_off: Final = ContextVar("imprint_key_uses_off", default=False)


def keys_in(words: Any) -> Keys:
    """Return the states of an array of words, which is no tracer."""
    found = _known.get(id(words))
    if found is not None and found[0]() is words:
        return found[1]
    made = Keys(get_aval(words).shape)
    set_keys(words, made)
    return made


def set_keys(words: Any, keys: Keys) -> None:
    """Set the states of an array of words, as long as it lives."""
    at = id(words)
    _known[at] = weakref.ref(words, lambda _: _known.pop(at, None)), keys


def set_moved(words: Any, moved: Any, move: Callable[[Any], Any]) -> None:
    """Set the states of an array whose elements `move` took from another."""
    if current_trace() is None:
        set_keys(moved, Keys(get_aval(moved).shape, move(keys_in(words).each)))


@contextmanager
def unobserved() -> Generator[None]:
    """Run equations that `control_flow.key_reuse` has looked at."""
    token = _is_off.set(True)
    try:
        yield
    finally:
        _is_off.reset(token)


def is_observed() -> bool:
    """Return whether uses outside of traces are looked at here."""
    return not _is_off.get()


# ---- the primitive ----


@final
class _KeyUsePrimitive(Primitive):
    """A primitive that consumes keys at once outside of traces."""

    __slots__ = ()

    def bind_all(self, *operands: Any, **params: Any) -> Values:
        """Apply it under the current trace, or look at the keys of the words."""
        (words,) = operands
        if current_trace() is not None:
            return super().bind_all(*operands, **params)
        if params["use"] == CONSUME and is_observed():
            keys_in(words).consume(KeyUse(params["user"], current_source()))
        return (copy(words),)

    def bind1(self, *operands: Any, **params: Any) -> Any:
        """Apply it; return its only result."""
        return self.bind_all(*operands, **params)[0]


def _aval(words: ShapedArray, *, use: str, user: str) -> Avals:
    return (words,)


def _reference(words: Any, *, use: str, user: str) -> Values:
    return (words,)


def _lower(_: Builder, words: Value, *, use: str, user: str) -> tuple[Value, ...]:
    return (words,)


def _jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    return use_key_p.bind_all(*primals, **params), tangents


def _transpose(cts: Values, _: Values, **params: Any) -> Values:
    return cts


def _batch(args: Values, dims: Dims, **params: Any) -> Any:
    (words,), (axis,) = args, dims
    if axis:  # the words of a key are along the last axis
        words, axis = moveaxis(words, axis, 0), 0
    return use_key_p.bind_all(words, **params), (axis,)


use_key_p: Final = _KeyUsePrimitive(
    name="use_key",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    fusion=NO_WORK,
    makes_nan=False,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    pad=EACH,
    samples=Samples(
        ("uint32",),
        cases=(
            Case(((2,),), {"use": CLONE, "user": "clone"}),
            Case(((3, 4),), {"use": CLONE, "user": "clone"}),
        ),
        differentiable=False,
    ),
)


def use_key(words: Any, use: str, user: str) -> Any:
    """Return the words of keys, marked as consumed or as new keys.

    Args:
        words: the words; keys are used by it alone, not by what reads the result.
        use: `CONSUME` or `CLONE`.
        user: the function that uses the keys.
    """
    return use_key_p.bind1(words, use=use, user=user)
