"""The file of each name of `imprint.numpy` that loads lazily.

`imprint.numpy` lists the same names as imports for type checkers; a test keeps both
equal.
"""

from typing import Final

LAZY: Final[dict[str, str]] = {
    "imprint._src.numpy.datatypes": (
        "ComplexWarning astype bfloat16 bool_ can_cast cdouble character complex128 "
        "complex64 complex_ complexfloating csingle double dtype e euler_gamma "
        "finfo flexible float16 float32 float4_e2m1fn float64 float6_e2m3fn "
        "float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn "
        "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float_ floating "
        "generic half iinfo inexact inf int16 int2 int32 int4 int64 int8 int_ "
        "integer iscomplexobj isdtype isrealobj isscalar issubdtype nan ndarray "
        "ndim newaxis number object_ pi promote_types result_type shape "
        "signedinteger single size uint uint16 uint2 uint32 uint4 uint64 uint8 "
        "unsignedinteger"
    ),
    "imprint._src.numpy.elementwise.arithmetic": (
        "abs absolute add divide divmod fabs floor_divide fmod maximum minimum mod "
        "multiply negative nextafter positive reciprocal remainder sign square "
        "subtract true_divide"
    ),
    "imprint._src.numpy.elementwise.bitwise": (
        "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not "
        "bitwise_or bitwise_right_shift bitwise_xor invert left_shift packbits "
        "right_shift unpackbits"
    ),
    "imprint._src.numpy.elementwise.comparison": (
        "allclose array_equal array_equiv copysign equal fmax fmin greater "
        "greater_equal heaviside isclose iscomplex isfinite isinf isnan isneginf "
        "isposinf isreal less less_equal logical_and logical_not logical_or "
        "logical_xor not_equal signbit"
    ),
    "imprint._src.numpy.creation": (
        "array asarray copy empty empty_like from_dlpack full full_like ones "
        "ones_like zeros zeros_like"
    ),
    "imprint._src.numpy.reductions.cumulative": (
        "cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum"
    ),
    "imprint._src.numpy.elementwise.exponential": (
        "cbrt exp exp2 expm1 float_power log log10 log1p log2 logaddexp logaddexp2 "
        "pow power sqrt"
    ),
    "imprint._src.numpy.indexing.indexing": "getitem",
    "imprint._src.numpy.inspection": "__array_api_version__ __array_namespace_info__ bool",
    "imprint._src.numpy.shapes.concatenate": (
        "append block column_stack concat concatenate dstack flip fliplr flipud "
        "hstack resize rot90 stack tile vstack"
    ),
    "imprint._src.numpy.linear": (
        "cross dot inner kron matmul matvec outer tensordot vdot vecdot vecmat"
    ),
    "imprint._src.numpy.matrices": (
        "diag diagflat diagonal eye fill_diagonal identity trace tri tril triu vander"
    ),
    "imprint._src.numpy.indexing.index_tricks": (
        "c_ diag_indices diag_indices_from index_exp ix_ mgrid ogrid r_ "
        "ravel_multi_index s_ tril_indices tril_indices_from triu_indices "
        "triu_indices_from unravel_index"
    ),
    "imprint._src.numpy.ranges": "arange geomspace indices linspace logspace meshgrid",
    "imprint._src.numpy.reductions.reductions": (
        "all amax amin any count_nonzero max min nanmax nanmin nanprod nansum prod "
        "ptp sum"
    ),
    "imprint._src.numpy.elementwise.rounding": (
        "around ceil conj conjugate fix floor imag modf real rint round trunc"
    ),
    "imprint._src.numpy.sorting.searching": "argmax argmin nanargmax nanargmin",
    "imprint._src.numpy.elementwise.selection": "clip nan_to_num piecewise select where",
    "imprint._src.numpy.shapes.reshape": (
        "array_split atleast_1d atleast_2d atleast_3d broadcast_arrays "
        "broadcast_shapes broadcast_to dsplit expand_dims hsplit matrix_transpose "
        "moveaxis permute_dims ravel reshape rollaxis split squeeze swapaxes "
        "transpose unstack vsplit"
    ),
    "imprint._src.numpy.reductions.statistics": "average mean nanmean nanstd nanvar std var",
    "imprint._src.numpy.elementwise.trigonometric": (
        "acos acosh angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin "
        "asinh atan atan2 atanh cos cosh deg2rad degrees hypot rad2deg radians sin "
        "sinc sinh tan tanh"
    ),
    "imprint._src.numpy.elementwise.ufunc": "frompyfunc ufunc",
    "imprint.numpy.fft": "",
    "imprint.numpy.linalg": "",
    "imprint._src.numpy.array_function": "numpy_function numpy_ufunc",
    "imprint._src.numpy.shapes.roll_repeat": "repeat roll",
    "imprint._src.numpy.shapes.view": "byteswap view",
    "imprint._src.numpy.indexing.advanced": "take_at",
    "imprint._src.numpy.indexing.take": (
        "flatnonzero nonzero places_of put_along_axis take take_along_axis"
    ),
    "imprint._src.numpy.shapes.padding": "pad pad_to trim_zeros",
    "imprint._src.numpy.indexing.compress": "argwhere choose compress extract mask_indices",
    "imprint._src.numpy.indexing.editing": "delete insert place put",
    "imprint._src.numpy.indexing.updating": "At",
    "imprint._src.numpy.convolving": "convolve correlate",
    "imprint._src.numpy.polynomial_factors": "poly polydiv polyfit polymul roots",
    "imprint._src.numpy.elementwise.divisors": "gcd lcm",
    "imprint._src.numpy.windows": "bartlett blackman hamming hanning i0 kaiser",
    "imprint._src.numpy.sorting.unique": (
        "unique unique_all unique_counts unique_inverse unique_values"
    ),
    "imprint._src.numpy.reductions.histograms": (
        "bincount histogram histogram2d histogram_bin_edges histogramdd"
    ),
    "imprint._src.numpy.interpolation": "interp",
    "imprint._src.numpy.sorting.searchsorted": "digitize searchsorted",
    "imprint._src.numpy.reductions.quantiles": (
        "median minmax nanmedian nanpercentile nanquantile percentile quantile"
    ),
    "imprint._src.numpy.sorting.sets": "intersect1d isin setdiff1d setxor1d union1d",
    "imprint._src.numpy.sorting.sorting": (
        "argpartition argsort lexsort partition sort sort_complex top_k"
    ),
    "imprint._src.numpy.elementwise.ufunc_methods": "",
    "imprint._src.numpy.reductions.covariance": "corrcoef cov",
    "imprint._src.numpy.polynomials": "polyadd polyder polyint polysub polyval",
    "imprint._src.numpy.io": (
        "array_repr array_str frombuffer fromfile fromiter fromstring "
        "get_printoptions iterable load printoptions save savez set_printoptions"
    ),
    "imprint._src.numpy.einsum": "einsum einsum_path",
    "imprint._src.numpy.reductions.differences": "diff ediff1d gradient trapezoid unwrap",
    "imprint._src.numpy.elementwise.exponents": "frexp ldexp spacing",
    "imprint._src.numpy.vectorize": "apply_along_axis apply_over_axes fromfunction vectorize",
}
"""The names that load lazily, by module."""
