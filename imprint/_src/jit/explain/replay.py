"""Replays: a call equation by equation.

A replay keeps the program and its arguments, and no computed value: each method runs the
program again on the host. For iteration (`for step in replay`, or two replays side by side)
the program runs in a thread that waits after each step for the next request.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from itertools import zip_longest
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, TypeAlias, final, overload

import numpy as np

from imprint._src import dtypes
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.jit.explain.steps import HostArray, Step, SteppedProgram, shown

_SHOWN: Final = 10
"""Steps, first and last, of a text."""


class Parting(NamedTuple):
    """The first difference of two replays.

    Args:
        why: the difference, in a few words.
        ours: the step of the first replay; None if it has ended.
        theirs: the step of the other; None if that has ended.
        at: the index of the first element that differs, if values do.
    """

    why: str
    ours: Step | None
    theirs: Step | None
    at: tuple[int, ...] | None = None

    def __str__(self) -> str:
        ours, theirs = (
            "It has ended." if step is None else step.told(self.at)
            for step in (self.ours, self.theirs)
        )
        return f"They part in {self.why}.\n{ours}\nThe other:\n{theirs}"


@final
class Replay:
    """A call of a compiled function, equation by equation; `f.replay(*args)` makes it.

    Args:
        program: the program.
        again: replays another function on the arguments of this call.
    """

    def __init__(
        self, program: SteppedProgram, again: Callable[[Callable[..., Any]], "Replay"]
    ) -> None:
        self._program = program
        self._again = again

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program that is compiled, without unused equations."""
        return self._program.closed

    @property
    def steps(self) -> "Steps":
        """The steps as a sequence; an element is computed on access."""
        return Steps(self._program)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def first_nan(self) -> Step | None:
        """Return the first step that makes a NaN from operands without one.

        None if no step does: then an argument has a NaN, or nothing does.
        """
        return _first(self._program, lambda step: step.makes_nan)

    def first_difference(
        self,
        other: "Replay | Callable[..., Any]",
        *,
        rtol: float = 1e-5,
        atol: float = 1e-8,
    ) -> Parting | None:
        """Return the first difference from another replay; None if there is none.

        Steps that change no value, such as a conversion to a wider dtype, may be in only
        one of them: the same function in two precisions can be compared.

        Args:
            other: a replay, or a compiled function, which is replayed on the arguments
                of this one.
            rtol: the relative tolerance of results.
            atol: the absolute tolerance.
        """
        theirs = other if isinstance(other, Replay) else self._again(other)
        apart = partial(_first_apart, rtol=rtol, atol=atol)
        pairs = _paired(iter(self), iter(theirs), apart)
        return next(filter(None, (_parting(*pair, apart) for pair in pairs)), None)

    def __str__(self) -> str:
        first: list[Step] = []
        last: deque[Step] = deque(maxlen=_SHOWN)
        count = 0

        def note(step: Step) -> None:
            nonlocal count
            count += 1
            if len(first) < _SHOWN:
                first.append(step)
            else:
                last.append(step)

        self._program.run(note)
        lines = [f"Replay of {self._program.name} (last step last):"]
        lines += [f"  {name} = {shown(x)}" for name, x in self._program.arguments]
        before: tuple[str, ...] = ()
        for i, step in enumerate((*first, *last)):
            if i == _SHOWN and count > 2 * _SHOWN:
                lines.append(f"  … {count - 2 * _SHOWN:,} steps …")
                before = ()
            lines += _new_places(step.places, before)
            before = step.places
            made = step.named(step.equation.outvars, step.outputs)
            lines.append(f"    {step.text}")
            lines += [f"      {name} = {shown(x)}" for name, x in made.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<replay of {self._program.name}>"


@final
class Steps(Sequence[Step]):
    """The steps of a program, which runs at each access."""

    def __init__(self, program: SteppedProgram) -> None:
        self._program = program

    def __len__(self) -> int:
        count = 0

        def note(_: Step) -> None:
            nonlocal count
            count += 1

        self._program.run(note)
        return count

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | list[Step]:
        if isinstance(index, slice):
            chosen = range(len(self))[index]
            kept = {s.number: s for s in self if s.number in chosen}
            return [kept[i] for i in chosen]
        if index < 0:
            index += len(self)
        found = _first(self._program, lambda step: step.number == index)
        if found is None:
            raise IndexError(
                f"steps: expected an index in [0, {len(self)}), got {index}"
            )
        return found

    def __iter__(self) -> Iterator[Step]:
        return _pulled(self._program.run)


# ---- running ----


class _Enough(BaseException):
    """Ends a run. It is not an `Exception`, so user code does not catch it."""


def _first(program: SteppedProgram, wanted: Callable[[Step], bool]) -> Step | None:
    """Run a program up to the first step for which `wanted` is true."""
    found: list[Step] = []

    def note(step: Step) -> None:
        if wanted(step):
            found.append(step)
            raise _Enough

    with suppress(_Enough):
        program.run(note)
    return found[0] if found else None


def _pulled(run: Callable[[Callable[[Step], None]], Any]) -> Iterator[Step]:
    """Yield the steps of `run`, which waits between them in its own thread."""
    steps: SimpleQueue[Step | BaseException | None] = SimpleQueue()
    wanted = threading.Semaphore(0)
    is_left = False

    def send(step: Step) -> None:
        steps.put(step)
        wanted.acquire()
        if is_left:
            raise _Enough

    def work() -> None:
        try:
            run(send)
        except BaseException as err:  # raised in the thread that iterates
            steps.put(err)
        else:
            steps.put(None)

    threading.Thread(target=copy_context().run, args=(work,), daemon=True).start()
    try:
        while True:
            step = steps.get()
            if step is None:
                return
            if isinstance(step, BaseException):
                raise step
            yield step
            wanted.release()
    finally:
        is_left = True
        wanted.release()


# ---- comparing ----


_Apart: TypeAlias = Callable[[HostArray, HostArray], tuple[int, ...] | None]


def _paired(
    ours: Iterator[Step], theirs: Iterator[Step], apart: _Apart
) -> Iterator[tuple[Step | None, Step | None]]:
    """Yield pairs of steps; a step that changes no value may be skipped."""
    a, b = next(ours, None), next(theirs, None)
    while a is not None or b is not None:
        if a is None or b is None or a.equation.primitive is not b.equation.primitive:
            if a is not None and _changes_nothing(a, apart):
                a = next(ours, None)
                continue
            if b is not None and _changes_nothing(b, apart):
                b = next(theirs, None)
                continue
        yield a, b
        a, b = next(ours, None), next(theirs, None)


def _changes_nothing(step: Step, apart: _Apart) -> bool:
    if len(step.inputs) != 1 or len(step.outputs) != 1:
        return False
    (x,), (y,) = step.inputs, step.outputs
    return x.shape == y.shape and apart(x, y) is None


def _parting(ours: Step | None, theirs: Step | None, apart: _Apart) -> Parting | None:
    """Return the difference of two steps."""
    if ours is None or theirs is None:
        return Parting("how many steps they have", ours, theirs)
    mine, other = ours.equation.primitive, theirs.equation.primitive
    if mine is not other:
        return Parting(f"what they do: {mine} and {other}", ours, theirs)
    for i, (a, b) in enumerate(zip_longest(ours.outputs, theirs.outputs)):
        if a is None or b is None or a.shape != b.shape:
            return Parting("the shapes of their results", ours, theirs)
        at = apart(a, b)
        if at is not None:
            index = f" at [{', '.join(map(str, at))}]" if at else ""
            which = f"result {i}" if len(ours.outputs) > 1 else "the result"
            return Parting(f"{which}{index}: {a[at]} and {b[at]}", ours, theirs, at)
    return None


def _first_apart(
    a: HostArray, b: HostArray, rtol: float, atol: float
) -> tuple[int, ...] | None:
    """Return the index of the first element that exceeds the tolerances."""
    if dtypes.is_inexact(a.dtype) or dtypes.is_inexact(b.dtype):
        x, y = _comparable(a), _comparable(b)
        same = np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
    else:
        same = np.asarray(a == b)
    if same.all():
        return None
    return tuple(int(i) for i in np.argwhere(~same)[0])


def _comparable(x: HostArray) -> HostArray:
    """Return numbers in NumPy's widest dtype."""
    return x.astype(np.complex128 if dtypes.is_complex(x.dtype) else np.float64)


def _new_places(places: Sequence[str], before: Sequence[str]) -> Sequence[str]:
    """Return the places from the first one that differs."""
    same = 0
    while same < min(len(places), len(before)) and places[same] == before[same]:
        same += 1
    return places[same:]
