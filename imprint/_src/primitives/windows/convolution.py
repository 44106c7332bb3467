"""conv_general_dilated: windows of one operand, contracted with a kernel.

Dimension numbers map axes to batch, feature or spatial: `ConvDimensionNumbers`.
`lhs_dilation` puts zeros between the elements of the first operand, then `padding` puts them
around (or cuts); `rhs_dilation` spreads the kernel; windows start every `window_strides`. Of
feature groups, group g of the kernel's outputs sees group g of the features; of batch
groups, of the batch. The transpose in each operand is a convolution of the other two, and
one kind of group becomes the other. Precision: see `precision`.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PadContext, PaddedValue, PerSize
from imprint._src.core.primitive import (
    Avals,
    Case,
    Dims,
    Samples,
    ThreadedPrimitive,
    Values,
)
from imprint._src.core.tangents import UndefinedPrimal, Zero, is_zero, zero_of
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    NUMBERS,
    add_tangents,
    full,
    moveaxis,
)
from imprint._src.primitives.dot import accumulator, needs_threads
from imprint._src.primitives.elementwise.convert import cast as converted
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.precision import CanonicalPrecision, Precision
from imprint._src.primitives.shape import reshape, rev
from imprint._src.primitives.windows.windows import (
    ConvDimensionNumbers,
    ConvWindow,
    Pads,
    back_pads,
    check_padding,
    convolve,
    out_space,
)
from imprint._src.stablehlo import Builder, Value, windows
from imprint._src.stablehlo.windows import Convolution

Ints = tuple[int, ...]
NDArray = np.ndarray[Any, Any]


# ---- shapes ----


def _conv_aval(
    x: ShapedArray,
    y: ShapedArray,
    *,
    precision: CanonicalPrecision = None,
    preferred_element_type: DType | None = None,
    **params: Any,
) -> Avals:
    window = ConvWindow(**params)
    _check_numbers(x, y, window)
    _check_groups(x, y, window)
    if x.dtype != y.dtype:
        raise DTypeError(
            "conv_general_dilated: expected operands of one dtype, got "
            f"{x.dtype} and {y.dtype}. Convert one of them with `.astype(...)`."
        )
    dtype = x.dtype if preferred_element_type is None else preferred_element_type
    if dtype != x.dtype:
        _check_preferred(x.dtype, dtype)
    numbers = window.dimension_numbers
    shape = [0] * x.ndim
    batch, feature, *spatial = numbers.out_spec
    shape[batch] = x.shape[numbers.lhs_spec[0]] // window.batch_group_count
    shape[feature] = y.shape[numbers.rhs_spec[0]]
    for axis, n in zip(spatial, _out_space(x, y, window), strict=True):
        shape[axis] = n
    return (ShapedArray(tuple(shape), dtype, x.weak_type and y.weak_type),)


def _check_numbers(x: ShapedArray, y: ShapedArray, window: ConvWindow) -> None:
    """Check that each param has one entry for each axis."""
    every = list(range(x.ndim))
    specs = window.dimension_numbers
    if x.ndim != y.ndim or any(sorted(spec) != every for spec in specs):
        raise ShapeError(
            "conv_general_dilated: expected two operands of one rank, and "
            f"dimension_numbers that name each of their axes once, got {x} and {y} with "
            f"{specs}. For these ranks write dimension_numbers=None or strings such as "
            "('NCHW', 'OIHW', 'NCHW')."
        )
    count = x.ndim - 2
    steps = window.window_strides, window.lhs_dilation, window.rhs_dilation
    fits = all(len(s) == count and all(n > 0 for n in s) for s in steps)
    if not fits or len(window.padding) != count:
        raise ShapeError(
            f"conv_general_dilated: expected {count} positive window_strides, "
            f"lhs_dilation and rhs_dilation and {count} pairs of padding, one for each "
            f"spatial axis of {x}, got {steps[0]}, {steps[1]}, {steps[2]} and "
            f"{window.padding}."
        )


def _check_groups(x: ShapedArray, y: ShapedArray, window: ConvWindow) -> None:
    groups, batches = window.feature_group_count, window.batch_group_count
    numbers = window.dimension_numbers
    batch, features = (x.shape[i] for i in numbers.lhs_spec[:2])
    outputs, inputs = (y.shape[i] for i in numbers.rhs_spec[:2])
    fits = (
        groups > 0
        and batches > 0
        and 1 in (groups, batches)
        and dims.equal(features, inputs * groups)
        and _divides(groups * batches, outputs)
        and _divides(batches, batch)
    )
    if not fits:
        raise ShapeError(
            "conv_general_dilated: expected as many features of the first operand as "
            "feature_group_count times the input features of the kernel, and group "
            "counts (one of them 1) that divide the output features of the kernel and "
            f"the batch, got {features} features and a batch of {batch} in {x}, "
            f"{inputs} input features and {outputs} output features in {y}, "
            f"feature_group_count={groups}, batch_group_count={batches}. Look at "
            f"dimension_numbers={numbers}."
        )


def _divides(k: int, n: Dim) -> bool:
    return k == 1 or dims.divides(k, n)


def _check_preferred(dtype: DType, preferred: DType) -> None:
    def kind(d: DType) -> int:
        return 2 if dt.is_complex(d) else int(dt.is_floating(d))

    narrows = dt.bit_width(preferred) < dt.bit_width(dtype)
    if kind(dtype) > kind(preferred) or (not kind(dtype) and narrows):
        raise DTypeError(
            "conv_general_dilated: expected a preferred_element_type of the kind of "
            f"{dtype} and no narrower if that is an integer, got {preferred}. Convert "
            "the result with `.astype(...)`."
        )


def _out_space(x: ShapedArray, y: ShapedArray, window: ConvWindow) -> Shape:
    numbers = window.dimension_numbers
    sizes = out_space(
        tuple(x.shape[i] for i in numbers.lhs_spec[2:]),
        tuple(y.shape[i] for i in numbers.rhs_spec[2:]),
        window[:4],
    )
    if sizes is None:
        raise ShapeError(
            "conv_general_dilated: expected negative padding to cut no more than there "
            f"is, got padding={window.padding} for {x}. Cut less."
        )
    return sizes


# ---- reference ----


def _conv_reference(
    x: NDArray,
    y: NDArray,
    *,
    precision: CanonicalPrecision = None,
    preferred_element_type: DType | None = None,
    **params: Any,
) -> Values:
    out = preferred_element_type or x.dtype
    wide = accumulator(x.dtype, y.dtype, out)
    x = x if x.dtype == wide else converted(x, wide)
    y = y if y.dtype == wide else converted(y, wide)
    result = convolve(x, y, ConvWindow(**params))
    return (result if result.dtype == out else converted(result, out),)


# ---- lowering ----


def _conv_lower(
    b: Builder,
    x: Value,
    y: Value,
    *,
    precision: CanonicalPrecision = None,
    preferred_element_type: DType | None = None,
    **params: Any,
) -> tuple[Value, ...]:
    window = ConvWindow(**params)
    dtype = preferred_element_type or x.dtype
    avals = ShapedArray(x.shape, x.dtype), ShapedArray(y.shape, y.dtype)
    (out,) = _conv_aval(*avals, **params)
    if 0 in out.shape or 0 in x.shape or 0 in y.shape:  # no engine has empty windows
        return (b.full(out.shape, 0, dtype),)
    default = Precision.DEFAULT, Precision.DEFAULT
    chosen = default if precision is None or isinstance(precision, str) else precision
    config = Convolution(*window, precision=(chosen[0].name, chosen[1].name))
    if dt.is_complex(x.dtype):
        return (_lower_complex(b, (x, y), config, out.shape, dtype),)
    return (windows.convolution(b, x, y, config, out.shape, dtype),)


def _lower_complex(
    b: Builder, operands: tuple[Value, Value], config: Any, shape: Shape, dtype: DType
) -> Value:
    """Multiply complex numbers by three real convolutions: the CPU has a slow loop."""
    (a, c), (d, e) = ((b.real(v), b.imag(v)) for v in operands)
    part = dt.real_part_dtype(dtype)

    def product(x: Value, y: Value) -> Value:
        return windows.convolution(b, x, y, config, shape, part)

    shared = product(b.add(a, c), d)
    imag = product(a, b.subtract(e, d))
    real = product(c, b.add(d, e))
    return b.complex(b.subtract(shared, real), b.add(shared, imag))


# ---- derivatives ----


def _conv_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    (x, y), (tx, ty) = primals, tangents
    out = conv_general_dilated_p.bind1(x, y, **params)
    total: Any = zero_of(get_aval(out))
    if not dt.is_inexact(get_aval(out).dtype):
        return (out,), (total,)
    if not is_zero(tx):
        total = conv_general_dilated_p.bind1(tx, y, **params)
    if not is_zero(ty):
        total = add_tangents(total, conv_general_dilated_p.bind1(x, ty, **params))
    return (out,), (total,)


def _conv_transpose(
    cts: Values,
    operands: Values,
    *,
    precision: CanonicalPrecision = None,
    preferred_element_type: DType | None = None,
    **params: Any,
) -> tuple[Any, ...]:
    (ct,), (x, y) = cts, operands
    window = ConvWindow(**params)
    rest: dict[str, Any] = {} if precision is None else {"precision": precision}
    if preferred_element_type is not None:
        rest["preferred_element_type"] = preferred_element_type
    if isinstance(x, UndefinedPrimal):
        if isinstance(y, UndefinedPrimal):
            NOT_LINEAR()  # in each alone it is
        return _lhs_ct(ct, x.aval, y, window, rest), None
    return None, _rhs_ct(ct, x, y.aval, window, rest)


def _lhs_ct(
    ct: Any, x: ShapedArray, y: Any, window: ConvWindow, rest: dict[str, Any]
) -> Any:
    """Convolve the cotangent, its windows spread, with the kernel turned around."""
    lhs, rhs, out = window.dimension_numbers
    groups = window.feature_group_count * window.batch_group_count
    kernel = tuple(get_aval(y).shape[i] for i in rhs[2:])
    if groups > 1:  # the group moves from the kernel's outputs to its inputs
        y = _joined(_split(y, rhs[0], groups), rhs[0], rhs[1])
    y = _typed(rev(y, tuple(rhs[2:])), get_aval(ct).dtype)
    pads = back_pads(
        tuple(x.shape[i] for i in lhs[2:]),
        kernel,
        tuple(get_aval(ct).shape[i] for i in out[2:]),
        window[:4],
    )
    back = ConvWindow(
        window.lhs_dilation,
        pads,
        window.window_strides,
        window.rhs_dilation,
        ConvDimensionNumbers(out, (rhs[1], rhs[0], *rhs[2:]), lhs),
        groups,
    )
    found = conv_general_dilated_p.bind1(ct, y, **back._asdict(), **rest)
    found = _typed(found, x.dtype)
    if window.batch_group_count > 1:
        found = _joined(_split(found, lhs[1], groups), lhs[1], lhs[0])
    return found


def _rhs_ct(
    ct: Any, x: Any, y: ShapedArray, window: ConvWindow, rest: dict[str, Any]
) -> Any:
    """Convolve the operand with the cotangent as the kernel; the batch is summed over."""
    lhs, rhs, out = window.dimension_numbers
    aval = get_aval(ct)
    if dims.has_zero(aval.shape):
        return Zero(y)
    padding: list[tuple[Dim, Dim]] = []
    for i, axis in enumerate(rhs[2:]):
        length = dims.dilated(get_aval(x).shape[lhs[2:][i]], window.lhs_dilation[i])
        extent = dims.dilated(y.shape[axis], window.rhs_dilation[i])
        spread = dims.dilated(aval.shape[out[2:][i]], window.window_strides[i])
        low = window.padding[i][0]
        padding.append((low, spread - length + extent - low - 1))
    swapped = [(spec[1], spec[0], *spec[2:]) for spec in (lhs, out, rhs)]
    back = ConvWindow(
        window.rhs_dilation,
        tuple(padding),
        window.lhs_dilation,
        window.window_strides,
        ConvDimensionNumbers(*swapped),
        window.batch_group_count,
        window.feature_group_count,
    )
    x = _typed(x, aval.dtype)
    found = conv_general_dilated_p.bind1(x, ct, **back._asdict(), **rest)
    return _typed(found, y.dtype)


def _typed(x: Any, dtype: DType) -> Any:
    return x if get_aval(x).dtype == dtype else convert_element_type(x, dtype)


def _split(x: Any, axis: int, groups: int) -> Any:
    """Split an axis in two: the group, and the index in it."""
    shape = get_aval(x).shape
    parts = groups, shape[axis] // groups
    return reshape(x, (*shape[:axis], *parts, *shape[axis + 1 :]))


def _joined(x: Any, source: int, target: int) -> Any:
    """Make an axis the outer part of another, which is counted without it."""
    x = moveaxis(x, source, target)
    shape = get_aval(x).shape
    size = shape[target] * shape[target + 1]
    return reshape(x, (*shape[:target], size, *shape[target + 2 :]))


# ---- batching ----


def _conv_batch(args: Values, at: Dims, **params: Any) -> Any:
    (x, y), (bx, by) = args, at
    shapes = [list(get_aval(v).shape) for v in (x, y)]
    sizes = [s.pop(d) for s, d in zip(shapes, at, strict=True) if d is not None]
    size = sizes[0]
    if dims.is_same(size, 0):
        avals = [
            get_aval(v).with_shape(tuple(s))
            for v, s in zip((x, y), shapes, strict=True)
        ]
        (out,) = conv_general_dilated_p.out_avals(tuple(avals), params)
        return (full((0, *out.shape), 0, out.dtype),), (0,)
    if by is None:
        assert bx is not None
        return _batched_lhs(x, y, bx, size, params)
    if bx is None:
        return _batched_rhs(x, y, by, size, params)
    return _batched_both(x, y, (bx, by), size, params)


def _batched_both(
    x: Any, y: Any, at: tuple[int, int], size: Dim, params: dict[str, Any]
) -> Any:
    """Make the hidden axis a group."""
    lhs, rhs, out = params["dimension_numbers"]
    by_batch = params["batch_group_count"] > 1
    x = _joined(x, at[0], lhs[0] if by_batch else lhs[1])
    y = _joined(y, at[1], rhs[0])
    key = "batch_group_count" if by_batch else "feature_group_count"
    count = dims.concrete(params[key] * size, "conv_general_dilated: vmap of both")
    found = conv_general_dilated_p.bind1(x, y, **(params | {key: count}))
    return (_split(found, out[1], size),), (out[1],)


def _batched_lhs(x: Any, y: Any, bx: int, size: Dim, params: dict[str, Any]) -> Any:
    """Make the hidden axis a part of the batch, inside of its groups."""
    lhs, _, out = params["dimension_numbers"]
    x = _within(x, bx, lhs[0], params["batch_group_count"])
    found = conv_general_dilated_p.bind1(x, y, **params)
    return (_split(found, out[0], size),), (out[0],)


def _batched_rhs(x: Any, y: Any, by: int, size: Dim, params: dict[str, Any]) -> Any:
    """Make the hidden axis a part of the output features, inside of their groups."""
    _, rhs, out = params["dimension_numbers"]
    groups = params["feature_group_count"] * params["batch_group_count"]
    y = _within(y, by, rhs[0], groups)
    found = conv_general_dilated_p.bind1(x, y, **params)
    if groups == 1:
        return (_split(found, out[1], size),), (out[1],)
    parts = _split(_split(found, out[1], groups), out[1] + 1, size)
    return (_joined(parts, out[1], out[1] + 1),), (out[1],)


def _within(x: Any, source: int, target: int, groups: int) -> Any:
    """Merge an axis into another, between its groups and the index in them."""
    x = moveaxis(x, source, target)
    if groups > 1:
        shape = get_aval(x).shape
        n = shape[target + 1]
        x = _split(x, target + 1, groups)
        x = moveaxis(x, target, target + 1)
        sizes = groups * shape[target] * (n // groups)
        return reshape(x, (*shape[:target], sizes, *shape[target + 2 :]))
    return _joined(x, target, target)


# ---- conv_general_dilated ----


def _case(  # noqa: PLR0913 - the parts of a convolution
    x: Shape,
    y: Shape,
    specs: tuple[str, str, str],
    steps: tuple[Ints, Ints, Ints] = ((1,), (1,), (1,)),
    padding: Pads = ((0, 0),),
    *,
    features: int = 1,
    batches: int = 1,
    dtypes: tuple[str, str] | None = None,
    **params: Any,
) -> Case:
    strides, lhs_dilation, rhs_dilation = steps
    pairs = "NC", "OI", "NC"
    numbers = [
        tuple(map(spec.index, (*pair, *(c for c in specs[1] if c not in "OI"))))
        for spec, pair in zip(specs, pairs, strict=True)
    ]
    window = ConvWindow(
        strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        ConvDimensionNumbers(*numbers),
        features,
        batches,
    )
    return Case((x, y), window._asdict() | params, dtypes)


def _have_names(x: PaddedValue, x_axis: int, y: PaddedValue, y_axis: int) -> bool:
    return bool(x.padded_axes((x_axis,)) or y.padded_axes((y_axis,)))


_GROUPED: Final = PerSize("its features or its batch are in groups")


def _conv_pad(
    bucket: PadContext, x: PaddedValue, y: PaddedValue, **params: Any
) -> Values:
    """Fill contracted axes with zeros: features, and axes along which windows move."""
    check_padding(params["padding"])
    numbers: ConvDimensionNumbers = params["dimension_numbers"]
    x_spec, y_spec = numbers.lhs_spec, numbers.rhs_spec
    batch, features, outputs = x_spec[0], x_spec[1], y_spec[0]
    if params["feature_group_count"] > 1 and _have_names(x, features, y, outputs):
        _GROUPED()
    if params["batch_group_count"] > 1 and _have_names(x, batch, y, outputs):
        _GROUPED()
    filled = bucket.filled(x, 0, x_spec[1:]), bucket.filled(y, 0, y_spec[1:])
    return bucket.bind_all(*filled, **params)


_PLAIN: Final = "NCH", "OIH", "NCH"
_TWO: Final = ((1, 1), (1, 1), (1, 1))


def _conv_is_large(x: NDArray, y: NDArray, **params: Any) -> bool:
    window = ConvWindow(**{k: v for k, v in params.items() if k in ConvWindow._fields})
    features = y.shape[window.dimension_numbers.rhs_spec[0]]
    inner = y.size // max(1, features)
    places = x.size // max(1, x.shape[window.dimension_numbers.lhs_spec[1]])
    return needs_threads(features, places, inner)


conv_general_dilated_p: Final = ThreadedPrimitive(
    name="conv_general_dilated",
    is_large=_conv_is_large,
    aval=_conv_aval,
    reference=_conv_reference,
    lower=_conv_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_conv_jvp,
    transpose=_conv_transpose,
    batch=_conv_batch,
    pad=_conv_pad,
    samples=Samples(
        (*NUMBERS, "bool"),
        cases=(
            _case((2, 3, 5), (2, 3, 2), _PLAIN),
            _case(
                (2, 6, 3),
                (2, 4, 3),
                ("NHC", "HOI", "CNH"),
                ((2,), (2,), (2,)),
                ((2, -1),),
            ),
            _case(
                (2, 4, 5), (4, 2, 3), _PLAIN, ((2,), (1,), (1,)), ((1, 1),), features=2
            ),
            _case((4, 5, 2), (2, 2, 4), ("NHC", "HIO", "HNC"), batches=2),
            _case(
                (1, 2, 4, 3),
                (2, 2, 3, 2),
                ("NCHW", "OIWH", "NCHW"),
                _TWO,
                ((1, 0), (0, 1)),
            ),
            _case((2, 3), (3, 4), ("NC", "IO", "NC"), ((), (), ()), ()),
            _case((0, 2, 4), (3, 2, 2), _PLAIN),
            _case((2, 0, 4), (3, 0, 2), _PLAIN),
            _case((2, 2, 2), (3, 2, 4), _PLAIN),
            _case(
                (1, 2, 4),
                (2, 2, 2),
                _PLAIN,
                dtypes=("bfloat16", "bfloat16"),
                preferred_element_type=np.dtype(np.float32),
                precision=(Precision.HIGHEST, Precision.DEFAULT),
            ),
        ),
        ulps=16,
        finite=True,
    ),
)
