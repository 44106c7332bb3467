"""NaN checks: the equation of a compiled program that made a NaN or an infinity.

With `debug_nans` a program has one more result: flags, one per float result of each
equation; a control primitive defines the flags of its jaxprs. The program runs once, with
donation and all. If a result of the function holds a NaN, the flags locate an equation that
made it from operands without one, and the equation knows its line in user code. A NaN in no
result (a branch that `where` dropped) is no error.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src import dtypes
from imprint._src.control_flow.loop_nan_flags import NOT_RAISED
from imprint._src.core.aval import get_aval
from imprint._src.core.control import ControlPrimitive, Watched
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from imprint._src.diagnostics.source import (
    Source,
    reset_replayed_source,
    set_replayed_source,
)
from imprint._src.errors import NonFiniteError
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.primitives.core_ops import broadcast_in_dim
from imprint._src.primitives.elementwise.bitwise import or_p
from imprint._src.primitives.elementwise.comparison import eq, ne
from imprint._src.primitives.elementwise.complex import imag, real
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.rounding import abs_p
from imprint._src.primitives.indexing.slicing import concatenate
from imprint._src.primitives.reductions import reduce_or

CONSTANT: Final = "a constant"
"""The origin of a flag of a constant that holds a NaN; no primitive has this name."""


class Origin(NamedTuple):
    """The origin of a flag: a result of an equation, an argument, or a constant.

    Args:
        what: the primitive, or None for an argument; `CONSTANT` for a constant.
        source: the line in user code.
        made_from: indices of the flags of its operands.
        loop: the index of the flag of the loop in whose step it is; -1 outside of loops.
            That one is one more than the iteration in which flags of the step were
            raised first, and 0 if none were.
    """

    what: str | None
    source: Source | None
    made_from: tuple[int, ...]
    loop: int = -1


class Sentinels(NamedTuple):
    """The meaning of the flags of a program.

    Args:
        kind: "NaN", "infinity" or "NaN or infinity".
        origins: the origin of each flag; the arguments come first.
        results: the flag of each result; -1 where it has none.
    """

    kind: str
    origins: tuple[Origin, ...]
    results: tuple[int, ...]

    def check(
        self, flags: Any, name: str, arguments: Sequence[str], results: Sequence[str]
    ) -> None:
        """Raise NonFiniteError if a result is flagged.

        Args:
            flags: the values of the flags.
            name: the function's.
            arguments: names of its arguments, in the order of the first flags.
            results: names of its results.
        """
        if not np.any(flags):
            return
        hit = [i for i, flag in enumerate(self.results) if flag >= 0 and flags[flag]]
        if not hit:
            return
        made = self._made(flags, self.results[hit[0]], arguments)
        raise NonFiniteError(
            f"{name}: expected no {self.kind}, got one as result{results[hit[0]]}: "
            f"{made}. Guard the operand there, such as with imprint.numpy.where, or "
            "turn debug_nans and debug_infs off."
        )

    def _made(self, flags: Any, at: int, arguments: Sequence[str]) -> str:
        """Describe the first origin that a flag depends on."""
        while True:
            earlier = [i for i in self.origins[at].made_from if flags[i]]
            made = [i for i in earlier if self.origins[i].what != CONSTANT]
            if not made:
                break
            at = made[0]
        origin = self.origins[at]
        if origin.what is None:
            return f"argument {arguments[at]} already holds one"
        if origin.what == CONSTANT:
            return f"{CONSTANT} already holds one"
        place = "" if origin.source is None else f" at {origin.source}"
        text = "" if origin.source is None else f" ({origin.source.expression})"
        if earlier:
            return (
                f"{CONSTANT} that `{origin.what}`{place}{text} takes already holds one"
            )
        turns = self._iterations(flags, origin.loop)
        return f"`{origin.what}`{place}{text} makes it from operands without one{turns}"

    def _iterations(self, flags: Any, at: int) -> str:
        """Describe the iterations of the loops, the innermost first."""
        told = ""
        while at >= 0:
            loop = self.origins[at]
            place = "" if loop.source is None else f" at {loop.source}"
            told += f", in iteration {int(flags[at]) - 1} of `{loop.what}`{place}"
            at = loop.loop
        return told


def with_sentinels(
    closed: ClosedJaxpr, *, nans: bool, infinities: bool
) -> tuple[ClosedJaxpr, Sentinels]:
    """Return the program with flags as its last result, and their meaning.

    Args:
        closed: the program.
        nans: whether the flags watch for NaN.
        infinities: whether they watch for infinities.
    """
    kind = watched_for(nans=nans, infinities=infinities)
    flagged = _FlaggingInterpreter(nans=nans, infinities=infinities).body(closed)
    return flagged.closed, Sentinels(kind, flagged.origins, flagged.results)


def watched_for(*, nans: bool, infinities: bool) -> str:
    """Return the name of the watched values, for messages."""
    return " or ".join(["NaN"] * nans + ["infinity"] * infinities)


def holds_one(x: Any, *, nans: bool, infinities: bool) -> bool:
    """Return whether a concrete value holds a watched value."""
    values = np.asarray(x)
    return dtypes.is_inexact(values.dtype) and bool(
        (nans and np.isnan(values).any()) or (infinities and np.isinf(values).any())
    )


class Flagged(NamedTuple):
    """A jaxpr with its flags.

    Args:
        closed: `(*args) -> (*results, flags)`.
        origins: the origin of each flag; the arguments come first.
        results: the flag of each result; -1 where it has none.
    """

    closed: ClosedJaxpr
    origins: tuple[Origin, ...]
    results: tuple[int, ...]


class _FlaggingInterpreter:
    """Runs a jaxpr and flags its values."""

    def __init__(self, *, nans: bool, infinities: bool) -> None:
        self._test = _TESTS[watched_for(nans=nans, infinities=infinities)]
        self._constant_test = partial(holds_one, nans=nans, infinities=infinities)
        self._fresh = partial(_FlaggingInterpreter, nans=nans, infinities=infinities)
        self._flags: list[Any] = []
        self.origins: list[Origin] = []

    def body(self, closed: ClosedJaxpr) -> Flagged:
        """Return a jaxpr with flags of its own."""
        inner = self._fresh()
        found: list[tuple[int, ...]] = []

        def run(*args: Any) -> list[Any]:
            watched = [inner.add(x, None, None, ()) for x in args]
            outs = inner.run(closed.jaxpr, closed.consts, args, watched)
            found.append(tuple(flag for _, flag in outs))
            return [*(x for x, _ in outs), inner.vector()]

        debug_info = DebugInfo("debug_nans", closed.jaxpr.name)
        flagged = stage(run, closed.in_avals, debug_info)
        return Flagged(flagged, tuple(inner.origins), found[0])

    def adopt(
        self,
        flags: Any,
        body: Flagged,
        eqn: Eqn,
        operands: Sequence[int],
        turn: Any = None,
    ) -> list[int]:
        """Add the flags of a body that an equation ran; return those of its results.

        Args:
            flags: their values.
            body: their meaning.
            eqn: the equation.
            operands: the flags of the arguments of the body; -1 where there is none.
            turn: for the body of a loop, one more than the iteration in which these
                flags were raised.
        """
        first = len(self.origins)
        loop = -1 if turn is None else first + len(body.origins)
        for i, origin in enumerate(body.origins):
            if i < len(operands):  # an argument has the flag of its operand
                known = (operands[i],) if operands[i] >= 0 else ()
                origin = Origin(eqn.primitive.name, eqn.source, known)
            else:
                made_from = tuple(first + flag for flag in origin.made_from)
                around = first + origin.loop if origin.loop >= 0 else loop
                origin = origin._replace(made_from=made_from, loop=around)
            self.origins.append(origin)
        self._flags.append(flags)
        if turn is not None:
            self._append(turn, Origin(eqn.primitive.name, eqn.source, ()))
        return [first + flag if flag >= 0 else -1 for flag in body.results]

    def add(
        self,
        x: Any,
        what: str | None,
        source: Source | None,
        made_from: tuple[int, ...],
    ) -> int:
        """Flag a value; return the index of its flag, or -1 if it cannot have one."""
        aval = get_aval(x)
        if not dtypes.is_inexact(aval.dtype):
            if what is not None:
                return -1
            flag: Any = np.zeros((), bool)[()]  # arguments keep their positions
        else:
            flag = reduce_or(self._test(x), tuple(range(aval.ndim)))
        return self._append(flag, Origin(what, source, made_from))

    def constant(self, value: Any) -> int:
        """Flag a constant that holds a NaN; return its flag, or -1."""
        if not self._constant_test(value):
            return -1
        return self._append(np.True_, Origin(CONSTANT, None, ()))

    def _append(self, flag: Any, origin: Origin) -> int:
        number = convert_element_type(flag, NOT_RAISED.dtype)
        self._flags.append(broadcast_in_dim(number, (1,), ()))
        self.origins.append(origin)
        return len(self.origins) - 1

    def vector(self) -> Any:
        """Return all flags as one array."""
        if not self._flags:
            return broadcast_in_dim(NOT_RAISED, (0,), ())  # no constant of a body
        return concatenate(tuple(self._flags), 0)

    def run(
        self,
        jaxpr: Jaxpr,
        consts: Sequence[Any],
        args: Sequence[Any],
        flags: Sequence[int],
    ) -> list[tuple[Any, int]]:
        """Run a jaxpr; return its results with the indices of their flags."""
        env: dict[Var, tuple[Any, int]] = {
            v: (x, self.constant(x))
            for v, x in zip(jaxpr.constvars, consts, strict=True)
        }
        env.update(zip(jaxpr.invars, zip(args, flags, strict=True), strict=True))

        def read(atom: Var | Literal) -> tuple[Any, int]:
            if isinstance(atom, Literal):
                return atom.value, self.constant(atom.value)
            return env[atom]

        for eqn in jaxpr.eqns:
            results = self._eqn(eqn, [read(v) for v in eqn.invars])
            env.update(zip(eqn.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def _eqn(
        self, eqn: Eqn, operands: Sequence[tuple[Any, int]]
    ) -> list[tuple[Any, int]]:
        primitive = eqn.primitive
        if type(primitive) is not ControlPrimitive:
            return self.bind(eqn, operands)
        if primitive.sentinels is Watched.AS_ONE:
            return self.bind(eqn, operands)
        if primitive.sentinels is not Watched.DISSOLVED:
            return primitive.sentinels(self, eqn, operands)
        (inner,) = primitive.jaxprs(eqn.params)
        values, flags = zip(*operands, strict=True) if operands else ((), ())
        return self.run(inner.jaxpr, inner.consts, values, flags)

    def bind(
        self, eqn: Eqn, operands: Sequence[tuple[Any, int]]
    ) -> list[tuple[Any, int]]:
        """Run an equation as it is; return its results with the indices of their flags."""
        token = set_replayed_source(eqn.source)
        try:
            outs = eqn.primitive.bind_all(*(x for x, _ in operands), **eqn.params)
        finally:
            reset_replayed_source(token)
        known = tuple(flag for _, flag in operands if flag >= 0)
        name = eqn.primitive.name
        return [(x, self.add(x, name, eqn.source, known)) for x in outs]


def _is_nan(x: Any) -> Any:
    return ne(x, x)


def _is_not_finite(x: Any) -> Any:
    return or_p.bind1(_is_nan(x), _is_infinite(x))


def _is_infinite(x: Any) -> Any:
    if dtypes.is_complex(get_aval(x).dtype):
        return or_p.bind1(_is_infinite(real(x)), _is_infinite(imag(x)))
    size = abs_p.bind1(x)
    return eq(size, np.asarray(np.inf, get_aval(x).dtype)[()])


_TESTS: Final = {
    "NaN": _is_nan,
    "infinity": _is_infinite,
    "NaN or infinity": _is_not_finite,
}
