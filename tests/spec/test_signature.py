"""Each parameter of `jit`, and the programs that its documentation shows."""

import functools
import gc
import inspect
import weakref
from collections.abc import Iterator

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.spec.work import Work, work_of

OF_JAX = [
    *("in_shardings", "out_shardings", "static_argnums", "static_argnames"),
    *("donate_argnums", "donate_argnames", "keep_unused", "device", "backend"),
    *("inline", "abstracted_axes", "compiler_options"),
]
OWN = ["max_versions", "on_limit", "strict", "persist", "buckets"]


def power(x, n=2):
    for _ in range(n):
        x = x * x
    return x


# ---- fun ----


def test_the_parameters_are_those_of_jax_and_five_more():
    fun, *options = inspect.signature(imprint.jit).parameters.values()
    assert (fun.name, fun.kind, fun.default) == ("fun", fun.POSITIONAL_ONLY, None)
    assert [p.name for p in options] == OF_JAX + OWN
    assert {p.kind for p in options} == {inspect.Parameter.KEYWORD_ONLY}


def named(x):
    return x + 1


class Callable:
    def __call__(self, x):
        return x + 1


class Slotted:
    __slots__ = ()

    def __call__(self, x):
        return x + 1


class Model:
    def step(self, x):
        return x + 1


