"""The key of a call: types of arguments, spelling, flags, containers."""

import collections

import jax
import ml_dtypes
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.spec.work import Work, work_of


def sizes(f, *arguments):
    """Return the number of versions after each call."""
    seen = []
    for x in arguments:
        f(x)
        seen.append(f._cache_size())
    return seen


def add_one():
    return imprint.jit(lambda tree: imprint.tree.map(lambda x: x + 1, tree))


# ---- kinds of arguments ----


def test_python_numbers_have_a_version_for_each_kind():
    assert sizes(add_one(), 1, 2, 1.0, 2.5, True, False, 1j) == [1, 1, 2, 2, 3, 3, 4]


def test_typed_scalars_and_arrays_of_one_aval_share():
    f = add_one()
    scalars = (
        *(np.float32(1), np.float64(1), np.array(1.0), np.array(1, np.float32)),
        *(inp.float32(1), inp.ones(()), imprint.jit(lambda: inp.ones(()))()),
    )
    assert sizes(f, *scalars) == [1] * len(scalars)


def test_numpy_and_device_arrays_share():
    f = add_one()
    arrays = (
        *(np.ones(2, np.float32), np.ones(2), inp.ones(2), f(inp.ones(2))),
        *(np.ones((2, 2))[:, 0], np.ones(4)[::2], np.asfortranarray(np.ones(2))),
    )
    assert sizes(f, *arrays) == [1] * len(arrays)


SCALARS = {
    "int": [1, -3, 2**31 - 1, -(2**31), np.int32(1), np.int64(3), np.array(5)],
    "float": [1.0, float("inf"), 1e300, np.float64(2.5), np.float32(1), np.array(1.5)],
    "bool": [True, False, np.True_, np.array(False)],
    "complex": [1j, 1e300j, np.complex64(1), np.complex128(1j), np.array(2j)],
    "narrow": [np.int8(3), np.uint64(3), np.int64(2**40), np.float16(2.5), np.uint8(9)],
    "extended": [ml_dtypes.bfloat16(1.5), np.ones(2, ml_dtypes.bfloat16)],
    "nodes": [(1, 2.0), [True], {"a": np.float32(1)}, None, ()],
}


@pytest.mark.unaudited
@pytest.mark.parametrize("kind", SCALARS)
def test_scalars_give_the_results_and_the_traces_that_they_give_in_jax(kind):
    def run(library):
        traces = []

        @library.jit
        def same(tree):
            traces.append(tree)
            return library.tree.map(lambda x: (x, x + library.numpy.int8(1)), tree)

        results = [[same(value), same(value), len(traces)] for value in SCALARS[kind]]
        return library.tree.map(
            lambda x: (
                (str(x.dtype), bool(x.weak_type), str(np.asarray(x)))
                if hasattr(x, "dtype")
                else x
            ),
            results,
        )

    assert run(imprint) == run(jax)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**63], ids=str)
def test_an_integer_that_does_not_fit_is_an_error_in_both(value):
    for library in (jax, imprint):
        with pytest.raises(OverflowError):
            library.jit(lambda x: x)(value)


def test_a_number_that_becomes_an_array_is_compiled_once():
    """`x = f(x)` from a Python number: the weak type hardens, the program is the same."""
    f = imprint.jit(lambda x: x * inp.float32(1.0625))

    def loop():
        x = 1.0
        for _ in range(5):
            x = f(x)

    assert work_of(loop) == Work(traces=2, compiles=1)


def test_shape_rank_and_dtype_are_part_of_the_key():
    f = add_one()
    arrays = [inp.ones(s, d) for s in ((), 1, 2, (1, 2)) for d in ("int32", "float32")]
    assert sizes(f, *arrays, *arrays)[-1] == len(arrays)


def test_wide_arrays_are_narrowed_unless_x64():
    f = add_one()
    assert f(np.ones(2)).dtype == "float32"
    assert f(np.arange(2)).dtype == "int32"
    with imprint.enable_x64():
        assert f(np.ones(2)).dtype == "float64"
        assert f(np.arange(2)).dtype == "int64"
    assert f._cache_size() == 4


# ---- containers ----


