"""Collectives along named axes as in JAX; cases that JAX gets wrong, by hand."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.control_flow.call import jit_p
from imprint.errors import ArgumentError, ShapeError, UnboundAxisError
from tests import oracle
from tests.oracle import jax
from tests.tolerances import assert_close


def draw(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype("float32")


def along(api, f, *args, **options):
    """Apply `f` along an axis "i"."""
    return api.vmap(f, axis_name="i", **options)(*args)


def twice(api, f, x):
    """Apply `f` along an axis "j" within an axis "i"."""
    return api.vmap(api.vmap(f, axis_name="j"), axis_name="i")(x)


THREE, ROWS, SQUARE = draw(3), draw(2, 3), draw(3, 3, 2)
RING = [(0, 1), (1, 2), (2, 0)]

PLAIN = {
    "psum": lambda api, x: api.lax.psum(x, "i"),
    "psum of truths": lambda api, x: api.lax.psum(x > 0, "i"),
    "psum of a tree": lambda api, x: api.lax.psum({"a": x, "b": (x * 2, x > 0)}, "i"),
    "psum of a list of names": lambda api, x: api.lax.psum(x, ["i"]),
    "psum over nothing": lambda api, x: api.lax.psum(x, ()),
    "psum over an axis of the array": lambda api, x: api.lax.psum(x, 0),
    "psum over both": lambda api, x: api.lax.psum(x, ("i", 0)),
    "psum over the other": lambda api, x: api.lax.psum(x, (1, "i")),
    "pmean": lambda api, x: api.lax.pmean(x, "i"),
    "pmean of integers": lambda api, x: api.lax.pmean(api.numpy.int32(x * 9), "i"),
    "pmax": lambda api, x: api.lax.pmax(x, "i"),
    "pmax over both": lambda api, x: api.lax.pmax(x, ("i", 1)),
    "pmin": lambda api, x: api.lax.pmin(x, "i"),
    "pmin of truths": lambda api, x: api.lax.pmin(x > 0, "i"),
    "axis_index": lambda api, x: x * api.lax.axis_index("i"),
    "axis_size": lambda api, x: x * api.lax.axis_size("i"),
    "all_gather": lambda api, x: api.lax.all_gather(x, "i"),
    "all_gather at an axis": lambda api, x: api.lax.all_gather(x, "i", axis=1),
    "all_gather from the end": lambda api, x: api.lax.all_gather(x, "i", axis=-1),
    "all_gather in tiles": lambda api, x: api.lax.all_gather(x, "i", tiled=True),
    "all_gather in tiles at an axis": lambda api, x: api.lax.all_gather(
        x, "i", axis=1, tiled=True
    ),
    "ppermute": lambda api, x: api.lax.ppermute(x, "i", RING),
    "pshuffle": lambda api, x: api.lax.pshuffle(x, "i", [2, 0, 1]),
    "all_to_all": lambda api, x: api.lax.all_to_all(x, "i", 0, 0),
    "all_to_all between axes": lambda api, x: api.lax.all_to_all(x, "i", 0, 1),
    "all_to_all in tiles": lambda api, x: api.lax.all_to_all(x, "i", 0, 1, tiled=True),
    "pswapaxes": lambda api, x: api.lax.pswapaxes(x, "i", 0),
    "psum_scatter": lambda api, x: api.lax.psum_scatter(x, "i"),
    "psum_scatter in tiles": lambda api, x: api.lax.psum_scatter(x, "i", tiled=True),
}
LINEAR = [name for name in PLAIN if not name.startswith(("pmax", "pmin"))]
DIFFERENTIABLE = [
    name
    for name in LINEAR
    if name not in {"psum of truths", "pmean of integers"}
    and name != "all_to_all between axes"  # JAX's transpose fails: see tests/laws
]


def agree(program):
    """Assert that a program is the same by imprint and by JAX, which compiles it whole."""
    ours = imprint.tree.leaves(program(imprint))
    theirs = jax.tree.leaves(oracle.jit(lambda: program(jax))())
    for x, y in zip(ours, theirs, strict=True):
        assert_close(x, y, "gradient")


@pytest.mark.parametrize("name", PLAIN)
def test_results_at_each_position(name):
    f = PLAIN[name]
    agree(lambda api: along(api, lambda x: f(api, x), SQUARE))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PLAIN)
def test_within_a_jitted_function_and_around_it(name):
    f = PLAIN[name]
    agree(lambda api: along(api, api.jit(lambda x: f(api, x)), SQUARE))
    agree(lambda api: api.jit(lambda y: along(api, lambda x: f(api, x), y))(SQUARE))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PLAIN)
def test_an_axis_without_a_name_passes_through(name):
    f = PLAIN[name]

    def program(api, wrap):
        inner = api.vmap(wrap(lambda x: f(api, x)), in_axes=-1, out_axes=0)
        return along(api, inner, draw(3, 3, 2, 4))

    if name.startswith("psum_scatter"):  # JAX's rule fails
        slices = [
            along(jax, lambda x: f(jax, x), row)
            for row in np.moveaxis(draw(3, 3, 2, 4), -1, 0)
        ]
        for wrap in (lambda g: g, imprint.jit):
            assert_close(program(imprint, wrap), np.stack(slices, 1), "gradient")
        return
    agree(lambda api: program(api, lambda g: g))
    agree(lambda api: program(api, api.jit))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name):
    f = PLAIN[name]

    def loss(api, x):
        leaves = api.tree.leaves(f(api, x))
        return sum((leaf**2).sum() for leaf in leaves if leaf.dtype == "float32")

    def whole(api, x):
        return (along(api, lambda y: loss(api, y), x) ** 2).sum()

    def second(api, x):
        return api.jvp(api.grad(lambda y: loss(api, y) ** 2), (x,), (x,))[1]

    agree(lambda api: along(api, api.grad(lambda x: loss(api, x)), SQUARE))
    agree(lambda api: along(api, api.grad(api.jit(lambda x: loss(api, x))), SQUARE))
    agree(lambda api: along(api, lambda x: second(api, x), SQUARE))
    agree(lambda api: api.grad(lambda x: whole(api, x))(SQUARE))
    agree(lambda api: api.grad(api.jit(lambda x: whole(api, x)))(SQUARE))


def normalised(api, x, scale):
    """Normalise over the batch, as a layer does."""
    mean = api.lax.pmean(x, "batch")
    variance = api.lax.pmean((x - mean) ** 2, "batch")
    return scale * (x - mean) / api.numpy.sqrt(variance + 1e-5)


BATCH_NORMS = {
    "of each example": lambda api, x, scale: api.vmap(
        api.grad(lambda s, y: (normalised(api, y, s) ** 3).sum()),
        (None, 0),
        axis_name="batch",
    )(scale, x),
    "of each input": lambda api, x, scale: api.vmap(
        api.grad(lambda y, s: (normalised(api, y, s) ** 3).sum()),
        (0, None),
        axis_name="batch",
    )(x, scale),
    "of the batch": lambda api, x, scale: api.grad(
        lambda s: (
            api.vmap(api.jit(lambda y: normalised(api, y, s)), axis_name="batch")(x)
            ** 3
        ).sum()
    )(scale),
    "of the gradient, all reduced": lambda api, x, scale: api.vmap(
        lambda y: api.lax.pmean(
            api.grad(lambda s: (normalised(api, y, s) ** 3).sum())(scale), "batch"
        ),
        axis_name="batch",
        out_axes=None,
    )(x),
    "second": lambda api, x, scale: api.hessian(
        lambda s: (
            api.vmap(lambda y: normalised(api, y, s), axis_name="batch")(x) ** 3
        ).sum()
    )(scale),
}


@pytest.mark.parametrize("name", BATCH_NORMS)
def test_gradients_of_batch_normalization(name):
    x, scale = draw(5, 3), draw(3, seed=1)
    agree(lambda api: BATCH_NORMS[name](api, x, api.numpy.asarray(scale)))
    agree(
        lambda api: api.jit(lambda s: BATCH_NORMS[name](api, x, s))(
            api.numpy.asarray(scale)
        )
    )


# ---- several axes ----

SEVERAL = {
    "psum": lambda api, x: api.lax.psum(x, ("i", "j")),
    "psum of one": lambda api, x: api.lax.psum(x, "i") * api.lax.axis_index("j"),
    "pmean": lambda api, x: api.lax.pmean(x, ("j", "i")),
    "pmax and pmin": lambda api, x: api.lax.pmax(x, "i") - api.lax.pmin(x, "j"),
    "axis_index": lambda api, x: x + api.lax.axis_index(("i", "j")),
    "axis_index the other way": lambda api, x: x + api.lax.axis_index(("j", "i")),
    "axis_size": lambda api, x: x + api.lax.axis_size(("i", "j")),
    "all_gather": lambda api, x: api.lax.all_gather(api.lax.all_gather(x, "i"), "j"),
    "ppermute": lambda api, x: api.lax.ppermute(x, "j", RING),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_axes_within_axes(name):
    f = SEVERAL[name]
    agree(lambda api: twice(api, lambda x: f(api, x), ROWS))
    agree(lambda api: twice(api, api.jit(lambda x: f(api, x)), ROWS))
    agree(
        lambda api: api.vmap(lambda x: twice(api, lambda y: f(api, y), x))(
            draw(2, 2, 3)
        )
    )


def test_several_axes_as_one():
    """The first varies slowest; JAX's rules for vmap take one at a time."""
    x = draw(2, 3, 6)
    flat = x.reshape(6, 6)
    both = ("i", "j")
    gathered = twice(imprint, lambda x: lax.all_gather(x, both), x)
    np.testing.assert_array_equal(gathered, np.broadcast_to(flat, (2, 3, 6, 6)))
    tiled = twice(imprint, lambda x: lax.all_gather(x, both, tiled=True), x)
    np.testing.assert_array_equal(tiled, np.broadcast_to(flat.ravel(), (2, 3, 36)))
    turned = twice(imprint, lambda x: lax.all_to_all(x, both, 0, 0), x)
    np.testing.assert_array_equal(turned, flat.T.reshape(2, 3, 6))
    summed = twice(imprint, lambda x: lax.psum_scatter(x, both), x)
    np.testing.assert_allclose(summed, flat.sum(0).reshape(2, 3), rtol=1e-5)


