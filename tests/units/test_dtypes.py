import itertools
import re

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax._src import dtypes as theirs

import imprint.numpy as inp
from imprint import dtypes
from imprint._src.config import enable_x64, numpy_dtype_promotion
from imprint.errors import DTypeError, PromotionError

MODES = list(itertools.product((False, True), ("standard", "strict")))
PYTHON = (bool, int, float, complex)
PAIRS = [(dtype, weak) for dtype in dtypes.ALL for weak in (False, True)]
FEW = [
    *((dtype, False) for dtype in (dtypes.bool_, dtypes.int8, dtypes.uint32)),
    *((dtype, False) for dtype in (dtypes.int32, dtypes.float16, dtypes.bfloat16)),
    *((dtypes.float64, False), (dtypes.float8_e5m2, False)),
    *((dtypes.int32, True), (dtypes.float32, True), (dtypes.complex64, True)),
]
HALVES = {dtypes.int2, dtypes.uint2}


@pytest.fixture(params=MODES, ids=lambda mode: f"x64={mode[0]}-{mode[1]}")
def mode(request):
    x64, promotion = request.param
    with (
        enable_x64(x64),
        numpy_dtype_promotion(promotion),
        jax.enable_x64(x64),
        jax.numpy_dtype_promotion(promotion),
    ):
        yield


def or_error(function, *args):
    try:
        return function(*args)
    except (PromotionError, theirs.TypePromotionError):
        return "no common dtype"


def with_tracers(check):
    """Run `check` with one of JAX's tracers for each dtype, weak and not."""

    def trace(*tracers):
        check(dict(zip(PAIRS, tracers, strict=True)))

    specs = [jax.ShapeDtypeStruct((), d, weak_type=w) for d, w in PAIRS]
    x64 = jax.config.jax_enable_x64
    with jax.enable_x64(True):
        jax.eval_shape(lambda *tracers: within(x64, trace, tracers), *specs)


def within(x64, trace, tracers):
    with jax.enable_x64(x64):
        trace(*tracers)


# ---- promotion ----


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
def test_promote_agrees_with_jax_on_every_pair(mode):
    def check(tracers):
        for pairs in itertools.product(PAIRS, PAIRS):
            expected = or_error(
                theirs.lattice_result_type, *[tracers[pair] for pair in pairs]
            )
            assert or_error(dtypes.promote, pairs) == expected, pairs

    with_tracers(check)


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
def test_promote_agrees_with_jax_on_one_three_and_five(mode):
    many = [(dtype, weak) for dtype, weak in FEW if dtype != dtypes.float8_e5m2]
    groups = [
        *itertools.product(PAIRS),
        *itertools.product(FEW, FEW, FEW),
        *itertools.combinations_with_replacement(many, 5),
    ]

    def check(tracers):
        for pairs in groups:
            expected = or_error(
                theirs.lattice_result_type, *[tracers[pair] for pair in pairs]
            )
            assert or_error(dtypes.promote, pairs) == expected, pairs
            assert or_error(dtypes.promote, list(pairs)) == expected, pairs

    with_tracers(check)


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
def test_result_type_agrees_with_jax_on_values_and_dtypes(mode):
    ours = [np.float32(1), np.zeros(2, np.int64), "int8", dtypes.bfloat16, np.uint8]
    values = [True, 1, 1.5, 1j, *PYTHON, *ours]
    for args in itertools.product(values, values):
        assert or_error(dtypes.result_type, *args) == or_error(jnp.result_type, *args)


def test_weakness_is_read_off_the_value():
    def check(tracers):
        for (dtype, _), tracer in tracers.items():
            expected = (dtype, tracer.weak_type)
            assert dtypes.typed(tracer) == dtypes.typed(tracer.aval) == expected

    with_tracers(check)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("promotion", ["standard", "strict"])
