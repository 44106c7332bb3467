"""`checkpoint` as in JAX: values, derivatives, residuals and costs."""

import functools

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.ad_checkpoint import checkpoint_name
from imprint.errors import ArgumentError, ConcretizationError
from tests.units.custom_derivatives.defined import (
    BACK,
    FORTH,
    LIBRARIES,
    POINT,
    SECOND,
    WAYS,
    by_jvp,
    by_vjp,
)
from tests.units.custom_derivatives.defined import assert_same as assert_same_way

EVERY = {**WAYS, **BACK, **FORTH, **SECOND}
WEIGHT = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)


def named(lib):
    return checkpoint_name if lib is imprint else jax.ad_checkpoint.checkpoint_name


def layers(lib, np_, x, wrap):
    """Three layers, each wrapped."""
    name = named(lib)

    @wrap
    def layer(x):
        hidden = name(np_.sin(x @ WEIGHT), "hidden")
        return name(np_.tanh(hidden * np_.exp(np_.cos(hidden))), "out") + x

    return layer(layer(layer(x)))


def with_policy(policy):
    def define(lib, np_):
        chosen = policy(lib.checkpoint_policies)
        wrap = functools.partial(lib.checkpoint, policy=chosen)
        return lambda x: layers(lib, np_, x, wrap)

    return define


POLICIES = {
    "none": lambda p: None,
    "everything": lambda p: p.everything_saveable,
    "nothing": lambda p: p.nothing_saveable,
    "dots": lambda p: p.dots_saveable,
    "checkpoint_dots": lambda p: p.checkpoint_dots,
    "dots without batch": lambda p: p.dots_with_no_batch_dims_saveable,
    "only names": lambda p: p.save_only_these_names("hidden", "other"),
    "but names": lambda p: p.save_any_names_but_these("hidden"),
    "except names": lambda p: p.save_anything_except_these_names("hidden"),
    "both": lambda p: p.save_from_both_policies(
        p.dots_saveable, p.save_only_these_names("out")
    ),
    "offloaded names": lambda p: p.save_and_offload_only_these_names(
        names_which_can_be_saved=["hidden"],
        names_which_can_be_offloaded=["out", "other"],
        offload_src="device",
        offload_dst="pinned_host",
    ),
    "own": lambda p: (
        lambda primitive, *avals, **params: primitive.name in {"cos", "sin"}
    ),
}


def plain(lib, np_):
    return lib.checkpoint(lambda x: np_.sin(np_.exp(x) * x[0]))


def nested(lib, np_):
    inner = lib.checkpoint(lambda x: np_.sin(np_.exp(x) * x[0]))
    return lib.remat(lambda x: np_.cos(inner(inner(x))) * x)


def jitted(lib, np_):
    inner = lib.jit(lambda x: np_.sin(np_.exp(x) * x[0]))
    policy = lib.checkpoint_policies.dots_saveable
    return lib.checkpoint(lambda x: inner(inner(x)) @ WEIGHT, policy=policy)


def closed_over(lib, np_):
    return lambda x: lib.checkpoint(lambda y: np_.sin(x * y) * x)(np_.exp(x))


def trees(lib, np_):
    f = lib.checkpoint(lambda d, *, z: {"a": np_.sin(d["x"]) * z, "n": d["n"] + 1})

    def g(x):
        out = f({"x": x, "n": np_.arange(3)}, z=np_.cos(x))
        return out["a"] * out["n"]

    return g


def static(lib, np_):
    def f(x, n, flag):
        for _ in range(n):
            x = np_.sin(x)
        return x if flag == "yes" else -x

    return lambda x: lib.checkpoint(f, static_argnums=(1, -1))(x, 3, "yes")


def rules(lib, np_):
    """A rule for tangents inside; one for cotangents is below, as it has no forward."""
    f = by_jvp(lib, np_)
    return lib.checkpoint(lambda x: np_.exp(f(np_.sin(f(x)))))


def without_barrier(lib, np_):
    f = lib.checkpoint(lambda x, y: np_.sin(x * y), prevent_cse=False)
    g = lib.checkpoint(lambda x, y: np_.sin(x * y), prevent_cse=(True, False))
    return lambda x: f(g(x, x * x), x)


