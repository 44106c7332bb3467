"""A jitted function among other objects: copied, pickled, shown, bound to instances."""

import contextlib
import copy
import functools
import gc
import inspect
import pickle
import subprocess
import sys
import weakref

import cloudpickle
import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.spec.work import Work, work_of


@imprint.jit(static_argnames="n")
def power(x, n: int = 2):
    """Return `x` to the power of `n`."""
    return x**n


power.author = "us"


class Model:
    """Methods of every kind; an instance is a pytree, so `self` may be dynamic."""

    def __init__(self, weight, name="model"):
        self.weight = weight
        self.name = name

    @imprint.jit
    def scale(self, x):
        return x * self.weight

    @functools.partial(imprint.jit, static_argnums=0)
    def describe(self, x):
        return x * len(self.name)

    @staticmethod
    @imprint.jit
    def double(x):
        return x * 2

    @classmethod
    @functools.partial(imprint.jit, static_argnums=0)
    def sized(cls, x):
        return x * len(cls.__name__)

    @property
    @imprint.jit
    def square(self):
        return self.weight * self.weight


class Callable:
    def __call__(self, x):
        return x


imprint.tree.register_pytree_node(
    Model, lambda m: ((m.weight,), m.name), lambda name, leaves: Model(*leaves, name)
)


# ---- attributes ----


def test_it_looks_like_the_function():
    assert power.__name__ == power.__qualname__ == "power"
    assert power.__doc__ == "Return `x` to the power of `n`."
    assert power.__module__ == __name__
    assert power.__wrapped__(3, 3) == 27
    assert power.__annotations__ == {"n": int}
    assert str(inspect.signature(power)) == "(x, n: int = 2)"
    assert repr(power) == f"<jitted {power.__wrapped__!r}>"
    assert power.author == "us"
    assert callable(power)


def test_it_has_the_methods_that_jax_users_call():
    for name in ("lower", "trace", "eval_shape", "clear_cache", "_cache_size"):
        assert callable(getattr(power, name))
    with pytest.raises(AttributeError, match="bogus"):
        power.bogus()


def test_it_can_be_a_key_and_a_weak_reference():
    other = imprint.jit(power.__wrapped__)
    assert len({power, other, power}) == 2
    assert weakref.ref(power)() is power


def test_functions_without_a_name_have_one():
    f = imprint.jit(functools.partial(lambda x, y: x + y, 1))
    assert "module @jit__lambda_" in f.lower(1.0).as_text()
    assert "partial" in repr(f)
    twice = functools.partial(functools.partial(power.__wrapped__), n=2)
    for library in (jax, imprint):
        f = library.jit(twice)
        assert f.__name__ == f.__qualname__ == "power"
        assert functools.wraps(f)(lambda x: x).__name__ == "power"
        assert f.__annotations__ == {}
        assert str(inspect.signature(f)) == "(x, *, n: int = 2)"
    assert imprint.jit(Model(2.0).scale).__name__ == "scale"
    assert imprint.jit(Callable()).__name__ == "Callable"


# ---- copies and pickles ----


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_a_copy_works_and_shares_versions(make):
    power(2.0, n=3)
    size = power._cache_size()
    twin = make(power)
    assert twin(2.0, n=3) == 8
    assert twin._cache_size() == size
    assert twin(2.0, n=5) == 32
    assert (twin._cache_size(), power._cache_size()) == (size + 1, size + 1)


def test_an_object_that_holds_one_can_be_copied():
    holder = {"step": power, "rate": 0.5}
    assert copy.deepcopy(holder)["step"](2.0) == 4


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_function_of_a_module_is_pickled_by_name(protocol):
    assert pickle.loads(pickle.dumps(power, protocol)) is power
    assert pickle.loads(pickle.dumps([Model.scale], protocol)) == [Model.scale]


def halved(x):
    return x / 2


def local(library):
    offset = library.numpy.ones(()) * 3
    return library.jit(lambda x: x + offset)


