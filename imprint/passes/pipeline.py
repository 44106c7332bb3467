"""The pipeline: what is done to every jaxpr between tracing and lowering.

A pass takes a closed jaxpr and returns one of the same meaning and the same signature:
equal avals of arguments and results. A new pass is one entry of `PASSES`. Each is given
the bodies of nested calls first, as programs of their own, then the jaxpr around them; a
body that several calls share is given once, and stays shared. With `enable_checks` the
result of each is checked, and a mistake is told with the name of the pass that made it.
What changes the signature is no pass, and `program.lowered` does it: flags are one result
more (`sentinels`), arguments that nothing needs are dropped and constants become
arguments (`prune`).
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from imprint.config import config
from imprint.core.check import check_jaxpr
from imprint.core.jaxpr import ClosedJaxpr, map_subjaxprs
from imprint.errors import InternalError
from imprint.passes.cut import Cut, cut, cuts_of
from imprint.passes.roll import Rolled, roll, rolls_of
from imprint.transforms.dce import dce

Pass = Callable[[ClosedJaxpr], ClosedJaxpr]
Change: TypeAlias = Cut | Rolled
"""What a pass tells of what it did."""


PASSES: Final[tuple[Pass, ...]] = (dce, roll, cut)
"""Every pass, in order: the step of a loop that `roll` makes is cut as others are."""

_TOLD: Final[dict[Pass, Callable[[ClosedJaxpr], tuple[Change, ...]]]] = {
    roll: rolls_of,
    cut: cuts_of,
}
_CHANGES: Final = "changes"


def run_passes(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return what the passes make of a program."""
    changes: list[Change] = []
    for step in PASSES:
        closed = _everywhere(step, closed, {})
        if step in _TOLD:
            changes += _TOLD[step](closed)
    closed.derived(_CHANGES, lambda: tuple(changes))
    return closed


def changes_of(closed: ClosedJaxpr) -> tuple[Change, ...]:
    """Return what the passes did to a program that `run_passes` made."""
    return closed.derived(_CHANGES, tuple[Change, ...])


def _everywhere(
    step: Pass, closed: ClosedJaxpr, done: dict[ClosedJaxpr, ClosedJaxpr]
) -> ClosedJaxpr:
    """Run a pass on the bodies in a jaxpr, then on the jaxpr."""
    found = done.get(closed)
    if found is None:
        inside = map_subjaxprs(closed, lambda body: _everywhere(step, body, done))
        found = done[closed] = step(inside)
        if config.enable_checks:
            _check(step, closed, found)
    return found


def _check(step: Pass, before: ClosedJaxpr, after: ClosedJaxpr) -> None:
    name = getattr(step, "__name__", repr(step))
    try:
        check_jaxpr(after.jaxpr)
    except InternalError as err:
        raise InternalError(f"pass {name}: {err}") from err
    expected, came = _signature(before), _signature(after)
    if expected != came:
        raise InternalError(
            f"pass {name}: expected the signature to stay {_shown(expected)}, got "
            f"{_shown(came)}.\n{after}"
        )


def _signature(closed: ClosedJaxpr) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return closed.in_avals, closed.out_avals


def _shown(signature: tuple[tuple[Any, ...], tuple[Any, ...]]) -> str:
    arguments, results = (", ".join(map(str, avals)) for avals in signature)
    return f"({arguments}) -> ({results})"
