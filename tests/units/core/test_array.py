"""Arrays under the operators and functions of Python and NumPy, as in JAX."""

import enum
import operator
import sys
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.special
from scipy.special import expit

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint.errors import ConcretizationError, DTypeError

VALUES = np.array([1, 2, 3], "int32")
OPERATORS = [
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.add, operator.sub),
    *(operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.matmul, operator.and_, operator.or_, operator.xor, operator.lshift),
    divmod,
]


class Level(enum.IntEnum):
    LOW = 2


class Flags(enum.IntFlag):
    ON = 4


class Celsius(float):
    pass


class Count(int):
    pass


class Phase(complex):
    pass


class Holder:
    """An object that converts to an array."""

    def __init__(self, array):
        self.array = array

    def __jax_array__(self):
        return self.array


def is_weak(x):
    return bool(x.weak_type) and x.dtype != bool  # of bool it means nothing


def outcome(function, *args):
    """Return the rounded result of a call, or the class of its error."""
    try:
        out = function(*args)
    except (TypeError, ValueError, IndexError):
        return "an error"
    parts = out if isinstance(out, tuple) else (out,)
    return [
        (str(x.dtype), is_weak(x), np.round(1 * np.asarray(x), 4).tolist())
        if hasattr(x, "weak_type")
        else x
        for x in parts
    ]


# ---- operators ----

OTHERS = [
    *(
        [1, 1, 1],
        (1, 1, 1),
        [1],
        {},
        {1},
        None,
        "a",
        object(),
        range(3),
        Fraction(1, 2),
    ),
    *(Level.LOW, Flags.ON, Celsius(2.5), Count(2), Phase(1 + 2j)),
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda x: f"{type(x).__name__}")
@pytest.mark.parametrize("apply", OPERATORS, ids=lambda f: f.__name__)
def test_operators_take_the_operands_of_jax(apply, other):
    ours, theirs = inp.asarray(VALUES), jnp.asarray(VALUES)
    assert outcome(apply, ours, other) == outcome(apply, theirs, other)
    assert outcome(apply, other, ours) == outcome(apply, other, theirs)


def test_a_list_next_to_a_traced_array_is_an_error():
    for compare in (lambda x: x == [1, 1, 1], lambda x: x != [1, 1, 1]):
        with pytest.raises(TypeError, match=r"list \[1, 1, 1\].*asarray"):
            imprint.jit(compare)(VALUES)


def test_a_list_is_not_repeated_by_an_array():
    with pytest.raises(TypeError, match="expected an array or a number, got list"):
        [1, 2] * inp.asarray(2)


# ---- numbers of classes that extend Python's ----

NUMBERS = [Level.LOW, Flags.ON, Celsius(2.5), Count(2), Phase(1 + 2j)]
USES = {
    "sin": lambda np, lax, api, v: np.sin(v),
    "add": lambda np, lax, api, v: np.add(np.ones(2), v),
    "where": lambda np, lax, api, v: np.where(np.ones(2) > 0, np.ones(2), v),
    "full": lambda np, lax, api, v: np.full(2, v),
    "asarray": lambda np, lax, api, v: np.asarray(v),
    "array": lambda np, lax, api, v: np.array([v, [v][0]]),
    "zeros": lambda np, lax, api, v: np.zeros(v),
    "index": lambda np, lax, api, v: np.arange(5)[v],
    "sum": lambda np, lax, api, v: np.ones((1, 1, 1)).sum(axis=v),
    "lax": lambda np, lax, api, v: lax.mul(v, v),
    "jit": lambda np, lax, api, v: api.jit(lambda x, y: x + y)(np.ones(2), v),
    "closed over": lambda np, lax, api, v: api.jit(lambda x: x + v)(np.ones(2)),
    "vmap": lambda np, lax, api, v: api.vmap(lambda x, y: x + y, (0, None))(
        np.ones(2), v
    ),
    "grad": lambda np, lax, api, v: api.grad(lambda x: x * 2.0)(v),
    "device_put": lambda np, lax, api, v: api.device_put(v),
}