PROGRAMS = {
    **{f.__name__: f for f in (plain, nested, jitted, closed_over, trees, static)},
    **{f.__name__: f for f in (rules, without_barrier)},
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("define", PROGRAMS.values(), ids=PROGRAMS.keys())
@pytest.mark.parametrize("way", EVERY.values(), ids=EVERY.keys())
def test_a_checkpointed_function_has_the_derivatives_that_it_has(define, way):
    assert_same_way(way, define)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
@pytest.mark.parametrize(
    "way", ["grad", "jit of grad", "vmap of grad of jit", "grad of grad of jit", "jvp"]
)
def test_a_policy_changes_no_value(policy, way):
    assert_same_way(EVERY[way], with_policy(policy))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", BACK.values(), ids=BACK.keys())
def test_a_rule_for_cotangents_is_used_inside(way):
    def define(lib, np_):
        f = by_vjp(lib, np_)
        return lib.checkpoint(lambda x: np_.exp(f(np_.sin(f(x)))))

    assert_same_way(way, define)


def remembered(lib, np_, policy):
    """Return the number of residuals of a backward pass, without constants."""
    chosen = policy(lib.checkpoint_policies)
    wrap = functools.partial(lib.checkpoint, policy=chosen)
    point = np_.asarray(np.float32(POINT))  # re-created: JAX may keep a constant of x64
    _, pull = lib.vjp(lambda x: layers(lib, np_, x, wrap), point)
    leaves = imprint.tree.leaves(pull) if lib is imprint else jax.tree.leaves(pull)
    return sum(np.shape(x) == (3,) for x in leaves)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_no_more_residuals_than_in_jax(policy):
    ours, theirs = (remembered(lib, np_, policy) for lib, np_ in LIBRARIES)
    assert ours <= theirs


def test_fewer_residuals_than_without():
    counts = {name: remembered(imprint, inp, POLICIES[name]) for name in POLICIES}
    bare = imprint.vjp(lambda x: layers(imprint, inp, x, lambda f: f), POINT)[1]
    assert counts["none"] == counts["nothing"] == 3
    assert (counts["only names"], counts["dots"]) == (6, 3)
    assert counts["everything"] == sum(
        x.shape == (3,) for x in imprint.tree.leaves(bare)
    )


# ---- after compilation ----


def compiled(lib, np_, wrap):
    x, w = np_.ones((64, 64)), np_.ones((64, 64))

    def loss(x, w):
        for _ in range(6):
            x = wrap(lambda x, w: np_.tanh(np_.sin(x @ w)) * np_.exp(np_.cos(x)))(x, w)
        return x.sum()

    return lib.jit(lib.grad(loss, argnums=(0, 1))).lower(x, w).compile()


def counted(program):
    text = program.as_text()
    return {name: text.count(f" {name}(") for name in ("dot", "sine", "tanh")}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"prevent_cse": False}], ids=["barrier", "no barrier"]
)
def test_recomputation_survives_the_compiler_as_in_jax(options):
    programs = [
        compiled(lib, np_, functools.partial(lib.checkpoint, **options))
        for lib, np_ in LIBRARIES
    ]
    ours, theirs = map(counted, programs)
    assert ours == theirs
    plain = counted(compiled(imprint, inp, lambda f: f))
    assert (ours["sine"] > plain["sine"]) is not options
    temporary = [p.memory_analysis().temp_size_in_bytes for p in programs]
    assert temporary[0] <= 1.05 * temporary[1]


def test_a_barrier_is_where_something_is_computed_again():
    def text(**options):
        f = imprint.checkpoint(lambda x: inp.sin(inp.sin(x)), **options)
        forward = imprint.jit(f).lower(1.0).as_text()
        assert "optimization_barrier" not in forward
        return imprint.jit(imprint.grad(f)).lower(1.0).as_text()

    assert "optimization_barrier" in text()
    assert "optimization_barrier" not in text(prevent_cse=False)


def test_an_effect_happens_once():
    calls = []

    @imprint.checkpoint
    def f(x):
        imprint.debug.callback(lambda y: calls.append(float(y)), x)
        return inp.sin(x)

    assert imprint.jit(imprint.grad(f))(0.0) == 1.0
    imprint.effects_barrier()
    assert calls == [0.0]


# ---- arguments ----