MADE = {
    "wrapped elsewhere": lambda library: library.jit(halved),
    "partial": lambda library: library.jit(functools.partial(pow, 2.0)),
    "static": lambda library: library.jit(divmod, static_argnums=1),
    "local": local,
    "lambda": lambda library: library.jit(lambda x: -x),
    "shadowed": lambda _: imprint.jit(power.__wrapped__, static_argnames="n"),
    "filter_jit": lambda _: imprint.filter_jit(lambda x: -x),
    "bound": lambda _: imprint.filter_jit(imprint.tree.Partial(halved, 3.0)),
}
BY_VALUE = {"lambda", "local", "shadowed", "filter_jit"}
"""Those of functions that pickle does not find by their names."""


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(
    "pickler", [pickle, cloudpickle], ids=["pickle", "cloudpickle"]
)
def test_another_function_is_pickled_by_its_wrapped_function(pickler, name):
    if pickler is pickle and name in BY_VALUE:
        for library in (jax, imprint):
            with pytest.raises((AttributeError, pickle.PicklingError)):
                pickle.dumps(MADE[name](library))
        return
    f = MADE[name](imprint)
    twin = pickler.loads(pickler.dumps(f))
    arguments = {"static": (7.0, 3), "bound": ()}.get(name, (3.0,))
    want = f(*arguments)
    assert (twin(*arguments), type(twin)) == (want, type(f))
    if name in {"wrapped elsewhere", "static"}:
        assert twin.versions == f.versions


@pytest.mark.parametrize(
    "pickler", [pickle, cloudpickle], ids=["pickle", "cloudpickle"]
)
def test_options_are_pickled_too(pickler):
    options = {"static_argnums": -1, "donate_argnames": ["x"], "max_versions": 3}
    f = imprint.jit(
        halved_times,
        **options,
        compiler_options={"xla_cpu_enable_xprof_traceme": False},
    )
    twin = pickler.loads(pickler.dumps(f))
    assert twin._options is f._options
    x = inp.ones(2)
    assert twin(x, 4).tolist() == [2, 2]
    assert x.is_deleted()


def halved_times(x, n):
    return x / 2 * n


IN_MAIN = """
import cloudpickle, pickle, sys, imprint

SCALE = 3.0

@imprint.jit
def scaled(x):
    return x * SCALE

assert pickle.loads(pickle.dumps(scaled)) is scaled
sys.stdout.buffer.write(cloudpickle.dumps(scaled))
"""


@pytest.mark.slow
def test_a_function_of_a_script_can_be_sent_to_another_process():
    sent = subprocess.run(
        [sys.executable, "-c", IN_MAIN], capture_output=True, check=True
    )
    assert pickle.loads(sent.stdout)(2.0) == 6


# ---- methods ----


def test_a_method_takes_a_self_that_is_a_pytree():
    models = [Model(2.0), Model(3.0), Model(4.0)]
    Model.scale.clear_cache()
    assert [m.scale(5.0) for m in models] == [10, 15, 20]
    assert [Model.scale(m, x=5.0) for m in models] == [10, 15, 20]
    assert Model.scale._cache_size() == models[0].scale._cache_size() == 1
    assert imprint.grad(lambda m: m.scale(5.0))(Model(2.0)).weight == 5


def test_a_method_takes_a_static_self():
    first, second = Model(1.0, "ab"), Model(1.0, "abc")
    assert [first.describe(2.0), second.describe(2.0), first.describe(3.0)] == [4, 6, 6]


def test_a_static_self_that_changes_is_another_version():
    model = Model(1.0, "ab")
    assert model.describe(2.0) == 4
    model.name = "abcd"
    assert model.describe(2.0) == 8


def test_static_and_class_methods_and_properties():
    class Larger(Model):
        pass

    assert Model.double(2.0) == Model(1.0).double(2.0) == 4
    assert [Model.sized(2.0), Larger.sized(2.0)] == [10, 12]
    assert Model(3.0).square == 9


def test_the_stages_of_a_method_are_those_of_its_function():
    model = Model(2.0)
    compiled = Model.scale.lower(model, 1.0).compile()
    assert compiled(Model(7.0), 3.0) == 21


def test_a_bound_method_can_be_jitted():
    model = Model(2.0)
    f = imprint.jit(model.scale)
    assert f(3.0) == 6
    assert imprint.jit(Model.double)(3.0) == 6


def test_a_method_of_a_subclass_can_call_the_one_above():
    class Shifted(Model):
        @imprint.jit
        def scale(self, x):
            return super().scale(x) + 1

    imprint.tree.register_pytree_node(
        Shifted, lambda m: ((m.weight,), m.name), lambda n, leaves: Shifted(*leaves, n)
    )
    assert Shifted(2.0).scale(5.0) == 11


def test_a_function_made_in_a_method_sees_its_object():
    class Counter:
        def __init__(self):
            self.a = 5

        def compute(self):
            @imprint.jit
            def add():
                return self.a + 1

            return add()

    counter = Counter()
    assert [counter.compute(), counter.compute()] == [6, 6]
    counter.a = 7
    assert counter.compute() == 8


