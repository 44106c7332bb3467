"""Programs of sorting, searching and counting, in the form of `cases.PROGRAMS`."""

SORTED = {
    "sort": lambda np, d: [
        np.sort(d[key], **options)
        for key in ("x", "i", "n", "k", "b", "c", "h", "holes", "e")
        for options in ({}, {"axis": None}, {"axis": 0, "descending": True})
    ],
    "sort unstable": lambda np, d: [np.sort(d["t"], 1, stable=False), d["x"].sort(0)],
    "argsort": lambda np, d: [
        np.argsort(d[key], **options)
        for key in ("x", "i", "b", "c", "h", "e")
        for options in ({}, {"axis": None, "dtype": "int8"}, {"descending": True})
    ],
    "argsort methods": lambda np, d: [
        d["t"].argsort(1),
        d["i1"].argsort(stable=False, descending=True)[:1],
        d["t"].argpartition(1),
        d["e"][:4].sort().searchsorted(d["v"]),
    ],
    "sort_complex": lambda np, d: [np.sort_complex(d["i"]), np.sort_complex(d["c"])],
    "lexsort": lambda np, d: [
        np.lexsort((d["x"], d["i"])),
        np.lexsort(d["t"], axis=0),
        np.lexsort((d["c"], d["b"], d["h"])),
        np.lexsort((1, 2)),
        np.lexsort([d["i"] % n for n in range(1, 20)], axis=0),
    ],
    "partition": lambda np, d: [
        np.partition(d["x"], 1),
        np.partition(d["i"], -2, axis=0),
        np.partition(d["h"], 0),
        np.argpartition(d["x"], 1),
        np.argpartition(d["i"], -1, axis=0),
    ],
    "searchsorted": lambda np, d: [
        np.searchsorted(np.sort(d[a]), d[v], side, method=method)
        for a, v in (("v", "x"), ("e", "e2"), ("i1", "i"), ("n", "v"), ("v", "j"))
        for side in ("left", "right")
        for method in ("scan", "scan_unrolled", "sort", "compare_all")
    ],
    "searchsorted by a sorter": lambda np, d: np.searchsorted(
        d["v"], d["w"], sorter=np.argsort(d["v"])
    ),
    "digitize": lambda np, d: [
        np.digitize(d["x"], bins, right)
        for bins in (np.array([-1.0, 0.0, 1.0]), np.array([1, 0]), np.zeros(0))
        for right in (False, True)
    ],
}

QUANTILES = {
    "median": lambda np, d: [
        np.median(d["x"]),
        np.median(d["t"], axis=(0, -1), keepdims=True),
        np.median(d["i"], 0),
        np.median(d["holes"], 1),
        np.median(d["h"], 0),
        np.nanmedian(d["holes"], 0),
        np.nanmedian(d["holes"]),
        np.nanmedian(d["holes"], 1, keepdims=True),
    ],
    "quantile": lambda np, d: [
        np.quantile(d["t"], q, axis, method=method, keepdims=keepdims)
        for q in (0.3, np.array([0.0, 0.5, 0.77, 1.0]))
        for axis in (None, 1, (2, 0))
        for method in ("linear", "lower", "higher", "midpoint")  # nearest: test_edges
        for keepdims in (False, True)
    ],
    "nanquantile": lambda np, d: [
        np.nanquantile(d["holes"], q, axis, method=method)
        for q in (0.3, np.array([0.0, 0.5, 0.77]))
        for axis in (None, 0, -1)
        for method in ("linear", "inverted_cdf")
    ],
    "quantile of a traced part": lambda np, d: [
        np.quantile(d["x"], np.abs(np.sin(d["v"][:3])), axis=0),
        np.quantile(d["x"], np.abs(np.sin(d["v"][0])), axis=1),
    ],
    "quantile of weights": lambda np, d: [
        np.quantile(d["x"], q, axis, method="inverted_cdf", weights=d[weights])
        for q in (0.4, np.array([0.1, 0.9]))
        for axis, weights in ((None, "p"), (1, "p"), (0, "w"))
    ],
    "quantile without weights": lambda np, d: np.quantile(
        d["x"], 0.6, 1, method="inverted_cdf", keepdims=True
    ),
    "percentile": lambda np, d: [
        np.percentile(d["x"], 30, axis=0),
        np.percentile(d["i"], np.array([5, 95])),
        np.nanpercentile(d["holes"], 25.0, axis=1),
    ],
}

