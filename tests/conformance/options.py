"""Programs of options and functions of functions, in the form of `cases.PROGRAMS`."""

import numpy


def _first_plus(row, by, *, times=1):
    return (row[0] + by) * times


def _mark(row, widths, axis, options):
    return row + options["by"] * (axis + 1) + widths[0]


PADDED = {
    "linear_ramp": [{}, {"end_values": ((3, 4), (5, -6))}],
    "maximum": [{}, {"stat_length": 2}],
    "minimum": [{}, {"stat_length": ((1, 2), (2, 30))}],
    "mean": [{}, {"stat_length": (2, 1)}],
    "median": [{}, {"stat_length": (2, 3)}],
    "reflect": [{"reflect_type": "odd"}],
    "symmetric": [{"reflect_type": "odd"}, {"reflect_type": "even"}],
    "empty": [{}],
}

OPTIONS = {
    "pad modes": lambda np, d: [
        np.pad(d[key], ((1, 7), (0, 9)), mode, **options)
        for mode, choices in PADDED.items()
        for options in choices
        for key in ("x", "i")
        if (mode, key) != ("linear_ramp", "i")  # steps that are just below a number
    ],
    "pad by a function": lambda np, d: [
        np.pad(d["x"], ((1, 0), (2, 3)), _mark, by=10),
        np.pad(d["v"][0], 3, mode="edge"),
    ],
    "gradient": lambda np, d: [
        np.gradient(d["v"]),
        np.gradient(d["v"], d["w"][:1].sum() + 2, edge_order=None),
        np.gradient(d["v"], np.arange(4.0) ** 2),
        *np.gradient(d["t"], axis=(0, -1)),
        *np.gradient(d["x"], 2, numpy.array([0.0, 1.0, 4.0, 5.0])),
        np.gradient(d["x"], np.array([0, 1, 4, 5]), axis=1),
        np.gradient(d["i"], 2, axis=0),
        np.gradient(d["c"], axis=0),
    ],
    "ediff1d": lambda np, d: [
        np.ediff1d(d["x"], to_end=d["x"]),
        np.ediff1d(d["i"], to_begin=-99, to_end=d["v"]),
        np.ediff1d(d["v"][:0]),
    ],
    "moments": lambda np, d: [
        np.var(d["x"], axis=0, mean=d["x"][:1], correction=1),
        np.std(d["x"], 1, None, None, 1, True),
        np.nanvar(d["holes"], axis=0, mean=np.ones_like(d["holes"][:1])),
        np.nanstd(d["holes"], ddof=1, keepdims=True, mean=2.0),
        np.nanvar(d["i"], mean=1),
    ],
    "repeated together": lambda np, d: [
        *np.broadcast_arrays(d["x"], d["v"], 3),
        *np.meshgrid(d["v"], d["w"][:2], copy=True, sparse=True),
        np.array_equal([1, 2], d["i"][0, :2]),
        np.array_equal([1.0, numpy.nan], [1.0, numpy.nan], equal_nan=True),
        np.array_equiv([[0, 1]], d["i"][0, :2]),
        np.select(d["x"] > 1, d["x"], d["x"][0]),
        np.select([d["b"], ~d["b"]], [d["b"], 2], 1.5),
    ],
    "functions along axes": lambda np, d: [
        np.apply_along_axis(np.sum, 0, d["t"]),
        np.apply_along_axis(np.cumsum, 1, d["t"]),
        np.apply_along_axis(np.outer, -1, d["x"], d["w"]),
        np.apply_along_axis(_first_plus, 2, d["t"], 2.0, times=3),
        np.apply_over_axes(np.sum, d["t"], (0, -1)),
        np.apply_over_axes(np.cumsum, d["t"], [1]),
    ],
    "vectorize": lambda np, d: [
        np.vectorize(lambda x, y: x * y + 1)(d["x"], d["v"]),
        np.vectorize(np.dot, signature="(n),(n)->()")(d["t"], d["v"]),
        np.vectorize(np.matmul, signature="(n,k),(k)->(n)")(d["t"][:1], d["v"]),
        *np.vectorize(np.divmod)(d["i"], numpy.array([[3], [2], [-2]])),
        np.vectorize(_first_plus, excluded={1}, signature="(n)->()")(d["x"], 7),
        np.vectorize(lambda x, y, k: x + k, excluded=("k",))(d["v"], None, k=2),
        np.vectorize(lambda x, n, y: x @ y, signature="(n),(),(n)->()")(
            d["t"], None, d["v"]
        ),
        np.vectorize(lambda x: x[None, None] + d["v"], signature="()->(i,n)")(d["w"]),
        np.vectorize(np.sin)(numpy.ones((1, 1), "float32")),
    ],
    "methods": lambda np, d: [
        d["x"].sum(axis=-1, keepdims=True, where=d["x"] > 0),
        d["x"].mean(where=d["x"] > 0),
        d["x"].mean(0, None, None, True),
        d["x"].max(0, None, True),
        d["x"].min(axis=1, initial=0, where=d["x"] > 0),
        d["x"].prod(axis=0, dtype="float16"),
        d["x"].std(axis=0, ddof=1, keepdims=True),
        d["x"].var(0, None, None, 1),
        d["x"].argmax(1, None, True),
        d["x"].round(1),
        d["x"].round(decimals=-1),
        d["x"].clip(min=-1, max=1),
        d["x"].clip(max=1),
        d["x"].cumsum(axis=0, dtype="float16"),
        d["x"].cumprod(1),
        d["x"].transpose(numpy.array([1, 0])),
        d["t"].transpose(2, 0, 1),
        d["t"].transpose([2, 0, 1]),
        d["t"].reshape(numpy.array([4, -1])),
        d["t"].ravel(order="F"),
        d["t"].squeeze(),
        d["t"].swapaxes(0, -1),
        d["x"].repeat(2, axis=1),
        d["m"].diagonal(1),
        d["m"].trace(offset=1, dtype="int32"),
        d["x"].any(axis=1, keepdims=True),
        d["x"].all(where=d["x"] > 0),
        d["x"].ptp(axis=1),
        d["v"].dot(d["v"]),
        d["v"].astype("int32", copy=True),
        d["c"].conj(),
    ],
    "as in NumPy": lambda np, d: [
        np.zeros_like(d["x"], shape=(2, 1)),
        np.full_like(d["i"], 2.7, shape=3),
        *np.linspace(0, 1, 5, retstep=True),
        *np.linspace(0, 1, 5, endpoint=False, retstep=True),
        np.arange(0.0, 1.0, 0.1),
        np.arange(5.0),
        np.round(d["x"], 1),
        np.round(d["x"], decimals=-1),
        np.around(d["x"], 2),
        np.allclose(d["x"], d["x"] + 1e-7, rtol=0.0, atol=1e-3),
        np.sum(d["x"], 0, "float32", None, True, 3.0, d["x"] > 0),
        np.permute_dims(d["t"], (2, 0, 1)),
        np.indices((2, 3), "int32", True),
    ],
    "polynomials": lambda np, d: [
        np.polyval(d["v"], d["x"]),
        np.polyval(d["i"][0], d["n"]),
        np.polyval(d["x"], d["v"]),
        np.polyval(d["v"][:0], d["x"]),
        np.polyadd(d["v"], d["w"]),
        np.polyadd(d["i"][0, :2], d["v"]),
        np.polysub(d["w"], d["v"]),
        *[np.polyder(d["v"], m) for m in (0, 1, 2, 4, 5)],
        np.polyder(d["i"][0]),
        *[np.polyint(d["v"], m) for m in (0, 1, 3)],
        np.polyint(d["i"][0], 2, d["v"][:2]),
        np.polyint(d["v"], 2, 7),
    ],
    "windows": lambda np, d: [
        window(n)
        for window in (np.bartlett, np.blackman, np.hamming, np.hanning)
        for n in (0, 1, 2, 5, 12)
    ],
    "positions": lambda np, d: [
        *np.diag_indices(3, 3),
        *np.diag_indices_from(d["m"][:, :4]),
        *np.tril_indices(3, -1),
        *np.tril_indices(3, 1, 5),
        *np.triu_indices(4, m=2),
        *np.tril_indices_from(d["x"]),
        *np.triu_indices_from(d["x"], 1),
        *np.ix_(d["i"][0], d["n"], d["k"]),
        *np.unravel_index(d["i1"], (2, 3)),
        *np.unravel_index(d["k"], 9),
        *np.unravel_index(7, (2, 2, 3)),
    ],
    "covariance": lambda np, d: [
        np.cov(d["x"]),
        np.cov(d["v"]),
        np.cov(d["x"], d["y"], bias=True),
        np.cov(d["v"], d["v"] * 2, rowvar=False),
        np.cov(d["c"], rowvar=False),
        np.cov(d["x"], ddof=0, aweights=d["p"][0]),
        np.cov(d["x"], fweights=numpy.array([1, 2, 3, 1])),
        np.cov(d["x"], fweights=numpy.array([1, 2, 3, 1]), aweights=d["p"][0]),
        np.cov(d["i"], dtype="float16"),
        np.cov(d["x"][:0]),
        np.cov(d["x"][:2, :0]),
        np.corrcoef(d["x"], d["y"]),
        np.corrcoef(d["c"]),
        np.corrcoef(d["v"]),
    ],
    "further": lambda np, d: [
        np.unwrap(d["t"] * 9),
        np.unwrap(d["x"] * 9, axis=0, period=4),
        np.unwrap(d["x"] * 9, discont=5),
        np.unwrap(d["i"], period=7),
        np.isin(d["i"], d["i1"]),
        np.isin(d["i"], d["n"], invert=True),
        np.isin(d["x"], d["x"][:0]),
        np.isin(d["i"][0, 0], numpy.arange(9)),
        np.block([[d["x"], d["y"]], [d["m"][:3], d["x"][:, :3]]]),
        np.block([d["v"], d["w"], 1.0]),
        np.block([[1, 2], [3, 4]]),
        np.block(d["x"]),
        np.fromfunction(lambda i, j: i * 2 + j, (3, 4)),
        np.fromfunction(lambda i: i + 1, (3,), dtype="int8"),
    ],
}
