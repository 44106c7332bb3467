"""Tracing of bodies: every body becomes a jaxpr without constants."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax, tree
from imprint._src.control_flow.trace_body import own_leaves, trace_body, unite
from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.core.trace import Tracer
from imprint.errors import ArgumentError, UnexpectedTracerError

ONE = np.float32(1)
W = np.array([1.0, 2.0], "float32")


def closed(body, *args):
    leaves, in_tree = tree.flatten(args)
    return trace_body(body, in_tree, [get_aval(x) for x in leaves], "cond")


def evaluated(body, *args):
    return eval_jaxpr(body.jaxpr.jaxpr, (), *body.captured, *args)


def test_captured_values_are_leading_arguments():
    v = inp.asarray(W) * 3
    body = closed(lambda x: {"y": lax.add(lax.mul(x, W), v), "n": None}, ONE)
    assert not body.jaxpr.consts
    assert [str(a) for a in body.jaxpr.in_avals] == ["float32[2]"] * 2 + ["float32[]"]
    assert body.origins[0] is W
    assert body.captured[1] is v
    (out,) = evaluated(body, ONE)
    assert body.out_tree.unflatten([out]) == {"y": out, "n": None}
    np.testing.assert_array_equal(out, W + v)


def test_numbers_stay_literals_and_weak_types_stay_weak():
    scale = inp.asarray(3.0)
    body = closed(lambda x, y: (x * scale * 2, y), 1.5, ONE)
    assert body.captured == ()
    assert [a.weak_type for a in body.jaxpr.out_avals] == [True, False]


def test_tracers_of_enclosing_traces_are_captured():
    found = []

    @imprint.jit
    def outer(x):
        body = closed(lambda y: y * x, ONE)
        found.extend(body.captured)
        return eval_jaxpr(body.jaxpr.jaxpr, (), *body.captured, ONE)

    assert outer(2.0)[0] == 2
    assert isinstance(found[0], Tracer)


def test_a_body_owns_its_captured_values():
    a = np.ones(2, "float32")

    def body(x):
        y = lax.mul(x, a)
        a[:] = 5
        return y

    done = closed(body, ONE)
    np.testing.assert_array_equal(evaluated(done, ONE)[0], [1, 1])


def test_bodies_are_brought_to_the_same_operands():
    v = inp.asarray(W) * 3
    bodies = [
        closed(lambda x: x * v, ONE),
        closed(lambda x: lax.add(x, W) + v, ONE),
        closed(lambda x: W, ONE),
        closed(lambda x: x, ONE),
    ]
    jaxprs, captured = unite(bodies)
    assert len(captured) == 2
    assert len({jaxpr.in_avals for jaxpr in jaxprs}) == 1
    for body, jaxpr in zip(bodies, jaxprs, strict=True):
        (want,) = evaluated(body, ONE)
        (got,) = eval_jaxpr(jaxpr.jaxpr, (), *captured, ONE)
        np.testing.assert_array_equal(got, want)


def test_an_array_that_a_body_wrote_into_is_another_for_the_next():
    a = np.ones(2, "float32")
    first = closed(lambda x: lax.mul(x, a), ONE)
    a[:] = 5
    second = closed(lambda x: lax.mul(x, a), ONE)
    jaxprs, captured = unite([first, second])
    outs = [eval_jaxpr(j.jaxpr, (), *captured, ONE)[0] for j in jaxprs]
    np.testing.assert_array_equal(outs, [[1, 1], [5, 5]])


def test_results_that_are_no_arrays_are_named():
    def branch(x):
        return {"y": x, "how": "fast"}

    with pytest.raises(ArgumentError) as err:
        closed(branch, ONE)
    assert str(err.value).startswith(
        "cond(branch): expected to return arrays and numbers, got str"
    )
    assert "result['how']" in str(err.value)
    assert "has_aux" not in str(err.value)


def test_operands_that_are_no_arrays_are_named():
    with pytest.raises(ArgumentError, match=r"got str 'a' as operands\[1\]\['k'\]"):
        own_leaves((ONE, {"k": "a"}), "lax.cond", "operands")


def test_a_model_as_operand_raises_with_the_remedy():
    make = imprint.filter_vmap(lambda key: imprint.nn.MLP(2, 2, 3, 1, key=key))
    layers = make(imprint.random.split(imprint.random.key(0), 4))
    with pytest.raises(
        ArgumentError, match=r"as xs\.activation\. Close over it"
    ) as err:
        lax.scan(lambda x, layer: (layer(x), None), inp.ones(2), layers)
    assert "arrays, rest = imprint.partition(model, imprint.is_array)" in str(err.value)
    arrays, rest = imprint.partition(layers, imprint.is_array)
    step = lambda x, arrays: (imprint.combine(arrays, rest)(x), None)
    assert lax.scan(step, inp.ones(2), arrays)[0].shape == (2,)
    with pytest.raises(ArgumentError) as err:
        lax.scan(lambda c, x: (c, x), 0, "a")
    assert str(err.value).endswith("Close over it in the function instead.")


def test_an_operand_is_owned():
    a = np.ones(2)
    (owned,), _, names = own_leaves((a,), "lax.cond", "operands")
    a[:] = 7
    np.testing.assert_array_equal(owned, [1, 1])
    assert names == ["operands[0]"]


def test_a_tracer_that_leaks_from_a_body_is_found():
    kept = []
    with imprint.check_tracer_leaks(True), pytest.raises(UnexpectedTracerError):
        closed(lambda x: kept.append(x + 1) or x, ONE)