def test_the_innermost_axis_of_a_name_is_meant():
    def inner(api, x):
        return along(api, api.jit(lambda y: api.lax.psum(y, "i")), x)

    agree(lambda api: along(api, lambda x: inner(api, x) + api.lax.psum(x, "i"), ROWS))
    agree(
        lambda api: along(
            api,
            lambda x: along(api, lambda y: y * api.lax.axis_size("i"), x),
            ROWS,
        )
    )


def test_any_hashable_value_is_a_name():
    name = frozenset("a")
    got = imprint.vmap(lambda x: lax.psum(x, name), axis_name=name)(inp.ones(3))
    assert got.tolist() == [3, 3, 3]


# ---- values that are equal at each position ----

SAME = {
    "psum": lambda api, x: api.lax.psum(x, "i"),
    "pmean": lambda api, x: api.lax.pmean(x, "i"),
    "pmax": lambda api, x: api.lax.pmax(x, "i"),
    "all_gather": lambda api, x: api.lax.all_gather(x, "i"),
    "ppermute": lambda api, x: api.lax.ppermute(x, "i", RING),
    "psum_scatter": lambda api, x: api.lax.psum_scatter(x, "i"),
}


@pytest.mark.parametrize("name", SAME)
def test_a_value_that_is_the_same_in_each_place(name):
    f = SAME[name]

    def program(api, wrap):
        inner = wrap(lambda y: f(api, y))
        return along(api, lambda x, y: (x, inner(y)), THREE, THREE, in_axes=(0, None))

    agree(lambda api: program(api, lambda g: g))
    agree(lambda api: program(api, api.jit))


