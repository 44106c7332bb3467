"""Differences of two avals.

An aval has a shape, a dtype, a weak type and a sharding. Shapes are compared axis by axis,
or as a whole where the axes were swapped or their number differs. Each remedy is an edit of
the call that gives the version's aval, or one that later calls share; `np` is
`imprint.numpy`.
"""

import re
from operator import ne
from typing import Any, Final

from imprint._src.config import config
from imprint._src.core.aval import ShapedArray
from imprint._src.jit.explain.explanation import Difference
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.single import SingleDeviceSharding, Uncommitted


def array_differences(
    name: str, old: ShapedArray, new: ShapedArray
) -> list[Difference]:
    """List the differences of an array from the argument of a version."""
    found = _shape(name, old, new)
    if old.dtype != new.dtype:
        remedy = _conversion(name, old, new)
        slot, before, after = f"{name}.dtype", old.dtype.name, new.dtype.name
        found.append(Difference("dtype", slot, before, after, remedy))
    elif old.weak_type != new.weak_type:
        found.append(_weak_type(name, old, new))
    if old.sharding != new.sharding:
        found.append(_device(name, old.sharding, new.sharding))
    return found


def count_differences(old: ShapedArray, new: ShapedArray) -> int:
    """Return the number of differences that `array_differences` lists."""
    count = old.dtype != new.dtype or old.weak_type != new.weak_type
    count += old.sharding != new.sharding
    lengths = sum(map(ne, lengths_of(old), lengths_of(new)))
    if old.ndim != new.ndim or _permutation(lengths_of(old), lengths_of(new)):
        lengths = 1
    return lengths + count


# ---- the shape ----


def _shape(name: str, old: ShapedArray, new: ShapedArray) -> list[Difference]:
    slot, before, after = f"{name}.shape", str(old.shape), str(new.shape)
    if old.ndim != new.ndim:
        return [Difference("rank", slot, before, after, _reshaping(name, old, new))]
    axes = _permutation(lengths_of(old), lengths_of(new))
    if axes:
        edit = f"{name}.T" if len(axes) == 2 else f"np.transpose({name}, {axes})"
        remedy = f"Transpose {name} before the call: `{edit}`."
        return [Difference("shape", slot, before, after, remedy)]
    return [
        Difference(
            "shape", f"{slot}[{axis}]", str(m), str(n), _padding(name, new, axis, m)
        )
        for axis, (m, n) in enumerate(
            zip(lengths_of(old), lengths_of(new), strict=True)
        )
        if m != n
    ]


def lengths_of(aval: ShapedArray) -> tuple[Any, ...]:
    """Return the lengths for comparison: symbolic ones as text."""
    return tuple([n if type(n) is int else str(n) for n in aval.shape])


