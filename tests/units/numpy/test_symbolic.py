"""Shapes of functions at symbolic sizes, evaluated, are their shapes at these sizes.

Each program is traced on `float32[n,m]` and vectors `float32[n]`, `float32[m]`, once with
names for the sizes and once with numbers.
"""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.core.aval import ShapedArray
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint.errors import ConcretizationError, ShapeError
from tests.symbolic import evaluate, name

F32 = np.dtype(np.float32)
N, M = name("n", 4), name("m", 3)
SIZES = [(4, 3), (4, 7), (9, 3), (6, 6), (11, 8)]


def shapes(program, n, m):
    avals = [ShapedArray(s, F32) for s in ((n, m), (n,), (m,))]

    def run(x, rows, columns):
        out = program(x, rows, columns)
        return out if isinstance(out, tuple | list) else [out]

    closed = stage(run, avals, DebugInfo("test", "program"))
    return [aval.shape for aval in closed.out_avals]


PROGRAMS = {
    # elementwise and broadcasting
    "broadcast": lambda x, r, c: x * 2 + c - r[:, None],
    "where": lambda x, r, c: inp.where(x > 0, x, c),
    "broadcast_to": lambda x, r, c: inp.broadcast_to(c, (5, *x.shape)),
    "broadcast_arrays": lambda x, r, c: inp.broadcast_arrays(r[:, None], c),
    "meshgrid": lambda x, r, c: inp.meshgrid(r, c),
    "outer": lambda x, r, c: inp.outer(r, c),
    "kron": lambda x, r, c: inp.kron(r, c),
    # shapes
    "reshape": lambda x, r, c: x.reshape(x.shape[1], x.shape[0]),
    "reshape_to_the_rest": lambda x, r, c: x.reshape(-1, x.shape[1]),
    "reshape_in_one": lambda x, r, c: x.reshape(-1),
    "reshape_apart": lambda x, r, c: inp.tile(x, (2, 3)).reshape(2, -1, 3),
    "reshape_of_columns": lambda x, r, c: inp.reshape(x, -1, order="F"),
    "ravel": lambda x, r, c: x.ravel(),
    "transpose": lambda x, r, c: x.T,
    "moveaxis": lambda x, r, c: inp.moveaxis(x[None], 0, -1),
    "squeeze": lambda x, r, c: inp.squeeze(x[None, :, None], (0, 2)),
    "squeeze_all": lambda x, r, c: inp.squeeze(x[None]),
    "expand_dims": lambda x, r, c: inp.expand_dims(x, (0, 2)),
    "collapse": lambda x, r, c: lax.collapse(x[None], 1),
    # parts
    "head": lambda x, r, c: x[:3],
    "tail": lambda x, r, c: x[1:, -2:],
    "inner": lambda x, r, c: x[1:-1, ::2],
    "half": lambda x, r, c: x[: x.shape[0] // 2],
    "second_half": lambda x, r, c: x[x.shape[0] // 2 :],
    "backwards": lambda x, r, c: x[::-1, -2::-1],
    "element": lambda x, r, c: x[2, -1],
    "last": lambda x, r, c: x[x.shape[0] - 1],
    "flip": lambda x, r, c: inp.flip(x),
    "rot90": lambda x, r, c: inp.rot90(x),
    "split": lambda x, r, c: inp.split(inp.tile(x, (2, 1)), 2),
    "split_at": lambda x, r, c: inp.split(x, [1, 3]),
    "array_split": lambda x, r, c: inp.array_split(r, 3),
    "diagonal": lambda x, r, c: inp.diagonal(x[:, :1] * x[:, 0], 1),
    "trace": lambda x, r, c: inp.trace(x),
    "tril": lambda x, r, c: inp.tril(x),
    # joins
    "concatenate": lambda x, r, c: inp.concatenate([x, c[None], x]),
    "concatenate_flat": lambda x, r, c: inp.concatenate([x, r], axis=None),
    "stack": lambda x, r, c: inp.stack([x, x + c], axis=1),
    "hstack": lambda x, r, c: inp.hstack([r, c]),
    "tile": lambda x, r, c: inp.tile(c, (r.shape[0], 2)),
    "repeat": lambda x, r, c: inp.repeat(x, 3, axis=1),
    "repeat_by_a_size": lambda x, r, c: inp.repeat(x, x.shape[1], axis=0),
    "roll": lambda x, r, c: inp.roll(x, (1, -2), (0, 1)),
    "roll_by_half": lambda x, r, c: inp.roll(x, x.shape[0] // 2, 0),
    "resize": lambda x, r, c: inp.resize(x, (x.shape[1], 2, x.shape[0])),
    "append": lambda x, r, c: inp.append(r, c),
    "pad": lambda x, r, c: inp.pad(x, ((1, 2), (0, 3))),
    "pad_by_a_size": lambda x, r, c: inp.pad(x, ((0, x.shape[1]), (0, 0))),
    "pad_edge": lambda x, r, c: inp.pad(x, 2, mode="edge"),
    "pad_reflect": lambda x, r, c: inp.pad(x, 2, mode="reflect"),
    "pad_symmetric": lambda x, r, c: inp.pad(x, ((1, 0), (0, 3)), mode="symmetric"),
    # made of sizes
    "zeros": lambda x, r, c: inp.zeros(x.shape),
    "full": lambda x, r, c: inp.full((x.shape[0], 2), 1.5),
    "ones_of_one_size": lambda x, r, c: inp.ones(x.shape[1]),
    "zeros_like": lambda x, r, c: inp.zeros_like(x),
    "eye": lambda x, r, c: inp.eye(x.shape[0], x.shape[1] + 1),
    "arange": lambda x, r, c: inp.arange(x.shape[0]) * r,
    "arange_in_steps": lambda x, r, c: inp.arange(0, 2 * x.shape[0], 3),
    "arange_to": lambda x, r, c: inp.arange(2, x.shape[1]),
    "indices": lambda x, r, c: inp.indices(x.shape),
    "iota": lambda x, r, c: lax.iota("int32", x.shape[0] * x.shape[1]),
    # reductions
    "sum": lambda x, r, c: (x.sum(), x.sum(0), x.sum(-1, keepdims=True)),
    "max": lambda x, r, c: (x.max(1), inp.argmax(x, 0), inp.argmax(x)),
    "all": lambda x, r, c: inp.all(x > 0, axis=0),
    "cumsum": lambda x, r, c: (inp.cumsum(x, 1), inp.cumsum(x)),
    "quantile": lambda x, r, c: (inp.median(x, 0), inp.quantile(x, inp.ones(2))),
    "linspace": lambda x, r, c: inp.linspace(0, 1, x.shape[0]),
    "nonzero": lambda x, r, c: inp.nonzero(x, size=x.shape[0]),
    "unique": lambda x, r, c: inp.unique(x, size=4, return_counts=True),
    "diff": lambda x, r, c: (inp.diff(x), inp.diff(r, 2)),
    "gradient": lambda x, r, c: inp.gradient(x),
    "trapezoid": lambda x, r, c: inp.trapezoid(x, c),
    "mean": lambda x, r, c: (x.mean(), inp.mean(x, 0), inp.var(x, 1, ddof=1)),
    "size_as_a_number": lambda x, r, c: (x * x.shape[0], r / x.shape[1]),
    "average": lambda x, r, c: inp.average(x, 0, weights=r),
    "logsumexp": lambda x, r, c: inp.log(inp.exp(x - x.max(1)[:, None]).sum(1)),
    # products
    "matmul": lambda x, r, c: (x @ c, r @ x, x.T @ x),
    "batched_matmul": lambda x, r, c: (
        inp.ones((2, 1, *x.shape)) @ inp.ones((3, *x.T.shape))
    ),
    "dot": lambda x, r, c: (inp.dot(x, x.T), inp.vdot(x, x), inp.inner(x, c)),
    "tensordot": lambda x, r, c: inp.tensordot(x, x, ((0,), (0,))),
    "einsum": lambda x, r, c: inp.einsum("ij,j,i->ij", x, c, r),
    "einsum_of_a_diagonal": lambda x, r, c: inp.einsum("ii->i", x.T @ x),
    "einsum_with_dots": lambda x, r, c: inp.einsum("...j,j", x, c),
    # transforms
    "grad": lambda x, r, c: imprint.grad(lambda x: (inp.tanh(x[1:]) @ c).sum())(x),
    "grad_of_parts": lambda x, r, c: imprint.grad(
        lambda r: inp.concatenate([r[::2], inp.pad(r, 1)]).max()
    )(r),
    "vmap": lambda x, r, c: imprint.vmap(lambda row: inp.outer(row, r) @ r)(x),
    "jvp": lambda x, r, c: imprint.jvp(lambda x: x.reshape(-1)[2:] ** 2, (x,), (x,)),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_shapes_of_names_are_those_of_their_values(program):
    program = PROGRAMS[program]
    symbolic = shapes(program, N, M)
    for n, m in SIZES:
        assert evaluate(symbolic, {"n": n, "m": m}) == shapes(program, n, m)


@pytest.mark.parametrize(
    "program",
    [
        lambda x, r, c: inp.unstack(x),
        lambda x, r, c: inp.vander(r),
        lambda x, r, c: inp.split(r, r.shape[0]),
        lambda x, r, c: x[::-2],
        lambda x, r, c: [row.sum() for row in x],
    ],
)
def test_a_program_that_needs_a_concrete_size_raises(program):
    with pytest.raises(ConcretizationError, match="known while tracing, got"):
        shapes(program, N, M)


@pytest.mark.parametrize(
    "program",
    [
        lambda x, r, c: r + c,
        lambda x, r, c: x @ r,
        lambda x, r, c: x.reshape(2, -1),
        lambda x, r, c: inp.concatenate([x, x.T]),
        lambda x, r, c: inp.stack([r, c]),
        lambda x, r, c: inp.squeeze(x, 0),
        lambda x, r, c: inp.split(x, 2),
        lambda x, r, c: inp.einsum("ij,j", x, r),
        lambda x, r, c: x[7],
        lambda x, r, c: inp.broadcast_to(r, (7,)),
        lambda x, r, c: inp.pad(r, 9, mode="wrap"),
        lambda x, r, c: inp.pad(r, 9, mode="reflect"),
    ],
)
def test_shapes_that_do_not_match_for_all_sizes_raise(program):
    with pytest.raises(ShapeError, match="expected"):
        shapes(program, N, M)
