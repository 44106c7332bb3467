"""Functions that make an object in the trace and trace another function that reads it.

Each one takes a number `k` and the argument `x`, and returns `x * k` or more.
"""

import dataclasses
import functools
import types

import imprint
import imprint.numpy as inp
from imprint import filter_jit, lax
from imprint.module import Module


class Plain:
    def __init__(self, k):
        self.k = k

    def scaled(self, x):
        return x * self.k

    def nested(self, x):
        return imprint.jit(lambda y: self.scaled(y))(x)


@dataclasses.dataclass
class Record:
    k: float


@dataclasses.dataclass(frozen=True)
class Frozen:
    k: float


class Equal:
    __hash__ = None

    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return isinstance(other, Equal) and self.k == other.k


class Hashed(Equal):
    def __hash__(self):
        return hash(self.k)


class Scale(Module):
    k: object
    power: int = 1

    def __call__(self, x):
        return x * self.k


class Lazy:
    def __init__(self, k):
        self.start = k

    @functools.cached_property
    def k(self):
        return self.start


def over_an_instance(k, x, kind=Plain):
    a = kind(k)
    return imprint.jit(lambda y: y * a.k)(x)


def over_a_tracer(k, x):
    a = Plain(x * k)
    return imprint.jit(lambda y: y * a.k)(inp.ones_like(x))


def over_a_namespace(k, x):
    a = types.SimpleNamespace(k=k)
    return imprint.jit(lambda y: y * a.k)(x)


def over_self(k, x):
    return Plain(k).nested(x)


def over_a_bound_method(k, x):
    return imprint.jit(Plain(k).scaled)(x)


def over_a_static_argument(k, x):
    return imprint.jit(lambda a, y: y * a.k, static_argnums=0)(Plain(k), x)


def over_a_closure(k, x):
    def make(factor):
        return imprint.jit(lambda y: y * factor)

    return make(k)(x)


def over_a_partial(k, x):
    return imprint.jit(functools.partial(lambda factor, y: y * factor, k))(x)


def over_a_list(k, x):
    layers = [Plain(k), Plain(1.0)]

    @imprint.jit
    def inner(y):
        for layer in layers:
            y = layer.scaled(y)
        return y

    return inner(x)


def over_a_dict(k, x):
    a = {"k": k, "n": 0}
    return imprint.jit(lambda y: y * a["k"])(x)


def over_leaves(k, x):
    a = {"k": [Plain(k)]}
    return imprint.jit(lambda y: y * imprint.tree.leaves(a)[0].k)(x)


def over_leaves_of_a_module(k, x):
    a = Scale(k)
    return imprint.jit(lambda y: y * imprint.tree.leaves(a)[0])(x)


def over_a_module(k, x):
    return filter_jit(lambda a, y: a(y))(Scale(k), x)


def over_a_captured_module(k, x):
    a = Scale(k)
    return filter_jit(lambda y: a(y))(x)


def two_levels(k, x):
    a = Plain(k)

    @imprint.jit
    def middle(y):
        b = Plain(a.k)
        return imprint.jit(lambda z: z * b.k * a.k)(y)

    return middle(x)


def derivative(k, x):
    a = Plain(k)
    return imprint.jit(imprint.grad(lambda y: y * y * a.k))(x)


def loop(k, x):
    a = Plain(k)
    return lax.scan(lambda y, _: (y * a.k, None), x, None, length=2)[0]


def branch(k, x):
    a = Plain(k)
    return lax.cond(x > 0, lambda y: y * a.k, lambda y: y, x)


def shape(k, x):
    a = Plain(k)
    shaped = imprint.eval_shape(lambda y: y * a.k, x)
    return x * a.k + len(shaped.shape)


def jaxpr(k, x):
    a = Plain(k)
    made = imprint.make_jaxpr(lambda y: y * a.k)(x)
    return x * a.k + len(made.jaxpr.eqns)


MADE = {
    "instance": over_an_instance,
    "dataclass": functools.partial(over_an_instance, kind=Record),
    "frozen dataclass": functools.partial(over_an_instance, kind=Frozen),
    "class with ==": functools.partial(over_an_instance, kind=Equal),
    "class with == and hash": functools.partial(over_an_instance, kind=Hashed),
    "cached property": functools.partial(over_an_instance, kind=Lazy),
    "tracer": over_a_tracer,
    "namespace": over_a_namespace,
    "self": over_self,
    "bound method": over_a_bound_method,
    "static argument": over_a_static_argument,
    "closure of a maker": over_a_closure,
    "partial": over_a_partial,
    "list": over_a_list,
    "dict": over_a_dict,
    "leaves": over_leaves,
    "leaves of a module": over_leaves_of_a_module,
    "module": over_a_module,
    "captured module": over_a_captured_module,
    "two levels": two_levels,
    "grad": derivative,
    "scan": loop,
    "cond": branch,
    "eval_shape": shape,
    "make_jaxpr": jaxpr,
}


def program(name, k=2.0):
    """Return a jitted function that calls one of `MADE` with a constant."""
    made = MADE[name]

    @imprint.jit
    def f(x):
        return made(k, x)

    return f


def traces_of_all():
    """Return how often each program was traced by its first call in this process."""
    counts = {}
    for name in MADE:
        before = imprint.debug.counters().traces
        program(name)(inp.float32(2))
        counts[name] = imprint.debug.counters().traces - before
    return counts
