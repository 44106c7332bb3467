"""Pairs of callables that may share versions, and pairs that may not."""

import collections
import dataclasses
import enum
import functools
import math
import types

import numpy as np

from imprint import tree


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass(frozen=True)
class Scale:
    factor: float
    name: str = ""

    def __call__(self, x):
        return x * self.factor

    def method(self, x):
        return x


@dataclasses.dataclass(frozen=True, slots=True)
class Slim:
    factor: float


@dataclasses.dataclass(frozen=True)
class Cached:
    factor: float

    @functools.cached_property
    def half(self):
        return self.factor / 2

    def __call__(self, x):
        return x * self.half


class Point(tuple):
    __slots__ = ()


class Labelled(tuple):
    def __new__(cls, items, label):
        self = super().__new__(cls, items)
        self.label = label
        return self


class Metres(float):
    pass


class Model:
    def __init__(self, rate=1):
        self.rate = rate

    def step(self, x):
        return x * self.rate

    def other(self, x):
        return x


class Speaking:
    """A wrapper that sets `__wrapped__`, as a jitted function does."""

    def __init__(self, fun, *options):
        self.parts = fun, options

    def __imprint_token__(self):
        return self.parts


def scaled(a):
    return lambda x: x * a


def shifted(a):
    return lambda x: x + a


def with_default(k):
    def f(x, k=k):
        return x, k

    return f


def with_keyword(k):
    def f(x, *, k=k, m=2):
        return x, k, m

    return f


def decorated(fun):
    @functools.wraps(fun)
    def wrapper(*args):
        return fun(*args)

    return wrapper


def with_list_default():
    def f(calls=[]):  # noqa: B006 - used to count traces
        calls.append(1)

    return f


def attributed(value):
    def f(x):
        return x

    f.mark = value
    return f


def recursive(a):
    def f(x):
        return g(x) if x else a

    def g(x):
        return f(x - 1)

    return f


def looping(a):
    items = [a]
    items.append(items)
    return scaled(items)


MODEL, OTHER = Model(), Model()
ARRAY = np.ones(3)

# Each makes a callable from a value: only equal values may share.
FAMILIES = {
    "lambda": scaled,
    "closure of closure": lambda a: scaled(shifted(a)),
    "default": with_default,
    "keyword default": with_keyword,
    "partial": lambda a: functools.partial(max, a),
    "partial keyword": lambda a: functools.partial(scaled(1), k=a),
    "partial of lambda": lambda a: functools.partial(scaled(a), 1),
    "Partial": lambda a: tree.Partial(scaled(a), 1),
    "frozen dataclass": Scale,
    "frozen dataclass field": lambda a: Scale(1.0, a),
    "slotted dataclass": lambda a: scaled(Slim(a)),
    "method of dataclass": lambda a: Scale(a).method,
    "method": lambda a: types.MethodType(scaled(a), MODEL),
    "decorated": lambda a: decorated(scaled(a)),
    "twice decorated": lambda a: decorated(decorated(scaled(a))),
    "attribute": attributed,
    "recursive": recursive,
    "self-containing": looping,
    "nested jit": lambda a: Speaking(scaled(a), 1),
    "jit option": lambda a: Speaking(scaled(0), a),
    "jit of jit": lambda a: Speaking(Speaking(scaled(a))),
}

# Values that all differ.
VALUES = [
    *(0, 1, 2, -1, True, False, None, ..., NotImplemented, "", "a", "1", b"", b"a"),
    *(
        1.0,
        0.0,
        -0.0,
        math.inf,
        -math.inf,
        math.nan,
        1j,
        complex(0, -0.0),
        complex(-0.0, 1),
    ),
    *(
        (),
        (1,),
        (1.0,),
        (True,),
        ((1,),),
        (1, 2),
        (2, 1),
        [],
        [1],
        [1.0],
        [1, 2],
        [[1]],
    ),
    *({}, {"a": 1}, {"a": 1.0}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, {1: "a"}),
    *(set(), {1}, {1.0}, {1, 2}, frozenset(), frozenset({1}), frozenset({True})),
    *(collections.OrderedDict(a=1), collections.deque([1]), Labelled((1,), "b")),
    *(range(3), range(4), slice(1, 2), slice(1, 3), bytearray(b"a")),
    *(int, float, np, math, math.sin, math.cos, len, Colour.RED, Colour.BLUE, Colour),
    *(
        np.float32,
        np.dtype("f4"),
        np.dtype("f8"),
        np.float32(1),
        np.float64(1),
        np.int8(1),
    ),
    *(Slim(1), Slim(1.0), Scale(1), Scale(1, "a"), Point((1,)), Metres(1.0)),
    *(MODEL, OTHER, MODEL.step, MODEL.other, OTHER.step, ARRAY, np.ones(3)),
]
