"""tridiagonal_solve: solve with matrices given by their three diagonals.

All diagonals are as long as the matrix: the first element of the lower one and the last of
the upper one are not read. A singular matrix gives NaN; with `perturb_singular` its small
pivots are replaced by ones that are just large enough to divide by, which inverse iteration
needs. It is linear in the right-hand side.
"""

from typing import Any, Final

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import UndefinedPrimal, is_zero
from imprint._src.errors import ShapeError
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    add,
    add_tangents,
    broadcast_in_dim,
    instantiate,
    moveaxis,
    mul,
    neg,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.comparison import lt
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.slicing import pad
from imprint._src.primitives.linalg.lapack_calls import routine
from imprint._src.primitives.matrices import (
    DTYPES,
    batch_stack,
    check_alike,
    is_zero_info,
    nan_unless,
    stack_of,
    tame,
    without_padding,
    zeros_like,
)
from imprint._src.primitives.shape import broadcasted_iota, reshape
from imprint._src.stablehlo import Builder, Value, tensor
from imprint._src.stablehlo.custom_calls import kernel_call, lapack_call

NDArray = np.ndarray[Any, Any]

# ---- rules ----


def _aval(*avals: ShapedArray, perturb_singular: bool) -> Avals:
    check_alike("tridiagonal_solve", avals)
    stack_of("tridiagonal_solve", (1, 1, 1, 2), avals)
    *diagonals, b = avals
    for diagonal in diagonals:
        if not dims.equal(diagonal.shape[-1], b.shape[-2]):
            raise ShapeError(
                "tridiagonal_solve: expected three diagonals as long as the axis -2 of "
                f"the right-hand side, got {listed(avals)}. Pad the outer diagonals: the "
                "first of the lower and the last of the upper are not read."
            )
    return (b.with_dtype(b.dtype, weak_type=all(a.weak_type for a in avals)),)


def _reference(*arrays: NDArray, perturb_singular: bool) -> Values:
    b = arrays[-1]
    if not b.size:
        return (b,)
    stacks = [
        x.reshape(-1, *x.shape[x.ndim - r :])
        for x, r in zip(arrays, _RANKS, strict=True)
    ]
    solve = _perturbed if perturb_singular else _by_lapack
    outs = [solve(*one) for one in zip(*stacks, strict=True)]
    return (np.stack(outs).reshape(b.shape),)


_RANKS: Final = (1, 1, 1, 2)


def _by_lapack(dl: NDArray, d: NDArray, du: NDArray, b: NDArray) -> NDArray:
    if len(d) > 1:  # of one element SciPy wants outer diagonals of one
        dl, du = dl[1:], du[:-1]
    *_, out, info = routine("gtsv", b.dtype)(dl, d, du, b)
    return np.asarray(out) if info == 0 else np.full_like(b, np.nan * b.dtype.type(1))


def _perturbed(dl: NDArray, d: NDArray, du: NDArray, b: NDArray) -> NDArray:
    """Solve by elimination, with the larger of two rows on top, then from below."""
    n = len(d)
    rows = np.zeros((n, 3), d.dtype)  # the rest of a row from the diagonal on
    rows[:, 0] = d
    rows[:-1, 1] = du[:-1]
    out = b.copy()
    for i in range(n - 1):
        below = np.array([dl[i + 1], *rows[i + 1, :2]], d.dtype)
        if abs(below[0]) > abs(rows[i, 0]):
            rows[i], below = below, rows[i].copy()
            out[[i, i + 1]] = out[[i + 1, i]]
        factor = below[0] / rows[i, 0] if rows[i, 0] else d.dtype.type(0)
        rows[i + 1, :2] = (below - factor * rows[i])[1:]
        out[i + 1] -= factor * out[i]
    limits = np.finfo(d.dtype)
    smallest = max(limits.eps * np.abs(rows).max(), limits.tiny)
    pivots = rows[:, 0]
    tiny = np.abs(pivots) < smallest
    pivots[tiny] = np.where(pivots[tiny].real < 0, -smallest, smallest)
    for i in reversed(range(n)):
        for k in range(1, min(3, n - i)):
            out[i] -= rows[i, k] * out[i + k]
        out[i] /= pivots[i]
    return out


def _lower(b: Builder, *values: Value, perturb_singular: bool) -> tuple[Value, ...]:
    types = [x.type for x in values]
    sides = types[-1]
    if dims.has_zero(sides.shape):
        return (values[-1],)
    stack = sides.shape[:-2]
    if perturb_singular:
        name = "tridiagonal_solve_perturbed_ffi"
        return kernel_call(b, name, values, [sides], stack=len(stack))
    types.append(tensor(stack, np.dtype(np.int32)))
    aliases = {i: i for i in range(4)}
    *_, out, info = lapack_call(
        b, "gtsv", (*values,), types, stack=len(stack), aliases=aliases
    )
    return (nan_unless(b, is_zero_info(b, info), out),)


