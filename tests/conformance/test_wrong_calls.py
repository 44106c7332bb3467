"""Wrong calls: code that catches the errors of JAX catches those of imprint.

A call takes `imprint.numpy` and `imprint.lax`, or JAX's. Where JAX answers, answers with
an exception of Python's own machinery, or has no error, the call is in `STAY`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint.lax
import imprint.nn
import imprint.numpy as inp


def V(n):  # noqa: N802 - a vector
    return n.arange(4.0)


def M(n):  # noqa: N802 - a matrix
    return n.ones((2, 3))


WRONG = {
    "sum axis": lambda n, lax: n.sum(V(n), axis=1),
    "sum axis dup": lambda n, lax: n.sum(M(n), axis=(0, 0)),
    "sum axis float": lambda n, lax: n.sum(V(n), axis=0.5),
    "sum axis str": lambda n, lax: n.sum(V(n), axis="a"),
    "sum list": lambda n, lax: n.sum([1, 2]),
    "sum None": lambda n, lax: n.sum(None),
    "sum where int": lambda n, lax: n.sum(V(n), where=n.arange(4)),
    "sum initial arr": lambda n, lax: n.sum(V(n), initial=V(n)),
    "max empty": lambda n, lax: n.max(n.zeros(0)),
    "max where no initial": lambda n, lax: n.max(V(n), where=V(n) > 0),
    "argmax empty": lambda n, lax: n.argmax(n.zeros(0)),
    "argmax axis": lambda n, lax: n.argmax(V(n), axis=2),
    "argmax axis tuple": lambda n, lax: n.argmax(M(n), axis=(0, 1)),
    "add shapes": lambda n, lax: V(n) + n.ones(3),
    "add str": lambda n, lax: V(n) + "a",
    "add None": lambda n, lax: V(n) + None,
    "add list": lambda n, lax: n.add(V(n), [1]),
    "op list": lambda n, lax: V(n) + [1],  # noqa: RUF005 - the sum is meant
    "int overflow": lambda n, lax: n.array([1], dtype="int8") + 300,
    "reshape bad": lambda n, lax: n.reshape(V(n), (3,)),
    "reshape two -1": lambda n, lax: n.reshape(V(n), (-1, -1)),
    "reshape float": lambda n, lax: n.reshape(V(n), (2.0, 2.0)),
    "reshape neg": lambda n, lax: n.reshape(V(n), (-2, 2)),
    "reshape order": lambda n, lax: n.reshape(V(n), (2, 2), order="X"),
    "transpose axes": lambda n, lax: n.transpose(M(n), (0,)),
    "transpose dup": lambda n, lax: n.transpose(M(n), (0, 0)),
    "squeeze": lambda n, lax: n.squeeze(M(n), axis=0),
    "expand dup": lambda n, lax: n.expand_dims(V(n), (0, 0)),
    "expand oob": lambda n, lax: n.expand_dims(V(n), 5),
    "swapaxes": lambda n, lax: n.swapaxes(V(n), 0, 1),
    "moveaxis": lambda n, lax: n.moveaxis(M(n), (0, 1), (0,)),
    "concat empty": lambda n, lax: n.concatenate([]),
    "concat shapes": lambda n, lax: n.concatenate([V(n), M(n)]),
    "concat axis": lambda n, lax: n.concatenate([V(n)], axis=1),
    "concat scalar": lambda n, lax: n.concatenate([1, 2]),
    "concat x": lambda n, lax: n.concatenate(5),
    "stack empty": lambda n, lax: n.stack([]),
    "stack shapes": lambda n, lax: n.stack([V(n), n.ones(3)]),
    "stack axis": lambda n, lax: n.stack([V(n)], axis=3),
    "split uneven": lambda n, lax: n.split(V(n), 3),
    "split 0": lambda n, lax: n.split(V(n), 0),
    "split axis": lambda n, lax: n.split(V(n), 2, axis=1),
    "broadcast_to": lambda n, lax: n.broadcast_to(V(n), (3,)),
    "broadcast_to rank": lambda n, lax: n.broadcast_to(M(n), (3,)),
    "bshapes": lambda n, lax: n.broadcast_shapes((2,), (3,)),
    "matmul shapes": lambda n, lax: M(n) @ M(n),
    "matmul scalar": lambda n, lax: n.matmul(V(n), 1.0),
    "dot shapes": lambda n, lax: n.dot(V(n), n.ones(3)),
    "einsum": lambda n, lax: n.einsum("ij,jk", M(n), M(n)),
    "einsum sub": lambda n, lax: n.einsum("i1", M(n)),
    "einsum count": lambda n, lax: n.einsum("ij,jk", M(n)),
    "tensordot": lambda n, lax: n.tensordot(M(n), M(n), 1),
    "cross": lambda n, lax: n.cross(V(n), V(n)),
    "inner": lambda n, lax: n.inner(V(n), M(n)),
    "tile neg": lambda n, lax: n.tile(V(n), -1),
    "repeat neg": lambda n, lax: n.repeat(V(n), -1),
    "repeat len": lambda n, lax: n.repeat(V(n), [1, 2]),
    "roll": lambda n, lax: n.roll(M(n), (1, 2, 3), axis=(0, 1)),
    "flip axis": lambda n, lax: n.flip(V(n), 2),
    "rot90 1d": lambda n, lax: n.rot90(V(n)),
    "pad neg": lambda n, lax: n.pad(V(n), -1),
    "pad float": lambda n, lax: n.pad(V(n), 1.5),
    "pad shape": lambda n, lax: n.pad(V(n), ((1, 2), (3, 4))),
    "pad mode": lambda n, lax: n.pad(V(n), 1, mode="xx"),
    "pad kw": lambda n, lax: n.pad(V(n), 1, mode="edge", constant_values=1),
    "pad stat0": lambda n, lax: n.pad(V(n), 1, mode="mean", stat_length=0),
    "zeros neg": lambda n, lax: n.zeros(-1),
    "zeros float": lambda n, lax: n.zeros(2.5),
    "zeros dtype": lambda n, lax: n.zeros(2, dtype="nope"),
    "zeros str dtype": lambda n, lax: n.zeros(2, dtype="U3"),
    "full shape str": lambda n, lax: n.full("ab", 1),
    "arange 0": lambda n, lax: n.arange(0, 1, 0),
    "arange none": lambda n, lax: n.arange(None),
    "linspace neg": lambda n, lax: n.linspace(0, 1, -1),
    "eye neg": lambda n, lax: n.eye(-1),
    "eye of an array": lambda n, lax: n.eye(M(n)),
    "eye of a float": lambda n, lax: n.eye(2, 2.0),
    "permute_dims None": lambda n, lax: n.permute_dims(M(n), None),
    "permute_dims none": lambda n, lax: n.permute_dims(M(n), ()),
    "array order": lambda n, lax: n.array(M(n), order="F"),
    "asarray order": lambda n, lax: n.asarray(M(n), None, "C"),
    "copy order": lambda n, lax: n.copy(M(n), "A"),
    "tri": lambda n, lax: n.tril(V(n)),
    "diag 3d": lambda n, lax: n.diag(n.ones((2, 2, 2))),
    "trace 1d": lambda n, lax: n.trace(V(n)),
    "diagonal same": lambda n, lax: n.diagonal(M(n), axis1=0, axis2=0),
    "vander": lambda n, lax: n.vander(M(n)),
    "bitwise float": lambda n, lax: n.bitwise_and(V(n), 1),
    "invert float": lambda n, lax: ~V(n),
    "shift float": lambda n, lax: n.left_shift(V(n), 1),
    "floor_divide c": lambda n, lax: n.floor_divide(V(n) * 1j, 2),
    "mod c": lambda n, lax: n.remainder(V(n) * 1j, 2),
    "sign str": lambda n, lax: n.sign("a"),
    "negative bool": lambda n, lax: n.negative(n.array([True])),
    "subtract bool": lambda n, lax: n.array([True]) - n.array([False]),
    "arctan2 c": lambda n, lax: n.arctan2(V(n) * 1j, 1),
    "where one": lambda n, lax: n.where(V(n) > 0, V(n)),
    "where none": lambda n, lax: n.where(V(n) > 0, V(n), None),
    "where list": lambda n, lax: n.where([True], V(n), V(n)),
    "where shapes": lambda n, lax: n.where(V(n) > 0, n.ones(3), 0),
    "select empty": lambda n, lax: n.select([], []),
    "select len": lambda n, lax: n.select([V(n) > 0], [V(n), V(n)]),
    "clip c": lambda n, lax: n.clip(V(n) * 1j, 0, 1),
    "round dec": lambda n, lax: n.round(V(n), 1.5),
    "cumsum axis": lambda n, lax: n.cumsum(V(n), axis=1),
    "cumulative_sum": lambda n, lax: n.cumulative_sum(M(n)),
    "diff n": lambda n, lax: n.diff(V(n), -1),
    "diff 0d": lambda n, lax: n.diff(1.0),
    "gradient short": lambda n, lax: n.gradient(n.ones(1)),
    "trapz axis": lambda n, lax: n.trapezoid(V(n), axis=1),
    "average w": lambda n, lax: n.average(M(n), weights=n.ones(3)),
    "var ddof": lambda n, lax: n.var(V(n), ddof=1, correction=1),
    "meshgrid": lambda n, lax: n.meshgrid(M(n)),
    "meshgrid idx": lambda n, lax: n.meshgrid(V(n), indexing="xx"),
    "unstack": lambda n, lax: n.unstack(1.0),
    "index oob": lambda n, lax: V(n)[10],
    "index too many": lambda n, lax: V(n)[0, 0],
    "index float": lambda n, lax: V(n)[1.0],
    "index str": lambda n, lax: V(n)["a"],
    "setitem": lambda n, lax: V(n).__setitem__(0, 1.0),
    "len 0d": lambda n, lax: len(n.float32(1)),
    "iter 0d": lambda n, lax: iter(n.float32(1)),
    "bool arr": lambda n, lax: bool(V(n)),
    "float arr": lambda n, lax: float(V(n)),
    "int arr": lambda n, lax: int(V(n)),
    "item": lambda n, lax: V(n).item(),
    "astype": lambda n, lax: V(n).astype("nope"),
    "array ragged": lambda n, lax: n.array([[1], [1, 2]]),
    "array str": lambda n, lax: n.array("a"),
    "array None": lambda n, lax: n.array(None),
    "array obj": lambda n, lax: n.array(object()),
    "lax.add dtypes": lambda n, lax: lax.add(V(n), n.arange(4)),
    "lax.add shapes": lambda n, lax: lax.add(V(n), n.ones(3)),
    "lax.add rank": lambda n, lax: lax.add(V(n), M(n)),
    "lax.reshape": lambda n, lax: lax.reshape(V(n), (3,)),
    "lax.transpose": lambda n, lax: lax.transpose(M(n), (0, 0)),
    "lax.transpose len": lambda n, lax: lax.transpose(M(n), (0,)),
    "lax.bid": lambda n, lax: lax.broadcast_in_dim(V(n), (3,), (0,)),
    "lax.bid axes": lambda n, lax: lax.broadcast_in_dim(V(n), (4, 4), (2,)),
    "lax.slice": lambda n, lax: lax.slice(V(n), (0,), (9,)),
    "lax.slice neg": lambda n, lax: lax.slice(V(n), (-1,), (2,)),
    "lax.slice stride": lambda n, lax: lax.slice(V(n), (0,), (2,), (0,)),
    "lax.slice len": lambda n, lax: lax.slice(V(n), (0, 0), (2, 2)),
    "lax.pad": lambda n, lax: lax.pad(V(n), 0.0, [(1, 1)]),
    "lax.pad dtype": lambda n, lax: lax.pad(V(n), np.int32(0), [(1, 1, 0)]),
    "lax.pad len": lambda n, lax: lax.pad(V(n), np.float32(0), [(1, 1, 0)] * 2),
    "lax.pad int": lambda n, lax: lax.pad(V(n), np.float32(0), [(1, 1, -1)]),
    "lax.concat": lambda n, lax: lax.concatenate([V(n), M(n)], 0),
    "lax.concat dtype": lambda n, lax: lax.concatenate([V(n), n.arange(3)], 0),
    "lax.concat empty": lambda n, lax: lax.concatenate([], 0),
    "lax.rev": lambda n, lax: lax.rev(V(n), (1,)),
    "lax.rev dup": lambda n, lax: lax.rev(V(n), (0, 0)),
    "lax.squeeze": lambda n, lax: lax.squeeze(M(n), (0,)),
    "lax.expand": lambda n, lax: lax.expand_dims(V(n), (0, 0)),
    "lax.reduce axes": lambda n, lax: lax.reduce_sum(V(n), (1,)),
    "lax.reduce dup": lambda n, lax: lax.reduce_max(M(n), (0, 0)),
    "lax.argmax": lambda n, lax: lax.argmax(V(n), 1, "int32"),
    "lax.argmax f": lambda n, lax: lax.argmax(V(n), 0, "float32"),
    "lax.dot": lambda n, lax: lax.dot(M(n), M(n)),
    "lax.dg": lambda n, lax: lax.dot_general(M(n), M(n), (((1,), (0,)), ((), ()))),
    "lax.dg len": lambda n, lax: lax.dot_general(M(n), M(n), (((1,), ()), ((), ()))),
    "lax.ds": lambda n, lax: lax.dynamic_slice(V(n), (0,), (9,)),
    "lax.ds len": lambda n, lax: lax.dynamic_slice(V(n), (0, 0), (1,)),
    "lax.ds float": lambda n, lax: lax.dynamic_slice(V(n), (0.5,), (1,)),
    "lax.dus dtype": lambda n, lax: lax.dynamic_update_slice(
        V(n), n.ones(2, "int32"), (0,)
    ),
    "lax.dus rank": lambda n, lax: lax.dynamic_update_slice(V(n), M(n), (0,)),
    "lax.select": lambda n, lax: lax.select(V(n), V(n), V(n)),
    "lax.select_n": lambda n, lax: lax.select_n(V(n) > 0, V(n), V(n), V(n)),
    "lax.select dt": lambda n, lax: lax.select(V(n) > 0, V(n), n.arange(4)),
    "lax.clamp": lambda n, lax: lax.clamp(n.ones(2), V(n), 1.0),
    "lax.clamp dt": lambda n, lax: lax.clamp(0, V(n), 1.0),
    "lax.conv": lambda n, lax: lax.convert_element_type(V(n), "nope"),
    "lax.bitcast": lambda n, lax: lax.bitcast_convert_type(
        n.ones(3, "int8"), "float32"
    ),
    "lax.iota neg": lambda n, lax: lax.iota("int32", -1),
    "lax.biota": lambda n, lax: lax.broadcasted_iota("int32", (2,), 1),
    "lax.exp int": lambda n, lax: lax.exp(n.arange(3)),
    "lax.not f": lambda n, lax: lax.bitwise_not(V(n)),
    "lax.shift f": lambda n, lax: lax.shift_left(V(n), V(n)),
    "lax.cumsum": lambda n, lax: lax.cumsum(V(n), 2),
    "lax.cumsum neg": lambda n, lax: lax.cumsum(V(n), -1),
    "lax.index": lambda n, lax: lax.index_in_dim(V(n), 9),
    "lax.slice_in_dim": lambda n, lax: lax.slice_in_dim(V(n), 0, 2, axis=3),
    "lax.full neg": lambda n, lax: lax.full((-1,), 0.0),
    "lax.full dtype": lambda n, lax: lax.full((1,), 0.0, "nope"),
    "lax.reduce_and f": lambda n, lax: lax.reduce_and(V(n), (0,)),
    "lax.real": lambda n, lax: lax.real(V(n)),
    "lax.conj": lambda n, lax: lax.conj("a"),
    "lax.add list": lambda n, lax: lax.add([1], [2]),
    "lax.complex": lambda n, lax: lax.complex(n.arange(3), n.arange(3)),
    "lax.stack": lambda n, lax: lax.stack([V(n), M(n)]),
    "lax.split": lambda n, lax: lax.split(V(n), (1, 1)),
    "lax.collapse": lambda n, lax: lax.collapse(V(n), 3),
    "lax.reduce_prec": lambda n, lax: lax.reduce_precision(V(n), 0, -1),
    "lax.rem c": lambda n, lax: lax.rem(V(n) * 1j, V(n) * 1j),
    "lax.round m": lambda n, lax: lax.round(V(n), 5),
    "polyint k": lambda n, lax: n.polyint(V(n), 2, V(n)),
    "polyder m": lambda n, lax: n.polyder(V(n), -1),
    "cov 3d": lambda n, lax: n.cov(n.ones((1, 1, 1))),
    "cov dtype": lambda n, lax: n.cov(V(n), dtype="int32"),
    "cov float counts": lambda n, lax: n.cov(M(n), fweights=n.ones(3)),
    "block": lambda n, lax: n.block([[V(n)], V(n)]),
    "block of nothing": lambda n, lax: n.block([]),
    "unwrap complex": lambda n, lax: n.unwrap(V(n) * 1j),
    "isin method": lambda n, lax: n.isin(V(n), V(n), method="x"),
    "ix_ matrix": lambda n, lax: n.ix_(M(n)),
    "ix_ booleans": lambda n, lax: n.ix_(V(n) > 0),
    "diag_indices": lambda n, lax: n.diag_indices(-1),
    "diag_indices_from": lambda n, lax: n.diag_indices_from(M(n)),
    "tril_indices_from": lambda n, lax: n.tril_indices_from(V(n)),
    "unravel_index floats": lambda n, lax: n.unravel_index(n.array([[1.5]]), "ab"),
    "softmax axis": lambda n, lax: nn(n).softmax(V(n), axis=2),
    "one_hot f": lambda n, lax: nn(n).one_hot(n.arange(2), 2, axis=5),
    "hypot complex": lambda n, lax: n.hypot(V(n) * 1j, V(n)),
    "signbit complex": lambda n, lax: n.signbit(V(n) * 1j),
    "isposinf complex": lambda n, lax: n.isposinf(V(n) * 1j),
    "isneginf complex": lambda n, lax: n.isneginf(1j),
    "isdtype kind": lambda n, lax: n.isdtype("float32", "nope"),
    "result_type of nothing": lambda n, lax: n.result_type(),
    "datetime": lambda n, lax: V(n) + np.datetime64("2020-01-01"),
    "from_dlpack 3": lambda n, lax: n.from_dlpack(3),
    "ones of a set": lambda n, lax: n.ones({1}),
    "ones of bytes": lambda n, lax: n.ones(b"a"),
    "glu odd": lambda n, lax: nn(n).glu(n.ones(3)),
}

STAY = {
    "int overflow": "JAX wraps an integer that does not fit",
    "split 0": "JAX divides by zero",
    "arange 0": "JAX divides by zero",
    "einsum sub": "JAX takes digits for letters",
    "pad mode": "NumPy raises a ValueError, JAX has a NotImplementedError",
    "index oob": "JAX takes the nearest element",
    "lax.slice neg": "JAX gives more elements than were asked for",
    "lax.slice stride": "JAX divides by zero",
    "glu odd": "JAX asserts",
}
"""Calls with other errors than in JAX, and why."""

KINDS = (
    *(TypeError, ValueError, IndexError, NotImplementedError, OverflowError),
    *(ZeroDivisionError, AttributeError, AssertionError),
)


def nn(numpy):
    return imprint.nn if numpy is inp else jax.nn


def raised(call, numpy, lax):
    try:
        call(numpy, lax)
    except Exception as err:  # the test is about which
        return {kind for kind in KINDS if isinstance(err, kind)}
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_caught_as_in_jax(name):
    ours = raised(WRONG[name], inp, imprint.lax)
    theirs = raised(WRONG[name], jnp, jax.lax)
    if name in STAY:
        assert ours
        assert theirs is None or not theirs <= ours, "take it off the list"
    else:
        assert (ours is None) == (theirs is None)
        assert ours is None or theirs <= ours
