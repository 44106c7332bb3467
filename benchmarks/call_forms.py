"""Warm calls by form: static arguments, keywords, methods, trees, donation.

Timed: the call with its arguments ready, and the wait for the last result of a sample. Each
side is idiomatic code of its library; the program adds arrays of 8 floats, so nearly all is
dispatch.
"""

import dataclasses
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks.pairs import Fact, Pair, Suite
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.versions.table import BUDGET

TARGET = 1.5


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 128
    name: str = "relu"
    rates: tuple[float, ...] = (0.5, 0.25)


def scaled(x, n):
    return x * n


def configured(x, config):
    return x * config.width


def keyed(x, *, scale, offset):
    return x * scale + offset


def with_default(x, scale=2.0):
    return x * scale


def array(library, start=0):
    """Return a device array of either library."""
    numpy = inp if library is imprint else jnp
    return numpy.asarray(np.arange(8, dtype=np.float32) + start)


def static_number(library):
    compiled, x = library.jit(scaled, static_argnums=1), array(library)
    return lambda: compiled(x, 3)


def static_text_by_name(library):
    compiled = library.jit(lambda x, mode: x + len(mode), static_argnames="mode")
    x = array(library)
    return lambda: compiled(x, mode="train")


def static_tuple(library):
    compiled = library.jit(lambda x, sizes: x * sizes[0], static_argnums=1)
    x, sizes = array(library), (3, 4, 5)
    return lambda: compiled(x, sizes)


def static_dataclass(library):
    compiled, x = library.jit(configured, static_argnums=1), array(library)
    config = Config()
    return lambda: compiled(x, config)


def keywords(library):
    compiled = library.jit(keyed)
    x, scale, offset = (array(library, i) for i in range(3))
    return lambda: compiled(x, scale=scale, offset=offset)


def default_left_out(library):
    compiled, x = library.jit(with_default), array(library)
    return lambda: compiled(x)


def default_passed(library):
    compiled, x, scale = library.jit(with_default), array(library), array(library, 1)
    return lambda: compiled(x, scale)


def method_with_static_self(library):
    class Model:
        @functools.partial(library.jit, static_argnums=0)
        def step(self, x):
            return x + 1

    model, x = Model(), array(library)
    return lambda: model.step(x)


def method_of_a_tree(library):
    @dataclasses.dataclass
    class Layer:
        weight: object
        bias: object

    @dataclasses.dataclass
    class Network:
        first: Layer
        second: Layer

        @library.jit
        def step(self, x):
            return (x * self.first.weight + self.first.bias) * self.second.weight

    register = library.tree.register_dataclass if library is imprint else None
    for cls, fields in ((Layer, ["weight", "bias"]), (Network, ["first", "second"])):
        (register or jax.tree_util.register_dataclass)(cls, fields, [])
    layers = [Layer(array(library, i), array(library, i + 1)) for i in range(2)]
    network, x = Network(*layers), array(library)
    return lambda: network.step(x)


def nested_containers(library):
    compiled = library.jit(lambda batch: batch["images"][0] + batch["weights"]["w"][1])
    parts = [array(library, i) for i in range(6)]
    batch = {
        "images": (parts[0], parts[1]),
        "weights": {"w": [parts[2], parts[3]], "b": parts[4]},
        "step": parts[5],
    }
    return lambda: compiled(batch)


def number_passed(library):
    compiled, x = library.jit(with_default), array(library)
    return lambda: compiled(x, 3.5)


def ahead_of_time(library):
    x = array(library)
    compiled = library.jit(with_default).lower(x).compile()
    return lambda: compiled(x)


def ahead_of_time_numpy(library):
    x = np.arange(8, dtype=np.float32)
    compiled = library.jit(keyed).lower(x, scale=x, offset=x).compile()
    return lambda: compiled(x, scale=x, offset=x)


def numpy_in_a_tree(library):
    compiled = library.jit(lambda batch: batch["x"] * batch["y"])
    batch = {"x": array(library), "y": np.arange(8, dtype=np.float32)}
    return lambda: compiled(batch)


def numpy_scalar(library):
    compiled, x, scale = library.jit(with_default), array(library), np.float32(3.5)
    return lambda: compiled(x, scale)


def step_of_a_dictionary(library):
    """Return a call that donates a dictionary, its own last result, for a NumPy batch."""

    def step(params, batch):
        return {name: x + batch[0] for name, x in params.items()}

    compiled = library.jit(step, donate_argnums=0)
    state = {name: array(library) for name in ("w", "b", "scale")}
    batch = np.arange(4096, dtype=np.float32)

    def call():
        nonlocal state
        state = compiled(state, batch)
        return state["w"]

    return call


def donated(count):
    """Return the maker of a call that donates `count` arrays, its own last results."""

    def make(library):
        compiled = library.jit(lambda xs: [x + 1 for x in xs], donate_argnums=0)
        state = compiled([array(library, i) for i in range(count)])

        def call():
            nonlocal state
            state = compiled(state)
            return state

        return call

    return make


ROWS = {
    "a static number": static_number,
    "a static text, by keyword": static_text_by_name,
    "a static tuple": static_tuple,
    "a static frozen dataclass": static_dataclass,
    "two keywords": keywords,
    "a default left out": default_left_out,
    "a default passed": default_passed,
    "a Python number": number_passed,
    "compiled ahead of time": ahead_of_time,
    "ahead of time, NumPy by keyword": ahead_of_time_numpy,
    "NumPy in a tree": numpy_in_a_tree,
    "a NumPy scalar": numpy_scalar,
    "a donated dictionary, NumPy of 16 kB": step_of_a_dictionary,
    "a method, static self": method_with_static_self,
    "a method of nested dataclasses": method_of_a_tree,
    "nested containers, 6 arrays": nested_containers,
    "1 donated array": donated(1),
    "100 donated arrays": donated(100),
}

PAIRS = [
    Pair(f"warm call, {name}", make(imprint), make(jax), TARGET)
    for name, make in ROWS.items()
]


# ---- counts ----


def call_from_threads(library, fun):
    """Call one key of a function 1,008 times from 16 threads that start together."""
    compiled, x = library.jit(fun), array(library)
    barrier = threading.Barrier(16)

    def calls(_):
        barrier.wait()
        for _ in range(63):
            compiled(x)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(calls, range(16)))


def traces_of_imprint():
    before = COUNTERS.traces
    call_from_threads(imprint, lambda x: x + 1.015625)
    return COUNTERS.traces - before


def traces_of_jax():
    traces = []

    def counted(x):
        traces.append(1)
        return x + 1.015625

    call_from_threads(jax, counted)
    return len(traces)


def megabytes_of_static_values():
    """Call with 200 static values under a budget of 4 MB; return its size in memory."""
    before, BUDGET.limit = BUDGET.limit, 4_000_000
    try:
        compiled, x = imprint.jit(scaled, static_argnums=1), array(imprint)
        for n in range(200):
            compiled(x, n)
        return BUDGET.nbytes / 1e6
    finally:
        BUDGET.limit = before


FACTS = [
    Fact(
        "traces of 1,008 calls by 16 threads",
        ours=traces_of_imprint,
        jax=traces_of_jax,
        limit=1,
    ),
    Fact(
        "MB kept of 200 versions, budget 4",
        ours=megabytes_of_static_values,
        jax=lambda: float("nan"),  # has no budget of bytes
        limit=4,
    ),
]


class CallForms(Suite):
    pairs = PAIRS
