"""Which file of `imprint.numpy` holds which of its names, as they load later.

The names stand once more in the package itself, as imports that type checkers see; a test
holds both together.
"""

from typing import Final

LATER: Final[dict[str, str]] = {
    "imprint.numpy.datatypes": (
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
    "imprint.numpy.arithmetic": (
        "abs absolute add divide divmod fabs floor_divide fmod maximum minimum mod "
        "multiply negative nextafter positive reciprocal remainder sign square "
        "subtract true_divide"
    ),
    "imprint.numpy.bitwise": (
        "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not "
        "bitwise_or bitwise_right_shift bitwise_xor invert left_shift right_shift"
    ),
    "imprint.numpy.comparison": (
        "allclose array_equal array_equiv copysign equal fmax fmin greater "
        "greater_equal heaviside isclose iscomplex isfinite isinf isnan isneginf "
        "isposinf isreal less less_equal logical_and logical_not logical_or "
        "logical_xor not_equal signbit"
    ),
    "imprint.numpy.creation": (
        "array asarray copy empty empty_like from_dlpack full full_like ones "
        "ones_like zeros zeros_like"
    ),
    "imprint.numpy.cumulative": (
        "cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum"
    ),
    "imprint.numpy.exponential": (
        "cbrt exp exp2 expm1 float_power log log10 log1p log2 logaddexp logaddexp2 "
        "pow power sqrt"
    ),
    "imprint.numpy.indexing": "getitem",
    "imprint.numpy.inspection": "__array_api_version__ __array_namespace_info__ bool",
    "imprint.numpy.joining": (
        "append block column_stack concat concatenate dstack flip fliplr flipud "
        "hstack repeat resize roll rot90 stack tile vstack"
    ),
    "imprint.numpy.linear": (
        "cross dot inner kron matmul matvec outer tensordot vdot vecdot vecmat"
    ),
    "imprint.numpy.matrices": (
        "diag diagflat diagonal eye fill_diagonal identity trace tri tril triu vander"
    ),
    "imprint.numpy.positions": (
        "diag_indices diag_indices_from index_exp ix_ ravel_multi_index s_ "
        "tril_indices tril_indices_from triu_indices triu_indices_from "
        "unravel_index"
    ),
    "imprint.numpy.ranges": "arange geomspace indices linspace logspace meshgrid",
    "imprint.numpy.reductions": (
        "all amax amin any count_nonzero max min nanmax nanmin nanprod nansum prod "
        "ptp sum"
    ),
    "imprint.numpy.rounding": (
        "around ceil conj conjugate fix floor imag modf real rint round trunc"
    ),
    "imprint.numpy.searching": "argmax argmin nanargmax nanargmin",
    "imprint.numpy.selection": "clip nan_to_num piecewise select where",
    "imprint.numpy.shaping": (
        "array_split atleast_1d atleast_2d atleast_3d broadcast_arrays "
        "broadcast_shapes broadcast_to dsplit expand_dims hsplit matrix_transpose "
        "moveaxis permute_dims ravel reshape rollaxis split squeeze swapaxes "
        "transpose unstack vsplit"
    ),
    "imprint.numpy.statistics": "average mean nanmean nanstd nanvar std var",
    "imprint.numpy.trigonometric": (
        "acos acosh angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin "
        "asinh atan atan2 atanh cos cosh deg2rad degrees hypot rad2deg radians sin "
        "sinc sinh tan tanh"
    ),
    "imprint.numpy.universal": "frompyfunc ufunc",
    "imprint.numpy.fft": "",
    "imprint.numpy.linalg": "",
    "imprint.numpy.of_numpy": "numpy_function numpy_ufunc",
    "imprint.numpy.views": "byteswap view",
    "imprint.numpy.advanced": "take_at",
    "imprint.numpy.taking": (
        "flatnonzero nonzero places_of put_along_axis take take_along_axis"
    ),
    "imprint.numpy.lengthening": "pad_to",
    "imprint.numpy.keeping": "argwhere choose compress extract mask_indices",
    "imprint.numpy.editing": "delete insert place put",
    "imprint.numpy.updating": "At",
    "imprint.numpy.convolving": "convolve correlate",
    "imprint.numpy.polynomial_factors": "poly polydiv polyfit polymul roots",
    "imprint.numpy.divisors": "gcd lcm",
    "imprint.numpy.bessel": "i0 kaiser",
    "imprint.numpy.distinct": (
        "unique unique_all unique_counts unique_inverse unique_values"
    ),
    "imprint.numpy.histograms": (
        "bincount histogram histogram2d histogram_bin_edges histogramdd"
    ),
    "imprint.numpy.interpolation": "interp",
    "imprint.numpy.placing": "digitize searchsorted",
    "imprint.numpy.quantiles": (
        "median minmax nanmedian nanpercentile nanquantile percentile quantile"
    ),
    "imprint.numpy.membership": "isin",
    "imprint.numpy.sets": "intersect1d setdiff1d setxor1d union1d",
    "imprint.numpy.arranging": "argpartition lexsort partition",
    "imprint.numpy.sorting": "argsort sort sort_complex top_k",
    "imprint.numpy.trimming": "trim_zeros",
    "imprint.numpy.universal_methods": "",
    "imprint.numpy.covariance": "corrcoef cov",
    "imprint.numpy.windows": "bartlett blackman hamming hanning",
    "imprint.numpy.polynomials": "polyadd polyder polyint polysub polyval",
    "imprint.numpy.files": "frombuffer fromfile fromiter fromstring load save savez",
    "imprint.numpy.grids": "c_ mgrid ogrid r_",
    "imprint.numpy.printing": (
        "array_repr array_str get_printoptions iterable printoptions set_printoptions"
    ),
    "imprint.numpy.einstein": "einsum einsum_path",
    "imprint.numpy.padding": "pad",
    "imprint.numpy.packing": "packbits unpackbits",
    "imprint.numpy.differences": "diff ediff1d gradient trapezoid unwrap",
    "imprint.numpy.exponents": "frexp ldexp spacing",
    "imprint.numpy.mapping": "apply_along_axis apply_over_axes fromfunction vectorize",
}
"""Which module holds the names that load when they are first asked for."""
