"""Replays: a program as its steps, and what can be asked of them.

A replay keeps the program and its arguments, and no value that is computed: each question
runs the program again, on the host, and lets go what was told. Where the steps are asked
for one by one (`for step in replay`, two replays side by side) the program runs in a
thread of its own, which waits after each step until the next one is wanted.
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
    """Where two replays part.

    Args:
        why: in what, in a few words.
        ours: the step of the replay that was asked; None if it has ended.
        theirs: the step of the other; None if that has ended.
        at: the place of the first element that differs, if values do.
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
        program: what is stepped through.
        again: replays another function on the arguments of this call.
    """

    def __init__(
        self, program: SteppedProgram, again: Callable[[Callable[..., Any]], "Replay"]
    ) -> None:
        self._program = program
        self._again = again

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program: that which is compiled, without what no result needs."""
        return self._program.closed

    @property
    def steps(self) -> "Steps":
        """The steps as a sequence; an element is computed when it is asked for."""
        return Steps(self._program)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def first_nan(self) -> Step | None:
        """Return the first step that makes a NaN from operands without one.

        None if no step does: then an argument holds it, or there is none.
        """
        return _first(self._program, lambda step: step.makes_nan)

    def first_difference(
        self,
        other: "Replay | Callable[..., Any]",
        *,
        rtol: float = 1e-5,
        atol: float = 1e-8,
    ) -> Parting | None:
        """Return where another replay does something else; None if it does the same.

        Steps that change no value, such as a conversion to a wider dtype, may be in one
        of them only: the same function in two precisions can be compared.

        Args:
            other: a replay, or a compiled function, which is replayed on the arguments
                of this one.
            rtol: how far results may be apart, relative to those of the other.
            atol: how far they may be apart besides.
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
    """The steps of a program, which runs whenever they are asked for."""

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
    """Ends a run; no exception that user code deals with."""


def _first(program: SteppedProgram, wanted: Callable[[Step], bool]) -> Step | None:
    """Run a program up to the first step that is wanted."""
    found: list[Step] = []

    def note(step: Step) -> None:
        if wanted(step):
            found.append(step)
            raise _Enough

    with suppress(_Enough):
        program.run(note)
    return found[0] if found else None


def _pulled(run: Callable[[Callable[[Step], None]], Any]) -> Iterator[Step]:
    """Yield what `run` tells as it tells it; in between it waits, in its own thread."""
    told: SimpleQueue[Step | BaseException | None] = SimpleQueue()
    wanted = threading.Semaphore(0)
    is_left = False

    def tell(step: Step) -> None:
        told.put(step)
        wanted.acquire()
        if is_left:
            raise _Enough

    def work() -> None:
        try:
            run(tell)
        except BaseException as err:  # raised where the steps are asked for
            told.put(err)
        else:
            told.put(None)

    threading.Thread(target=copy_context().run, args=(work,), daemon=True).start()
    try:
        while True:
            came = told.get()
            if came is None:
                return
            if isinstance(came, BaseException):
                raise came
            yield came
            wanted.release()
    finally:
        is_left = True
        wanted.release()


# ---- comparing ----


_Apart: TypeAlias = Callable[[HostArray, HostArray], tuple[int, ...] | None]


def _paired(
    ours: Iterator[Step], theirs: Iterator[Step], apart: _Apart
) -> Iterator[tuple[Step | None, Step | None]]:
    """Yield the steps that stand for each other; what changes no value is passed over."""
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
    """Return in what two steps part."""
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
    """Return the place of the first element that differs by more than is allowed."""
    if dtypes.is_inexact(a.dtype) or dtypes.is_inexact(b.dtype):
        x, y = _comparable(a), _comparable(b)
        same = np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
    else:
        same = np.asarray(a == b)
    if same.all():
        return None
    return tuple(int(i) for i in np.argwhere(~same)[0])


def _comparable(x: HostArray) -> HostArray:
    """Return numbers as those of NumPy's widest dtype, where narrow floats are known."""
    return x.astype(np.complex128 if dtypes.is_complex(x.dtype) else np.float64)


def _new_places(places: Sequence[str], before: Sequence[str]) -> Sequence[str]:
    """Return the places from the first one that is not as before."""
    same = 0
    while same < min(len(places), len(before)) and places[same] == before[same]:
        same += 1
    return places[same:]
