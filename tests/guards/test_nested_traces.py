"""Transforms, derivative rules and inner jitted functions see edits."""

import types

import pytest

import imprint
import imprint.custom_batching
import imprint.numpy as inp
from imprint import filter_jit, grad, jit, lax, vmap
from imprint._src.jit.guards.reachable import ReachableValues
from imprint.module import Module
from tests.guards.programs import BACK, Programs, check_call, check_edits

stale = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@stale.each
def test_an_edit_is_seen(program):
    check_edits(program())


# ---- transforms ----

USES = {
    "vmap": lambda h, x: vmap(h)(inp.stack([x, x])).sum(),
    "grad": lambda h, x: grad(lambda y: h(y) * y)(x),
    "value_and_grad": lambda h, x: imprint.value_and_grad(h)(x)[0],
    "hessian": lambda h, x: imprint.hessian(lambda y: h(y) * y)(x),
    "jvp": lambda h, x: imprint.jvp(h, (x,), (x,))[1],
    "vjp": lambda h, x: imprint.vjp(h, x)[1](x)[0],
    "jit": lambda h, x: jit(h)(x),
    "filter_jit": lambda h, x: filter_jit(h)(x),
    "vmap of grad": lambda h, x: vmap(grad(h))(inp.stack([x, x])).sum(),
    "checkpoint": lambda h, x: grad(imprint.checkpoint(h))(x),
    "scan": lambda h, x: lax.scan(lambda c, _: (h(c), None), x, None, length=2)[0],
    "fori_loop": lambda h, x: lax.fori_loop(0, 2, lambda _, c: h(c), x),
    "while_loop": lambda h, x: lax.while_loop(lambda c: c < 50.0, h, x),
    "map": lambda h, x: lax.map(h, inp.stack([x, x])).sum(),
    "cond": lambda h, x: lax.cond(x > 0.0, h, lambda y: y, x),
    "switch": lambda h, x: lax.switch(1, [lambda y: y, h], x),
    "named_call": lambda h, x: imprint.named_call(h)(x),
}


@pytest.mark.parametrize("name", USES)
def test_a_variable_that_a_transformed_function_reads(name):
    use, rate = USES[name], 2.0
    fun = jit(lambda x: use(lambda y: y * rate, x))
    first = check_call(fun)
    rate = 3.0
    assert check_call(fun) != first
    rate = 2.0
    assert check_call(fun) == first


@pytest.mark.parametrize("name", USES)
def test_an_attribute_that_a_transformed_function_reads(name):
    use, settings = USES[name], types.SimpleNamespace(rate=2.0, table={"shift": 0.0})

    def helper(x):
        return x * settings.rate + x * settings.table["shift"]

    fun = jit(lambda x: use(helper, x))
    first = check_call(fun)
    settings.rate = 3.0
    assert check_call(fun) != first
    settings.rate = 2.0
    assert check_call(fun) == first
    settings.table["shift"] = 1.0
    assert check_call(fun) != first


@stale
def bound_of_a_while_loop():
    bound = 10.0

    def f(x):
        return lax.while_loop(lambda c: c < bound, lambda c: c * 2.0, x)

    yield f
    bound = 100.0
    yield
    bound = 10.0
    yield BACK


@stale
def shape_of_eval_shape():
    size = 2

    def f(x):
        shape = imprint.eval_shape(lambda y: inp.full((size,), y), x).shape
        return x * shape[0]

    yield f
    size = 3
    yield
    size = 2
    yield BACK


# ---- derivatives of the user ----


@stale
def rule_of_a_custom_jvp():
    rate = 2.0

    @imprint.custom_jvp
    def helper(x):
        return x * 1.0

    @helper.defjvp
    def _(primals, tangents):
        return primals[0], tangents[0] * rate

    def f(x):
        return grad(helper)(x)

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def forward_rule_of_a_custom_vjp():
    rate = 2.0

    @imprint.custom_vjp
    def helper(x):
        return x * 1.0

    helper.defvjp(lambda x: (x, rate), lambda kept, ct: (ct * kept,))

    def f(x):
        return grad(helper)(x)

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def backward_rule_of_a_custom_vjp():
    class Settings:
        rate = 2.0

    settings = Settings()

    @imprint.custom_vjp
    def helper(x):
        return x * 1.0

    helper.defvjp(lambda x: (x, None), lambda _, ct: (ct * settings.rate,))

    def f(x):
        return grad(helper)(x)

    yield f
    settings.rate = 3.0
    yield
    del settings.rate
    yield BACK


@stale
def primal_of_a_custom_jvp():
    rate = 2.0

    @imprint.custom_jvp
    def helper(x):
        return x * rate

    helper.defjvp(lambda primals, tangents: (primals[0], tangents[0]))

    def f(x):
        return helper(x)

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