def test_each_container_type_has_its_own_version():
    Pair = collections.namedtuple("Pair", "a b")
    containers = (
        *((1, 2), [1, 2], {"a": 1}, {"b": 1}, None, (), (1,), ((1, 2),), Pair(1, 2)),
        *({"a": 1, "b": 2}, collections.OrderedDict(a=1, b=2), (1, None), (None, 1)),
    )
    f = add_one()
    assert sizes(f, *containers) == list(range(1, len(containers) + 1))
    assert sizes(f, *containers)[-1] == len(containers)


def test_the_order_of_a_dictionary_is_ignored():
    f = add_one()
    assert sizes(f, {"a": 1, "b": 2}, {"b": 3, "a": 4}) == [1, 1]
    assert f({"b": 3, "a": 4}) == {"a": 5, "b": 4}


def test_keys_that_cannot_be_sorted_are_accepted():
    f = add_one()
    assert f({1: 1, "a": 2}) == f({"a": 2, 1: 1}) == {1: 2, "a": 3}
    assert f._cache_size() == 1


# ---- spelling ----


SPELLINGS = {
    "position": lambda f, x: f(x),
    "position and default": lambda f, x: f(x, 1),
    "default by name": lambda f, x: f(x, k=1),
    "all by name": lambda f, x: f(x=x),
    "all by name, with default": lambda f, x: f(x=x, k=1),
    "all by name, in another order": lambda f, x: f(k=1, x=x),
}


def test_every_spelling_of_a_call_is_one_version():
    f = imprint.jit(lambda x, k=1: x * k)
    x = inp.arange(3.0)
    work = work_of(lambda: [call(f, x) for call in SPELLINGS.values()])
    assert work == Work(traces=1, compiles=1)
    assert f._cache_size() == 1


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_gives_the_result_each_time(name):
    f = imprint.jit(lambda x, k=1: x * k)
    for start in (0.0, 1.0, 2.0):
        x = inp.arange(3.0) + start
        assert SPELLINGS[name](f, x).tolist() == x.tolist()
        assert SPELLINGS[name](f, start).tolist() == start


ORDERS = {
    "positions": lambda f, a, b, c: f(a, b, c),
    "reversed names": lambda f, a, b, c: f(c=c, b=b, a=a),
    "mixed": lambda f, a, b, c: f(a, c=c, b=b),
    "static first": lambda f, a, b, c: f(b=b, a=a, c=c),
}
KINDS = {
    "device arrays": inp.asarray,
    "numpy arrays": np.asarray,
    "numbers": lambda x: x,
    "trees": lambda x: [x, (inp.asarray(x),)],
}


