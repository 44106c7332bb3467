"""Guards in Python, where the native core is missing: one function for the steps of a holder.

It takes the steps of `guard_steps` and answers as `core.Guard` does, but compares by identity
alone: where plain data is equal and not the same, the comparison by value decides.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from operator import is_
from types import MemberDescriptorType
from typing import Any, Final, TypeAlias

from imprint._src.jit.fingerprint.layout import instance_dict
from imprint._src.jit.fingerprint.raw_access import (
    bases_of,
    class_attribute,
    class_of,
    contents_of,
    is_data_descriptor,
    namespace_of,
)
from imprint._src.jit.guards.guard_steps import Step

Check: TypeAlias = Callable[[Any], bool]
"""Takes a value, or the owner of the group that a step is in."""
Checks: TypeAlias = tuple[Check, ...]
Names: TypeAlias = tuple[Any, ...]
Same: TypeAlias = Callable[[Iterable[Any]], bool]


def python_guard(
    steps: tuple[Step, ...], otherwise: Callable[[], bool]
) -> Callable[[], bool]:
    """Return what looks each location up and compares by identity.

    Args:
        steps: the steps.
        otherwise: decides where one fails.
    """
    own: list[Step] = []
    owners: list[Check] = []
    rest = [*reversed(steps)]
    while rest:
        kind, holder, count, _, is_weak = step = rest.pop()
        if kind == "owner":
            group = _checks([rest.pop() for _ in range(count)])
            owners.append(_owner(holder, group, is_weak=is_weak))
        elif kind != "class":
            own.append(step)
    checks = *_checks(own), *owners

    def holds() -> bool:
        try:
            is_same = all(check(None) for check in checks)
        except Exception:
            is_same = False
        return is_same or otherwise()

    return holds


def _owner(holder: Any, group: Checks, *, is_weak: bool) -> Check:
    def holds(_: Any) -> bool:
        owner = holder() if is_weak else holder
        return owner is None or all(check(owner) for check in group)

    return holds


def _checks(steps: list[Step]) -> Checks:
    """Return functions for steps; those of one kind and holder share one."""
    alike: dict[tuple[str, int], list[Step]] = {}
    for step in steps:
        alike.setdefault((step[0], id(step[1])), []).append(step)
    checks: list[Check] = []
    for (kind, _), each in alike.items():
        _, holders, names, values, is_weak = zip(*each, strict=True)
        if kind in _OF_ONE:
            checks += map(_OF_ONE[kind], holders, names, values)
        else:
            checks.append(_OF_MANY[kind](holders[0], names, _same(values, is_weak)))
    return tuple(checks)


def _same(values: Sequence[Any], is_weak: Sequence[int]) -> Same:
    """Return whether others are the very same, or what weak references refer to."""
    if not any(is_weak):
        return lambda now: all(map(is_, now, values))

    def same(now: Iterable[Any]) -> bool:
        return all(
            x is value if not weak else x is not None and x is value()
            for value, weak, x in zip(values, is_weak, now, strict=True)
        )

    return same


# ---- steps that look one value up under each name; `guards.c` says what each means ----


def _items(holder: Any, names: Names, same: Same) -> Check:
    look_up = holder.__getitem__
    return lambda _: same(map(look_up, names))


def _attributes(_: Any, names: Names, same: Same) -> Check:
    def holds(owner: Any) -> bool:
        return same(map(instance_dict(owner).__getitem__, names)) and not any(
            is_data_descriptor(namespace_of(base)[name])
            for base in bases_of(class_of(owner))
            for name in namespace_of(base).keys() & names
        )

    return holds


def _slots(_: Any, names: Names, same: Same) -> Check:
    def holds(owner: Any) -> bool:
        shown = [class_attribute(class_of(owner), name) for name in names]
        are_slots = all(type(each) is MemberDescriptorType for each in shown)
        return are_slots and same(each.__get__(owner) for each in shown)

    return holds


def _parts(holder: Any, names: Names, same: Same) -> Check:
    def holds(owner: Any) -> bool:
        read = owner if holder is None else holder
        return same([getattr(read, name) for name in names])

    return holds


def _type(_: Any, names: Names, same: Same) -> Check:
    return lambda owner: same(repeat(class_of(owner), len(names)))


def _cell(holder: Any, names: Names, same: Same) -> Check:
    return lambda _: same(repeat(holder.cell_contents, len(names)))


def _bases(holder: type, names: Names, same: Same) -> Check:
    return lambda _: same(repeat(bases_of(holder), len(names)))


# ---- other steps ----


def _lacks(_: Any, names: tuple[str, ...], missing: frozenset[str]) -> Check:
    return lambda owner: instance_dict(owner).keys().isdisjoint(missing)


def _absent(holder: dict[Any, Any], _: Any, missing: frozenset[Any]) -> Check:
    return lambda _: holder.keys().isdisjoint(missing)


def _names(holder: dict[str, Any], names: tuple[str, ...], _: Any) -> Check:
    return lambda _: len(holder) == len(names) and all(map(is_, holder, names))


def _contents(holder: Any, is_weak: bytes, values: tuple[Any, ...]) -> Check:
    same = _same(values, is_weak)

    def holds(_: Any) -> bool:
        now = contents_of(holder, None)
        return len(now) == len(values) and same(now)

    return holds


def _empty(holder: Any, _name: Any, _: Any) -> Check:
    return lambda _: not len(holder)


def _call(holder: Callable[[], bool], _name: Any, _: Any) -> Check:
    return lambda _: holder()


_OF_MANY: Final[dict[str, Callable[[Any, Names, Same], Check]]] = {
    "attribute": _attributes,
    "bases": _bases,
    "cell": _cell,
    "index": _items,
    "item": _items,
    "part": _parts,
    "slot": _slots,
    "type": _type,
}
_OF_ONE: Final[dict[str, Callable[[Any, Any, Any], Check]]] = {
    "absent": _absent,
    "call": _call,
    "dict": _contents,
    "empty": _empty,
    "lacks": _lacks,
    "list": _contents,
    "names": _names,
}
