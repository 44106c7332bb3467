"""From a jaxpr to a program in StableHLO.

1. The passes make an equal jaxpr that is cheaper to compile and to run (`passes`).
2. Donated arguments are matched with results (`layout`).
3. Unused arguments are dropped, constants become leading arguments (`prune_args`).
4. The options of XLA are chosen (`vector_width`).
5. With `debug_nans` or `debug_infs`, flags become the last result (`nan_checks`).
6. The jaxpr is written as StableHLO, in formulations that are fast on the device.
"""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, all_eqns
from imprint._src.interpreters import dce, lowering
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.compilation.layout import (
    Donation,
    Layout,
    Spread,
    match_donated,
    spread_of,
)
from imprint._src.jit.compilation.vector_width import preferred_options
from imprint._src.passes import nan_checks as sentinel_pass
from imprint._src.passes import pass_report as pass_changes
from imprint._src.passes import pipeline
from imprint._src.runtime import (
    VECTORIZES_SUMS,
    CompileOptions,
    HostFunction,
    computes_on_cpu_only,
    has_kernels,
)


class LoweredProgram(NamedTuple):
    """A lowered program.

    Args:
        text: StableHLO.
        consts: values of its leading arguments.
        kept: positions of the jaxpr's arguments that follow them.
        in_avals: the avals of the executable's arguments.
        out_avals: the avals of its results.
        donated: positions of the arguments whose memory a result takes.
        unusable: positions of donated arguments that no result can take, and why.
        sentinels: the meaning of its last result, if that is flags.
        options: the options of XLA that suit it; those of the user take precedence.
        equations: their number; those of a shared call count once.
        seconds: the time of lowering.
        callbacks: the functions of the host that the text calls, by their index.
        changes: the changes that the passes made.
        spread: its layout over devices; None on one.
    """

    text: str
    consts: tuple[Any, ...]
    kept: tuple[int, ...]
    in_avals: tuple[ShapedArray, ...]
    out_avals: tuple[ShapedArray, ...]
    donated: tuple[int, ...]
    unusable: tuple[tuple[int, str], ...]
    sentinels: "sentinel_pass.Sentinels | None"
    options: CompileOptions
    equations: int
    seconds: float
    callbacks: tuple[HostFunction, ...]
    changes: "tuple[pass_changes.Change, ...]"
    spread: Spread | None

    @property
    def text_bytes(self) -> int:
        """The length of the text."""
        return len(self.text)

    @property
    def plain_text(self) -> str:
        """The text without the user's source lines."""
        return _LOCATION.sub("", self.text)


_LOCATION: Final = re.compile(r" loc\(#loc\d+\)|^#loc\d+ = .*\n", re.MULTILINE)


def lower(  # noqa: PLR0913 - what a program is, and how it is watched and spread
    closed: ClosedJaxpr,
    name: str,
    *,
    keep_unused: bool = False,
    donated: Donation = frozenset(),
    nans: bool = False,
    infinities: bool = False,
    layout: Layout | None = None,
    is_plain: bool = False,
) -> LoweredProgram:
    """Lower a closed jaxpr to the StableHLO module `name`.

    Args:
        closed: the program.
        name: the module's name.
        keep_unused: whether arguments that no result needs are kept.
        donated: arguments whose memory the results may take.
        nans: whether flags locate NaNs.
        infinities: whether flags locate infinities.
        layout: its layout over devices; None on one.
        is_plain: whether each function is the operation of StableHLO that has its name,
            also on a CPU, where others are faster.
    """
    start = time.perf_counter()
    COUNTERS.lowerings += 1
    closed = pipeline.run_passes(closed)
    changes = pipeline.changes_of(closed)
    aliases = match_donated(closed, donated, keep_unused=keep_unused, layout=layout)
    jaxpr, consts, kept = dce.prune(closed, keep_unused=keep_unused)
    options = preferred_options(jaxpr)  # of the program without flags
    sentinels = None
    if nans or infinities:
        closed, sentinels = sentinel_pass.with_sentinels(
            closed, nans=nans, infinities=infinities
        )
        jaxpr, consts, kept = dce.prune(closed, keep_unused=keep_unused)
    spread = None
    if layout is not None:
        spread = spread_of(layout, consts, kept, len(closed.out_avals))
    donors = {len(consts) + kept.index(i): k for i, k in aliases.results.items()}
    is_fast = spread is None and not is_plain and computes_on_cpu_only()
    module = lowering.lower_jaxpr(
        jaxpr,
        name,
        arg_attrs=_attributes(spread, [v.aval for v in jaxpr.invars], donors),
        result_attrs=_attributes(spread, closed.out_avals),
        partitions=1 if spread is None else spread.mesh.size,
        is_fast=is_fast,
        has_kernels=is_fast and has_kernels(),
        vectorizes_sums=VECTORIZES_SUMS and _has_sums(jaxpr),
    )
    return LoweredProgram(
        text=module.text(),
        consts=consts,
        kept=kept,
        in_avals=tuple(v.aval for v in jaxpr.invars),
        out_avals=closed.out_avals,
        donated=tuple(sorted(aliases.results)),
        unusable=aliases.unusable,
        sentinels=sentinels,
        options=options,
        equations=_count_equations(jaxpr, set()),
        seconds=time.perf_counter() - start,
        callbacks=tuple(module.callbacks),
        changes=changes,
        spread=spread,
    )


def _attributes(
    spread: Spread | None,
    avals: Sequence[ShapedArray],
    donors: Mapping[int, int] | None = None,
) -> dict[int, str]:
    """Return the attributes of arguments, for which `donors` is given, or of results."""
    found: dict[int, list[str]] = {}
    if spread is not None:
        shardings = spread.outputs if donors is None else spread.inputs
        found = {i: [text] for i, text in spread.attributes(avals, shardings).items()}
    for i, k in (donors or {}).items():
        # The layouts of results are not known yet: XLA finds one that fits.
        way = (
            f"tf.aliasing_output = {k} : i32"
            if not spread
            else "jax.buffer_donor = true"
        )
        found.setdefault(i, []).append(way)
    return {i: f" {{{', '.join(texts)}}}" for i, texts in found.items()}


def _count_equations(jaxpr: Jaxpr, seen: set[int]) -> int:
    count = len(jaxpr.eqns)
    for part in jaxpr.bodies:
        if id(part) not in seen:
            seen.add(id(part))
            count += _count_equations(part.jaxpr, seen)
    return count


def _has_sums(jaxpr: Jaxpr) -> bool:
    """Return whether a program has sums or other reductions, also in its bodies."""
    fusions = (eqn.primitive.fusion for eqn in all_eqns(jaxpr))
    return any(fusion is not None and fusion.reduces for fusion in fusions)
