"""`jacfwd`, `jacrev` and `hessian` as in JAX: blocks, dtypes, refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.lanes import exhaustive_but
from tests.tolerances import assert_close

BOTH = ("jacfwd", "jacrev")
ALL = (*BOTH, "hessian", "jacobian")


def half(np_, n):
    return np_.arange(n) / 2 + 0.5


CASES = {
    "a vector": (ALL, lambda np_, t: t(lambda x: np_.sin(x) * x[0])(half(np_, 3))),
    "a matrix": (ALL, lambda np_, t: t(lambda x: x @ x)(half(np_, 4).reshape(2, 2))),
    "a number": (ALL, lambda np_, t: t(lambda x: x**3)(2.0)),
    "trees": (
        ALL,
        lambda np_, t: t(lambda d: {"c": np_.power(d["a"], d["b"]), "d": d["a"].sum()})(
            {"a": half(np_, 2), "b": half(np_, 2) + 1}
        ),
    ),
    "several arguments": (
        ALL,
        lambda np_, t: t(lambda x, y: (x * y, y.sum()), argnums=(0, -1))(
            half(np_, 3), np_.ones(3)
        ),
    ),
    "one argument in a tuple": (
        ALL,
        lambda np_, t: t(lambda x, y: x * y, argnums=[1])(half(np_, 2), np_.ones(2)),
    ),
    "aux": (
        ALL,
        lambda np_, t: t(lambda x: (x * x, {"k": x.sum()}), has_aux=True)(half(np_, 3)),
    ),
    "holomorphic": (
        ALL,
        lambda np_, t: t(lambda x: x**2 * x[0], holomorphic=True)(half(np_, 2) * 1j),
    ),
    "mixed dtypes": (
        ALL,
        lambda np_, t: t(lambda d: d[0] * d[1].astype("float32").sum() ** 2)(
            (half(np_, 2), np_.ones(2, "bfloat16"))
        ),
    ),
    "a constant": (ALL, lambda np_, t: t(lambda x: np_.ones(2))(half(np_, 3))),
    "keywords": (BOTH, lambda np_, t: t(lambda x, k: x * k)(half(np_, 2), k=3.0)),
    "other arguments": (BOTH, lambda np_, t: t(lambda x, s: x)(half(np_, 2), "text")),
    "host values": (BOTH, lambda np_, t: t(np_.cos)(np.ones(2, "float32"))),
    "no numbers": (BOTH, lambda np_, t: t(lambda x: 2 * x)(np_.ones((0, 2)))),
    "no result": (("jacfwd",), lambda np_, t: t(lambda x: ())(half(np_, 2))),
    "complex results": (("jacfwd",), lambda np_, t: t(lambda x: x * 1j)(half(np_, 2))),
    "real functions of complex numbers": (
        ("jacrev",),
        lambda np_, t: t(lambda x: np_.abs(x) ** 2)(half(np_, 2) * (1 + 2j)),
    ),
    "integer results": (
        ("jacfwd",),
        lambda np_, t: t(lambda x: (x, np_.arange(2)))(half(np_, 3)),
    ),
    "integer arguments": (
        ("jacrev",),
        lambda np_, t: t(lambda x, y: x.sum() * y, argnums=(0, 1), allow_int=True)(
            np_.arange(2), half(np_, 3)
        ),
    ),
}
PAIRS = [(name, kind) for name, (kinds, _) in CASES.items() for kind in kinds]
PAIRS = exhaustive_but(
    [pair for pair in PAIRS if "trees" in pair or pair[1] != "hessian"], PAIRS
)


def compare(ours, theirs):
    leaves, treedef = imprint.tree.flatten(ours)
    their_leaves, their_tree = jax.tree.flatten(theirs)
    assert str(treedef) == str(their_tree)
    for x, y in zip(leaves, their_leaves, strict=True):
        assert (x.shape, x.dtype, x.weak_type) == (y.shape, y.dtype, y.weak_type)
        assert_close(x, y, "pow")


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_as_jax(name, kind):
    _, case = CASES[name]
    compare(case(inp, getattr(imprint, kind)), case(jnp, getattr(jax, kind)))


@pytest.mark.parametrize("kind", ALL)
def test_with_other_transforms(kind):
    def value(library, np_):
        blocks = getattr(library, kind)(lambda x: np_.sin(x) * x.sum())
        return library.jit(library.vmap(blocks))(half(np_, 6).reshape(2, 3))

    compare(value(imprint, inp), value(jax, jnp))


REFUSED = {
    "jacfwd(square): expected float inputs, got int32[2]": lambda np_, lib: lib.jacfwd(
        np_.square
    )(np_.arange(2)),
    "jacrev(square): expected float outputs, got complex64[2]": lambda np_, lib: (
        lib.jacrev(np_.square)(half(np_, 2) * 1j)
    ),
    "jacfwd(square), holomorphic=True: expected complex inputs, got float32[2]": (
        lambda np_, lib: lib.jacfwd(np_.square, holomorphic=True)(half(np_, 2))
    ),
    "jacfwd(real), holomorphic=True: expected complex outputs, got float32[2]": (
        lambda np_, lib: lib.jacfwd(np_.real, holomorphic=True)(half(np_, 2) * 1j)
    ),
    "jacrev(real), holomorphic=True: expected complex outputs, got float32[2]": (
        lambda np_, lib: lib.jacrev(np_.real, holomorphic=True)(half(np_, 2) * 1j)
    ),
    "jacrev(sign): expected float outputs, got int32[2]": lambda np_, lib: lib.jacrev(
        _sign(np_)
    )(half(np_, 2)),
}


def _sign(np_):
    def sign(x):
        return np_.sign(x).astype("int32")

    return sign


@pytest.mark.parametrize("message", REFUSED)
def test_functions_without_a_jacobian(message):
    with pytest.raises(TypeError) as caught:
        REFUSED[message](inp, imprint)
    assert str(caught.value) == (
        f"{message}. Convert it, choose other argnums, or pass holomorphic=True for a "
        "complex function that is holomorphic; for what is neither there are "
        "imprint.jvp and imprint.vjp."
    )
    with pytest.raises(TypeError):
        REFUSED[message](jnp, jax)


def test_a_missing_argument():
    with pytest.raises(ValueError, match="Positional argument"):
        jax.jacfwd(jnp.sin, argnums=1)(1.0)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - compared below
        imprint.jacfwd(inp.sin, argnums=1)(1.0)
    assert str(caught.value) == (
        "jacfwd(sin): expected argnums in [-1, 1), got 1; the call has 1 positional "
        "arguments. Pass the argument to differentiate by position."
    )
