"""Concrete arrays: writes to their memory, and the protocols of Python."""

import copy
import inspect
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ConcretizationError

DTYPES = [
    "float32",
    "bfloat16",
    "bool",
    "complex64",
    "int4",
    "float8_e4m3fn",
    "float16",
]
MADE = {
    "filled": lambda dtype: inp.zeros((2, 3), dtype),
    "rank 0": lambda dtype: inp.zeros((), dtype),
    "empty": lambda dtype: inp.zeros((0, 2), dtype),
    "compiled": lambda dtype: imprint.jit(lambda x: x)(inp.zeros((2, 3), dtype)),
    "large": lambda dtype: imprint.jit(lambda x: x)(inp.zeros(5000, dtype)),
    "repeated": lambda dtype: inp.broadcast_to(inp.zeros((), dtype), (3,)),
    "a view": lambda dtype: inp.zeros((2, 3), dtype).T,
    "reversed": lambda dtype: inp.zeros(5, dtype)[::-1],
    "NumPy's": lambda dtype: inp.asarray(np.zeros(3, dtype)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_no_view_of_the_values_can_be_made_writeable(make, dtype):
    x = make(dtype)
    for view in (np.asarray(x), x.__array__(), imprint.device_get(x)):
        assert (view.dtype, view.shape) == (x.dtype, x.shape)
        while isinstance(view, np.ndarray):  # its bases too
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.flags.writeable = True
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.setflags(write=True)
            view = view.base


def test_the_view_of_the_values_is_made_once():
    for x in (inp.ones(3), inp.ones((2, 3), inp.bfloat16).T):
        assert x.__array__() is x.__array__()
        assert np.shares_memory(np.asarray(x), np.asarray(x))


def test_a_conversion_is_a_copy_that_may_be_written_to():
    x = inp.asarray([1.0, 2.0])
    for copied in (np.array(x), np.asarray(x, "float64"), np.asarray(x, copy=True)):
        copied += 1
        assert copied.tolist() == [2, 3]
    assert x.tolist() == [1, 2]
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, "float64", copy=False)


def test_rounding_gives_an_integer_unless_digits_are_given():
    assert round(inp.asarray(2.5)).dtype == np.int32
    assert round(inp.asarray(2.55), 1).dtype == np.float32


# ---- names ----


def test_an_array_lists_no_private_names():
    listed = [dir(x) for x in (inp.ones(3), imprint.random.key(0))]
    imprint.make_jaxpr(imprint.grad(lambda x: listed.append(dir(x)) or x))(1.0)
    for names in listed:
        assert {"shape", "sum", "__add__"} <= {*names}
        assert not [n for n in names if n.startswith("_") and not n.endswith("__")]


def test_the_public_names_are_those_of_jax():
    ours = {name for name in dir(inp.ones(1)) if not name.startswith("_")}
    theirs = {name for name in dir(jnp.ones(1)) if not name.startswith("_")}
    assert ours - theirs == set()


def test_where_the_values_are():
    ours, theirs = inp.asarray([1.0, 2.0]), jnp.asarray([1.0, 2.0])
    for name in ("nbytes", "itemsize", "is_fully_addressable", "is_fully_replicated"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.on_device_size_in_bytes() == theirs.on_device_size_in_bytes()
    for x in (ours, theirs):
        assert x.addressable_data(0).tolist() == [1, 2]
        assert x.copy_to_host_async() is None
    with pytest.raises(IndexError) as caught:
        ours.addressable_data(1)
    assert str(caught.value) == (
        "addressable_data: expected 0, as float32[2] is on one device, got 1. The whole "
        "array is addressable_data(0)."
    )
    ours.delete()
    with pytest.raises(RuntimeError):
        ours.copy_to_host_async()


def test_the_standard_that_is_followed():
    assert inp.__array_api_version__ == "2024.12"
    assert inp.ones(1).__array_namespace__(api_version="2024.12") is inp


def test_membership_is_that_of_numpy():
    for x in (np.arange(6).reshape(2, 3), inp.arange(6).reshape(2, 3)):
        assert 3 in x
        assert 7 not in x
        assert x[1] in x
    with pytest.raises(ConcretizationError):
        imprint.jit(lambda x: 3 in x)(inp.arange(3))


# ---- formats, copies, pickles ----


def test_formats():
    for np_ in (inp, jnp):
        assert f"{np_.asarray(1.5):.2f} {np_.asarray([1.5])}" == "1.50 [1.5]"
        assert f"{np_.asarray(2, 'bfloat16')} {np_.asarray(2, 'int8')}" == "2.0 2"
        with pytest.raises(TypeError):
            f"{np_.asarray([1.5]):.2f}"
    with pytest.raises(TypeError, match=r"rank 0, got '\.2f' for float32\[1\]"):
        f"{inp.asarray([1.5]):.2f}"
    with pytest.raises(ConcretizationError, match=r"an f-string needs"):
        imprint.jit(lambda x: f"{x:.2f}")(1.5)
    with pytest.raises(TypeError):
        jax.jit(lambda x: f"{x:.2f}")(1.5)


def test_copies_and_pickles():
    x = imprint.device_put(inp.asarray([1.0, 2.0]), imprint.devices()[0])
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert made is not x
        assert made.tolist() == [1, 2]
    assert copy.copy(x).committed
    assert not pickle.loads(pickle.dumps(x)).committed
    assert pickle.loads(pickle.dumps(inp.asarray(2.0))).weak_type
    assert imprint.vmap(copy.copy)(x) is not x
    assert "copy" in str(imprint.make_jaxpr(copy.deepcopy)(x))
    assert "copy" in str(jax.make_jaxpr(copy.deepcopy)(1.0))
    with pytest.raises(ConcretizationError, match="`pickle`"):
        imprint.jit(pickle.dumps)(x)
    x.delete()
    for use in (copy.copy, pickle.dumps):
        with pytest.raises(RuntimeError, match=r"deleted by a call of delete\(\)"):
            use(x)


# ---- device_put ----


def test_device_put_has_the_parameters_of_jax():
    ours, theirs = map(inspect.signature, (imprint.device_put, jax.device_put))
    assert [(p.name, p.kind, p.default) for p in ours.parameters.values()] == [
        (p.name, p.kind, p.default) for p in theirs.parameters.values()
    ]


def test_device_put_takes_a_tree_of_devices_and_leaves_out_none():
    (device,) = imprint.devices()[:1]
    given = (inp.ones(2), [2.0, None]), inp.ones(3)
    (x, [number, nothing]), y = imprint.device_put(given, (device, None))
    assert (x.committed, number.committed, nothing) == (True, True, None)
    assert not y.committed
    with pytest.raises(ValueError, match="device"):
        imprint.device_put(given, (device, "cpu"))


def test_device_put_may_share_memory_or_not():
    x = imprint.jit(lambda x: x + 1)(np.zeros(3, "float32"))
    shared = imprint.device_put(x, may_alias=True, donate=False)
    own = imprint.device_put({"x": x}, may_alias={"x": False}, donate=True)["x"]
    assert np.shares_memory(np.asarray(x), np.asarray(shared))
    assert not np.shares_memory(np.asarray(x), np.asarray(own))
    assert own.tolist() == x.tolist() == [1, 1, 1]
    for api in (imprint, jax):
        with pytest.raises(ValueError, match="may_alias and donate"):
            api.device_put(1.0, may_alias=True, donate=True)
