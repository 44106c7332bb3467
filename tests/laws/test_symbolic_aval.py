"""Law 8: `aval` at symbolic sizes, evaluated at drawn sizes, equals `aval` at those sizes.

Each size over 1 of the calls of a primitive becomes a name that is at least that size, the
same name for the same size; params that hold sizes are made of the names too (`SIZES`). A
rule that uses an operator instead of `dims` raises, see `tests.symbolic`.
"""

import pytest
from hypothesis import strategies as st

from imprint._src.core.aval import ShapedArray
from imprint._src.core.primitive import Primitive
from imprint._src.primitives import ALL
from imprint._src.primitives.windows.windows import out_space
from imprint.errors import DTypeError, ShapeError
from tests.laws.law import every_primitive, for_draws
from tests.strategies import Call, calls
from tests.symbolic import evaluate, name, names

MOST_NAMES = 4


def law(primitive):
    found = [made for call in calls(primitive) for made in symbolic_calls(call)]
    assert found, "no call has a size that can be symbolic: say why in WAYS"
    outs = [call.out_avals for call in found]

    def check(more):
        for call, symbolic in zip(found, outs, strict=True):
            free = sorted(names([[a.shape for a in call.avals], call.params]))
            assert 0 < len(free) <= MOST_NAMES, call
            env = {
                text: least + k for (text, least), k in zip(free, more, strict=False)
            }
            came = _at(symbolic, env)
            at = Call(primitive, _at(call.avals, env), evaluate(call.params, env))
            assert came == at.out_avals, (str(call), env)

    check([0] * MOST_NAMES)
    for_draws(st.tuples(*[st.integers(0, 9)] * MOST_NAMES), check, examples=5)
    for call in found:
        for other in _misfits(call):
            _check_misfit(other)


def _check_misfit(call):
    """Check that a call takes operands that may not fit, or raises ShapeError."""
    try:
        outs = call.out_avals
    except (ShapeError, DTypeError):
        return
    env = dict(names([[a.shape for a in call.avals], call.params]))
    at = Call(call.primitive, _at(call.avals, env), evaluate(call.params, env))
    assert _at(outs, env) == at.out_avals, call


def _misfits(call):
    """Return calls in which one axis of one operand has another length."""
    for i, aval in enumerate(call.avals):
        for axis, n in enumerate(aval.shape):
            for other in (n + 1, name("other", 2)):
                shape = (*aval.shape[:axis], other, *aval.shape[axis + 1 :])
                avals = list(call.avals)
                avals[i] = aval.with_shape(shape)
                yield Call(call.primitive, tuple(avals), call.params)


def _at(avals, env):
    return tuple(a.with_shape(evaluate(a.shape, env)) for a in avals)


# ---- calls with names for sizes ----


def symbolic_calls(call):
    """Return a call as the ways of its primitive make it symbolic."""
    for make in WAYS.get(call.primitive.name, (_by_value,)):
        shapes, params = make(call)
        if names([shapes, params]):
            pairs = zip(call.avals, shapes, strict=True)
            avals = tuple(aval.with_shape(tuple(shape)) for aval, shape in pairs)
            yield Call(call.primitive, avals, params)


def _letter(n):
    """Return the name for a size, which is at least as large."""
    return n if n < 2 else name(f"n{n}", n)


def _by_value(call):
    return [tuple(map(_letter, a.shape)) for a in call.avals], call.params


def _with_params(*keys):
    """Make the sizes in these params names as well."""

    def make(call):
        shapes, params = _by_value(call)
        sizes = {key: tuple(map(_letter, params[key])) for key in keys}
        return shapes, params | sizes

    return make


def _by_factors(call):
    """Make sizes products of a name for each prime, so that products stay equal."""

    def factors(n):
        size, prime = 1, 2
        while n > 1:
            while n % prime == 0:
                size, n = size * _letter(prime), n // prime
            prime += 1
        return size

    def of(shape):
        return tuple(n if n < 2 else factors(n) for n in shape)

    new_sizes = of(call.params["new_sizes"])
    return [of(a.shape) for a in call.avals], call.params | {"new_sizes": new_sizes}


def _less(x, n, m):
    """Return `x`, the expression of the size n, minus the number n - m."""
    return m if m < 2 else x - (n - m)


def _dim(call):
    return [], {"dim": _letter(call.params["dim"])}


def _shorter(whole, part):
    return tuple(_less(_letter(n), n, m) for n, m in zip(whole, part, strict=True))


def _slice_from_the_end(call):
    shapes, params = _by_value(call)
    limits = _shorter(call.avals[0].shape, params["limit_indices"])
    return shapes, params | {"limit_indices": limits}


def _dynamic_slice(call):
    shapes, params = _by_value(call)
    sizes = _shorter(call.avals[0].shape, params["slice_sizes"])
    return shapes, params | {"slice_sizes": sizes}


def _update(call):
    shapes, params = _by_value(call)
    shapes[1] = _shorter(call.avals[0].shape, call.avals[1].shape)
    return shapes, params


def _gather(call):
    shapes, params = _by_value(call)
    sizes = _shorter(call.avals[0].shape, params["slice_sizes"])
    return _with_vectors(call, shapes), params | {"slice_sizes": sizes}