def test_collectives_of_a_constant_value():
    x = inp.arange(3)
    swap = along(
        imprint, lambda _, y: lax.all_to_all(y, "i", 0, 0), THREE, x, in_axes=(0, None)
    )
    assert swap.tolist() == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]


def test_an_integer_of_a_byte_wraps_as_its_sum_does():
    x = inp.int8(3)
    f = imprint.vmap(lambda _, y: lax.psum(y, "i"), (0, None), axis_name="i")
    mapped = imprint.vmap(lambda y: lax.psum(y, "i"), axis_name="i")
    same, each = f(inp.zeros(200), x), mapped(inp.full(200, x))
    assert (same.dtype, same[0]) == (each.dtype, each[0])


def test_constants_are_known_while_tracing():
    seen = []

    def f(api, x):
        constants = (1, 1.5, np.float32(2), np.ones(2, "int8"), api.numpy.ones(2), True)
        seen.append([api.lax.psum(c, "i") for c in constants])
        seen[-1] += [api.lax.pmean(2.0, "i"), api.lax.axis_size("i")]
        return x

    for api in (imprint, jax):
        along(api, lambda x, api=api: f(api, x), THREE)
    ours, theirs = seen
    for x, y in zip(ours, theirs, strict=True):
        assert type(x).__name__ == type(y).__name__
        assert_close(x, y)