@pytest.mark.parametrize("static", [None, "b"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ORDERS)
def test_arguments_reach_their_parameters_each_time(order, kind, static):
    def digits(a, b, c):
        first, last = imprint.tree.leaves(a)[0], imprint.tree.leaves(c)[-1]
        return first * 100 + imprint.tree.leaves(b)[0] * 10 + last

    f = imprint.jit(digits, static_argnames=static)
    make = KINDS[kind]
    for n in (1.0, 2.0, 3.0, 4.0):
        b = 5.0 if static else make(5.0)
        assert ORDERS[order](f, make(n), b, make(n + 5)) == 100 * n + 50 + n + 5


def test_keywords_of_a_call_are_one_version_in_any_order():
    f = imprint.jit(lambda x, *, a, b=3.0, **rest: x + a - b + rest.get("c", 0))
    results = [f(1.0, a=2.0), f(1.0, a=2.0, b=3.0), f(1.0, b=3.0, a=2.0)]
    assert results == [0.0] * 3
    assert f._cache_size() == 1
    assert [f(1.0, a=2.0, c=5.0), f(1.0, c=5.0, a=2.0)] == [5.0, 5.0]
    assert f._cache_size() == 2


def test_positional_only_and_starred_arguments():
    f = imprint.jit(lambda x, y=2.0, /, *more: x * y + sum(more))
    assert [f(3.0), f(3.0, 2.0), f(3.0, 2.0, 1.0), f(3.0, 4.0, 1.0, 1.0)] == [
        *(6.0, 6.0, 7.0, 14.0)
    ]


# ---- flags ----


IN_KEY = {
    "enable_x64": (False, True),
    "default_matmul_precision": (None, "highest"),
    "numpy_rank_promotion": ("allow", "raise"),
    "numpy_dtype_promotion": ("standard", "strict"),
    "threefry_partitionable": (True, False),
    "debug_nans": (False, True),
    "debug_infs": (False, True),
    "debug_key_reuse": (False, True),
    "explicit_x64_dtypes": ("warn", "error"),
    "default_device": (None, imprint.devices()[0]),
}
NOT_IN_KEY = ("log_compiles", "check_tracer_leaks", "disable_jit")


@pytest.mark.parametrize("flag", IN_KEY)
def test_a_flag_that_changes_programs_is_a_version_and_going_back_hits(flag):
    f = imprint.jit(lambda x: x + x)
    x = inp.ones(3)
    seen = []
    for value in IN_KEY[flag] * 2:
        with getattr(type(imprint.config), flag)(value):
            f(x)
        seen.append(f._cache_size())
    assert seen == [1, 2, 2, 2]


@pytest.mark.parametrize("flag", NOT_IN_KEY)
def test_a_flag_that_changes_no_program_is_no_version(flag):
    f = imprint.jit(lambda x: x + x)
    x = inp.ones(3)
    for value in (False, True, False, True):
        with getattr(type(imprint.config), flag)(value):
            assert f(x).tolist() == [2, 2, 2]
    assert f._cache_size() == 1


def test_a_flag_set_for_the_process_is_part_of_the_key():
    f = imprint.jit(lambda x: x * 2)
    try:
        imprint.config.update("enable_x64", True)
        assert f(np.ones(2)).dtype == "float64"
    finally:
        imprint.config.update("enable_x64", False)
    assert f(np.ones(2)).dtype == "float32"
    assert f._cache_size() == 2


def test_strict_promotion_refuses_mixed_operands():
    f = imprint.jit(lambda x, y: x + y)
    assert f(inp.ones(2), inp.arange(2)).tolist() == [1, 2]
    with (
        imprint.numpy_dtype_promotion("strict"),
        pytest.raises(imprint.errors.PromotionError, match="one dtype"),
    ):
        f(inp.ones(2), inp.arange(2))
    assert f(inp.ones(2), inp.arange(2)).tolist() == [1, 2]


def test_rank_promotion_can_raise_or_warn():
    f = imprint.jit(lambda x, y: x + y)
    x, y = inp.ones(2), inp.ones((3, 2))
    with (
        imprint.numpy_rank_promotion("raise"),
        pytest.raises(ValueError, match="one rank"),
    ):
        f(x, y)
    with (
        imprint.numpy_rank_promotion("warn"),
        pytest.warns(UserWarning, match="one rank"),
    ):
        f(x, y)
    assert f(x, y).shape == (3, 2)


def test_matmul_precision_reaches_the_program():
    f = imprint.jit(lambda x: x @ x)
    texts = []
    for precision in ("default", "highest"):
        with imprint.default_matmul_precision(precision):
            texts.append(f.lower(inp.ones((9, 9))).as_text())
    assert texts[0] != texts[1]
    assert "HIGHEST" in texts[1]


def test_the_random_stream_reaches_the_program():
    f = imprint.jit(lambda key: imprint.random.normal(key, (4,)))
    key = imprint.random.key(0)
    draws = []
    for partitionable in (True, False, True):
        with imprint.threefry_partitionable(partitionable):
            draws.append(f(key).tolist())
    assert draws[0] == draws[2] != draws[1]


# ---- functions ----


def test_two_wrappers_of_one_function_compile_once():
    def body(x):
        return x * 1.03125 + 1

    first, second = imprint.jit(body), imprint.jit(body)
    x = inp.ones(5)
    work = work_of(lambda: (first(x), second(x)))
    assert work.compiles == 1
    assert (first._cache_size(), second._cache_size()) == (1, 1)


@pytest.mark.unaudited
def test_a_captured_array_is_a_constant_of_the_program():
    table = np.array([1.0, 2.0], np.float32)
    f = imprint.jit(lambda x: x * table)
    assert f(2.0).tolist() == [2, 4]
    table[:] = 5
    assert f(2.0).tolist() == [2, 4]
