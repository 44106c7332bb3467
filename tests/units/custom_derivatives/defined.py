"""Functions with rules, and ways to use a function, written once for imprint and for JAX.

The rules are no derivatives of their functions, so a result shows how often the rule was
used.
"""

import jax
import jax.ad_checkpoint
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from tests.tolerances import assert_within, tolerance

LIBRARIES = ((imprint, inp), (jax, jnp))
POINT = np.array([0.3, 0.7, 1.2], np.float64)
SINGLE = tolerance(np.dtype("float32"))
"""What differences in 64 bits are compared within: second derivatives cancel."""
ROWS = np.linspace(0.2, 1.4, 6, dtype=np.float64).reshape(2, 3)


# ---- functions ----


def by_jvp(lib, np_):
    @lib.custom_jvp
    def f(x):
        return np_.sin(x) * x[0]

    @f.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), 3.0 * np_.cos(x) * t + x * t[0]

    return f


def by_vjp(lib, np_):
    @lib.custom_vjp
    def f(x):
        return np_.sin(x) * x[0]

    f.defvjp(
        lambda x: (f(x), (np_.cos(x), x)),
        lambda res, ct: (5.0 * res[0] * ct * res[1],),
    )
    return f


def vjp_with_nothing(lib, np_):
    """Arguments and cotangents hold None."""

    @lib.custom_vjp
    def f(d, nothing):
        return {"a": d["a"][0] * d["b"], "none": None}

    f.defvjp(
        lambda d, nothing: (f(d, nothing), (d, nothing)),
        lambda res, ct: ({"a": [ct["a"] * 2.0, None], "b": None}, None),
    )
    return lambda x: f({"a": [x, None], "b": np_.sin(x)}, None)["a"] * x


def jvp_of_trees(lib, np_):
    @lib.custom_jvp
    def g(d, y):
        return {"a": d["u"] * y, "b": (np_.cos(d["v"]),)}

    @g.defjvp
    def rule(primals, tangents):
        (d, y), (dt, yt) = primals, tangents
        out = g(d, y)
        return out, {"a": dt["u"] * y * y + yt, "b": (d["v"] * dt["v"],)}

    def f(x):
        out = g({"u": x, "v": x * 2.0}, np_.exp(x))
        return out["a"] + out["b"][0]

    return f


def vjp_of_trees(lib, np_):
    @lib.custom_vjp
    def g(d, y, unused):
        return {"a": d["u"] * y, "b": (np_.cos(d["v"]),)}

    def fwd(d, y, unused):
        return g(d, y, unused), (d, [y])

    def bwd(res, ct):
        d, (y,) = res
        return {"u": ct["a"] * y, "v": None}, ct["b"][0] * d["v"] + ct["a"], None

    g.defvjp(fwd, bwd)

    def f(x):
        out = g({"u": x, "v": x * 2.0}, np_.exp(x), x)
        return out["a"] + out["b"][0]

    return f


def jvps(lib, np_):
    @lib.custom_jvp
    def g(x, y, z):
        return x * y * z

    g.defjvps(lambda t, ans, x, y, z: t * ans, None, lambda t, ans, x, y, z: x * y * t)
    return lambda x: g(x, x * 2.0, np_.sin(x))


def nondiff_jvp(lib, np_):
    def apply(fun, x, n):
        return fun(x) * n

    g = lib.custom_jvp(apply, nondiff_argnums=(0,), nondiff_argnames=("n",))

    @g.defjvp
    def rule(fun, n, primals, tangents):
        (x,), (t,) = primals, tangents
        return g(fun, x, n), fun(x) * t * (n + 1)

    return lambda x: g(np_.tanh, x, n=3) + x


def nondiff_vjp(lib, np_):
    def apply(x, fun):
        return fun(x)

    g = lib.custom_vjp(apply, nondiff_argnums=(1,))
    g.defvjp(lambda x, fun: (g(x, fun), x), lambda fun, x, ct: (fun(x) * ct,))
    return lambda x: g(x, np_.tanh) * x


def jvp_with_integers(lib, np_):
    @lib.custom_jvp
    def g(x, n):
        return x * n, n + 1

    @g.defjvp
    def rule(primals, tangents):
        (x, n), (t, nt) = primals, tangents
        return g(x, n), (t * n * n, nt)

    def f(x):
        out, n = g(x, np_.arange(3))
        return out * n

    return f


def vjp_with_integers(lib, np_):
    @lib.custom_vjp
    def g(x, n):
        return x * n, n + 1

    def bwd(n, cts):
        ct, nothing = cts
        assert nothing.dtype == jax.dtypes.float0
        return ct * n * n, nothing

    g.defvjp(lambda x, n: (g(x, n), n), bwd)

    def f(x):
        out, n = g(x, np_.arange(3))
        return out * n

    return f


