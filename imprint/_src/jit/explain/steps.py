"""Execution of a program equation by equation, on the host.

A program is run by the reference rules of its primitives (`control_flow.interpret`), and
each computed equation is reported with its values. An equation with jaxprs is entered: the
equations that its reference rule runs are reported, and the `path` of a step has the
equations around it, with the iteration or branch. A value is held while its jaxpr needs it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np

from imprint._src import dtypes
from imprint._src.control_flow.interpret import compute, interpreting, literal_value
from imprint._src.core.control import ControlPrimitive, Unit
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from imprint._src.core.pretty import Names
from imprint._src.core.primitive import Values
from imprint._src.diagnostics.source import Source

HostArray: TypeAlias = np.ndarray[Any, Any]


class Entered(NamedTuple):
    """An equation around a step.

    Args:
        equation: it, in the outer program.
        inside: the jaxpr and the iteration that runs: `iteration 3 of scan`; empty if its
            equations are inlined in the caller.
        source: the line of user code.
    """

    equation: Eqn
    inside: str
    source: Source | None

    def __str__(self) -> str:
        inside = f"\n    in {self.inside}" if self.inside else ""
        return f"{_place(self.source)}{inside}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One equation and its values.

    Args:
        number: its index.
        equation: the equation; `text` has it as text.
        source: the line of user code; None if unknown.
        inputs: the values of its operands, which are read-only.
        outputs: the values of its results, which are read-only.
        path: the equations around it, the outermost first.
        program: the program.
    """

    number: int
    equation: Eqn
    source: Source | None
    inputs: tuple[HostArray, ...]
    outputs: tuple[HostArray, ...]
    path: tuple[Entered, ...]
    program: "SteppedProgram"

    @property
    def makes_nan(self) -> bool:
        """Whether a result has a NaN, and no operand does."""
        return any(map(has_nan, self.outputs)) and not any(map(has_nan, self.inputs))

    @property
    def text(self) -> str:
        """The equation, with the variable names of the program text."""
        text = " ".join(self.program.names.eqn(self.equation).split())
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    @property
    def places(self) -> tuple[str, ...]:
        """The lines of user code, as in a traceback, the innermost last."""
        return (*map(str, self.path), _place(self.source))

    def __repr__(self) -> str:
        return f"<step {self.number}: {self.text}>"

    def __str__(self) -> str:
        return self.told(next(filter(None, map(_nan_place, self.outputs)), None))

    def told(self, at: tuple[int, ...] | None = None) -> str:
        """Return the step as a traceback, the innermost line last, and its values.

        Args:
            at: the index of an element to show of large values.
        """
        head = f"Step {self.number} of {self.program.name} (innermost line last):"
        used = self.named(self.equation.invars, self.inputs)
        made = self.named(self.equation.outvars, self.outputs)
        values = [f"      {n} = {shown(x, at)}" for n, x in (used | made).items()]
        return "\n".join([head, *self.places, f"    {self.text}", *values])

    def named(
        self, atoms: Sequence[Atom], values: Sequence[HostArray]
    ) -> dict[str, HostArray]:
        """Return values by the names of their variables, without literals."""
        pairs = zip(atoms, values, strict=True)
        atom = self.program.names.atom
        return {atom(a): x for a, x in pairs if not isinstance(a, Literal)}


@final
class SteppedProgram:
    """A program to run equation by equation.

    Args:
        name: of the function.
        closed: its jaxpr.
        arguments: the values of its arguments, with their names.
    """

    def __init__(
        self, name: str, closed: ClosedJaxpr, arguments: Sequence[tuple[str, HostArray]]
    ) -> None:
        self.name: str = name
        self.closed: ClosedJaxpr = closed
        self.arguments: tuple[tuple[str, HostArray], ...] = tuple(arguments)

    @cached_property
    def names(self) -> Names:
        """The names of its variables."""
        return Names(self.closed.jaxpr)

    def run(self, report: Callable[[Step], None]) -> Values:
        """Run it, and report each step when it is done; return the results."""
        return _ProgramRun(self, report).whole()


# ---- running ----


class _OpenEquation:
    """An equation under way, and the runs of its jaxprs."""

    __slots__ = ("equation", "held", "inside", "runs")

    def __init__(self, equation: Eqn) -> None:
        self.equation = equation
        self.inside = ""
        self.runs: Counter[str] = Counter()
        self.held = _held(equation)

    def enter(self, jaxpr: Jaxpr) -> None:
        """Enter one of its jaxprs."""
        name, is_choice = self.held.get(jaxpr, (jaxpr.name, False))
        turn = self.runs[name]
        self.runs[name] += 1
        self.inside = _words(self.equation, name, turn, is_choice=is_choice)


