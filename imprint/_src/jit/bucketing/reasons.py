"""Why is a call compiled for its size, though the axis has a name?

What forced it is an option, an equation without a padding rule, a line that needs the size
as a number, or devices that cannot share the bucket evenly. It is looked up when somebody
asks: most of it is known of the families of calls.
"""

from collections.abc import Callable
from typing import Final

from imprint import tree
from imprint._src.config import settings
from imprint._src.jit.bucketing.padding import is_spread
from imprint._src.jit.bucketing.programs import place_of, why_uneven
from imprint._src.jit.bucketing.symbolic_traces import Family, families_of
from imprint._src.jit.calls.key import CallKey, Pending
from imprint._src.jit.versions.definitions import Definition


def told_of_slots(
    definition: Definition, pending: Pending
) -> Callable[[], dict[str, str]]:
    """Return what tells, for each length of a call that has a name, why it has a program.

    It holds no array of the call. The keys are `x.shape[0]`, as an explanation has them.
    """
    families = families_of(definition)
    entries = families.entries(definition, pending)
    sized = families.sized(definition, pending)
    families.forget()
    names = pending.call.form.leaf_names(tree.structure(pending.call.dynamic))
    avals = CallKey.unpack(pending.key).avals
    slots = {
        f"{names[leaf]}.shape[{axis % avals[leaf].ndim}]": name
        for leaf, axis, name in entries
    }
    reason = _of_options(definition)
    if sized is None and not reason:
        reason = "a size of 0 has a program of its own."
        if definition.options.abstracted_axes is None:
            reason = "sizes of 0 and 1 have programs of their own."
    uneven = ""
    if sized is not None and not reason and any(map(is_spread, avals)):
        uneven = why_uneven(pending, sized, place_of(definition, pending, sized))

    def told() -> dict[str, str]:
        why = reason
        if not why and sized is not None:
            found = families.of_kind(sized.kind)
            right = [x for x in found if x.has(sized.sizes)] or found
            why = next((text for text in map(_of_family, right) if text), uneven)
        return {
            slot: f"{name} is compiled for each size: {why}" if why else _IN_BUCKETS
            for slot, name in slots.items()
        }

    return told


_IN_BUCKETS: Final = "A program is compiled for each bucket of lengths."


def _of_options(definition: Definition) -> str:
    flags = settings()
    if definition.options.buckets is None:
        return "buckets=None asks for it. Leave it out for a program for each bucket."
    on = [name for name in ("debug_nans", "debug_infs") if getattr(flags, name)]
    if on:
        return f"{on[0]} is on, and padding may hold anything. Turn it off."
    return ""


def _of_family(family: Family) -> str:
    if family.refusal is not None:
        return str(family.refusal)  # an error says itself what to do
    if family.unpadded:
        return f"{family.unpadded}. Compute that in a function of its own."
    return ""
