"""Creation of arrays: weak types, copies, nested sequences, names of dtypes."""

import collections
import copy
import pickle

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import dtypes


def test_an_array_is_returned_as_it_is():
    x = inp.arange(3)
    assert inp.asarray(x) is x


def test_nested_sequences_may_hold_arrays_and_tracers():
    x = inp.arange(2.0)
    got = inp.array([[x, x + 1], [x * 2, [5, 6]]])
    assert got.tolist() == [[[0, 1], [1, 2]], [[0, 2], [5, 6]]]
    staged = imprint.jit(lambda a: inp.array([a, 2, a + 1]))(1.5)
    assert staged.tolist() == [1.5, 2, 2.5]


def test_objects_with_an_array_protocol():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    assert inp.asarray(Wrapped()).tolist() == [0, 1, 2]


MADE_OF_FLOAT0 = {
    "zeros": lambda q, z: q.zeros(2, z.dtype),
    "zeros of rank 0": lambda q, z: q.zeros((), z.dtype),
    "ones": lambda q, z: q.ones((2, 1), z.dtype),
    "empty": lambda q, z: q.empty((0, 3), z.dtype),
    "zeros_like": lambda q, z: q.zeros_like(z),
    "zeros_like of numbers": lambda q, z: q.zeros_like(q.ones(2), z.dtype),
    "ones_like": lambda q, z: q.ones_like(z, shape=(3,)),
    "asarray": lambda q, z: q.asarray(z),
    "array": lambda q, z: q.array(z),
    "array of the dtype": lambda q, z: q.array(z, z.dtype),
}


@pytest.mark.parametrize("name", MADE_OF_FLOAT0)
def test_arrays_of_float0_are_numpys(name):
    make, z = MADE_OF_FLOAT0[name], np.zeros(2, dtypes.float0)
    expected = make(jnp, z)
    for got in (make(inp, z), imprint.jit(lambda: make(inp, z))()):
        assert type(got) is np.ndarray
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)


def test_a_tangent_made_by_zeros_is_taken():
    zero = inp.zeros((), dtypes.float0)
    assert imprint.jvp(lambda x: x * 2, (3,), (zero,))[1].dtype == dtypes.float0
    assert imprint.vjp(lambda x: x * 2, 3)[1](zero)[0].dtype == dtypes.float0


@pytest.mark.parametrize("np_", [jnp, inp], ids=["jax", "imprint"])
def test_any_sequence_and_buffer(np_):
    for value, dtype in (
        *((range(3), "int32"), (collections.deque([0, 1, 2]), "int32")),
        *((memoryview(b"\0\1\2"), "uint8"), (bytearray(b"\0\1\2"), "uint8")),
    ):
        got = np_.asarray(value)
        assert (got.dtype, got.tolist()) == (dtype, [0, 1, 2])
    assert np_.asarray([range(2), (5, 6)]).tolist() == [[0, 1], [5, 6]]


def test_ndmin_puts_axes_in_front():
    assert inp.array([1, 2], ndmin=3).shape == (1, 1, 2)


def test_without_elements():
    assert inp.array([]).shape == (0,)
    assert inp.array([[], []]).shape == (2, 0)
    assert inp.array([]).dtype == np.float32


@pytest.mark.parametrize("name", ["bfloat16", "int4", "float8_e4m3fn", "complex64"])
def test_dtypes_by_name_and_by_object(name):
    kind = getattr(inp, name)
    x = inp.zeros(2, name)
    assert x.dtype == kind
    assert inp.ones(2, kind).dtype == x.dtype == np.dtype(kind)
    assert kind(1).dtype == x.dtype


def test_the_name_of_a_dtype():
    assert repr(inp.float32) == "imprint.numpy.float32"
    assert inp.float32 == np.float32 == inp.single
    assert inp.float32 != inp.int32
    assert {inp.float32: 1}[np.float32] == 1  # as in JAX
    assert inp.issubdtype(inp.bfloat16, inp.floating)
    assert inp.finfo(inp.bfloat16).bits == 16
    assert inp.iinfo("int8").max == 127
    assert inp.promote_types("int8", inp.bfloat16) == ml_dtypes.bfloat16
    assert inp.result_type(inp.int8, 1.0) == np.float32