# ---- when it is freed ----


OFFSET = 0.5


def repeated(f):
    for _ in range(4):
        f(inp.ones(2))


def refused(f):
    with pytest.raises(TypeError):
        f("text")


def explained(f):
    f(1.0)
    assert "compiles" in str(f.explain(inp.ones((2, 2))))


def read_again(f):
    """Give the guard equal values in other objects, and then other values."""
    for value in (0.5, float("0.5"), 0.75):
        globals()["OFFSET"] = value
        f(inp.ones(2))


USES = {
    "not called": lambda f: None,
    "called": lambda f: f(1.0),
    "called again": repeated,
    "refused": refused,
    "nested": lambda f: imprint.jit(lambda x: f(x) * 2)(1.0),
    "grad": lambda f: imprint.grad(lambda x: f(x))(1.0),
    "jit of grad": lambda f: imprint.jit(imprint.grad(f))(1.0),
    "vmap": lambda f: imprint.vmap(f)(inp.ones(3)),
    "stages": lambda f: f.lower(1.0).compile()(1.0),
    "jaxpr": lambda f: imprint.make_jaxpr(f)(1.0),
    "explained": explained,
    "global replaced": read_again,
}
WRAPPERS = {
    "jit": imprint.jit,
    "filter_jit": imprint.filter_jit,
    "strict": functools.partial(imprint.jit, strict=True),
    "donating": functools.partial(imprint.jit, donate_argnums=0),
}


def made(wrapper):
    """Return a function that captures arrays, and references to all that it holds."""
    ours, host = inp.ones(3) * 2, np.ones(5)

    def local(x):
        return x * OFFSET + (ours.sum() + host.sum())

    f = wrapper(local)
    return f, list(map(weakref.ref, (f, local, ours, host)))


@pytest.fixture
def no_collection():
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.filterwarnings("ignore:.*donated argument", "ignore:.*strict")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_function_and_its_captures_are_freed_without_a_collection(
    wrapper, use, monkeypatch
):
    if (wrapper, use) == ("filter_jit", "refused"):
        pytest.skip("takes any value")
    monkeypatch.setitem(globals(), "OFFSET", 0.5)
    f, kept = made(WRAPPERS[wrapper])
    USES[use](f)
    kept += map(weakref.ref, f.versions)
    del f
    assert [ref() for ref in kept] == [None] * len(kept)


@pytest.mark.usefixtures("no_collection")
def test_a_function_whose_trace_failed_is_freed():
    def branching(x):
        return x if x > 0 else -x

    f = imprint.jit(branching)
    with contextlib.suppress(TypeError):
        f(1.0)
    kept = weakref.ref(f), weakref.ref(branching)
    del f, branching
    assert [ref() for ref in kept] == [None, None]


@pytest.mark.usefixtures("no_collection")
def test_of_functions_made_in_a_loop_only_shared_versions_stay():
    def made(i):
        def scaled(x):
            return x * i

        return scaled

    kept = []
    for i in range(3):
        scaled = made(i)
        f = imprint.jit(scaled)
        f(1.0)
        kept += [weakref.ref(f), weakref.ref(scaled)]
    del f, scaled
    assert [ref() for ref in kept] == [None] * 6
    assert work_of(lambda: imprint.jit(made(2))(1.0)) == Work(0, 0)


# ---- jit around jit ----


def test_jit_of_a_jitted_function_keeps_the_shared_call():
    f = imprint.jit(imprint.jit(lambda x: inp.sin(x)))
    assert str(f.trace(1.0).jaxpr).count("jit[") == 1
    assert imprint.jit(power, static_argnames="n")(2.0, n=3) == 8


def test_a_decorator_below_jit_is_traced_with_it():
    def twice(fun):
        @functools.wraps(fun)
        def wrapped(*args):
            return fun(fun(*args))

        return wrapped

    assert imprint.jit(twice(lambda x: x * 3))(1.0) == 9


ENDING = """
import os
import imprint
from imprint._src.jit.fingerprint import code

class Scale:
    factor = 2.0

    def apply(self, x):
        return x * self.factor

kept = [Scale() for _ in range(5)]
functions = [imprint.jit(scale.apply) for scale in kept]
for f in functions:
    f(1.0)

late = compile("1", "late", "eval")
code.code_of(late)
os.kept = code, code.codes, late  # dies when the module has lost its names
"""


@pytest.mark.slow
def test_the_interpreter_exits_without_output():
    run = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=True
    )
    assert (run.stdout, run.stderr) == ("", "")