FUNCTIONS = {
    "a function": lambda: named,
    "a lambda": lambda: lambda x: x + 1,
    "a partial": lambda: functools.partial(lambda y, x: x + y, 1),
    "a callable": Callable,
    "a callable without a weak reference": Slotted,
    "a bound method": lambda: Model().step,
    "a jitted function": lambda: imprint.jit(named),
    "a function of imprint.numpy": lambda: lambda x: inp.add(x, 1),
    "a decorated function": lambda: functools.wraps(named)(lambda *args: named(*args)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_callable_can_be_jitted(name):
    f = imprint.jit(FUNCTIONS[name]())
    assert [float(f(1.0)), float(f(2.0))] == [2.0, 3.0]
    assert f._cache_size() == 1


FORMS = {
    "decorator": lambda: imprint.jit(power, static_argnums=1),
    "factory": lambda: imprint.jit(static_argnums=1)(power),
    "partial": lambda: functools.partial(imprint.jit, static_argnames=["n"])(power),
    "empty factory": lambda: imprint.jit()(lambda x, n: x**8),
}


@pytest.mark.parametrize("name", FORMS)
def test_jit_can_be_called_bare_or_with_options(name):
    assert FORMS[name]()(2.0, 3) == 256


TREES = {
    "tuple": ((1.0, 2.0), 3.0),
    "nested": [{"a": (1.0, [2.0])}, 3.0],
    "none": {"a": 1.0, "b": None, "c": (None, 5.0)},
    "empty": {"a": (), "b": {}, "c": 6.0},
}


@pytest.mark.parametrize("name", TREES)
def test_arguments_and_results_are_trees(name):
    tree = TREES[name]
    out = imprint.jit(lambda t: imprint.tree.map(lambda x: x * 2, t))(tree)
    assert imprint.tree.structure(out) == imprint.tree.structure(tree)
    assert imprint.tree.leaves(out) == [2 * x for x in imprint.tree.leaves(tree)]


def test_the_function_is_freed_with_its_wrapper():
    def local(x):
        return x + 1

    f = imprint.jit(local)
    f(1.0)
    dead = weakref.ref(local)
    del local, f
    gc.collect()
    assert dead() is None


# ---- static arguments ----


STATIC = [
    {"static_argnums": 1},
    {"static_argnums": (1,)},
    {"static_argnums": [1, 1, -1]},
    {"static_argnums": -1},
    {"static_argnums": np.int64(1).item()},
    {"static_argnames": "n"},
    {"static_argnames": ["n"]},
    {"static_argnums": 1, "static_argnames": "n"},
]


@pytest.mark.parametrize("options", [(1, ()), ((), "n"), (1, "x"), (1, "n")], ids=str)
def test_positions_and_names_that_are_both_given_are_taken_as_they_are(options):
    def is_int(x, n):
        return isinstance(n, int)

    static = dict(zip(("static_argnums", "static_argnames"), options, strict=True))
    for args, kwargs in [((1, 2), {}), ((1,), {"n": 2}), ((), {"x": 1, "n": 2})]:
        of_jax = jax.jit(is_int, **static)(*args, **kwargs)
        assert bool(imprint.jit(is_int, **static)(*args, **kwargs)) == bool(of_jax)


POSITIONS = {
    "numpy": np.int64(1),
    "array": np.array([1]),
    "rank 0": np.array(1),
    "tuple": (np.int8(1),),
    "range": range(1, 2),
    "set": {1},
    "generator": (i for i in (1,)),
    "from the end": -1,
}


@pytest.mark.parametrize("positions", POSITIONS.values(), ids=POSITIONS)
def test_positions_are_the_integers_that_jax_accepts(positions):
    if not isinstance(positions, Iterator):
        assert jax.jit(power, static_argnums=positions)(2.0, 3) == 256
    f = imprint.jit(power, static_argnums=positions)
    assert (f(2.0, 3), f(2.0, 1), f._cache_size()) == (256, 4, 2)
    donated = {np.int64: np.int32(0), range: range(1)}.get(type(positions), [0])
    x = inp.ones(2)
    imprint.jit(lambda x, n: x * n, donate_argnums=donated)(x, 2)
    assert x.is_deleted()


@pytest.mark.parametrize("wrong", [(True,), (1.0,), ("1",), (None,)], ids=repr)
def test_a_position_of_another_type_is_refused_before_and_after_an_equal_one(
    wrong,
):
    for _ in range(2):
        with pytest.raises(TypeError, match="static_argnums: expected an integer"):
            imprint.jit(power, static_argnums=wrong)
        assert imprint.jit(power, static_argnums=(1,))(2.0, 3) == 256


def test_negative_positions_of_a_function_of_any_number_count_from_the_end_of_a_call():
    def last(seen, *values):
        kinds.append([isinstance(v, int) for v in (seen, *values)])
        return seen

    for library in (jax, imprint):
        kinds = []
        f = library.jit(last, static_argnums=-1)
        f(1, 2), f(1, 2, 3), f(1)
        assert kinds == [[False, True], [False, False, True], [True]]
    with pytest.raises(ValueError, match="donate_argnums"):
        imprint.jit(last, donate_argnums=-1)


def test_compiler_options_may_be_numpy_scalars():
    options = {"xla_backend_optimization_level": np.int64(1)}
    for library in (jax, imprint):
        assert library.jit(power, compiler_options=options)(2.0) == 16


@pytest.mark.parametrize("options", STATIC, ids=str)
def test_positions_and_names_are_equivalent(options):
    f = imprint.jit(power, **options)
    assert [f(2.0, 3), f(2.0, n=3), f(x=2.0, n=3)] == [256] * 3
    assert [f(2.0), f(2.0, 2), f(2.0, n=2)] == [16] * 3
    assert f._cache_size() == 2


def test_no_argument_is_static_unless_it_is_said():
    with pytest.raises(TypeError, match="argument n of power"):
        imprint.jit(power)(2.0, 3)


def test_a_keyword_only_argument_can_be_static():
    f = imprint.jit(lambda x, *, n: power(x, n), static_argnames="n")
    assert [f(2.0, n=3), f(2.0, n=2), f(2.0, n=3)] == [256, 16, 256]
    assert f._cache_size() == 2


def test_one_of_several_arguments_can_be_static():
    f = imprint.jit(lambda *args: args[0] * args[1], static_argnums=1)
    assert [f(2.0, 3), f(2.0, 4), f(2.0, 3)] == [6, 8, 6]
    assert f._cache_size() == 2


def test_a_keyword_of_many_can_be_static():
    f = imprint.jit(lambda x, **named: x * named["n"], static_argnames="n")
    assert [f(2.0, n=3), f(2.0, n=4), f(2.0, n=3)] == [6, 8, 6]
    assert f._cache_size() == 2


# ---- unused arguments ----


@pytest.mark.parametrize(("keep", "count"), [(False, 1), (True, 2)])
def test_unused_arguments_are_dropped_unless_kept(keep, count):
    lowered = imprint.jit(lambda x, y: x * 2, keep_unused=keep).lower(1.0, 2.0)
    assert lowered.as_text().split("->")[0].count("%arg") == count
    assert lowered.compile()(1.0, 2.0) == 2.0


# ---- where it runs ----


@pytest.mark.parametrize(
    "options",
    [
        {"device": imprint.devices()[0]},
        {"backend": "cpu"},
        {"in_shardings": None, "out_shardings": None},
        {"in_shardings": (None, None)},
        {"in_shardings": imprint.devices()[0]},
        {"in_shardings": (imprint.devices()[0], None)},
        {"out_shardings": {"sum": None}},
    ],
    ids=str,
)
def test_one_device_can_be_named_in_every_way(options):
    f = imprint.jit(lambda x, y: {"sum": x + y}, **options)
    assert f(1.0, 2.0) == {"sum": 3.0}


# ---- the compiler's options ----


def test_compiler_options_reach_the_compiler():
    f = imprint.jit(
        lambda x: x + 1.125, compiler_options={"xla_cpu_enable_fast_math": True}
    )
    assert f(1.0) == 2.125
    other = imprint.jit(lambda x: x + 1.125)
    assert work_of(lambda: other(1.0)) == Work(1, 1)  # not the executable of f


def test_an_option_given_to_compile_wins():
    lowered = imprint.jit(
        lambda x: x + 1, compiler_options={"xla_cpu_enable_fast_math": True}
    ).lower(1.0)
    assert lowered.compile({"xla_cpu_enable_fast_math": False})(1.0) == 2.0
    with pytest.raises(imprint.errors.CompileError, match="bogus"):
        lowered.compile({"bogus": 1})


# ---- examples of the documentation ----


@pytest.mark.parametrize(
    ("partitionable", "digits"),
    [
        (
            False,
            "-0.5448514 0.2774427 -0.29255113 -0.91421574 -0.6245251 -0.24748121"
            " -0.85743254 -0.7823266 0.7682733 0.59566766",
        ),
        (
            True,
            "1.7037742 2.1265278 -0.616925 -0.13257582 0.18489543 -1.0901651"
            " -0.68493664 0.5190975 0.69756675 -1.0754603",
        ),
    ],
)
def test_selu_of_normal_numbers_in_both_streams(partitionable, digits):
    @imprint.jit
    def selu(x, alpha=1.67, lmbda=1.05):
        return lmbda * inp.where(x > 0, x, alpha * inp.exp(x) - alpha)

    with imprint.threefry_partitionable(partitionable):
        key = imprint.random.key(0)
        x = imprint.random.normal(key, (10,))
        want = np.array(digits.split(), np.float32)
        np.testing.assert_array_max_ulp(np.asarray(selu(x)), want, maxulp=2)


def test_g_of_arange():
    @functools.partial(imprint.jit, static_argnames=["n"])
    def g(x, n):
        for _ in range(n):
            x = x**2
        return x

    assert repr(g(inp.arange(4), 3)) == "Array([   0,    1,  256, 6561], dtype=int32)"


NAMES = """
    jit make_jaxpr xla_computation disable_jit default_device debug_nans devices
    random.key random.normal numpy.ones numpy.array numpy.arange numpy.where numpy.exp
    numpy.sin eval_shape ShapeDtypeStruct device_put device_get block_until_ready
    clear_caches
"""


def test_the_names_that_programs_use_exist():
    for name in NAMES.split():
        assert functools.reduce(getattr, name.split("."), imprint) is not None, name


def test_a_program_is_compiled_for_the_requested_device():
    device = imprint.devices()[0]
    f = imprint.jit(lambda x: x + 1, device=device)
    assert f(1.0) == 2
    assert f.versions[0].executable.device is device