# ---- cases that JAX's rules for vmap lack ----


def test_a_place_to_which_nothing_is_sent_gets_zeros():
    f = along(
        imprint, lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2)]), inp.arange(1, 4)
    )
    assert f.tolist() == [0, 1, 2]
    same = along(
        imprint,
        lambda _, y: lax.ppermute(y, "i", [(2, 0)]),
        THREE,
        inp.ones(2),
        in_axes=(0, None),
    )
    assert same.tolist() == [[1, 1], [0, 0], [0, 0]]


def test_the_value_of_one_place():
    f = along(imprint, lambda x: lax.pbroadcast(x, "i", 1), inp.arange(6).reshape(3, 2))
    assert f.tolist() == [[2, 3]] * 3


@pytest.mark.parametrize("name", ["pmax", "pmin"])
def test_extremes_have_derivatives(name):
    """They are those of the reduction, as under `vmap`."""
    x = np.float32([1, 3, 3, 1])
    reduce = {"pmax": inp.max, "pmin": inp.min}[name]

    def f(y):
        return getattr(lax, name)(y, "i") ** 2

    outside = imprint.grad(lambda x: along(imprint, f, x).sum())(x)
    want = imprint.grad(lambda x: 4 * reduce(x) ** 2)(x)
    assert_close(outside, want, "gradient")
    assert_close(along(imprint, imprint.grad(f), x), want, "gradient")


GROUPS = [[2, 0], [1, 3]]
IN_GROUPS = {
    "psum": lambda x, **groups: lax.psum(x, "i", **groups),
    "psum of a constant": lambda x, **groups: x + lax.psum(2.0, "i", **groups),
    "pmean": lambda x, **groups: lax.pmean(x, "i", **groups),
    "pmax": lambda x, **groups: lax.pmax(x, "i", **groups),
    "pmin": lambda x, **groups: lax.pmin(x, "i", **groups),
    "all_gather": lambda x, **groups: lax.all_gather(x, "i", **groups),
    "all_gather in tiles": lambda x, **groups: lax.all_gather(
        x, "i", axis=1, tiled=True, **groups
    ),
    "psum_scatter": lambda x, **groups: lax.psum_scatter(x, "i", **groups),
    "psum_scatter in tiles": lambda x, **groups: lax.psum_scatter(
        x, "i", scatter_dimension=1, tiled=True, **groups
    ),
    "all_to_all": lambda x, **groups: lax.all_to_all(x, "i", 0, 1, **groups),
    "all_to_all in tiles": lambda x, **groups: lax.all_to_all(
        x, "i", 1, 0, tiled=True, **groups
    ),
    "pswapaxes": lambda x, **groups: lax.pswapaxes(x, "i", 0, **groups),
}