class _ProgramRun:
    """One run of a program."""

    def __init__(self, program: SteppedProgram, report: Callable[[Step], None]) -> None:
        self._program = program
        self._on_step = report
        self._number = 0
        self._open: list[_OpenEquation] = []
        self._last_uses: dict[Jaxpr, list[list[Var]]] = {}

    def whole(self) -> Values:
        """Run the program."""
        closed = self._program.closed
        consts = [np.asarray(x) for x in closed.consts]
        arguments = [value for _, value in self._program.arguments]
        with np.errstate(all="ignore"):
            return self._jaxpr(closed.jaxpr, consts, arguments)

    def _enter(self, jaxpr: Jaxpr, arrays: Sequence[Any]) -> Values:
        """Run a jaxpr of the equation under way."""
        self._open[-1].enter(jaxpr)
        with interpreting(None):
            return self._jaxpr(jaxpr, (), arrays)

    def _jaxpr(
        self, jaxpr: Jaxpr, consts: Sequence[Any], arrays: Sequence[Any]
    ) -> Values:
        env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, arrays, strict=True))

        def read(atom: Atom) -> Any:
            return literal_value(atom) if isinstance(atom, Literal) else env[atom]

        last = self._last_uses.get(jaxpr)
        if last is None:
            last = self._last_uses[jaxpr] = _last_uses(jaxpr)
        for eqn, done in zip(jaxpr.eqns, last, strict=True):
            outs = self._eqn(eqn, tuple(map(read, eqn.invars)))
            env.update(zip(eqn.outvars, outs, strict=True))
            for var in done:
                del env[var]
        return tuple(map(read, jaxpr.outvars))

    def _eqn(self, eqn: Eqn, inputs: Values) -> Values:
        """Compute an equation; report it, unless its inner equations were reported."""
        entered = None
        if type(eqn.primitive) is ControlPrimitive:
            entered = _OpenEquation(eqn)
            self._open.append(entered)
            try:
                with interpreting(self._enter):
                    results = compute(eqn, inputs)
            finally:
                self._open.pop()
        else:
            results = compute(eqn, inputs)
        if entered is None or not entered.runs:
            self._report(eqn, inputs, results)
        return results

    def _report(self, eqn: Eqn, inputs: Values, results: Values) -> None:
        path = tuple(
            [Entered(o.equation, o.inside, o.equation.source) for o in self._open]
        )
        values = _sealed(inputs), _sealed(results)
        step = Step(self._number, eqn, eqn.source, *values, path, self._program)
        self._number += 1
        self._on_step(step)


def _sealed(values: Values) -> tuple[HostArray, ...]:
    views: list[HostArray] = [np.asarray(x).view() for x in values]
    for view in views:
        view.flags.writeable = False
    return tuple(views)


def _last_uses(jaxpr: Jaxpr) -> list[list[Var]]:
    """Return, for each equation, the variables that it uses last."""
    needed = {v for v in jaxpr.outvars if isinstance(v, Var)}
    found: list[list[Var]] = []
    for eqn in reversed(jaxpr.eqns):
        used = (v for v in (*eqn.invars, *eqn.outvars) if isinstance(v, Var))
        done = [v for v in dict.fromkeys(used) if v not in needed]
        needed.update(done)
        found.append(done)
    return found[::-1]


# ---- wording ----


def _held(eqn: Eqn) -> dict[Jaxpr, tuple[str, bool]]:
    """Return the jaxprs of an equation, each with its name and whether it is a branch."""
    found: dict[Jaxpr, tuple[str, bool]] = {}
    for name in getattr(eqn.primitive, "held", ()):
        value = eqn.params[name]
        if isinstance(value, ClosedJaxpr):
            found[value.jaxpr] = name, False
        else:
            for i, each in enumerate(value):
                found[each.jaxpr] = f"{name}[{i}]", True
    return found


def _words(eqn: Eqn, held: str, turn: int, *, is_choice: bool) -> str:
    """Return the location of a step inside an equation: `iteration 3 of scan`."""
    primitive: Any = eqn.primitive
    if primitive.granularity is Unit.INLINE:
        return ""
    if primitive.granularity is Unit.PART:
        return str(eqn.params.get("name", primitive.name))
    if is_choice:
        return f"{held} of {primitive}"
    several = (
        f"{held.removesuffix('_jaxpr')}, " if len(primitive.held) > 1 and held else ""
    )
    return f"{several}iteration {turn} of {primitive}"


_LONGEST: Final = 200
_WHOLE: Final = 8
"""Elements up to which a value is shown whole."""


def _place(source: Source | None) -> str:
    """Return a source as the lines of a traceback."""
    if source is None:
        return "  (no line of yours)"
    place = f'  File "{source.file}", line {source.line}, in {source.code.co_name}'
    return f"{place}\n    {source.expression}" if source.expression else place


def shown(value: HostArray, at: tuple[int, ...] | None = None) -> str:
    """Return a value in short: its elements, or the range of a large one.

    Args:
        value: the value.
        at: the index of an element of a large value to show, if it exists.
    """
    if value.size <= _WHOLE:
        return " ".join(np.array2string(value, precision=6, separator=", ").split())
    shape = ",".join(map(str, value.shape))
    text = f"{value.dtype.name}[{shape}]"
    if at is not None and _has_place(value, at):
        text += f" with {value[at]} at [{', '.join(map(str, at))}]"
    if not dtypes.is_inexact(value.dtype) or dtypes.is_complex(value.dtype):
        return text
    nans = np.isnan(value)
    if nans.all():
        return f"{text}, all NaN"
    kept = value[~nans]
    count = int(nans.sum())
    told = f", {count:,} of {value.size:,} NaN" if count else ""
    return f"{text}, from {kept.min()} to {kept.max()}{told}"


def _has_place(value: HostArray, at: tuple[int, ...]) -> bool:
    return len(at) == value.ndim and all(map(int.__lt__, at, value.shape))


def has_nan(value: HostArray) -> bool:
    """Return whether a value has a NaN."""
    return dtypes.is_inexact(value.dtype) and bool(np.isnan(value).any())


def _nan_place(value: HostArray) -> tuple[int, ...] | None:
    if not has_nan(value):
        return None
    return tuple(int(i) for i in np.argwhere(np.isnan(value))[0])