@pytest.mark.parametrize("number", NUMBERS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_numbers_of_subclasses_are_numbers(use, number):
    ours = outcome(use, inp, lax, imprint, number)
    assert ours == outcome(use, jnp, jax.lax, jax, number)


def test_numbers_of_subclasses_share_the_versions_of_plain_ones():
    f = imprint.jit(lambda x: x + 1)
    for value in (2.5, Celsius(2.5), 2, Count(2), Level.LOW):
        assert float(f(value)) == value + 1
    assert f._cache_size() == 2
    with pytest.raises(OverflowError, match="argument x"):
        f(Count(2**40))
    assert "Level" not in str(imprint.make_jaxpr(lambda x: lax.mul(x, Level.LOW))(3))


# ---- objects that convert to arrays ----


@pytest.mark.parametrize("value", [VALUES, np.float32(2)], ids=["vector", "scalar"])
def test_objects_with_jax_array(value):
    ours, theirs = inp.asarray(VALUES), jnp.asarray(VALUES)
    mine, yours = Holder(inp.asarray(value)), Holder(jnp.asarray(value))
    for apply in OPERATORS:
        assert outcome(apply, ours, mine) == outcome(apply, theirs, yours)
        assert outcome(apply, mine, ours) == outcome(apply, yours, theirs)
    for name in ("asarray", "array", "zeros_like"):
        assert outcome(getattr(inp, name), mine) == outcome(getattr(jnp, name), yours)
    assert outcome(inp.stack, [mine, mine]) == outcome(jnp.stack, [yours, yours])
    assert outcome(inp.array, [mine, mine]) == outcome(jnp.array, [yours, yours])
    assert outcome(imprint.jit(lambda x: x + mine), ours) == outcome(
        jax.jit(lambda x: x + yours), theirs
    )


# ---- NumPy's functions ----

X = np.array([1, 2, 3], "float32")
WITH_VALUES = {
    "out": lambda x: np.add(x, x, out=np.ones(3, "float32")),
    "signature": lambda x: np.add(x, x, signature="ff->f"),
    "array2string": np.array2string,
}


@pytest.mark.parametrize("function", WITH_VALUES.values(), ids=WITH_VALUES)
def test_numpy_computes_with_the_values_of_concrete_arrays(function):
    ours, theirs, want = map(function, (inp.asarray(X), jnp.asarray(X), X))
    for got in (ours, theirs):
        assert type(got) is type(want)
        np.testing.assert_array_equal(got, want)


def test_numpy_accumulates_arrays_in_place():
    total = alias = np.ones(3, "float32")
    total += inp.asarray(X)
    np.add.at(total, np.array([0]), inp.asarray(X)[:1])
    assert total is alias
    assert total.tolist() == [3, 3, 4]


def test_a_ufunc_that_imprint_has_is_imprints():
    assert isinstance(np.sin(inp.asarray(X)), imprint.Array)
    assert "sin" in str(imprint.make_jaxpr(np.sin)(X))


def test_a_ufunc_of_the_name_of_a_function_is_another():
    own = scipy.special.cbrt
    assert own.__name__ == "cbrt"
    assert type(own(inp.asarray(X))) is np.ndarray
    np.testing.assert_array_equal(scipy.special.expit(inp.asarray(X)), expit(X))
    matrix = [[2.0, 1.0], [1.0, 3.0]]
    assert scipy.linalg.det(inp.asarray(matrix)) == pytest.approx(5)


def test_numpy_needs_values_which_a_traced_array_has_not():
    for function in (WITH_VALUES["signature"], WITH_VALUES["array2string"]):
        with pytest.raises(ConcretizationError, match="exist only when the compiled"):
            imprint.jit(function)(X)


def test_an_array_cannot_be_written_to_by_out():
    with pytest.raises(TypeError, match="immutable"):
        np.add(X, X, out=inp.asarray(X))


# ---- buffers, DLPack, the array API ----


def test_dlpack():
    x = inp.asarray(X)
    view = np.from_dlpack(x)
    assert view.tolist() == [1, 2, 3]
    assert not view.flags.writeable
    assert tuple(map(int, x.__dlpack_device__())) == (1, 0)
    with pytest.raises(ConcretizationError):
        imprint.jit(lambda x: np.from_dlpack(x))(X)


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


def test_dlpack_errors_name_the_remedy_for_dtypes_that_numpy_does_not_export():
    x = inp.ones(3, "bfloat16")
    assert message(BufferError, np.from_dlpack, x) == (
        "expected a dtype that NumPy hands to other libraries, got bfloat16. Hand over its "
        "bits, `x.view('uint16')` or 'uint8', and view them there."
    )
    bits = np.from_dlpack(x.view("uint16"))
    assert inp.from_dlpack(bits).view("bfloat16").tolist() == [1, 1, 1]
    with pytest.raises(BufferError, match=r"the host as the device .* got \(2, 0\)"):
        x.view("uint16").__dlpack__(dl_device=(2, 0))
    x.view("uint16").__dlpack__(dl_device=(1, 0))

    class OfAnotherLibrary:
        dtype = "other.bfloat16"

        def __dlpack__(self, **_):
            raise RuntimeError("Unsupported dtype in DLTensor.")

        def __dlpack_device__(self):
            return 1, 0

    assert message(DTypeError, inp.from_dlpack, OfAnotherLibrary()) == (
        "from_dlpack: expected a dtype that NumPy takes from other libraries, got "
        "other.bfloat16: Unsupported dtype in DLTensor. Hand over its bits, such as "
        "`x.view(torch.uint16)`, and view them here, `.view('bfloat16')`."
    )


def test_dlpack_without_a_read_only_flag_gets_a_copy():
    class Old:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **_):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = inp.asarray(X)
    copied = np.from_dlpack(Old(x))
    assert copied.tolist() == [1, 2, 3]
    assert not np.shares_memory(copied, np.asarray(x))


