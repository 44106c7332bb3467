"""`shard_map`: the program of one device, on every device of a mesh."""

import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint import P, lax
from imprint.errors import ArgumentError, IndivisibleError, ShapeError, TreeError

_FAST = (
    "collectives",
    "grad of matmul",
    "gradient inside is summed",
    "unchecked psum",
    "branches",
    "index of one axis of two",
    "grad of groups",
    "extremes of groups",
)


def compared(ways, *names):
    script = Path(__file__).with_name("compared.py")
    return subprocess.run(
        [sys.executable, script, ways, *names],
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )


@pytest.mark.slow
def test_it_is_jax_s_over_eight_devices():
    done = compared("jit,reference", *_FAST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [*_FAST]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_it_is_jax_s_in_each_way():
    done = compared("jit,eager,reference")
    assert done.returncode == 0, done.stdout + done.stderr


# ---- refusals ----


@pytest.fixture
def mesh():
    return imprint.make_mesh((1, 1), ("x", "y"))


def message(kind, function, *args):
    with pytest.raises(kind) as caught:
        function(*args)
    return str(caught.value)


def f(x):
    return x * 2


def test_a_result_that_differs_is_no_shared_one(mesh):
    mapped = imprint.shard_map(
        lambda x: {"a": lax.psum(x, "y"), "b": lax.psum(x, ("x", "y"))},
        mesh=mesh,
        in_specs=P("x", "y"),
        out_specs=P(),
    )
    assert message(ArgumentError, mapped, np.ones((4, 4))) == (
        "shard_map(<lambda>) out_specs: expected result['a'] to be the same on all devices "
        "along 'x', as P() says, got float32[4,4], which may differ there. Reduce it, such "
        "as with imprint.lax.psum(x, 'x') or pmean; or say that it is split, P('x'); or, if "
        "you know it to be the same, give check_vma=False."
    )
    trusted = imprint.shard_map(
        f, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False
    )
    assert trusted(np.ones(2)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        (
            {"in_specs": P("z")},
            ArgumentError,
            "shard_map(f) in_specs: expected each of the axes ('x', 'y') at most once for "
            "args[0], got 'z' in P('z'). Name axes that the function is written along.",
        ),
        (
            {"in_specs": P("x", "x")},
            ArgumentError,
            "shard_map(f) in_specs: expected each of the axes ('x', 'y') at most once for "
            "args[0], got 'x' in P('x', 'x'). Name axes that the function is written "
            "along.",
        ),
        (
            {"in_specs": P("x"), "axis_names": {"y"}},
            ArgumentError,
            "shard_map(f) in_specs: expected each of the axes ('y',) at most once for "
            "args[0], got 'x' in P('x'). Name axes that the function is written along.",
        ),
        (
            {"in_specs": P(None, None, "x")},
            ShapeError,
            "shard_map(f) in_specs: expected a spec with at most an entry for each of the 2 "
            "axes of args[0], got P(None, None, 'x'). Leave entries out from the end.",
        ),
        (
            {"in_specs": P(P.UNCONSTRAINED)},
            ArgumentError,
            "shard_map(f) in_specs: expected names of axes or None for args[0], got "
            "P(UNCONSTRAINED). The function has to know its part: write None.",
        ),
        (
            {"in_specs": "x"},
            ArgumentError,
            "shard_map(f) in_specs: expected a PartitionSpec for args[0], got 'x'. Write "
            "P('data'), or P() for what is the same on every device.",
        ),
        (
            {"in_specs": None},
            ArgumentError,
            "shard_map(f) in_specs: expected a PartitionSpec for args[0], got None. Write "
            "P('data'), or P() for what is the same on every device.",
        ),
        (
            {"axis_names": {"z"}},
            ArgumentError,
            "shard_map(f) axis_names: expected axes of Mesh('x': 1, 'y': 1), got 'z'. "
            "Leave axis_names out for all of them.",
        ),
        (
            {"mesh": None},
            ArgumentError,
            "shard_map(f): expected a mesh, got None. Give mesh=imprint.make_mesh((8,), "
            "('data',)), or write `with imprint.set_mesh(mesh):`.",
        ),
    ],
)
def test_specs_are_checked(mesh, given, kind, text):
    mapped = imprint.shard_map(
        f, **({"mesh": mesh, "in_specs": P(), "out_specs": P()} | given)
    )
    assert message(kind, mapped, np.ones((4, 2))) == text


