"""segment_sum, segment_prod, segment_min and segment_max as in JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import ops
from imprint.errors import ArgumentError, ConcretizationError, DTypeError, ShapeError
from tests import oracle

X = np.array([[2, 3], [-5, 7], [1.5, np.nan], [4, 0], [6, 1]], np.float32)
IDS = np.array([3, 0, 3, -1, 7], np.int32)
NAMES = ("segment_sum", "segment_prod", "segment_min", "segment_max")


def of(ops):
    def run(x, ids):
        whole_numbers = x[:, 0].astype("int8")
        return [
            out
            for name in NAMES
            for f in (getattr(ops, name),)
            for out in (
                f(x, ids, 5),
                f(x, ids, num_segments=5, mode="clip"),
                f(x[:, 0], ids, 4, bucket_size=2),
                f(whole_numbers, ids, 5),
                f(whole_numbers, ids, 3, bucket_size=3),
                f(x[:0], ids[:0], 2),
                f(x, ids.astype("uint8"), 4, unique_indices=False),
            )
        ] + [ops.segment_min(x > 3, ids, 5), ops.segment_max(x > 3, ids, 5)]

    return run


def test_they_are_those_of_jax():
    want = oracle.jit(of(jax.ops))(X, IDS)
    for got in (
        of(ops)(inp.asarray(X), inp.asarray(IDS)),
        imprint.jit(of(ops))(X, IDS),
    ):
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            np.testing.assert_allclose(np.asarray(a), b, rtol=1e-6, err_msg=str(k))
            assert a.dtype == b.dtype
            assert a.weak_type == b.weak_type


@pytest.mark.parametrize("name", NAMES)
def test_buckets_and_promises_reach_the_program(name):
    for is_sorted, is_unique in ((False, True), (True, False)):
        promised = {"indices_are_sorted": is_sorted, "unique_indices": is_unique}
        for size, shape in ((None, (3,)), (2, (3, 3))):
            eqns = imprint.make_jaxpr(
                lambda x, ids, given=promised | {"bucket_size": size}: getattr(
                    ops, name
                )(x, ids, 3, **given)
            )(X[:, 0], IDS).eqns
            (eqn,) = (e for e in eqns if e.primitive.name.startswith("scatter"))
            assert {key: eqn.params[key] for key in promised} == promised
            assert eqn.outvars[0].aval.shape == shape


def test_segments_are_counted_outside_a_trace():
    got = ops.segment_sum(inp.arange(5.0), [0, 2, 2, 0, 1])
    want = jax.ops.segment_sum(jnp.arange(5.0), jnp.array([0, 2, 2, 0, 1]))
    np.testing.assert_array_equal(got, want)
    assert ops.segment_sum(inp.ones(2), np.array([0, 254], np.uint8)).shape == (255,)
    assert ops.segment_sum(inp.ones(0), inp.ones(0, int)).shape == (0,)


def test_a_segment_passes_its_cotangent_to_its_rows():
    def total(ops, np):
        return lambda x: (
            ops.segment_sum(x, IDS, 5) * np.arange(10.0).reshape(5, 2)
        ).sum()

    got = imprint.jit(imprint.grad(total(ops, inp)))(X)
    np.testing.assert_allclose(got, oracle.jit(jax.grad(total(jax.ops, jnp)))(X))
    each = imprint.vmap(lambda x: ops.segment_max(x, IDS, 5), 1, 1)(X)
    np.testing.assert_array_equal(each, ops.segment_max(X, IDS, 5))


def test_errors():
    with pytest.raises(ConcretizationError) as caught:
        imprint.jit(ops.segment_sum)(X, IDS)
    assert str(caught.value).startswith(
        "segment_sum: expected num_segments, as the greatest number in int32[5] is not "
        "known while tracing. Write num_segments=n."
    )
    with pytest.raises(ArgumentError) as caught:
        ops.segment_min(X, IDS, -1)
    assert str(caught.value) == (
        "segment_min: expected num_segments of at least 0, got -1. It is how many rows "
        "the result has."
    )
    with pytest.raises(ArgumentError) as caught:
        ops.segment_prod(X, IDS, 2, bucket_size=0)
    assert str(caught.value) == (
        "segment_prod: expected a bucket_size of at least 1, got 0. It is how many rows "
        "are reduced at a time."
    )
    with pytest.raises(ShapeError) as caught:
        ops.segment_max(X, IDS[:2], 2)
    assert str(caught.value) == (
        "segment_max: expected segment_ids with a number for each row of float32[5,2], "
        "got int32[2]. Reshape both so that data has one axis of rows."
    )
    with pytest.raises(DTypeError) as caught:
        ops.segment_sum(X, X[:, 0], 2)
    assert str(caught.value) == (
        "segment_sum: expected segment_ids of an integer dtype, got float32[5]. Convert "
        "them with .astype('int32')."
    )