def symbolic_jvp(lib, np_):
    from_library = getattr(lib, "custom_derivatives", None) or jax.custom_derivatives

    @lib.custom_jvp
    def g(x, y):
        return x * y, np_.sin(y)

    def rule(primals, tangents):
        (x, y), (xt, yt) = primals, tangents
        kind = from_library.SymbolicZero
        assert type(yt) is kind, yt
        assert yt.shape == y.shape
        return g(x, y), (xt * y * 2.0, kind(yt.aval))

    g.defjvp(rule, symbolic_zeros=True)

    def f(x):
        product, sine = g(x, np_.ones(3) * 2.0)
        return product * sine

    return f


def symbolic_vjp(lib, np_):
    from_library = getattr(lib, "custom_derivatives", None) or jax.custom_derivatives

    @lib.custom_vjp
    def g(x, y):
        return x * y, np_.sin(y)

    def fwd(x, y):
        assert (x.perturbed, y.perturbed) == (True, False)
        out = g(x.value, y.value)
        return out, from_library.custom_vjp_primal_tree_values((x, y))

    def bwd(res, cts):
        ct, zero = cts
        assert type(zero) is from_library.SymbolicZero
        return ct * res[1] * 7.0, zero

    g.defvjp(fwd, bwd, symbolic_zeros=True)
    return lambda x: g(x, np_.ones(3) * 2.0)[0]


def vjp_in_jvp(lib, np_):
    inner = by_vjp(lib, np_)

    @lib.custom_jvp
    def f(x):
        return inner(x) * 2.0

    f.defjvp(lambda p, t: (f(*p), inner(p[0]) * t[0]))
    return lambda x: f(x) + inner(x)


def jvp_in_vjp(lib, np_):
    inner = by_jvp(lib, np_)

    @lib.custom_vjp
    def f(x):
        return inner(x) * 2.0

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (inner(x) * ct,))
    return lambda x: f(x) + inner(x)


def rule_by_a_transform(lib, np_):
    @lib.custom_jvp
    def f(x):
        return np_.exp(x) * x

    @f.defjvp
    def rule(primals, tangents):
        return lib.jvp(lambda x: np_.tanh(x) * x[1], primals, tangents)

    return f


def rule_of_a_jitted_function(lib, np_):
    """Primals and tangents are results of one equation, as they are of a loop."""

    def step(carry, _):
        x, y = carry
        return (np_.tanh(x) * y, y), y

    inner = lib.jit(lambda x: lib.lax.scan(step, (x, np_.cos(x)), None, 3)[0][0])

    @lib.custom_jvp
    def f(x):
        return np_.exp(x) * x

    f.defjvp(lambda primals, tangents: lib.jvp(inner, primals, tangents))
    return f


def vjp_by_a_transform(lib, np_):
    @lib.custom_vjp
    def f(x):
        return np_.exp(x) * x

    f.defvjp(
        lambda x: lib.vjp(lambda y: np_.tanh(y) * y[1], x), lambda pull, ct: pull(ct)
    )
    return f


def closed_over(lib, np_):
    """The function and the rule close over a value without a tangent."""

    def f(x):
        scale = np_.arange(3.0) + 1.0

        @lib.custom_jvp
        def g(y):
            return y * scale

        g.defjvp(lambda p, t: (g(*p), t[0] * scale * scale))
        return g(np_.sin(x))

    return f


def gradient(lib, np_):
    @lib.custom_gradient
    def f(x, y):
        z = np_.sin(x)
        return z * y, lambda ct: (ct * z * y, ct)

    return lambda x: f(x, x * x)


def converted(lib, np_):
    """Closed-over values become arguments of a rule."""

    def apply(fun, x, *values):
        return fun(x, *values)

    g = lib.custom_vjp(apply, nondiff_argnums=(0,))

    def bwd(fun, res, ct):
        return ct * 2.0, *[np_.ones(v.shape, v.dtype) * ct.sum() for v in res]

    g.defvjp(lambda fun, x, *values: (g(fun, x, *values), values), bwd)

    def f(x):
        scale = np_.cos(x)
        fun, values = lib.closure_convert(lambda y: y * scale, x)
        return g(fun, np_.sin(x), *values)

    return f


FORWARD = (
    *(by_jvp, jvp_of_trees, jvps, nondiff_jvp, jvp_with_integers, symbolic_jvp),
    *(rule_by_a_transform, rule_of_a_jitted_function, closed_over),
)
BACKWARD = (
    *(
        by_vjp,
        vjp_with_nothing,
        vjp_of_trees,
        nondiff_vjp,
        vjp_with_integers,
        symbolic_vjp,
        vjp_in_jvp,
    ),
    *(jvp_in_vjp, vjp_by_a_transform, gradient, converted),
)

# ---- ways to use a function of a vector ----


def _total(f):
    return lambda x: f(x).sum()


def _square(f):
    return lambda x: (f(x) ** 2).sum()