def test_bytes():
    assert inp.asarray(X).tobytes() == jnp.asarray(X).tobytes() == X.tobytes()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes cannot export buffers")
def test_a_buffer_is_read_only():
    x = inp.asarray(X)
    assert memoryview(x).tolist() == np.asarray(memoryview(jnp.asarray(X))).tolist()
    assert memoryview(x).readonly
    assert np.frombuffer(x, "float32").tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool"])
def test_numpy_gets_the_values_without_going_in_circles(dtype):
    """From Python 3.12 on NumPy tries the buffer first, then `__array__`."""
    x = inp.asarray(X).astype(dtype)
    np.asarray(x)
    depths = []

    def profile(frame, event, _):
        if event == "call":
            depth = 0
            while frame := frame.f_back:
                depth += 1
            depths.append(depth)

    sys.setprofile(profile)
    try:
        found = np.asarray(x)
    finally:
        sys.setprofile(None)
    assert found.tolist() == np.asarray(jnp.asarray(X).astype(dtype)).tolist()
    assert max(depths) - min(depths) < 10


def test_the_namespace_of_the_array_api():
    x = inp.asarray(X)
    assert x.__array_namespace__() is inp
    assert x.__array_namespace__(api_version="2024.12") is inp
    assert imprint.jit(lambda x: x.__array_namespace__().sin(x))(X).shape == (3,)
    for array in (x, jnp.asarray(X)):
        with pytest.raises(ValueError, match=r"1999\.12"):
            array.__array_namespace__(api_version="1999.12")


def test_the_inspection_functions_of_the_namespace():
    ours, theirs = inp.__array_namespace_info__(), jnp.__array_namespace_info__()
    assert ours.default_dtypes() == theirs.default_dtypes()
    for kind in (None, "bool", "integral", "numeric", ("bool", "real floating")):
        assert ours.dtypes(kind=kind) == theirs.dtypes(kind=kind)
    assert ours.default_device() in ours.devices()
    assert ours.capabilities() == theirs.capabilities()
    with pytest.raises(ValueError, match="kinds"):
        ours.dtypes(kind="text")


def test_the_device_of_a_traced_array():
    def f(x):
        assert x.device is None
        return inp.zeros_like(x, device=x.device) + x.to_device(x.device)

    assert imprint.jit(f)(X).tolist() == [1, 2, 3]
    assert imprint.vmap(f)(X).tolist() == [1, 2, 3]


def test_from_dlpack():
    values = np.arange(3.0)
    for np_ in (inp, jnp):
        assert np_.from_dlpack(values).dtype == np.float32
        assert np_.from_dlpack(np_.asarray(X)).tolist() == [1, 2, 3]
    own = inp.from_dlpack(values)
    values[:] = 7
    assert own.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="float64, which becomes float32"):
        inp.from_dlpack(values, copy=False)


def test_from_dlpack_shares_memory_if_it_must():
    values = np.arange(3, dtype="float32")
    shared = inp.from_dlpack(values, copy=False)
    assert np.shares_memory(np.asarray(shared), values)
    assert not np.asarray(shared).flags.writeable
    assert imprint.jit(lambda x: x * 2)(shared).tolist() == [0, 2, 4]
    assert np.shares_memory(np.from_dlpack(shared), values)
    assert inp.from_dlpack(shared, copy=False).tolist() == [0, 1, 2]
    other = imprint.devices()[-1]
    if other is not imprint.devices()[0]:
        with pytest.raises(ValueError, match="another device"):
            inp.from_dlpack(values, device=other, copy=False)


# ---- objects with a shape and a dtype ----


class Described:
    shape = (2, 3)
    dtype = "float32"
    weak_type = True


def test_objects_with_shape_and_dtype_replace_arrays_in_abstract_calls():
    def f(tree):
        return tree["x"] + 1

    given = {"x": Described()}
    for api in (imprint, jax):
        assert api.eval_shape(f, given).shape == (2, 3)
        assert api.jit(f).lower(given).out_info.shape == (2, 3)
        assert api.jit(f).trace(given).out_info.weak_type
        assert "f32[2,3]" in str(api.make_jaxpr(f)(given))
        with pytest.raises(TypeError, match="Described"):
            api.jit(f)(given)
        with pytest.raises(TypeError):
            api.eval_shape(f, {"x": np.float32})
        with pytest.raises(TypeError):
            api.numpy.sin(Described())