@pytest.mark.parametrize("name", IN_GROUPS)
def test_groups_of_places(name):
    """Each group is an axis of its own; so are gradients."""
    f, x = IN_GROUPS[name], draw(4, 2, 6)

    def whole(x):
        return along(imprint, lambda y: f(y, axis_index_groups=GROUPS), x)

    def apart(x):
        parts = {}
        for group in GROUPS:
            out = along(imprint, f, x[np.array(group)])
            parts |= dict(zip(group, out, strict=True))
        return inp.stack([parts[i] for i in range(4)])

    assert_close(whole(x), apart(x), "gradient")
    assert_close(imprint.jit(whole)(x), apart(x), "gradient")
    ours, theirs = (
        imprint.grad(lambda x, g=g: (g(x) ** 3).sum())(x) for g in (whole, apart)
    )
    assert_close(ours, theirs, "gradient")


def test_groups_of_several_lengths():
    apart = {"axis_index_groups": [[3, 1, 0], [2]]}
    x = inp.float32([1, 2, 4, 8])
    total = along(imprint, lambda x: lax.psum(x, "i", **apart), x)
    assert total.tolist() == [11, 11, 4, 11]
    most = along(imprint, lambda x: lax.pmax(x, "i", **apart), x)
    assert most.tolist() == [8, 8, 4, 8]


# ---- traces belong to the axes that they were made in ----


def test_a_jitted_function_is_traced_for_each_size_and_name():
    traced = []

    @imprint.jit
    def share(x):
        traced.append(lax.axis_size("i"))
        return x + lax.axis_size("i")

    for size in (3, 4, 3, 4):
        got = along(imprint, share, inp.zeros(size))
        assert got.tolist() == [size] * size
    assert traced == [3, 4]
    for size in (3, 4):
        whole = imprint.jit(lambda x: along(imprint, share, x))
        assert whole(inp.zeros(size)).tolist() == [size] * size
    assert traced == [3, 4]
    with pytest.raises(UnboundAxisError):
        share(1.0)
    with pytest.raises(UnboundAxisError):
        imprint.vmap(share, axis_name="j")(inp.zeros(3))
    assert share._cache_size() == 0


def test_a_jitted_function_within_one_that_names_no_axis_itself():
    @imprint.jit
    def inner(x):
        return x + lax.axis_size("i")

    @imprint.jit
    def outer(x):
        return inner(x) * 2

    for size in (2, 5, 2):
        got = along(imprint, outer, inp.zeros(size))
        assert got.tolist() == [2 * size] * size


def test_derived_programs_belong_to_the_axes():
    """A user's rule that runs inside may use them."""
    closed = imprint.make_jaxpr(inp.sin)(1.0)

    def derive(x):
        sizes.append(closed.derived("size", lambda: lax.axis_size("i")))
        return x

    sizes = []
    for size in (3, 4, 3):
        along(imprint, derive, inp.zeros(size))
    assert sizes == [3, 4, 3]


def test_an_axis_without_the_name_is_not_the_one_that_is_meant():
    jaxprs = []

    def note(x):
        jaxprs.append(imprint.make_jaxpr(lambda y: lax.psum(y, "i"))(x))
        return x

    along(imprint, note, inp.zeros(3))
    (closed,) = jaxprs

    def bind(x):
        return jit_p.bind1(x, jaxpr=closed, name="f")

    assert along(imprint, bind, inp.ones(3)).tolist() == [3, 3, 3]
    with pytest.raises(UnboundAxisError):
        imprint.vmap(bind)(inp.ones(3))


def test_a_function_without_arguments():
    place = imprint.jit(lambda: lax.axis_index("i"))
    assert along(imprint, lambda x: x + place(), inp.zeros(3)).tolist() == [0, 1, 2]