def test_promote_types_agrees_with_jax(x64, promotion):
    both = [int, float, complex, *dtypes.ALL]
    with (
        enable_x64(x64),
        numpy_dtype_promotion(promotion),
        jax.enable_x64(x64),
        jax.numpy_dtype_promotion(promotion),
    ):
        for a, b in itertools.product(both, both):
            expected = or_error(jnp.promote_types, a, b)
            assert or_error(dtypes.promote_types, a, b) == expected, (a, b)


def test_promotion_gives_our_own_objects():
    longlong = np.dtype(np.longlong)
    assert dtypes.canonicalize(longlong) is dtypes.int32
    with enable_x64(True):
        assert dtypes.canonicalize(longlong) is dtypes.int64
    for pairs in itertools.product(FEW, FEW):
        found = or_error(dtypes.promote, pairs)
        assert isinstance(found, str) or any(found[0] is d for d in dtypes.ALL)


def test_float0_promotes_only_with_itself():
    assert dtypes.promote(((dtypes.float0, False),) * 2) == (dtypes.float0, False)


# ---- kinds ----

SUPERTYPES = [
    *(np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger),
    *(np.inexact, np.floating, np.complexfloating, np.bool_, np.character),
]


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_kinds_agree_with_jax(dtype):
    for kind in [*SUPERTYPES, *dtypes.ALL]:
        assert dtypes.issubdtype(dtype, kind) == jnp.issubdtype(dtype, kind)
    assert dtypes.is_bool(dtype) == jnp.issubdtype(dtype, np.bool_)
    assert dtypes.is_integer(dtype) == jnp.issubdtype(dtype, np.integer)
    assert dtypes.is_signed(dtype) == jnp.issubdtype(dtype, np.signedinteger)
    assert dtypes.is_unsigned(dtype) == jnp.issubdtype(dtype, np.unsignedinteger)
    assert dtypes.is_floating(dtype) == jnp.issubdtype(dtype, np.floating)
    assert dtypes.is_complex(dtype) == jnp.issubdtype(dtype, np.complexfloating)
    assert dtypes.is_inexact(dtype) == jnp.issubdtype(dtype, np.inexact)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_isdtype_agrees_with_jax(dtype):
    kinds = [
        *("bool", "signed integer", "unsigned integer", "integral", "real floating"),
        *("complex floating", "numeric", "float32", ("bool", "int8"), np.int8),
    ]
    for kind in kinds:
        assert dtypes.isdtype(dtype, kind) == jnp.isdtype(dtype, kind)


def test_issubdtype_of_abstract_types():
    assert dtypes.issubdtype(np.floating, np.inexact)
    assert not dtypes.issubdtype(np.floating, dtypes.bfloat16)
    assert dtypes.issubdtype(ml_dtypes.bfloat16, np.floating)


@pytest.mark.parametrize("dtype", [*dtypes.ALL, dtypes.float0], ids=str)
def test_names_and_widths_agree_with_jax(dtype):
    name = jax.core.ShapedArray((), dtype).str_short(short_dtypes=True)
    assert f"{dtypes.short_name(dtype)}[]" == name
    if dtype != dtypes.float0:
        assert dtypes.bit_width(dtype) == theirs.itemsize_bits(dtype)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_conversions_of_kind_agree_with_jax(dtype):
    assert dtypes.to_complex(dtype) == theirs.to_complex_dtype(dtype)
    if dtype not in HALVES:
        assert dtypes.to_inexact(dtype) == theirs.to_inexact_dtype(dtype)
    if dtypes.is_inexact(dtype):
        assert dtypes.real_part_dtype(dtype) == theirs.to_floating_dtype(dtype)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_differs_from_jax_where_it_leaves_two_bit_integers_alone(dtype):
    assert dtypes.to_inexact(dtype) == dtypes.float32
    assert theirs.to_inexact_dtype(dtype) == dtype


def test_limits():
    assert dtypes.iinfo(dtypes.int4).max == 7
    assert dtypes.finfo(dtypes.bfloat16).bits == 16


# ---- the user's dtypes ----