def _scatter(call):
    shapes, params = _by_value(call)
    x, _, updates = (a.shape for a in call.avals)
    window, inserted, _, batch, _ = params["dimension_numbers"]
    axes = [i for i in range(len(x)) if i not in (*inserted, *batch)]
    sizes = dict(
        zip(
            window,
            _shorter([x[i] for i in axes], [updates[i] for i in window]),
            strict=True,
        )
    )
    shapes[2] = tuple(sizes.get(i, n) for i, n in enumerate(shapes[2]))
    return _with_vectors(call, shapes), params


def _with_vectors(call, shapes):
    """Leave the last axis of the indices alone: the params decide its length."""
    shapes[1] = (*shapes[1][:-1], call.avals[1].shape[-1])
    return shapes


def _widened(call):
    """Pad by a size: as far as the axis is long, before it."""
    shapes, params = _by_value(call)
    config = tuple(
        (n + lo, hi, gap)
        for n, (lo, hi, gap) in zip(shapes[0], params["padding_config"], strict=True)
    )
    return shapes, params | {"padding_config": config}


def _but_the_last_axis(call):
    """Leave the axis alone whose elements are the parts of one wider element."""
    (shape,), params = _by_value(call)
    last = call.avals[0].shape[-1:]
    return [(*shape[:-1], *last)], params


def _fft(call):
    """Make half an axis half of the name for the whole."""
    (shape,), params = _with_params("fft_lengths")(call)
    whole = params["fft_lengths"][-1]
    if call.params["fft_type"].name == "IRFFT" and names([whole]):
        shape = (*shape[:-1], whole // 2 + 1)
    return [shape], params


def _convolution(call):
    """Leave features alone, and a batch that has groups: these are multiples of each other."""
    batch, _, *spatial = call.params["dimension_numbers"].lhs_spec
    kernel = call.params["dimension_numbers"].rhs_spec[2:]
    named = spatial if call.params["batch_group_count"] > 1 else (batch, *spatial)
    shapes = [
        tuple(_letter(n) if i in axes else n for i, n in enumerate(a.shape))
        for a, axes in zip(call.avals, (named, kernel), strict=True)
    ]
    return shapes, call.params


def _reflectors(call):
    """Make the rows of the first operand a name, and other sizes so much less."""
    rows = call.avals[0].shape[-2]
    shapes = [
        tuple(_less(_letter(rows), rows, n) for n in aval.shape) for aval in call.avals
    ]
    return shapes, call.params


def _source_of_windows(call):
    """Make as many elements as there are windows in the second operand."""
    (_, shape), params = _by_value(call)
    ones = (1,) * len(shape)
    steps = params["window_strides"], params["padding"], ones, ones
    return [out_space(shape, params["window_dimensions"], steps), shape], params


def _with_rows(call):
    """Let there be as many rows more than pivots as there are."""
    (shape,), params = _by_value(call)
    more = params["permutation_size"] - call.avals[0].shape[-1]
    return [shape], {"permutation_size": shape[-1] + more}


WAYS = {
    "select_and_scatter_add": (_source_of_windows,),
    "conv_general_dilated": (_convolution,),
    "lu_pivots_to_permutation": (_with_rows,),
    "reshape": (_by_factors,),
    "broadcast_in_dim": (_with_params("shape"),),
    "iota": (_with_params("shape"),),
    "slice": (_by_value, _slice_from_the_end),
    "pad": (_by_value, _widened),
    "dynamic_slice": (_dynamic_slice,),
    "dynamic_update_slice": (_update,),
    "householder_product": (_reflectors,),
    "ormqr": (_reflectors,),
    "gather": (_gather,),
    **dict.fromkeys(("scatter", "scatter-add", "scatter-sub"), (_scatter,)),
    **dict.fromkeys(("scatter-mul", "scatter-min", "scatter-max"), (_scatter,)),
    "bitcast_convert_type": (_but_the_last_axis,),
    "fft": (_fft,),
    "dim_as_value": (_dim,),
}
"""The ways of primitives whose params hold sizes, or whose sizes depend on each other."""


@every_primitive
def test_aval_at_symbolic_sizes_is_aval_at_these_sizes(primitive):
    law(primitive)


# ---- the law bites ----


def lengths_are_taken_for_numbers(x, *, axis, reverse):
    return (x.with_shape(tuple(int(n) for n in x.shape)),)


def a_length_is_a_loop(*, dtype, shape, dimension):
    return (ShapedArray(tuple(len(range(n)) for n in shape), dtype),)


def lengths_are_compared_by_an_operator(x, y):
    if x.shape and y.shape and x.shape != y.shape:
        raise ShapeError("add: expected one shape")
    return (x if x.shape else y,)


GOOD = {primitive.name: primitive for primitive in ALL}
RULES = (
    "reference",
    "lower",
    "fusion",
    "makes_nan",
    "jvp",
    "transpose",
    "batch",
    "pad",
    "samples",
)


@pytest.mark.parametrize(
    ("primitive", "aval"),
    [
        ("add", lengths_are_compared_by_an_operator),
        ("cumsum", lengths_are_taken_for_numbers),
        ("iota", a_length_is_a_loop),
    ],
)
def test_a_rule_that_bypasses_dims_turns_the_law_red(primitive, aval):
    rules = {rule: getattr(GOOD[primitive], rule) for rule in RULES}
    with pytest.raises((AssertionError, TypeError)):
        law(Primitive(name=primitive, aval=aval, **rules))