def test_inspection_of_a_function_knows_the_axes():
    shapes, jaxprs = [], []

    def gather(y):
        return lax.all_gather(y, "i")

    def f(x):
        shapes.append(imprint.eval_shape(gather, x).shape)
        jaxprs.append(str(imprint.make_jaxpr(imprint.jit(gather))(x)))
        return x

    along(imprint, f, inp.zeros((3, 2)))
    assert shapes == [(3, 2)]
    assert "axis_name=i" in jaxprs[0]


def test_axes_that_nothing_maps_are_given_to_make_jaxpr():
    def f(api, x):
        return api.lax.psum(x, "i") + api.lax.axis_size("j"), api.lax.all_gather(x, "j")

    env = [("i", 4), ("j", 3)]
    found = []
    for api in (imprint, jax):
        made = api.make_jaxpr(
            lambda x, api=api: f(api, x), axis_env=env, return_shape=True
        )(np.ones(2, "float32"))
        names = [str(eqn.primitive) for eqn in made[0].eqns]
        found.append((names, [x.shape for x in made[1]]))
    assert found[0] == found[1]
    closed = imprint.make_jaxpr(lambda x: lax.psum(x, "i"), axis_env=[("i", 3)])(1.0)

    def run(x):
        return jit_p.bind1(x, jaxpr=closed, name="f")

    assert along(imprint, run, inp.ones(3)).tolist() == [3, 3, 3]
    with pytest.raises(UnboundAxisError):
        run(1.0)
    with pytest.raises(UnboundAxisError):
        imprint.make_jaxpr(lambda x: lax.psum(x, "i"), axis_env=[("j", 3)])(1.0)
    with pytest.raises(ArgumentError):
        imprint.make_jaxpr(lambda x: x, axis_env=[(["i"], 3)])(1.0)


def test_axes_that_nothing_maps_are_within_those_that_are_mapped():
    sizes = []

    def note(_):
        sizes.append([lax.axis_size(name) for name in ("i", "j")])
        return inp.ones(())

    def f(x):
        imprint.make_jaxpr(note, axis_env=[("i", 7)])(x)
        return x

    imprint.vmap(imprint.vmap(f, axis_name="j"), axis_name="i")(ROWS)
    assert sizes == [[7, 3]]


def test_computing_ahead_leaves_a_place_to_its_axis():
    def f(x):
        with imprint.ensure_compile_time_eval():
            return x + lax.axis_index("i")

    assert along(imprint, f, inp.zeros(3)).tolist() == [0, 1, 2]


# ---- errors ----


def test_a_derivative_that_leaves_its_axis_is_refused():
    kept = []

    def f(x):
        kept.append(imprint.vjp(lambda y: lax.psum(y, "i"), x)[1])
        return x

    along(imprint, f, inp.zeros(3))
    with pytest.raises(UnboundAxisError, match="psum: expected the name of an axis"):
        kept[0](inp.ones(()))
    with pytest.raises(UnboundAxisError, match="psum: expected the name of an axis"):
        imprint.jit(kept[0])(inp.ones(()))


