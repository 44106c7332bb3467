"""The passes that every jaxpr goes through between tracing and lowering.

A pass takes a closed jaxpr and returns one of the same meaning and signature (equal avals
of arguments and results). A new pass is one entry of `PASSES`. Passes run on the bodies of
nested calls first; a body that calls share is rewritten once, stays shared, and is kept for
the next program. With `enable_checks` each result is checked, and an error names the pass.
Changes of the signature are not passes; `jit.compilation.lowered` makes them: `nan_checks`
adds a result, `prune` drops unused arguments and makes constants arguments.
"""

from collections.abc import Callable
from typing import Any, Final

from imprint._src.config import config
from imprint._src.core.jaxpr import ClosedJaxpr, check_jaxpr, map_subjaxprs
from imprint._src.errors import InternalError
from imprint._src.interpreters.dce import dce
from imprint._src.passes.materialize import cut, cuts_of
from imprint._src.passes.pass_report import Change
from imprint._src.passes.reroll_loops import roll, rolls_of

Pass = Callable[[ClosedJaxpr], ClosedJaxpr]

PASSES: Final[tuple[Pass, ...]] = (dce, roll, cut)
"""Every pass, in order: `cut` also applies to the steps of loops that `roll` makes."""

_REPORTS: Final[dict[Pass, Callable[[ClosedJaxpr], tuple[Change, ...]]]] = {
    roll: rolls_of,
    cut: cuts_of,
}
_CHANGES: Final = "changes"


def run_passes(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Run the passes on a program."""
    changes: list[Change] = []
    for step in PASSES:
        closed = _on(step, closed)
        if step in _REPORTS:
            changes += _REPORTS[step](closed)
    closed.derived((_CHANGES, _switches()), lambda: tuple(changes))
    return closed


def changes_of(closed: ClosedJaxpr) -> tuple[Change, ...]:
    """Return the changes that `run_passes` made."""
    return closed.derived((_CHANGES, _switches()), tuple[Change, ...])


def _switches() -> tuple[bool, ...]:
    """Return the settings that change the passes."""
    return config.cut_recomputation, config.roll_loops, config.enable_checks


def _on(step: Pass, closed: ClosedJaxpr) -> ClosedJaxpr:
    """Run a pass on the bodies in a jaxpr, then on the jaxpr."""
    found = step(map_subjaxprs(closed, lambda body: _on_body(step, body)))
    if config.enable_checks:
        _check(step, closed, found)
    return found


def _on_body(step: Pass, body: ClosedJaxpr) -> ClosedJaxpr:
    """Run a pass on a body, once for all programs that hold it."""

    def make() -> ClosedJaxpr | None:
        found = _on(step, body)
        return None if found is body else found  # a cycle only a collector frees

    found = body.derived(("pass", step, _switches()), lambda: (make(),))[0]
    return body if found is None else found


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