@pytest.mark.parametrize("kind", [inp.float32, inp.bfloat16, inp.bool, inp.int4])
def test_the_name_of_a_dtype_is_a_class(kind):
    own = kind.dtype
    assert isinstance(kind, type)
    assert kind.__name__ == kind.__qualname__ == own.name
    assert getattr(inp, kind.__name__) is kind
    assert isinstance(own.type(1), kind)
    assert not isinstance(inp.ones(2, kind), kind)
    assert not isinstance(1.0, kind)
    assert pickle.loads(pickle.dumps(kind)) is copy.deepcopy(kind) is kind
    assert np.dtype(kind) == own == kind
    assert own in (kind, None)
    assert kind not in (None, 1, "of no dtype", inp.uint2)
    assert isinstance(None, kind | None)
    assert inp.issubdtype(kind, inp.generic)
    match own:
        case inp.float32 | inp.bfloat16 | inp.bool | inp.int4:
            pass
        case _:
            pytest.fail("a dtype equals its name")


def test_names_that_mean_one_dtype_are_one_static_value():
    f = imprint.jit(lambda x, dtype: x.astype(dtype), static_argnums=1)
    for dtype in (inp.float16, inp.half, inp.float32, inp.float16):
        assert f(inp.ones(2), dtype).dtype == dtype
    assert len(f.versions) == 2


def test_text_is_a_number_only_where_a_dtype_is_called():
    assert inp.float32("1.5").tolist() == jnp.float32("1.5") == 1.5
    with pytest.raises(TypeError, match="got str"):
        inp.asarray("1.5")


def test_converting_a_tracer_by_a_name():
    assert imprint.jit(lambda x: inp.float16(x))(1.5).dtype == np.float16


def test_plain_facts():
    x = inp.zeros((2, 3))
    assert (inp.shape(x), inp.ndim(x), inp.size(x), inp.size(x, 1)) == ((2, 3), 2, 6, 3)
    assert inp.shape([[1, 2]]) == (1, 2)
    assert inp.isscalar(1.0)
    assert inp.isscalar(inp.asarray(1))
    assert not inp.isscalar(x)
    assert not inp.isscalar("a")
    assert inp.iscomplexobj(1j)
    assert inp.isrealobj(x)
    assert inp.can_cast("int8", "int16")
    assert not inp.can_cast("float32", "int32")


def test_plain_facts_of_an_object_that_is_an_array_for_jax():
    class Like:
        def __jax_array__(self):
            return inp.ones((2, 3))

    assert (inp.shape(Like()), inp.ndim(Like()), inp.size(Like())) == ((2, 3), 2, 6)
    assert inp.size(Like(), axis=1) == 3


def test_orders_that_name_no_memory():
    x = inp.ones((2, 3))
    for got in (inp.copy(x, "K"), inp.array(x, order=None), inp.asarray(x, None, "K")):
        assert got.shape == (2, 3)


@pytest.mark.parametrize("decimals", [39, 400, 2**40, 10**400])
@pytest.mark.parametrize("x", [1.5, 1 + 2j, -0.0])
def test_more_decimals_than_a_number_has_change_nothing(x, decimals):
    assert inp.around(x, decimals) == x
    if decimals < 10**300:  # JAX raises OverflowError
        assert jnp.around(x, decimals) == x


@pytest.mark.parametrize("decimals", [-400, -(2**40), -(10**400)])
def test_fewer_decimals_than_any_number_has_leave_none(decimals):
    assert inp.around(1.5, decimals) == 0


def test_64_bits():
    with imprint.enable_x64(True):
        assert inp.zeros(1).dtype == inp.tri(1).dtype == np.float64
        assert inp.arange(3).dtype == np.int64
        assert inp.array([2**40]).tolist() == [2**40]
        assert inp.float64(1).dtype == np.float64


def test_filled_arrays_under_staging_are_one_equation():
    jaxpr = imprint.make_jaxpr(lambda: inp.zeros((2, 3)))()
    assert " ".join(str(jaxpr).split()) == (
        "{ lambda ; . let a:f32[2,3] = broadcast_in_dim[broadcast_dimensions=() "
        "shape=(2, 3)] 0.0:f32[] in (a,) }"
    )


def test_astype_copies_when_asked():
    x = inp.ones(3)
    assert x.astype(x.dtype) is x
    copied = x.astype(x.dtype, copy=True)
    x.delete()
    assert copied.tolist() == [1.0, 1.0, 1.0]
