"""Bessel functions, elementwise on floats.

The modified ones of the first kind, scaled by exp(-|x|), are Chebyshev series: of the
function up to 8, and of its product with the root of x from there on. The coefficients are
those of series in 60 nodes, computed in 80 bits.
bessel_jn has all orders up to one, by recurrence from far above downwards, where it is
stable, scaled so that their sum is 1 (Miller's algorithm); each step divides by its result,
so nothing overflows. The derivatives are neighbouring orders.
"""

import math
from typing import Any, Final

import numpy as np

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import AS_IS
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
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
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import gt, lt
from imprint._src.primitives.elementwise.exponential import exp, sqrt, square
from imprint._src.primitives.elementwise.rounding import abs_, sign
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import FLOATING, unary, wide, wide_slope
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.special.closed_forms import (
    Term,
    in_program,
    on_host,
    scipy_special,
)
from imprint._src.primitives.special.polynomials import polynomial
from imprint._src.stablehlo import Builder, Value

# fmt: off
_NEAR: Final = (
    0.33839763720473803, -0.3046826723431984, 0.17162090152220877,
    -0.09490109704804764, 0.04930528423967071, -0.02373741480589947,
    0.010546460394594998, -0.004324309995050576, 0.0016394756169413357,
    -0.0005763755745385824, 0.00018850288509584178, -5.75419501008211e-05,
    1.644844807072888e-05, -4.4167383584586955e-06, 1.117387539120127e-06,
    -2.670793853940926e-07, 6.046995022546998e-08, -1.3000250099903307e-08,
    2.6598237246952046e-09, -5.189795601225299e-10, 9.675809025347082e-11,
    -1.7268262729391744e-11, 2.9550524606863453e-12, -4.856440752292144e-13,
    7.676150839096285e-14, -1.168515696529926e-14, 1.7153542041653536e-15,
    -2.4305102201693796e-16, 3.3037447199254126e-17,
)
_FAR: Final = (
    0.4022452055070544, 0.003369116478255694, 6.889758346916826e-05,
    2.8913705208347757e-06, 2.0489185894692743e-07, 2.2666689904902004e-08,
    3.3962320256490032e-09, 4.940602388683358e-10, 1.1889147085992862e-11,
    -3.14991652887294e-11, -1.3215811755679039e-11, -1.7941785761443086e-12,
    7.18012442398631e-13, 3.8527788182752867e-13, 1.5400835265642435e-14,
    -4.1505704942145877e-14, -9.554820765607838e-15, 3.811620254088229e-15,
    1.7726280874287108e-15, -3.4252295733524137e-16, -2.828023911693086e-16,
    3.4703504537640186e-17, 4.4537218242083716e-17,
)
# fmt: on


def _chebyshev(f: Any, coefficients: tuple[float, ...], x: Any) -> Any:
    """Return the series at x, by Clenshaw's recurrence, as precise as the dtype."""
    kept = [c for c in coefficients if abs(c) > f.eps / 32]
    first: Any = 0.0
    second: Any = 0.0
    for c in reversed(kept[1:]):
        first, second = 2 * x * first - second + c, first
    return x * first - second + kept[0]


def _i0e(f: Any, x: Any) -> Any:
    size = f.abs(x)
    near = _chebyshev(f, _NEAR, size / 4 - 1)
    far = _chebyshev(f, _FAR, 16 / size - 1) / f.sqrt(size)
    return f.where(size <= 8, near, far)


def _far_slope(order: int, x: Any) -> tuple[Any, Any]:
    """Return where `|x|` is large, and the slope there by the series of DLMF 10.40."""
    is_short = get_aval(x).dtype.itemsize <= 4
    bound, count = (16.0, 10) if is_short else (32.0, 17)
    size = abs_(x)
    is_far = gt(size, scalar_like(x, bound))
    inverse = div(scalar_like(x, 1), select_n(is_far, scalar_like(x, bound), size))
    term, terms = -1 / math.sqrt(2 * math.pi), list[float]()
    for k in range(count):
        terms.append(term * (k + 0.5))
        term *= ((2 * k + 1) ** 2 - 4 * order**2) / (8 * (k + 1))
    series = polynomial(inverse, [scalar_like(x, c) for c in terms])
    return is_far, mul(mul(inverse, sqrt(inverse)), series)


def _i0e_derivative(x: Any, out: Any) -> Any:
    is_far, far = _far_slope(0, x)
    near = sub(bessel_i1e(x), mul(sign(x), out))
    return select_n(is_far, near, mul(sign(x), far))


bessel_i0e_p: Final = unary(
    "bessel_i0e",
    dtypes=FLOATING,
    reference=wide(lambda x: scipy_special().i0e(x)),
    lower=lambda b, x: in_program(_i0e, b, x),
    fusion=UNFUSED,
    makes_nan=True,
    derivative=_i0e_derivative,
    samples=Samples(FLOATS, arity=1, edges=(8.0, 9.0, 100.0), ulps=16),
)


def bessel_i0e(x: Any) -> Any:
    """Return the modified Bessel function of order 0 times `exp(-|x|)`, elementwise.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        DLMF 10.25; SciPy, `scipy.special.i0e`.
    """
    return bessel_i0e_p.bind1(x)


def _i1e_derivative(x: Any, out: Any) -> Any:
    is_far, far = _far_slope(1, x)
    is_near = lt(abs_(x), scalar_like(x, 1))
    near_x = select_n(is_near, scalar_like(x, 0), x)
    # The slope of the function that is not scaled, by its series.
    quarter = mul(scalar_like(x, 0.25), square(near_x))
    terms = [(k + 0.5) / math.factorial(k) / math.factorial(k + 1) for k in range(10)]
    slope = polynomial(quarter, [scalar_like(x, c) for c in terms])
    near = mul(exp(neg(abs_(near_x))), slope)
    safe = select_n(is_near, x, scalar_like(x, 1))
    near = select_n(is_near, sub(bessel_i0e(safe), div(out, safe)), near)
    return select_n(is_far, sub(near, mul(sign(x), out)), far)


bessel_i1e_p: Final = unary(
    "bessel_i1e",
    dtypes=FLOATING,
    reference=wide(lambda x: np.copysign(scipy_special().i1e(x), x)),
    lower=lambda b, x: b.bessel_i1e(x),
    fusion=UNFUSED,
    makes_nan=True,
    derivative=lambda x, out: wide_slope(_i1e_derivative, bessel_i1e, x, out),
    samples=Samples(FLOATS, arity=1, edges=(8.0, 9.0, 100.0), ulps=16),
)


def bessel_i1e(x: Any) -> Any:
    """Return the modified Bessel function of order 1 times `exp(-|x|)`, elementwise.

    Args:
        x: floats.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        DLMF 10.25; SciPy, `scipy.special.i1e`.
    """
    return bessel_i1e_p.bind1(x)


# ---- bessel_jn ----


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
    return bessel_jn_p.bind_all(z, **params), (dim + 1,)


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