WAYS = {
    "call": lambda lib, np_, f: f(POINT),
    "jit": lambda lib, np_, f: lib.jit(f)(POINT),
    "vmap": lambda lib, np_, f: lib.vmap(f)(ROWS),
    "vmap along the last": lambda lib, np_, f: lib.vmap(f, 1, 1)(ROWS.T),
    "jit of vmap": lambda lib, np_, f: lib.jit(lib.vmap(f))(ROWS),
    "vmap of jit": lambda lib, np_, f: lib.vmap(lib.jit(f))(ROWS),
}
BACK = {
    "grad": lambda lib, np_, f: lib.grad(_total(f))(POINT),
    "jit of grad": lambda lib, np_, f: lib.jit(lib.grad(_square(f)))(POINT),
    "grad of jit": lambda lib, np_, f: lib.grad(lib.jit(_square(f)))(POINT),
    "jitted inside": lambda lib, np_, f: lib.grad(_square(lib.jit(f)))(POINT),
    "value_and_grad": lambda lib, np_, f: lib.value_and_grad(_square(f))(POINT),
    "jacrev": lambda lib, np_, f: lib.jacrev(f)(POINT),
    "jacrev of jit": lambda lib, np_, f: lib.jacrev(lib.jit(f))(POINT),
    "vmap of grad": lambda lib, np_, f: lib.vmap(lib.grad(_square(f)))(ROWS),
    "vmap of grad of jit": lambda lib, np_, f: lib.vmap(lib.grad(lib.jit(_square(f))))(
        ROWS
    ),
    "grad of vmap": lambda lib, np_, f: lib.grad(_square(lib.vmap(f)))(ROWS),
    "grad of jit of vmap": lambda lib, np_, f: lib.grad(
        lib.jit(_square(lib.vmap(f, 1, 1)))
    )(ROWS.T),
    "grad of vmap of jit": lambda lib, np_, f: lib.grad(_square(lib.vmap(lib.jit(f))))(
        ROWS
    ),
    "vjp": lambda lib, np_, f: lib.vjp(f, POINT)[1](POINT * 2),
    "twice": lambda lib, np_, f: lib.grad(lambda x: f(f(x)).sum())(POINT),
}
FORTH = {
    "jvp": lambda lib, np_, f: lib.jvp(f, (POINT,), (POINT * 2,)),
    "jvp of jit": lambda lib, np_, f: lib.jvp(lib.jit(f), (POINT,), (POINT * 2,)),
    "jit of jvp": lambda lib, np_, f: lib.jit(lambda x: lib.jvp(f, (x,), (x,)))(POINT),
    "linearize": lambda lib, np_, f: lib.linearize(f, POINT)[1](POINT * 2),
    "jacfwd": lambda lib, np_, f: lib.jacfwd(f)(POINT),
    "jvp of vmap": lambda lib, np_, f: lib.jvp(lib.vmap(f), (ROWS,), (ROWS,)),
    "vmap of jvp": lambda lib, np_, f: lib.vmap(lambda x: lib.jvp(f, (x,), (x,)))(ROWS),
}
SECOND = {
    "hessian": lambda lib, np_, f: lib.hessian(_total(f))(POINT),
    "grad of grad": lambda lib, np_, f: lib.grad(
        lambda x: (lib.grad(_square(f))(x) ** 2).sum()
    )(POINT),
    "grad of grad of jit": lambda lib, np_, f: lib.grad(
        lambda x: (lib.grad(lib.jit(_square(f)))(x) ** 2).sum()
    )(POINT),
    "jit of jacrev of jacrev": lambda lib, np_, f: lib.jit(
        lib.jacrev(lib.jacrev(_total(f)))
    )(POINT),
    "vmap of hessian": lambda lib, np_, f: lib.vmap(lib.hessian(_total(f)))(ROWS),
}


STAGED = (
    *(BACK["grad of jit"], BACK["jitted inside"], BACK["jacrev of jit"]),
    *(BACK["vmap of grad of jit"], BACK["grad of jit of vmap"], FORTH["jvp of jit"]),
    *(BACK["grad of vmap of jit"], SECOND["grad of grad of jit"]),
)
"""Ways to differentiate what was staged."""


def run_both(way, define):
    """Return the results of both libraries, or their errors."""
    found = []
    for lib, np_ in LIBRARIES:
        try:
            with lib.enable_x64(True):
                found.append(way(lib, np_, define(lib, np_)))
        except Exception as err:
            found.append(err)
    return found


def is_refused(way, define):
    """Return whether a rule closes over staged values, or forward mode is refused."""
    if define is closed_over:
        return way in STAGED
    is_known_backwards = define in {*BACKWARD} - {vjp_by_a_transform, gradient}
    return way in (SECOND["hessian"], SECOND["vmap of hessian"]) and is_known_backwards


def assert_same(way, define):
    ours, theirs = run_both(way, define)
    if is_refused(way, define):
        assert isinstance(theirs, TypeError)
        assert isinstance(ours, TypeError)
        return
    for came in (ours, theirs):
        if isinstance(came, Exception):
            raise came
    assert jax.tree.structure(theirs) == jax.tree.structure(
        jax.tree.map(lambda x: x, ours)
    )
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert a.dtype == b.dtype
        assert_within(np.asarray(a), np.asarray(b), SINGLE)
