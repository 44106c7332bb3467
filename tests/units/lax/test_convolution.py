"""Convolutions, their derivatives and layouts are JAX's, for drawn dimension numbers."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.primitives.windows import windows
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests import oracle
from tests.tolerances import assert_close


def drawn(seed):
    """Return operands and arguments of a convolution, of any layout."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 3))
    letters = "XYZ"[:count]
    data, kernel, out = (
        "".join(rng.permutation([*pair, *letters])) for pair in ("NC", "OI", "NC")
    )
    groups, batches = [(1, 1), (2, 1), (1, 2)][seed % 3]
    sizes = {
        "N": batches * int(rng.integers(1, 3)),
        "C": groups * int(rng.integers(1, 3)),
        **{letter: int(rng.integers(3, 6)) for letter in letters},
    }
    spans = {
        "O": groups * batches * int(rng.integers(1, 3)),
        "I": sizes["C"] // groups,
        **{letter: int(rng.integers(1, 4)) for letter in letters},
    }
    named = ["SAME", "VALID", "SAME_LOWER"][seed % 5 % 3] if seed % 5 < 3 else None
    pairs = [(int(low), int(high)) for low, high in rng.integers(-1, 3, (count, 2))]
    spread = (1,) * count if named else tuple(map(int, rng.integers(1, 3, count)))
    arguments = {
        "window_strides": tuple(map(int, rng.integers(1, 3, count))),
        "padding": named or pairs,
        "lhs_dilation": spread,
        "rhs_dilation": tuple(map(int, rng.integers(1, 3, count))),
        "dimension_numbers": (data, kernel, out),
        "feature_group_count": groups,
        "batch_group_count": batches,
    }
    x = rng.normal(size=[sizes[a] for a in data]).astype("f4")
    y = rng.normal(size=[spans[a] for a in kernel]).astype("f4")
    return (x, y), arguments


def everything(lib, np):
    """Return a program of each drawn convolution, with derivatives and a batch."""

    def of(x, y, arguments):
        def f(x, y):
            return lib.lax.conv_general_dilated(x, y, **arguments)

        out = f(x, y)
        mapped = lib.vmap(f, (None, 0))(x, np.stack([y, 2 * y]))
        both = lib.vmap(f)(np.stack([x, x + 1]), np.stack([y, 2 * y]))
        grads = lib.grad(lambda x, y: (f(x, y) ** 2).sum(), (0, 1))(x, y)
        return out, mapped, both, grads

    return of


def check(seeds):
    cases = [drawn(seed) for seed in seeds]
    operands = [operands for operands, _ in cases]

    def run(lib, np):
        of = everything(lib, np)
        return lambda values: [
            of(*xs, arguments) for xs, (_, arguments) in zip(values, cases, strict=True)
        ]

    want = oracle.jit(run(jax, jnp))(operands)
    eager, staged = (
        run(imprint, inp)(operands),
        imprint.jit(run(imprint, inp))(operands),
    )
    for theirs, ours, compiled, (_, arguments) in zip(
        want, eager, staged, cases, strict=True
    ):
        for a, b, c in zip(
            *map(jax.tree.leaves, (theirs, ours, compiled)), strict=True
        ):
            assert a.shape == b.shape, arguments
            assert_close(b, np.asarray(a), "gradient")
            assert_close(c, np.asarray(a), "gradient")


def test_drawn_convolutions_are_those_of_jax():
    check(range(10))


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", range(10, 110, 20))
def test_more_drawn_convolutions_are_those_of_jax(start):
    check(range(start, start + 20))


