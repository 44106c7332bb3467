"""Trees whose static data is equal go together, and keys are leaves, as in JAX."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp

LIBS = {"jax": (jax, jnp), "imprint": (imprint, inp)}


class _Any:
    def __init__(self, held):
        self.held = held

    def __eq__(self, other):
        return isinstance(other, _Any)

    def __hash__(self):
        return 0


class Node:
    def __init__(self, x, data):
        self.x, self.data = x, data


for lib, _ in LIBS.values():
    lib.tree_util.register_pytree_node(
        Node, lambda n: ((n.x,), n.data), lambda data, children: Node(*children, data)
    )

DATA = {
    "own equality": (_Any([1]), _Any([2])),
    "numbers": (1, 1.0),
    "zeros": (0.0, -0.0),
    "NumPy": (np.float32(1), 1.0),
    "order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "nested": ((1, (2,)), (1.0, (2.0,))),
    "other": (1, 2),
    "kinds": ((1,), [1]),
}


def _map(lib, _, one, two):
    return lib.tree.map(lambda x, y: x + y, Node(1, one), Node(2, two)).x


def _scan(lib, np_, one, two):
    def step(carry, _):
        return Node(carry.x + 1, two), None

    return lib.lax.scan(step, Node(1.0, one), None, length=2)[0].x


def _while(lib, np_, one, two):
    def step(carry):
        return Node(carry.x + 1, two)

    return lib.lax.while_loop(lambda c: c.x < 3, step, Node(1.0, one)).x


def _cond(lib, np_, one, two):
    def choose(p):
        return lib.lax.cond(p, lambda: Node(1.0, one), lambda: Node(2.0, two)).x

    return lib.jit(choose)(True)


def _in_axes(lib, np_, one, two):
    mapped = lib.vmap(lambda n: n.x, in_axes=(Node(0, one),))
    return mapped(Node(np_.arange(2), two))


def _out_axes(lib, np_, one, two):
    mapped = lib.vmap(lambda x: Node(x, one), out_axes=Node(0, two))
    return mapped(np_.arange(2)).x


def _jvp(lib, np_, one, two):
    return lib.jvp(lambda n: n.x * 2, (Node(1.0, one),), (Node(1.0, two),))


def _vjp_rule(lib, np_, one, two):
    f = lib.custom_vjp(lambda n: n.x * 2)
    f.defvjp(lambda n: (n.x * 2, None), lambda _, ct: (Node(ct * 2, two),))
    return lib.grad(lambda x: f(Node(x, one)))(1.0)


def _jvp_rule(lib, np_, one, two):
    f = lib.custom_jvp(lambda x: Node(x, one))
    f.defjvp(lambda p, t: (Node(*p, two), Node(*t, two)))
    return lib.jvp(lambda x: f(x).x, (1.0,), (1.0,))


USES = [_map, _scan, _while, _cond, _in_axes, _out_axes, _jvp, _vjp_rule, _jvp_rule]


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("use", USES)
def test_trees_of_equal_data_go_together(use, name):
    def result(lib):
        try:
            return use(*LIBS[lib], *DATA[name])
        except (ValueError, TypeError):
            return None

    expected, got = result("jax"), result("imprint")
    assert (got is None) == (expected is None)
    if got is not None:
        np.testing.assert_allclose(got, expected)


def test_a_frozen_graph_that_holds_a_list_is_static():
    @dataclasses.dataclass(frozen=True)
    class Graph:
        nodes: list

        def __hash__(self):
            return hash(tuple(self.nodes))

    traces = []

    def f(graph, x):
        traces.append(graph)
        return x * len(graph.nodes)

    jitted = imprint.jit(f, static_argnums=0)
    assert [jitted(Graph([1, 2]), 3.0), jitted(Graph([1, 2]), 3.0)] == [6, 6]
    assert jitted(Graph([1]), 3.0) == 3
    assert len(traces) == 2


# ---- keys ----

_FLOAT0 = np.zeros((), jax.dtypes.float0)


def _draw(lib):
    return lambda key, x=1.0: lib.random.normal(key) * x


KEYS = {
    "leaves": lambda lib, n, k: [x is k for x in lib.tree.leaves({"a": k})],
    "map": lambda lib, n, k: lib.tree.map(lib.random.normal, {"a": k})["a"],
    "map with others": lambda lib, n, k: lib.tree.map(lambda x, y: y, [k], [3])[0],
    "structure": lambda lib, n, k: str(lib.tree.structure([k, (k, 1)])),
    "util": lambda lib, n, k: len(lib.tree_util.tree_leaves((k, [k]))),
    "is_leaf": lambda lib, n, k: len(
        lib.tree.leaves(([k], k), is_leaf=lambda x: isinstance(x, list))
    ),
    "paths": lambda lib, n, k: lib.tree.leaves_with_path({"a": k})[0][1] is k,
    "broadcast": lambda lib, n, k: lib.tree.broadcast(k, (1, 2))[1] is k,
    "all_leaves": lambda lib, n, k: lib.tree_util.all_leaves([k, 1]),
    "array_equal": lambda lib, n, k: n.array_equal(k, k),
    "array_equal of shapes": lambda lib, n, k: n.array_equal(k, lib.random.split(k)),
    "isclose": lambda lib, n, k: n.isclose(k, lib.random.split(k)),
    "allclose": lambda lib, n, k: n.allclose(k, k),
    "equal": lambda lib, n, k: k == lib.random.split(k),
    "select": lambda lib, n, k: lib.random.key_data(
        lib.lax.select(n.array([True, False]), lib.random.split(k), lib.random.split(k))
    ),
    "result_type": lambda lib, n, k: str(n.result_type(k, k)),
    "mixed": lambda lib, n, k: n.result_type(k, 1.0),
    "jvp": lambda lib, n, k: lib.jvp(_draw(lib), (k, 2.0), (_FLOAT0, 1.0)),
    "jvp of keys": lambda lib, n, k: lib.jvp(lambda k: k, (k,), (_FLOAT0,))[1].dtype,
    "grad": lambda lib, n, k: lib.grad(_draw(lib), allow_int=True)(k).dtype,
    "vjp": lambda lib, n, k: lib.vjp(_draw(lib), k, 2.0)[1](n.float32(1.0))[1],
    "vjp of keys": lambda lib, n, k: lib.vjp(lambda k: k, k)[1](_FLOAT0)[0].shape,
    "loop": lambda lib, n, k: lib.lax.scan(
        lambda c, k: (k, lib.random.normal(k)), k, lib.random.split(k)
    )[1],
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_are_leaves_as_in_jax(name):
    def result(lib, numpy):
        try:
            return KEYS[name](lib, numpy, lib.random.key(7))
        except (ValueError, TypeError):
            return "refused"

    expected, got = result(jax, jnp), result(imprint, inp)
    if isinstance(expected, str | np.dtype):
        assert got == expected
    else:
        compare = functools.partial(np.testing.assert_allclose, rtol=1e-6)
        jax.tree.map(compare, got, expected)
