"""Exported functions: the values of the jitted one at every size, in every process.

The expected shapes with names are those of JAX's own export.
"""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as onp
import pytest

import imprint
import imprint.numpy as np
from imprint import export
from imprint.errors import (
    AbsentRuleError,
    ArgumentError,
    DTypeError,
    NotDifferentiableError,
    ShapeError,
    TreeError,
)

WEIGHTS = onp.linspace(-1, 1, 6, dtype=onp.float32).reshape(3, 2)
SIZES = 2, 5, 9


def spec(text="n, 3", **more):
    return imprint.ShapeDtypeStruct(export.symbolic_shape(text, **more), "float32")


def array(*shape):
    return onp.random.default_rng(shape).normal(size=shape).astype(onp.float32)


def scanned(m, x):
    def step(c, row):
        c = m.tanh(c + row)
        return c, c.sum()

    lax = imprint.lax if m is np else jax.lax
    return lax.scan(step, m.zeros(3), x)


# Each takes the numpy module, and an array of shape (n, 3).
PROGRAMS = {
    "elementwise": lambda m, x: m.where(x > 0, m.exp(-x), x * 2),
    "reductions": lambda m, x: (x.sum(), x.max(0), x.mean(1), x.std(), m.any(x > 1, 0)),
    "products": lambda m, x: (x @ WEIGHTS, x.T @ x, m.einsum("ni,mi->nm", x, x)),
    "shapes": lambda m, x: (x.reshape(-1), x.T, x[:, None], m.concatenate([x, x])),
    "slices": lambda m, x: (x[1:], x[:-1], x[::2], x[-1], x[:, 1]),
    "counting": lambda m, x: (
        m.arange(x.shape[0]),
        m.eye(x.shape[0]),
        m.zeros(x.shape),
    ),
    "ordered": lambda m, x: (m.sort(x, 0), m.argsort(x, 0), m.cumsum(x, 0)),
    "padded": lambda m, x: (m.pad(x, 2), m.pad(x, ((0, x.shape[0]), (0, 0)))),
    "chosen": lambda m, x: (m.argmax(x, 0), m.take(x, m.array([0, 1]), 0)),
    "scan": scanned,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_exported_function_is_the_jitted_one_at_every_size(name):
    jitted = imprint.jit(lambda x: PROGRAMS[name](np, x))
    exported = export.export(jitted)(spec(constraints=["n >= 2"]))
    again = export.deserialize(exported.serialize())
    for n in SIZES:
        x = array(n, 3)
        came, wanted = again.call(x), jitted(x)
        assert imprint.tree.structure(came) == imprint.tree.structure(wanted)
        leaves = zip(*map(imprint.tree.leaves, (came, wanted)), strict=True)
        for got, value in leaves:
            assert (got.shape, got.dtype) == (value.shape, value.dtype)
            onp.testing.assert_allclose(got, value, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_shapes_are_those_of_jax(name):
    ours = export.export(imprint.jit(lambda x: PROGRAMS[name](np, x)))
    theirs = jax.export.export(jax.jit(lambda x: PROGRAMS[name](jnp, x)))
    text, constraints = "n, 3", ["n >= 2"]
    sizes = jax.export.symbolic_shape(text, constraints=constraints)
    wanted = theirs(jax.ShapeDtypeStruct(sizes, "float32")).out_avals
    came = ours(spec(text, constraints=constraints)).out_avals
    assert [_said(a) for a in came] == [_said(a) for a in wanted]


def _said(aval):
    return [str(n).replace(" ", "") for n in aval.shape], str(aval.dtype)


# ---- derivatives, and calls inside of programs ----


def loss(p, x):
    return ((np.tanh(x @ p["w"]) - p["b"]) ** 2).mean()


def exported_loss(order):
    p = {"w": WEIGHTS, "b": np.float32(0.5)}
    made = export.export(imprint.jit(loss))(p, spec())
    return p, export.deserialize(made.serialize(vjp_order=order))


def test_derivatives_are_exported_to_the_given_order():
    p, made = exported_loss(2)
    x = array(4, 3)
    came = imprint.grad(made.call)(p, x)
    for got, value in zip(
        imprint.tree.leaves(came),
        imprint.tree.leaves(imprint.grad(loss)(p, x)),
        strict=True,
    ):
        onp.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-6)
    assert made.has_vjp()
    assert made.vjp().has_vjp()
    assert not made.vjp().vjp().has_vjp()
    second = imprint.grad(lambda x: imprint.grad(made.call, 1)(p, x).sum())
    wanted = imprint.grad(lambda x: imprint.grad(loss, 1)(p, x).sum())
    onp.testing.assert_allclose(second(x), wanted(x), rtol=1e-4, atol=1e-5)


def test_integers_have_no_cotangent():
    def weighted(i, x):
        return x * i, i + 1

    i = imprint.ShapeDtypeStruct((), "int32")
    made = export.export(imprint.jit(weighted))(i, spec("n"))
    again = export.deserialize(made.serialize(1))
    assert [str(a) for a in again.vjp().in_avals] == [
        "int32[]",
        "float32[n]",
        "float32[n]",
    ]
    grads = imprint.grad(lambda x: again.call(3, x)[0].sum())(array(4))
    onp.testing.assert_array_equal(grads, onp.full(4, 3))


def test_a_missing_derivative_is_named():
    p, made = exported_loss(0)
    with pytest.raises(AbsentRuleError) as caught:
        imprint.grad(made.call)(p, array(4, 3))
    assert str(caught.value) == (
        "an exported function has the derivative that it was serialized with: "
        "exported.serialize(vjp_order=1)"
    )
    with pytest.raises(NotDifferentiableError) as caught:
        made.vjp()
    assert str(caught.value) == (
        "loss: expected an exported function with its derivative, got one without. "
        "Serialize it with vjp_order=1."
    )


def test_a_call_inside_a_program_is_one_equation_and_one_function():
    p, made = exported_loss(0)

    @imprint.jit
    def twice(p, x):
        return made.call(p, x) + made.call(p, x * 2)

    x = array(4, 3)
    onp.testing.assert_allclose(twice(p, x), loss(p, x) + loss(p, x * 2), rtol=1e-6)
    text = twice.lower(p, x).as_text()
    assert text.count("@loss(") == 3  # it is there once, and is called twice
    assert "?" not in text


def test_a_function_that_calls_an_exported_one_can_be_exported():
    p, made = exported_loss(0)
    outer = export.export(imprint.jit(lambda x: made.call(p, np.concatenate([x, x]))))
    again = export.deserialize(outer(spec("2*k, 3")).serialize())
    x = array(6, 3)
    onp.testing.assert_allclose(
        again.call(x), loss(p, np.concatenate([x, x])), rtol=1e-6
    )


def test_keywords_and_static_arguments():
    def scaled(x, kind, *, y, b=1.0):
        return (x - y) * b if kind == "less" else x

    jitted = imprint.jit(scaled, static_argnames="kind")
    n, m = export.symbolic_args_specs((array(5), array(5)), "n")
    made = export.export(jitted)(n, "less", y=m, b=2.0)
    x, y = array(5), array(5) + 1
    assert str(made.in_tree) == "PyTreeDef(((*,), {'b': *, 'y': *}))"
    onp.testing.assert_allclose(made.call(x, y=y, b=3.0), (x - y) * 3, rtol=1e-6)


# ---- other processes ----

SAVE = """
import sys, imprint, imprint.numpy as np
from imprint import export
table = np.arange(12.0).reshape(4, 3)
n, = export.symbolic_shape("n")
f = imprint.jit(lambda t, x: {"y": np.tanh(x @ table) * t[0]})
x = imprint.ShapeDtypeStruct((n, 4), "float32")
open(sys.argv[1], "wb").write(export.export(f)((1.0,), x).serialize(1))
"""
LOAD = """
import sys, imprint, imprint.numpy as np
from imprint import export
from imprint._src.jit.compilation.counters import COUNTERS
f = export.deserialize(open(sys.argv[1], "rb").read())
for n in (3, 7):
    y = f.call((2.0,), np.ones((n, 4)))["y"]
    assert y.shape == (n, 3) and abs(y - 2 * np.tanh(np.array([18.0, 22, 26]))).max() < 1e-6
g = imprint.grad(lambda x: f.call((2.0,), x)["y"].sum())(np.zeros((5, 4)))
assert g.shape == (5, 4) and abs(g - 2 * np.array([3.0, 12, 21, 30])).max() < 1e-4
print("right")
"""


def test_another_process_calls_it_without_the_code(tmp_path):
    path = tmp_path / "f.bin"
    for script in (SAVE, LOAD):
        command = [sys.executable, "-c", script, path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert done.stdout == "right\n"


def test_every_bit_counts():
    data = export.export(imprint.jit(np.sin))(spec("n")).serialize()
    for at in range(0, len(data), 41):
        broken = bytearray(data)
        broken[at] ^= 4
        with pytest.raises(ArgumentError, match=r"^deserialize: expected"):
            export.deserialize(broken)
    for end in (0, 10, len(data) // 2, len(data) - 1):
        with pytest.raises(ArgumentError, match=r"^deserialize: expected"):
            export.deserialize(data[:end])


# ---- trees ----


class Point(tuple):
    """A node of its own."""

    __slots__ = ()


imprint.tree_util.register_pytree_node(
    Point, lambda p: (tuple(p), "aux"), lambda aux, children: Point(children)
)


def test_nodes_are_written_under_their_registered_names():
    jitted = imprint.jit(lambda p: Point((p[1], p[0])))
    made = export.export(jitted)(Point((spec("n"), spec("2, 3"))))
    with pytest.raises(ArgumentError) as caught:
        made.serialize()
    assert str(caught.value) == (
        "serialize of <lambda>: expected trees of tuples, lists, dicts with keys that are "
        "texts or ints, None and registered classes, got Point. Register it with "
        "imprint.export.register_pytree_node_serialization, or "
        "register_namedtuple_serialization."
    )
    export.register_pytree_node_serialization(
        Point,
        serialized_name="tests.Point",
        serialize_auxdata=str.encode,
        deserialize_auxdata=bytes.decode,
        from_children=lambda aux, children: Point(children),
    )
    came = export.deserialize(made.serialize()).call(Point((array(4), array(2, 3))))
    assert type(came) is Point
    assert came[1].shape == (4,)
    with pytest.raises(ArgumentError, match=r"Point registered as 'tests\.Point'"):
        export.register_pytree_node_serialization(
            Point,
            serialized_name="other",
            serialize_auxdata=str.encode,
            deserialize_auxdata=bytes.decode,
            from_children=lambda aux, children: Point(children),
        )


# ---- bad input ----


def two(x, y):
    return x.sum() + y.sum()


TWO = export.export(imprint.jit(two))(
    *export.symbolic_args_specs((array(4, 3), array(4)), ("n, _", "n"))
)


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        (
            (array(4, 3),),
            TreeError,
            "two: expected arguments of structure PyTreeDef(((*, *), {})), got "
            "PyTreeDef(((*,), {})). An exported function takes only the tree that was "
            "exported.",
        ),
        (
            (array(4, 3), array(4).astype("float16")),
            DTypeError,
            "two: expected args[1] of dtype float32, got float16. Convert it, or export "
            "for that dtype.",
        ),
        (
            (array(4, 3), array(5)),
            ShapeError,
            "two: expected args[1] of shape (n,) where n = 4, got (5,). The same name is "
            "the same size in all arguments of a call.",
        ),
        (
            (array(4), array(4)),
            ShapeError,
            "two: expected args[0] of shape (n, 3), got (4,). The same name is the same "
            "size in all arguments of a call.",
        ),
        (
            (array(0, 3), array(0)),
            ShapeError,
            "two: expected sizes for which each name is at least 1 holds, got n = 0. "
            "Give symbolic_shape constraints that allow them.",
        ),
    ],
)
def test_a_call_with_another_signature_names_the_exported_one(args, error, text):
    with pytest.raises(error) as caught:
        TWO.call(*args)
    assert str(caught.value) == text


def test_a_batch_of_calls_names_the_remedy():
    with pytest.raises(AbsentRuleError, match=r"use imprint\.lax\.map, or export"):
        imprint.vmap(lambda x, y: TWO.call(x, y))(array(2, 4, 3), array(2, 4))


def failing(fun, *args, **how):
    with pytest.raises(ArgumentError) as caught:
        export.export(fun, **how)(*args)
    return str(caught.value)


def test_programs_that_cannot_be_exported_raise_with_the_reason():
    n = spec("n")
    assert failing(np.sin, n) == (
        "export: expected what imprint.jit returned, got function. Write "
        "export(imprint.jit(f))."
    )
    assert failing(imprint.jit(np.sin), n, platforms=["gpu"]) == (
        "export: expected platforms of cpu, cuda, rocm, tpu, got ['gpu']. Leave platforms "
        "out for that of the default device."
    )
    printed = imprint.jit(lambda x: imprint.debug.print("{}", x))
    assert failing(printed, n) == (
        "export of <lambda>: expected a program without effects, got one with callback. "
        "Another process has none of this one's functions: leave calls of Python, prints "
        "and checks out."
    )
    assert failing(imprint.jit(np.sin), spec("n*m")) == (
        "export of sin: expected for each name an axis from which it can be computed, got "
        "none for m, n. Pass an array that has it as a length."
    )
    assert failing(imprint.jit(two), n, spec("n")) == (
        "export of two: expected the names in sizes from one scope, got 2 scopes. Make all "
        "shapes with one call of symbolic_args_specs, or give symbolic_shape the same "
        "scope=."
    )
    solve = imprint.jit(lambda x: np.linalg.cholesky(x @ x.T))
    assert failing(solve, array(2, 2), platforms=["tpu"]) == (
        "export of <lambda>: expected a program without LAPACK for tpu, got one whose "
        "linear algebra calls it. Export for platforms=['cpu']."
    )


def test_the_equation_without_a_form_for_every_size_is_named():
    @imprint.jit
    def spectrum(x):
        return abs(imprint.jit(np.fft.fft)(x * 2))

    caught = failing(spectrum, spec("n"))
    assert caught.startswith(
        "export of spectrum: expected operations that have a form for every size, got fft "
        "at "
    )
    assert caught.endswith(
        "it has none in StableHLO. Export for sizes that are numbers, or compute it "
        "otherwise."
    )
    made = export.export(spectrum)(array(8))
    onp.testing.assert_allclose(made.call(array(8)), spectrum(array(8)), rtol=1e-5)