def shaped(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype("f4")


IMAGE, KERNEL = shaped(2, 6, 5, 3), shaped(3, 2, 3, 4)
WRAPPERS = {
    "conv": lambda lax: lax.conv(
        shaped(2, 3, 5, 4), shaped(4, 3, 2, 3), (2, 1), "SAME"
    ),
    "general padding": lambda lax: lax.conv_with_general_padding(
        shaped(2, 3, 5, 4), shaped(4, 3, 2, 3), (2, 1), [(1, 0), (0, 2)], (1, 2), None
    ),
    "preferred": lambda lax: lax.conv(
        shaped(1, 2, 3).astype("f2"),
        shaped(2, 2, 2).astype("f2"),
        (1,),
        "VALID",
        "highest",
        "float32",
    ),
    "transposed": lambda lax: lax.conv_transpose(IMAGE, KERNEL, (2, 3), "SAME"),
    "transposed, valid": lambda lax: lax.conv_transpose(
        IMAGE, KERNEL, (3, 1), "VALID", (1, 2)
    ),
    "transposed, pairs": lambda lax: lax.conv_transpose(
        IMAGE, KERNEL, (2, 1), [(1, 1), (0, 2)]
    ),
    "transposed, consistent": lambda lax: lax.conv_transpose(
        IMAGE, KERNEL, (2, 1), ((1, 1), (0, 1)), use_consistent_padding=True
    ),
    "transposed kernel": lambda lax: lax.conv_transpose(
        shaped(1, 5, 2), shaped(3, 4, 2), (2,), "SAME", transpose_kernel=True
    ),
    "patches": lambda lax: lax.conv_general_dilated_patches(
        IMAGE, (2, 3), (2, 1), "SAME", dimension_numbers=("NHWC", "WIOH", "CNHW")
    ),
    "local": lambda lax: lax.conv_general_dilated_local(
        shaped(2, 5, 4, 3),
        shaped(3, 4, 18, 2),
        (1, 1),
        [(0, 0), (1, 1)],
        (3, 2),
        rhs_dilation=(1, 2),
        dimension_numbers=("NHWC", "HWIO", "WNHC"),
    ),
    "local, plain": lambda lax: lax.conv_general_dilated_local(
        shaped(2, 1, 4), shaped(3, 2, 3), (1,), "VALID", (2,), precision="highest"
    ),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_convolutions_are_as_in_jax(name):
    want = oracle.jit(lambda: WRAPPERS[name](jax.lax))()
    assert_close(WRAPPERS[name](lax), np.asarray(want), "contraction")


LAYOUT = ("NHWC", "HWIO", "NHWC")
SHAPES = {
    "permutations": lambda lib: lib.conv_general_permutations(("NHWC", "WIOH", "CNHW")),
    "numbers": lambda lib: tuple(
        lib.conv_dimension_numbers((1, 2, 3), (1, 2, 3), ("CNX", "XOI", "NXC"))
    ),
    "no numbers": lambda lib: tuple(
        lib.conv_dimension_numbers((1, 2, 3), (1, 2, 3), None)
    ),
    "conv": lambda lib: lib.conv_shape_tuple((4, 3, 9), (6, 3, 2), (2,), "SAME", 2),
    "conv, pairs": lambda lib: lib.conv_shape_tuple(
        (4, 3, 9), (6, 3, 2), (2,), [(1, -1)]
    ),
    "general": lambda lib: lib.conv_general_shape_tuple(
        (8, 9, 7, 3), (3, 2, 3, 16), (2, 1), "VALID", LAYOUT
    ),
    "transposed": lambda lib: lib.conv_transpose_shape_tuple(
        (8, 9, 7, 3), (3, 2, 3, 16), (2, 3), "SAME", LAYOUT
    ),
    "pads": lambda lib: lib.padtype_to_pads((5, 6), (3, 4), (1, 2), "SAME"),
    "pads, lower": lambda lib: lib.padtype_to_pads(
        (5, 6), (3, 4), (1, 3), "SAME_LOWER"
    ),
    "window": lambda lib: lib.reduce_window_shape_tuple(
        (5, 6), (2, 3), (1, 2), [(1, 0), (0, 0)], (2, 1), (1, 2)
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_layouts_and_shapes_are_those_of_jax(name):
    assert SHAPES[name](lax) == jax.tree.map(int, SHAPES[name](jax.lax))


def vector(n, dtype="float32"):
    return np.random.default_rng(n).integers(-5, 5, n).astype(dtype)


def test_convolve_and_correlate_are_those_of_jax():
    x, y, z = vector(5), vector(3), vector(4, "complex64") * 1j
    pairs = [(x, y), (y, x), (x, z), (z, y), (vector(6, "int32"), y)]
    modes = ["full", "same", "valid"]
    for name, mode, (a, v) in itertools.product(
        ["convolve", "correlate"], modes, pairs
    ):
        want = getattr(jnp, name)(a, v, mode)
        assert_close(getattr(inp, name)(a, v, mode), np.asarray(want), "contraction")
    wide = {"preferred_element_type": "int32"}
    want = jnp.convolve(vector(4, "int8"), vector(2, "int8"), **wide)
    assert_close(inp.convolve(vector(4, "int8"), vector(2, "int8"), **wide), want)


def test_a_large_batch_is_convolved_in_parts(monkeypatch):
    x, y = shaped(5, 3, 6), shaped(2, 3, 2)
    whole = lax.conv(x, y, (1,), "SAME")
    monkeypatch.setattr(windows, "_MOST", 80)
    assert_close(lax.conv(x, y, (1,), "SAME"), np.asarray(whole), "contraction")


# ---- errors ----

X, Y = np.ones((2, 4, 6), "f4"), np.ones((4, 2, 3), "f4")


TRANSPOSED = (1, 3, 1), (3, 1, 1), (2,), "SOME", ("NWC", "WIO", "NWC")


def refused(error, function, *args, **kwargs):
    with pytest.raises(error) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_shapes_and_groups_that_do_not_fit_are_shown():
    assert refused(ShapeError, lax.conv, X, Y, (1,), "SAME") == (
        "conv: expected as many features of the first operand as "
        "feature_group_count times the input features of the kernel, and group counts "
        "(one of them 1) that divide the output features of the kernel and the batch, got "
        "4 features and a batch of 2 in float32[2,4,6], 2 input features and 4 output "
        "features in float32[4,2,3], feature_group_count=1, batch_group_count=1. Look at "
        "dimension_numbers=ConvDimensionNumbers(lhs_spec=(0, 1, 2), rhs_spec=(0, 1, 2), "
        "out_spec=(0, 1, 2))."
    )
    assert refused(ShapeError, lax.conv, X, Y[0], (1,), "SAME") == (
        "conv: expected two operands of one rank, at least 2, got shapes "
        "(2, 4, 6) and (2, 3). Add axes with imprint.numpy.expand_dims."
    )
    assert refused(ShapeError, lax.conv, X, Y, (1, 1), "SAME") == (
        "conv: expected 1 window_strides and rhs_dilation, one for each "
        "spatial axis, got 2 and 1."
    )
    assert refused(ShapeError, lax.conv, X, Y, (0,), "SAME") == (
        "conv: expected positive strides, got (0,). Write 1 for each place."
    )
    general = lax.conv_general_dilated
    assert refused(ShapeError, general, X, Y, (0,), [(0, 0)]) == (
        "conv_general_dilated: expected 1 positive window_strides, lhs_dilation and "
        "rhs_dilation and 1 pairs of padding, one for each spatial axis of "
        "float32[2,4,6], got (0,), (1,), (1,) and ((0, 0),)."
    )
    cut = refused(ShapeError, general, X, Y, (1,), [(-4, -4)], feature_group_count=2)
    assert cut == (
        "conv_general_dilated: expected negative padding to cut no more than there is, "
        "got padding=((-4, -4),) for float32[2,4,6]. Cut less."
    )
    numbers = lax.ConvDimensionNumbers((0, 1, 1), (0, 1, 2), (0, 1, 2))
    assert refused(
        ShapeError, general, X, Y, (1,), [(0, 0)], dimension_numbers=numbers
    ) == (
        "conv_general_dilated: expected two operands of one rank, and dimension_numbers "
        "that name each of their axes once, got float32[2,4,6] and float32[4,2,3] with "
        f"{numbers}. For these ranks write dimension_numbers=None or strings such as "
        "('NCHW', 'OIHW', 'NCHW')."
    )
    shape = refused(ShapeError, lax.conv_shape_tuple, (1, 1, 3), (1, 1, 2), (1,), [])
    assert shape == (
        "conv_shape_tuple: expected 1 pairs of padding, one for each spatial axis, got ()."
    )


def test_arguments_that_mean_nothing_are_shown():
    general = lax.conv_general_dilated
    assert refused(ArgumentError, lax.conv, X, Y, (1,), "SOME") == (
        "conv: expected padding VALID, SAME, SAME_LOWER or pairs of ints, got 'SOME'."
    )
    assert refused(ArgumentError, general, X, Y, (1,), [1]) == (
        "conv_general_dilated: expected padding VALID, SAME, SAME_LOWER or a pair of ints "
        "for each spatial axis, got [1]."
    )
    assert refused(ArgumentError, general, X, Y, (1,), "SAME", (2,)) == (
        "conv_general_dilated: expected padding as pairs of ints with lhs_dilation, got "
        "padding='SAME' and lhs_dilation=(2,). Write the pairs, or call "
        "imprint.lax.conv_transpose."
    )
    numbers = refused(
        ArgumentError, general, X, Y, (1,), "SAME", dimension_numbers=("NCH", "OIH")
    )
    assert numbers == (
        "conv_general_dilated: expected dimension_numbers of three strings of 3 letters, "
        "such as ('NWC', 'WIO', 'NWC'), ConvDimensionNumbers or None, got "
        "('NCH', 'OIH')."
    )
    twice = refused(ArgumentError, lax.conv_general_permutations, ("NCH", "OIW", "NCH"))
    assert twice == (
        "conv_general_permutations: expected dimension_numbers with the letters N and C, O and "
        "I, N and C, and in all three the same spatial ones, each letter once, got "
        "('NCH', 'OIW', 'NCH'). Write for example ('NWC', 'WIO', 'NWC')."
    )
    pads = refused(ArgumentError, lax.conv_transpose_shape_tuple, *TRANSPOSED)
    assert pads == (
        "conv_transpose_shape_tuple: expected padding SAME, VALID or pairs of ints, got 'SOME'."
    )


def test_dtypes_that_do_not_fit_are_shown():
    other = Y.astype("float16")
    grouped = {"feature_group_count": 2}
    general = lax.conv_general_dilated
    assert refused(DTypeError, general, X, other, (1,), "SAME", **grouped) == (
        "conv_general_dilated: expected operands of one dtype, got float32 and float16. "
        "Convert one of them with `.astype(...)`."
    )
    wanted = {"preferred_element_type": "int32"}
    assert refused(DTypeError, general, X, Y, (1,), "SAME", **grouped, **wanted) == (
        "conv_general_dilated: expected a preferred_element_type of the kind of float32 "
        "and no narrower if that is an integer, got int32. Convert the result with "
        "`.astype(...)`."
    )


def test_the_error_of_convolve():
    assert refused(ShapeError, inp.convolve, X, Y) == (
        "convolve: expected two vectors that are not empty, got float32[2,4,6] and "
        "float32[4,2,3]. For several axes call imprint.scipy.signal.convolve, and map "
        "over several vectors with imprint.vmap."
    )
    assert refused(ArgumentError, inp.correlate, X[0, 0], Y[0, 0], "some") == (
        "correlate: expected a mode of ('full', 'same', 'valid'), got 'some'."
    )