@pytest.mark.parametrize("x64", [False, True])
def test_canonicalize_agrees_with_jax(x64):
    with enable_x64(x64), jax.enable_x64(x64):
        for dtype in [*dtypes.ALL, *PYTHON, "float64", "i8", np.uint64, np.longlong]:
            expected = jax.dtypes.canonicalize_dtype(dtype)
            assert dtypes.canonicalize(dtype) is dtypes.as_dtype(expected)
        for scalar in PYTHON:
            expected = theirs.scalar_type_to_dtype(scalar)
            assert dtypes.scalar_type_dtype(scalar) == expected
            assert dtypes.as_dtype(scalar) == expected
        assert dtypes.default_int() == theirs.default_int_dtype()
        assert dtypes.default_uint() == theirs.default_uint_dtype()
        assert dtypes.default_float() == theirs.default_float_dtype()
        assert dtypes.default_complex() == theirs.default_complex_dtype()


def test_as_dtype_takes_names_types_dtypes_and_arrays():
    for like in (
        "float64",
        np.float64,
        np.dtype("f8"),
        np.zeros(2),
        np.float64(1),
        "d",
    ):
        assert dtypes.as_dtype(like) is dtypes.float64
    assert dtypes.as_dtype("bfloat16") is dtypes.bfloat16
    assert dtypes.as_dtype(dtypes.float0) is dtypes.float0


def test_requested_warns_where_bits_are_lost():
    text = (
        "zeros: expected a dtype of at most 32 bits, got float64, so made it float32. "
        "To keep 64 bits, call imprint.config.update('enable_x64', True)."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        assert dtypes.requested("float64", "zeros") is dtypes.float32
    assert dtypes.requested(float, "zeros") is dtypes.float32
    with enable_x64(True):
        assert dtypes.requested("float64", "zeros") is dtypes.float64


def error_of(call, kind=DTypeError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_unknown_dtypes():
    assert error_of(lambda: dtypes.as_dtype("flaot32")) == (
        "dtype: expected bool, the dtype of a number, or its name, got 'flaot32'. "
        "Did you mean 'float32'?"
    )
    assert error_of(lambda: dtypes.as_dtype(np.dtype("O"))) == (
        "dtype: expected bool, the dtype of a number, or its name, got dtype('O')."
    )
    assert error_of(lambda: dtypes.canonicalize(">f4")) == (
        "dtype: expected the byte order of this machine, got '>f4'. "
        "Convert the data first: x.astype('float32')."
    )


def test_no_common_dtype():
    narrow = ((dtypes.float8_e5m2, False), (dtypes.float32, False))
    assert error_of(lambda: dtypes.promote(narrow), PromotionError) == (
        "promotion: expected dtypes of at least 8 bits, or 16 if floating, or all the "
        "same, got float32 and float8_e5m2. Narrow dtypes never promote implicitly: "
        "convert one with .astype."
    )
    with numpy_dtype_promotion("strict"):
        strict = ((dtypes.int32, False), (dtypes.float32, False))
        assert error_of(lambda: dtypes.promote(strict), PromotionError) == (
            'promotion: expected operands of one dtype under "strict" promotion, got '
            "float32 and int32. Convert one with .astype, or set "
            'imprint.config.update("numpy_dtype_promotion", "standard").'
        )
    assert error_of(lambda: dtypes.promote(())) == (
        "promote: expected at least one operand, got none."
    )


def test_issubdtype_of_unhashable_objects():
    x = np.ones(2, np.float32)
    assert dtypes.issubdtype(x, np.floating)
    assert not dtypes.issubdtype(x, np.integer)
    assert dtypes.issubdtype("int8", np.ones(2, np.int8))
    with pytest.raises(TypeError):
        dtypes.issubdtype([], np.floating)


def test_canonicalize_has_the_name_of_jax():
    assert dtypes.canonicalize_dtype("int64") == np.int32


def test_a_scalar_type_has_the_hash_of_numpys_class():
    # TensorFlow Probability looks a class of NumPy up in a set of scalar types.
    assert np.int32 in {inp.int32, inp.int64}
    assert np.int32 in {jnp.int32, jnp.int64}
    assert np.dtype(np.int32) == inp.int32