COUNTED = {
    "bincount": lambda np, d: [
        np.bincount(d["k"], length=5),
        np.bincount(d["i1"], d["i2"], length=8),
        np.bincount(d["b"][0], d["v"], length=3),
    ],
    "histogram": lambda np, d: [
        np.histogram(d["x"]),
        np.histogram(d["i"], 3),
        np.histogram(d["x"], np.array([-1.0, 0.0, 0.5]), weights=d["p"]),
        np.histogram(d["x"], 4, (-1, 2), density=True),
        np.histogram(d["x"][:1, :1], 2),
        np.histogram_bin_edges(d["x"], 3, range=(0.0, 0.0)),
    ],
    "histogram2d": lambda np, d: [
        np.histogram2d(d["x"][0], d["y"][1], 3),
        np.histogram2d(d["x"][0], d["y"][1], [2, 3], density=True),
        np.histogram2d(d["v"], d["v"], np.array([-1.0, 0.0, 1.0]), weights=d["p"][0]),
    ],
    "histogramdd": lambda np, d: [
        np.histogramdd(d["x"].T, 2),
        np.histogramdd(d["x"].T, [2, 1, np.array([-1.0, 0.0, 3.0])], weights=d["v"]),
        np.histogramdd(d["x"][:, :2], 2, [(-1, 1), None], density=True),
    ],
    "interp": lambda np, d: [
        np.interp(d["x"], np.sort(d["v"]), d["p"][0]),
        np.interp(d["x"], np.arange(-1, 3), d["c"][0], left=0, right=9.0),
        np.interp(d["x"], np.sort(d["w"]), d["i"][:, 0], "extrapolate", "extrapolate"),
        np.interp(d["x"], d["v"], d["p"][0], period=1.5),
        np.interp(d["i"], np.array([0, 0, 1]), np.array([1, 2, 3])),
        np.interp(0.5, np.array([1.0]), np.array([2.0])),
    ],
}

OF_A_SIZE = {
    "unique": lambda np, d: [
        np.unique(d[key], True, True, True, size=size, **options)
        for key in ("i", "b", "e", "c", "holes")
        for size, options in (
            (2, {}),
            (20, {}),
            (15, {"fill_value": 1}),
            (5, {"axis": 0, "equal_nan": False}),
        )
    ],
    "unique columns": lambda np, d: [
        np.unique(d["b"], True, True, True, axis=1, size=3),
        np.unique(d["t"], axis=-1, size=5, fill_value=0),
    ],
    "unique values": lambda np, d: [
        np.unique(d["i"], size=9),
        np.unique(d["e"], size=12),
    ],
    "unique of the Array API": lambda np, d: [
        *np.unique_all(d["i"], size=9, fill_value=3),
        *np.unique_counts(d["e"], size=11),
        *np.unique_inverse(d["holes"], size=14),
        np.unique_values(d["k"], size=3),
    ],
    "union1d": lambda np, d: [
        np.union1d(d["i1"], d["i2"], size=16),
        np.union1d(d["i1"], d["n"], size=4, fill_value=7),
        np.union1d(d["x"], d["e"], size=30),
    ],
    "intersect1d": lambda np, d: [
        np.intersect1d(d["i1"], d["i2"], size=4),
        np.intersect1d(d["i"], d["n"], return_indices=True, size=5, fill_value=-9),
        np.intersect1d(d["e"], d["e"][::-1], return_indices=True, size=11),
        np.intersect1d(d["i2"][:3], d["v"], size=2),
    ],
    "setxor1d": lambda np, d: [
        np.setxor1d(d["i1"], d["i2"], size=4),
        np.setxor1d(d["e"], d["e1"][:12], size=11, fill_value=5),
        np.setxor1d(d["n"], d["i"], size=20),
    ],
    "setdiff1d": lambda np, d: [
        np.setdiff1d(d["i1"], d["i2"], size=4),
        np.setdiff1d(d["e"], d["e1"][:12], size=11, fill_value=5),
        np.setdiff1d(d["i"], d["n"], assume_unique=True, size=20),
    ],
    "isin": lambda np, d: [
        np.isin(d[x], d[y], invert=invert, method=method)
        for x, y in (("i", "i1"), ("e1", "e"), ("x", "v"), ("b", "n"))
        for invert in (False, True)
        for method in ("auto", "compare_all", "binary_search", "sort")
    ],
}

ORDERED = {**SORTED, **QUANTILES, **COUNTED, **OF_A_SIZE}