def _jvp(primals: Values, tangents: Values, **params: bool) -> Any:
    *diagonals, _ = primals
    *moved, t = tangents
    out = tridiagonal_solve_p.bind1(*primals, **params)
    if not all(map(is_zero, moved)):
        dl, d, du = map(instantiate, moved)
        t = add_tangents(t, neg(_multiplied(dl, d, du, out)))
    if is_zero(t):
        return (out,), (t,)
    return (out,), (tridiagonal_solve_p.bind1(*diagonals, t, **params),)


def _multiplied(dl: Any, d: Any, du: Any, x: Any) -> Any:
    """Return the product of a tridiagonal matrix and others."""
    shape = get_aval(x).shape
    rows = len(shape) - 2

    def times(diagonal: Any, y: Any) -> Any:
        return mul(broadcast_in_dim(diagonal, shape, tuple(range(rows + 1))), y)

    above, below = (_shifted(x, rows, by) for by in (1, -1))
    return add(times(d, x), add(times(dl, above), times(du, below)))


def _shifted(x: Any, axis: int, by: int) -> Any:
    """Shift elements by one place, with zero at the end."""
    config = [(0, 0, 0)] * get_aval(x).ndim
    config[axis] = (by, -by, 0)
    return pad(x, scalar_like(x, 0), config)


def _transpose(cts: Values, operands: Values, **params: bool) -> Values:
    (ct,), (dl, d, du, _) = cts, operands
    if any(isinstance(x, UndefinedPrimal) for x in (dl, d, du)):
        NOT_LINEAR()  # in the right-hand side it is
    if is_zero(ct):
        return None, None, None, ct
    axis = get_aval(d).ndim - 1
    turned = _shifted(du, axis, 1), d, _shifted(dl, axis, -1)
    return None, None, None, tridiagonal_solve_p.bind1(*turned, ct, **params)


def _batch(args: Values, at: Dims, **params: bool) -> Any:
    *diagonals, b = args
    *theirs, bb = at
    if bb is None or any(d is not None for d in theirs):
        return batch_stack(tridiagonal_solve_p, args, at, **params)
    # One matrix for all right-hand sides: they are more columns of one.
    last = get_aval(b).ndim - 1
    sides = moveaxis(b, bb, last)
    shape = get_aval(sides).shape
    flat = reshape(sides, (*shape[:-2], shape[-2] * shape[-1]))
    out = tridiagonal_solve_p.bind1(*diagonals, flat, **params)
    return (reshape(out, shape),), (last,)


def _pad(
    bucket: PadContext,
    dl: PaddedValue,
    d: PaddedValue,
    du: PaddedValue,
    b: PaddedValue,
    **params: bool,
) -> Values:
    """Let each equation behind the true ones be of its own unknown, which is 0."""
    dl, b = without_padding(bucket, (dl, 1), (b, 2))
    axis = d.aval.ndim - 1
    upper = du.value
    if du.padded_axes((axis,)):  # the last row now has an element there
        n = bucket.number(du.aval.shape[axis])
        lengths = bucket.bound(du.aval.shape)
        place = broadcasted_iota(np.int32, lengths, axis)
        inside = lt(place, sub(n, np.int32(1)))
        upper = select_n(inside, zeros_like(upper), upper)
    return bucket.bind_all(dl, bucket.filled(d, 1, (axis,)), upper, b, **params)


def _fit(dl: NDArray, d: NDArray, du: NDArray, b: NDArray, **_: bool) -> Values:
    small, other = (tame(x) / x.dtype.type(32) for x in (dl, du))
    return small, tame(d) / d.dtype.type(16) + d.dtype.type(1), other, tame(b)


def _case(stack: tuple[int, ...], n: int, m: int, *, perturb: bool = False) -> Case:
    shapes = (*((*stack, n),) * 3, (*stack, n, m))
    return Case(shapes, {"perturb_singular": perturb})


tridiagonal_solve_p: Final = Primitive(
    name="tridiagonal_solve",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    pad=_pad,
    samples=Samples(
        DTYPES,
        cases=(
            _case((), 4, 2),
            _case((2,), 3, 1),
            _case((), 4, 2, perturb=True),
            _case((), 1, 2),
            _case((), 0, 2),
            _case((0,), 3, 2),
        ),
        ulps=64,
        fit=_fit,
    ),
)


def tridiagonal_solve(
    dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False
) -> Any:
    """Solve with matrices of which three diagonals are given.

    Args:
        dl: the lower diagonal, as long as `d`: its first element is not read.
        d: the diagonal.
        du: the upper diagonal, as long as `d`: its last element is not read.
        b: the right-hand sides, as columns.
        perturb_singular: whether a singular matrix gets pivots that are not zero.

    Returns:
        The solutions, of the shape of `b`; NaN for a singular matrix.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> ones, b = np.ones(3), np.array([[3.0], [4.0], [3.0]])
        >>> lax.linalg.tridiagonal_solve(ones, 2 * ones, ones, b)[:, 0]
        Array([1., 1., 1.], dtype=float32)
    """
    params = {"perturb_singular": bool(perturb_singular)}
    return tridiagonal_solve_p.bind1(dl, d, du, b, **params)