WRONG = {
    "no axis": lambda api: api.lax.psum(api.numpy.ones(3), "i"),
    "no axis, of a constant": lambda api: api.lax.psum(1, "i"),
    "no axis, in jit": lambda api: api.jit(lambda x: api.lax.pmax(x, "i"))(1.0),
    "no axis, of its size": lambda api: api.lax.axis_size("i"),
    "no axis, of its index": lambda api: api.lax.axis_index("i"),
    "another axis": lambda api: along(api, lambda x: api.lax.psum(x, "j"), THREE),
    "an axis that has ended": lambda api: (
        along(api, lambda x: x, THREE),
        api.lax.psum(1, "i"),
    ),
    "a name that is a list": lambda api: api.vmap(lambda x: x, axis_name=["i"])(THREE),
    "a list for a mesh": lambda api: api.vmap(lambda x: x, spmd_axis_name=["i"])(THREE),
    "a name twice": lambda api: along(
        api, lambda x: api.lax.psum(x, ("i", "i")), THREE
    ),
    "groups that overlap": lambda api: along(
        api, lambda x: api.lax.psum(x, "i", axis_index_groups=[[0, 1], [1, 2]]), THREE
    ),
    "a group of other places": lambda api: along(
        api, lambda x: api.lax.pmax(x, "i", axis_index_groups=[[0, 1], [3]]), THREE
    ),
    "groups of other places, of what each gets": lambda api: along(
        api,
        lambda x: api.lax.all_gather(x, "i", axis_index_groups=[[0, 1], [2, 4]]),
        draw(4),
    ),
    "parts that are too many": lambda api: along(
        api, lambda x: api.lax.all_to_all(x, "i", 0, 0), draw(3, 4)
    ),
    "no permutation": lambda api: along(
        api, lambda x: api.lax.pshuffle(x, "i", [0, 0, 1]), THREE
    ),
    "no such axis of the array": lambda api: along(
        api, lambda x: api.lax.all_gather(x, "i", axis=3), THREE
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_raises_as_in_jax(name):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - its class is compared
        WRONG[name](jax)
    bases = [c for c in theirs.type.__mro__ if c.__module__ == "builtins"]
    with pytest.raises(bases[0]):
        WRONG[name](imprint)


@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (
            lambda x: lax.psum(x, "rows"),
            UnboundAxisError,
            "psum: expected the name of an axis, one of those mapped here: 'i' of size 3; "
            "got 'rows'. Name it where it is mapped, around this call: imprint.vmap(f, "
            "axis_name='rows').",
        ),
        (
            lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1]]),
            ArgumentError,
            "psum: expected axis_index_groups with each of the places 0 to 2 once, got "
            "[[0, 1]]. Put a place that is alone in a group of its own.",
        ),
        (
            lambda x: lax.pmean(x, "i", axis_index_groups=[[0, 1], [2]]),
            ArgumentError,
            "pmean: expected groups of one length in axis_index_groups, got [[0, 1], "
            "[2]]. Give each of them as many places.",
        ),
        (
            lambda x: lax.all_gather(x, (), axis_index_groups=[[0, 1], [2]]),
            ArgumentError,
            "all_gather: expected the name of one axis with axis_index_groups, got (). "
            "Leave the groups out, or the other axes.",
        ),
        (
            lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)]),
            ArgumentError,
            "ppermute: expected distinct sources, and distinct targets, in [0, 3), got "
            "perm=[(0, 1), (2, 1)]. Give each place one source.",
        ),
        (
            lambda x: lax.ppermute(x, ("i", "i"), RING),
            ArgumentError,
            "ppermute: expected distinct names of axes, got ('i', 'i'). Name each once.",
        ),
        (
            lambda x: lax.psum_scatter(inp.ones(4), "i"),
            ShapeError,
            "psum_scatter: expected axis 0 to have length 3, one for each place, got "
            "float32[4]. Reshape it, or choose another axis.",
        ),
        (
            lambda x: lax.psum_scatter(inp.ones(4), "i", tiled=True),
            ShapeError,
            "psum_scatter: expected axis 0 to have length a multiple of 3, got "
            "float32[4]. Reshape it, or choose another axis.",
        ),
        (
            lambda x: lax.pbroadcast(x, "i", 3),
            ArgumentError,
            "pbroadcast: expected source in [0, 3), got 3. Name a place.",
        ),
        (
            lambda x: lax.all_gather(x, "i", to="reduced"),
            ArgumentError,
            "all_gather: expected to='varying', got 'reduced'. Leave it out: others are "
            "for shard_map.",
        ),
    ],
)
def test_the_whole_message(f, error, text):
    with pytest.raises(error) as caught:
        along(imprint, f, THREE)
    assert str(caught.value) == text


def test_several_names_where_one_is_meant():
    with pytest.raises(ArgumentError) as caught:
        twice(imprint, lambda x: lax.ppermute(x, ("i", "j"), RING), ROWS)
    assert str(caught.value) == (
        "ppermute: expected the name of one axis, got ('i', 'j'). Gather over several with "
        "imprint.lax.all_gather, and choose from the result."
    )