# ---- jitted functions inside ----


@stale
def variable_of_an_inner_function():
    rate = 2.0

    @jit
    def inner(x):
        return x * rate

    def f(x):
        return inner(x) + 1.0

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def variable_of_an_inner_function_that_was_called_before():
    rate = 2.0

    @jit
    def inner(x):
        return x * rate

    inner(inp.float32(2))

    def f(x):
        return inner(x) + 1.0

    yield f
    rate = 3.0
    inner(inp.float32(2))
    yield
    rate = 2.0
    yield BACK


@stale
def attribute_of_an_inner_function():
    class Settings:
        rate = 2.0

    settings = Settings()

    @jit
    def innermost(x):
        return x * settings.rate

    @jit
    def inner(x):
        return innermost(x) + 1.0

    def f(x):
        return inner(x) + 1.0

    yield f
    settings.rate = 3.0
    yield
    del settings.rate
    yield BACK
    Settings.rate = 5.0
    yield


@stale
def inner_function_that_is_replaced():
    @jit
    def inner(x):
        return x * 2.0

    def f(x):
        return inner(x) + 1.0

    yield f
    kept, inner = inner, jit(lambda x: x * 3.0)
    yield
    inner = kept
    yield BACK


@stale
def helper_of_an_inner_function():
    def helper(x, rate=2.0):
        return x * rate

    @jit
    def inner(x):
        return helper(x)

    def f(x):
        return inner(x) + 1.0

    yield f
    helper.__defaults__ = (3.0,)
    yield
    helper.__defaults__ = (2.0,)
    yield BACK
    helper.__code__ = (lambda x, rate: x - rate).__code__
    yield


@stale
def inner_function_in_a_loop():
    class Layer:
        def __init__(self, rate):
            self.rate = rate
            self.run = jit(lambda x: x * self.rate)

    layers = [Layer(2.0), Layer(3.0)]

    def f(x):
        for layer in layers:
            x = layer.run(x)
        return x

    yield f
    layers[1].rate = 5.0
    yield
    layers[1].rate = 3.0
    yield BACK
    layers.pop()
    yield


@stale
def static_argument_of_an_inner_function():
    class Settings:
        rate = 2.0

    settings = Settings()
    inner = jit(lambda s, x: x * s.rate, static_argnums=0)

    def f(x):
        return inner(settings, x)

    yield f
    settings.rate = 3.0
    yield
    del settings.rate
    yield BACK


@stale
def module_that_a_function_captures():
    class Scale(Module):
        rate: float
        shift = 0.0

        def __call__(self, x):
            return x * self.rate + self.shift

    scale = Scale(2.0)

    @filter_jit
    def f(x):
        return scale(x)

    yield f
    scale = Scale(3.0)
    yield
    scale = Scale(2.0)
    yield BACK
    Scale.shift = 1.0
    yield


# ---- rules that are used many times ----

ITEMS = 40


class Item:
    def __init__(self, weight):
        self.weight = weight


def with_rule(kind, held):
    """Return a function whose rule reads all of `held`, and how to transform a use of it."""
    if kind == "custom_vmap":
        f = imprint.custom_batching.custom_vmap(lambda x: x * 2.0)
        f.def_vmap(lambda size, on, x: (x * sum(i.weight for i in held), True))
        return f, lambda g: vmap(g)(inp.ones(2))
    if kind == "custom_jvp":
        f = imprint.custom_jvp(lambda x: x * 2.0)
        f.defjvp(lambda p, t: (p[0], t[0] * sum(i.weight for i in held)))
    else:
        f = imprint.custom_vjp(lambda x: x * 2.0)
        f.defvjp(lambda x: (x, ()), lambda _, g: (g * sum(i.weight for i in held),))
    return f, lambda g: grad(g)(1.0)


@pytest.mark.parametrize("is_derived", [False, True], ids=["in trace", "derived"])
@pytest.mark.parametrize("kind", ["custom_jvp", "custom_vjp", "custom_vmap"])
def test_many_uses_of_a_rule_visit_what_it_reads_once(kind, is_derived, monkeypatch):
    visits = []
    visit = ReachableValues._visit

    def counted(self, value, *place):
        visits.append(type(value) is Item)
        visit(self, value, *place)

    monkeypatch.setattr(ReachableValues, "_visit", counted)
    counts = []
    for uses in (4, 8):
        f, transform = with_rule(kind, [Item(1.0) for _ in range(ITEMS)])

        def g(x, f=f, uses=uses):
            for _ in range(uses):
                x = f(x)
            return x

        visits.clear()
        jit(lambda g=g: transform(jit(g) if is_derived else g))()  # noqa: B023 - called here
        counts.append(sum(visits))
    assert ITEMS <= counts[0] == counts[1]