def test_arguments_are_checked(mesh):
    text = message(
        ArgumentError, lambda: imprint.shard_map(f, mesh=mesh, out_specs=P())
    )
    assert text == (
        "shard_map: expected in_specs, got none. Write in_specs=P('data'), or a tuple with "
        "a spec for each argument."
    )
    specs = {"mesh": mesh, "in_specs": (P(), P()), "out_specs": P()}
    assert message(TreeError, imprint.shard_map(f, **specs), np.ones(2)).startswith(
        "shard_map(f) in_specs: "
    )
    wide = imprint.sharding.AbstractMesh((4,), "x")
    where = imprint._src.control_flow.shard_map.Where(
        wide, frozenset("x"), check_vma=True
    )
    with pytest.raises(IndivisibleError) as caught:
        imprint._src.shard_map.check_parts(
            "shard_map(f)", where, "args[0]", np.ones(6).aval, (("x",),)
        )
    assert str(caught.value) == (
        "shard_map(f) in_specs: expected axis 0 of args[0] to be a multiple of 4, as "
        "('x',) split it, got float32[6]. Pad it, or split another axis."
    )


def test_no_axis_of_a_mesh_is_bound_outside():
    with pytest.raises(NameError, match="psum: expected the name of an axis"):
        lax.psum(np.ones(2), "x")


# ---- other behaviour ----


def test_the_mesh_in_force_and_the_decorator(mesh):
    @imprint.shard_map(in_specs=(P("x"), P()), out_specs=P("x"))
    def scaled(x, y):
        return x * y + lax.axis_index("x") + lax.axis_size("y")

    with imprint.set_mesh(mesh):
        assert scaled(np.ones(2), 3.0).tolist() == [4.0, 4.0]


def test_a_call_outside_of_traces_is_traced_once(mesh):
    runs = []

    def noted(x):
        runs.append(1)
        return np.sin(x)

    mapped = imprint.shard_map(noted, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    total = imprint.grad(lambda x: mapped(x).sum())
    for _ in range(3):
        mapped(np.ones(4))
        total(np.ones(4))
    assert len(runs) == 1


def test_loops_begin_with_the_types_of_their_steps(mesh):
    def summed(x):
        first, rows = lax.scan(lambda c, row: (c + row.sum(), c), 0.0, x)
        last = lax.while_loop(lambda c: c < 100.0, lambda c: c + x[0, 0], 50.0)
        return first[None], rows, last[None]

    mapped = imprint.shard_map(summed, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    first, rows, last = mapped(np.ones((3, 2)) * 30)
    assert (first.tolist(), rows.tolist(), last.tolist()) == (
        [180.0],
        [0.0, 60.0, 120.0],
        [110.0],
    )


def test_varying_axes_are_in_types(mesh):
    kinds = []

    def shown(x, y):
        kinds.append([sorted(a.aval.vma) for a in (x, y, x + y, lax.psum(x, "x"))])
        kinds.append([sorted(a.aval.vma) for a in (np.zeros(2), lax.axis_index("y"))])
        same = lax.cond(lax.axis_index("y") > 0, lambda: y, lambda: y * 2)
        kinds.append(sorted(same.aval.vma))
        assert lax.pcast(y, "x", to="varying").aval.vma == {"x"}
        return x

    specs = {"in_specs": (P("x"), P()), "out_specs": P("x")}
    imprint.shard_map(shown, mesh=mesh, **specs)(np.ones(2), np.ones(2))
    assert kinds == [[["x"], [], ["x"], []], [[], ["y"]], ["y"]]
    text = message(ArgumentError, lambda: lax.pcast(numpy.ones(2), (), to="reduced"))
    assert text == (
        "pcast: expected to='varying', got 'reduced'. What differs becomes the same by a "
        "reduction: imprint.lax.psum."
    )