def _permutation(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the axes of `new` in the order that gives `old`; empty if none does."""
    if old == new or sorted(old, key=str) != sorted(new, key=str):
        return ()
    rest = list(range(len(new)))
    axes: list[int] = []
    for length in old:
        axes.append(next(axis for axis in rest if new[axis] == length))
        rest.remove(axes[-1])
    return tuple(axes)


def _reshaping(name: str, old: ShapedArray, new: ShapedArray) -> str:
    if str(old.size) == str(new.size):
        return f"Reshape {name} before the call: `{name}.reshape({old.shape})`."
    if lengths_of(new) == lengths_of(old)[1:]:
        return f"Pass {name} always with its first axis; `{name}[None]` is one of length 1."
    if lengths_of(new)[1:] == lengths_of(old):
        return (
            f"Pass one {name} a call, or map over its first axis with `imprint.vmap`."
        )
    return f"Each number of axes compiles: pass {name} always with {old.ndim}."


def _padding(name: str, aval: ShapedArray, axis: int, other: Any) -> str:
    """Return the edit that gives an axis a length shared by other calls."""
    if f"{other} in reused memory" == str(aval.shape[axis]):
        return (
            f"{name} is in the memory of its bucket: zeros cannot be counted on there, "
            "so these calls share a second program."
        )
    if type(other) is not int or type(aval.shape[axis]) is not int:
        return "A program is compiled for each bucket of lengths."
    bucket, edit = padded(name, aval, axis, other)
    text = f"Pad axis {axis} of {name} to a multiple of {bucket}"
    text = f"{text}." if edit == name else f"{text}: `{edit}`."
    spec = None if config.generalise == "off" else _spec(name, axis)
    return text if spec is None else f"{text} Or name it: `abstracted_axes={spec}`."


def _spec(name: str, axis: int) -> str | None:
    """Return the `abstracted_axes` that name an axis of an argument, or None."""
    if _LEAF.fullmatch(name) is None:
        return None
    root, *steps = _STEP.findall(name)
    spec = f"{{{axis}: 'n'}}"
    for step in reversed(steps):
        if step.startswith("."):
            spec = f"{{{step[1:]!r}: {spec}}}"
        elif step[1:-1].isdecimal():
            before = int(step[1:-1])
            spec = f"({'None, ' * before}{spec}{'' if before else ','})"
        else:
            spec = f"{{{step[1:-1]}: {spec}}}"
    return f"{{{root!r}: {spec}}}"


_STEP: Final = re.compile(r"^\w+|\.\w+|\[\d+\]|\['[^']*'\]")
_LEAF: Final = re.compile(r"\w+(\.\w+|\[\d\]|\['[^']*'\])*")


def padded(name: str, aval: ShapedArray, axis: int, other: int) -> tuple[int, str]:
    """Return the multiple to pad an axis to, and the expression that pads it.

    Args:
        name: the array.
        aval: its aval.
        axis: the axis.
        other: its length in another call.
    """
    bucket = _bucket(aval.shape[axis], other)
    missing = -aval.shape[axis] % bucket
    if not missing:
        return bucket, name
    widths = ", ".join(f"(0, {missing * (i == axis)})" for i in range(aval.ndim))
    return bucket, f"np.pad({name}, [{widths}])"


def _bucket(m: int, n: int) -> int:
    """Return the power of two to pad to: a quarter of the larger length, at most 64."""
    quarter = max(m, n) // 4
    return min(64, max(2, 1 << quarter.bit_length()))


# ---- the dtype ----


def _conversion(name: str, old: ShapedArray, new: ShapedArray) -> str:
    dtype = old.dtype.name
    is_bool = old.weak_type and new.shape == () and new.dtype.kind == "b"
    if not (new.weak_type or is_bool):  # True and False have no weak type
        return f"Convert {name} with `.astype('{dtype}')` before the call."
    if not old.weak_type:
        return f"Pass {name} always as an array: `np.array({name}, '{dtype}')`."
    if old.dtype.kind == new.dtype.kind:
        return "Set enable_x64 once, before the first call."
    kind = _PYTHON.get(old.dtype.kind, "complex")
    return f"Pass {name} always as {kind}: `{kind}({name})`."


_PYTHON: Final = {"b": "bool", "i": "int", "f": "float"}


def _weak_type(name: str, old: ShapedArray, new: ShapedArray) -> Difference:
    dtype = new.dtype.name
    made = f"`np.array({name}, '{dtype}')`"
    remedy = f"Pass {name} always as an array: {made}."
    if old.weak_type and old.shape == new.shape == ():
        number = f"`{_PYTHON.get(new.dtype.kind, 'complex')}({name})`"
        remedy = f"Pass {name} always as a number, {number}, or as an array, {made}."
    elif old.shape == new.shape != ():
        remedy = f"Give {name} its dtype always: {made}."
    strong = f"of dtype {dtype}" if old.shape == new.shape != () else "an array"
    before, after = _strength(old, strong), _strength(new, strong)
    return Difference("weak type", name, before, after, remedy)


def _strength(aval: ShapedArray, strong: str) -> str:
    if not aval.weak_type:
        return strong
    return "made of Python numbers" if aval.shape else "a Python number"


# ---- the sharding ----


def _device(name: str, old: object, new: object) -> Difference:
    """Return the difference of device, or of commitment to it."""
    if isinstance(old, NamedSharding) and isinstance(new, NamedSharding):
        return _spread(name, old, new)
    before, after = _place(old), _place(new)
    held = "committed to "
    if before.startswith(held):
        after = after.removeprefix(held)
    remedy = (
        f"Put {name} on the same device before each call, with "
        f"`imprint.device_put({name}, device)`, or name none for any."
    )
    return Difference("device", name, before, after, remedy)


def _spread(name: str, old: NamedSharding, new: NamedSharding) -> Difference:
    """Return the difference of two shardings over a mesh."""
    before, after = repr(old.spec), repr(new.spec)
    if old.mesh != new.mesh:
        before, after = f"{before} over {old.mesh!r}", f"{after} over {new.mesh!r}"
    remedy = (
        f"Spread {name} alike before each call, with `imprint.device_put({name}, "
        f"imprint.NamedSharding(mesh, {old.spec!r}))`, or say it in in_shardings."
    )
    return Difference("sharding", name, before, after, remedy)


def _place(sharding: object) -> str:
    if isinstance(sharding, SingleDeviceSharding):
        return f"committed to {sharding.device}"
    if isinstance(sharding, NamedSharding):
        return f"{sharding.spec!r} over {sharding.mesh!r}"
    if isinstance(sharding, Uncommitted):
        return f"uncommitted on {sharding.device}"
    return "uncommitted"
