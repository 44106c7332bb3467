"""Bessel functions of the first kind: all orders up to one, along a new first axis.

They are the recurrence of three orders, run downward from order `n_iter` and scaled so that
their sum is 1 (Miller's algorithm); each step divides by what it made, so nothing overflows.
The derivatives are orders beside.
"""

from typing import Any, Final

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import AS_IS
from imprint._src.core.primitive import Avals, Dims, Primitive, Values
from imprint._src.core.samples import Case, Samples
from imprint._src.core.tangents import is_zero, zero_of
from imprint._src.primitives.core_ops import (
    FLOATS,
    NOT_LINEAR,
    broadcast_in_dim,
    mul,
    neg,
    scalar_like,
    sub,
)
from imprint._src.primitives.families import FLOATING
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.special.closed_forms import Term, in_program, on_host
from imprint._src.stablehlo import Builder, Value


def _orders(f: Any, z: Any, v: int, n_iter: int) -> list[Any]:
    """Return the functions of order 0 to v."""
    place = f.where(f.equal(z, 0.0), 1.0, z)

    def before(k: Any, above: Any, here: Any) -> tuple[Any, Any]:
        """Return the scale, and the function of order k, of those of k + 1 and k + 2."""
        below = here * ((k + 1) * 2) / place - above
        scale = f.where(f.abs(below) > 1, 1 / f.abs(below), 1.0)
        return scale, below * scale

    def step(n: Any, above: Any, here: Any, total: Any) -> Any:
        k = n_iter + 1 - n
        half = k * 0.5
        scale, below = before(k, above, here)
        even = f.where(f.equal(half, f.floor(half)), 2 * below, 0.0)
        return f.equal(z, z), here * scale, below, total * scale + even

    above, here, total = f.loop(n_iter - v, step, 0.0 * place, 1e-16, 0.0)
    found: list[tuple[Any, Any]] = []
    for k in range(v, -1, -1):
        scale, below = before(float(k), above, here)
        above, here, total = here * scale, below, total * scale
        if k % 2 == 0:
            total = total + (below if k == 0 else 2 * below)
        found.append((scale, below))
    factor = 1 / total
    orders: list[Any] = []
    for k, (scale, value) in enumerate(reversed(found)):
        at_0 = 1.0 if k == 0 else 0.0
        orders.append(f.where(f.equal(z, 0.0), at_0, value * factor))
        factor = factor * scale
    return orders


def _jn_aval(z: ShapedArray, *, v: int, n_iter: int) -> Avals:
    FLOATING.check("bessel_jn", (z,))
    return (z.with_shape((v + 1, *z.shape)),)


def _jn_reference(z: Any, *, v: int, n_iter: int) -> Values:
    def written(f: Any, x: Any) -> Any:
        return _orders(f, x, v, n_iter)

    return (on_host(written, z),)


def _jn_lower(b: Builder, z: Value, *, v: int, n_iter: int) -> tuple[Value, ...]:
    def written(f: Any, x: Any) -> Any:
        orders = [y.value for y in _orders(f, x, v, n_iter)]
        rows = [b.reshape(y, (1, *y.shape)) for y in orders]
        return Term(f, b.concatenate(rows, 0))

    return (in_program(written, b, z),)


def _jn_jvp(primals: Values, tangents: Values, *, v: int, n_iter: int) -> Any:
    (z,), (t,) = primals, tangents
    if is_zero(t):
        out = bessel_jn(z, v, n_iter)
        return (out,), (zero_of(get_aval(out)),)
    more = bessel_jn(z, v + 1, max(n_iter, v + 1))
    shape = get_aval(z).shape
    slope = neg(slice_in_dim(more, 1, 2))
    if v:
        beside = sub(slice_in_dim(more, 0, v), slice_in_dim(more, 2, v + 2))
        slope = concatenate([slope, mul(beside, scalar_like(beside, 0.5))], 0)
    repeated = broadcast_in_dim(t, (v + 1, *shape), tuple(range(1, len(shape) + 1)))
    return (slice_in_dim(more, 0, v + 1),), (mul(repeated, slope),)


def _jn_batch(args: Values, at: Dims, **params: int) -> Any:
    (z,), (dim,) = args, at
    assert dim is not None
    return bessel_jn_p.bind(z, **params), (dim + 1,)


bessel_jn_p: Final = Primitive(
    name="bessel_jn",
    aval=_jn_aval,
    reference=_jn_reference,
    lower=_jn_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_jn_jvp,
    transpose=NOT_LINEAR,
    batch=_jn_batch,
    pad=AS_IS,
    samples=Samples(
        FLOATS,
        cases=(
            Case(((3,),), {"v": 0, "n_iter": 40}),
            Case(((),), {"v": 3, "n_iter": 40}),
            Case(((2, 2),), {"v": 1, "n_iter": 41}),
            Case(((0,),), {"v": 2, "n_iter": 30}),
        ),
        domain=(0.5, 8.0),
        finite=True,
        ulps=512,
    ),
)


def bessel_jn(z: Any, v: int, n_iter: int) -> Any:
    """Return the Bessel functions of order 0 to `v`, elementwise, along a first axis."""
    return bessel_jn_p.bind1(z, v=v, n_iter=n_iter)