def test_outside_of_every_trace_the_function_runs_as_it_is():
    assert imprint.checkpoint(lambda x: x if x > 0 else -x)(-2.0) == 2.0


def test_python_cannot_branch_on_residuals():
    f = imprint.checkpoint(lambda x: x if x > 0 else -x)
    with pytest.raises(ConcretizationError, match="traced by checkpoint"):
        imprint.grad(f)(2.0)


def test_static_arguments_have_names_too():
    f = imprint.checkpoint(lambda x, *, n: x**n, static_argnames="n")
    assert imprint.grad(lambda x: f(x, n=3))(2.0) == 12.0


def test_concrete_is_refused_as_by_jax():
    with pytest.raises(NotImplementedError, match="static_argnums"):
        imprint.checkpoint(lambda x: x, concrete=True)
    with pytest.raises((NotImplementedError, TypeError), match="concrete"):
        jax.checkpoint(lambda x: x, concrete=True)


def test_an_unknown_static_argument_is_refused():
    f = imprint.checkpoint(lambda x: x, static_argnums=(3,))
    with pytest.raises(ArgumentError, match=r"in \[-1, 1\).*got 3"):
        imprint.grad(f)(1.0)


def test_a_policy_is_part_of_the_fingerprint():
    saved = {"sin"}

    def policy(primitive, *_, **__):
        return primitive.name in saved

    module = {"policy": policy, "imprint": imprint, "np": inp}
    exec(
        compile(
            "@imprint.jit\ndef f(x):\n"
            "    return imprint.checkpoint(lambda x: np.cos(np.sin(x)), policy=policy)(x)",
            "<cell>",
            "exec",
        ),
        module,
    )

    def count():
        return len(imprint.tree.leaves(imprint.vjp(module["f"], np.float32(1))[1]))

    assert count() == 2
    saved.clear()
    assert count() == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda p: p.save_only_these_names("a", "b"),
        lambda p: offload_dots(p),
        POLICIES["offloaded names"],
    ],
)
def test_recreated_policies_are_equal(make):
    policies = imprint.checkpoint_policies
    assert make(policies) == make(policies)
    assert hash(make(policies)) == hash(make(policies))


def test_a_name_changes_nothing():
    x = {"a": inp.ones(2), "b": (2.0,)}
    ours = checkpoint_name(x, "x")
    assert imprint.tree.structure(ours) == imprint.tree.structure(x)
    assert imprint.grad(lambda x: checkpoint_name(x * 2, "y"))(1.0) == 2.0


def test_a_name_is_saved_or_offloaded():
    for lib in (jax, imprint):
        with pytest.raises(ValueError, match=r"should be exclusive|each name once"):
            lib.checkpoint_policies.save_and_offload_only_these_names(
                names_which_can_be_saved=["a", "b"],
                names_which_can_be_offloaded=["b"],
                offload_src="device",
                offload_dst="pinned_host",
            )


def test_a_memory_has_a_known_name():
    with pytest.raises(ArgumentError, match="expected offload_dst to be one of"):
        imprint.checkpoint_policies.offload_dot_with_no_batch_dims("device", "disk")


def offload_dots(policies):
    return policies.offload_dot_with_no_batch_dims("device", "pinned_host")


def test_offloaded_products():
    """JAX fails on second derivatives of these."""
    define = with_policy(offload_dots)

    def slope(lib, np_):
        return lib.grad(lambda x: define(lib, np_)(x).sum())(np_.asarray(POINT))

    slopes = [slope(*each) for each in LIBRARIES]
    np.testing.assert_allclose(*slopes, rtol=1e-5, atol=1e-5)
    counts = [remembered(lib, np_, offload_dots) for lib, np_ in LIBRARIES]
    assert counts[0] <= counts[1]


def test_both_of_a_policy_that_offloads():
    """JAX takes only policies that return booleans."""
    policies = imprint.checkpoint_policies
    both = policies.save_from_both_policies(
        offload_dots(policies), policies.save_only_these_names("out")
    )
    x = POINT
    found = imprint.grad(lambda x: with_policy(lambda _: both)(imprint, inp)(x).sum())(
        x
    )
    plain = imprint.grad(lambda x: layers(imprint, inp, x, lambda f: f).sum())(x)
    np.testing.assert_allclose(found, plain, rtol=1e-5)
