"""The JAX side of the tests: the primitive of the same name, bound by JAX.

imprint's primitives have JAX's names and params. Params of JAX that mean nothing here
(shardings, accuracy, precision) are in `IMPLIED`, with the primitives that have them.
Only this file and the tests that compare whole programs import jax.
"""

import enum

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import linalg  # some of it has no public name
from jax.extend.core import primitives as extended

from imprint._src.core.primitive import Primitive
from tests.quick import options_of

PRIMITIVES = {
    value.name: value
    for module in (extended, lax, linalg)
    for name, value in vars(module).items()
    if name.endswith("_p")
}

# Ours alone: the identity, as this one is.
PRIMITIVES["materialize"] = PRIMITIVES["optimization_barrier"]


class Composed:
    """A function of JAX's that is no primitive there, as one."""

    multiple_results = False

    def __init__(self, function):
        self.bind = function


# Over one device both say nothing; over several, tests/units/sharding compares them.
PRIMITIVES["sharding_constraint"] = Composed(lambda x, sharding: x)
PRIMITIVES["use_key"] = Composed(lambda x, use, user: x)
PRIMITIVES["random_gamma_grad"] = Composed(lax.random_gamma_grad)


def _polynomial(x, *coefficients):
    total = lax.mul(coefficients[-1], lax.full_like(x, 1))
    for c in reversed(coefficients[:-1]):
        total = lax.add(lax.mul(total, x), c)
    return total


def _one_minus_square(x):
    one = lax.full_like(x, 1)
    return lax.mul(lax.add(one, x), lax.sub(one, x))


def _gcd(x, y):
    """Euclid's algorithm; that of JAX does not end for the least integer and some."""

    def step(values):
        divisor, rest = values
        done = rest == 0
        following = lax.rem(divisor, jnp.where(done, lax.full_like(rest, 1), rest))
        return jnp.where(done, divisor, rest), jnp.where(done, rest, following)

    if not jnp.issubdtype(x.dtype, jnp.integer):
        raise TypeError(x.dtype)
    x, y = jnp.broadcast_arrays(x, y)
    return jnp.abs(lax.while_loop(lambda v: jnp.any(v[1] != 0), step, (x, y))[0])


PRIMITIVES["gcd"] = Composed(_gcd)
if jax.__version_info__ < (0, 12):
    PRIMITIVES["log2"] = Composed(
        lambda x: lax.mul(lax.log(x), lax.full_like(x, 1 / np.log(2)))
    )
    PRIMITIVES["one_minus_square"] = Composed(_one_minus_square)
    PRIMITIVES["polynomial"] = Composed(_polynomial)

_ACCURACY = "cbrt cos exp exp2 expm1 log log1p logistic rsqrt sin sqrt tan tanh"
_SHARDING = "broadcast_in_dim convert_element_type iota reshape"
_OUT_SHARDING = "dot_general conv_general_dilated reduce_sum"
if jax.__version_info__ >= (0, 12):
    _OUT_SHARDING += " reduce_max reduce_min"
    _ACCURACY += " log2"

IMPLIED = {
    "accuracy": _ACCURACY.split(),
    "dimensions": ["reshape"],
    "out_sharding": _OUT_SHARDING.split(),
    "precision": ["dot_general", "conv_general_dilated"],
    "preferred_element_type": ["dot_general", "conv_general_dilated"],
    "use_magma": ["qr"],
    "subset_by_index": ["svd", "eigh"],
    "algorithm": ["eigh"],
    "sort_eigenvalues": ["eigh"],
    "implementation": ["eig"],
    "sort_eig_vals": ["schur"],
    "select_callable": ["schur"],
    "sharding": _SHARDING.split(),
}
"""Params that JAX's primitives have besides ours; all are None."""

WITHOUT_RANK_0 = {"clamp", "select_n"}
"""Primitives that take fewer mixes of rank-0 operands in JAX: they get repeated ones."""

OF_SCIPY = {"erfcx", "log_ndtr", "ndtri", "dawsn", "exp1", "expi", "spence"}
OF_SCIPY |= {"sine_integral", "cosine_integral", "fresnel_sine", "fresnel_cosine"}
OF_SCIPY |= {"expn", "owens_t", "bessel_jn", "wofz", "hyp1f1", "hyp2f1"}
OF_SCIPY |= {"hyp1f1_grad", "hyp2f1_grad"}

# No primitive of either: `laws/test_extremes` has their true values.
OF_SCIPY |= {"hypot", "direction"}
"""Primitives of ours that are functions of `jax.scipy`: they are compared with these."""

WITHOUT_WEAK_TYPE = {"gcd", "random_gamma_grad"}
"""Primitives of ours that are composed in JAX, where results are not weak."""

WITHOUT_DERIVATIVE = {"nextafter"} if jax.__version_info__ < (0, 11) else set()
if jax.__version_info__ < (0, 12):  # which reads both triangles of a tangent
    WITHOUT_DERIVATIVE.add("cholesky")
WITHOUT_DERIVATIVE.add("scatter-mul")  # of unique indices alone
WITHOUT_DERIVATIVE |= {"cholesky_update", "symmetric_product"}  # so far
"""Primitives of ours that have one, or this one, in later releases of JAX."""

_AT_INFINITY = {"igamma": 0.0, "igammac": 1.0}

QUICK = {"xla_backend_optimization_level": 0}
"""Compiler options of the oracle: it runs once, and is another program than ours."""


def jit(function, options=QUICK):
    """Return the function compiled by JAX, quickly."""
    return jax.jit(function, compiler_options=options)


FUNCTIONS = {
    name: getattr(lax, name.replace("-", "_"))
    for name in PRIMITIVES
    if name.startswith("scatter")
}
"""Primitives of JAX's that hold a jaxpr: the functions that make it."""
FUNCTIONS["dim_as_value"] = lambda *, dim: jnp.asarray(dim)


def bind(name, params, *operands):
    """Bind JAX's primitive `name` under JAX's trace; return a list of results."""
    if name in FUNCTIONS:
        translated = {key: _translated(value) for key, value in params.items()}
        return [FUNCTIONS[name](*operands, **translated)]
    if name in WITHOUT_RANK_0:
        shape = jnp.broadcast_shapes(*[x.shape for x in operands])
        operands = [jnp.broadcast_to(x, shape) for x in operands]
    implied = {param: None for param, names in IMPLIED.items() if name in names}
    if name == "top_k" and jax.__version_info__ >= (0, 12):
        implied["is_stable"] = True
    own = {key: _translated(value) for key, value in params.items()}
    if name == "select_and_gather_add" and operands[0].dtype == np.float64:
        return [_gathered(*operands, **own)]
    primitive = PRIMITIVES[name]
    outs = primitive.bind(*operands, **(implied | own))
    if name == "digamma":  # JAX 0.10 gives nan at 0, later ones -inf
        outs = lax.select(operands[0] == 0, lax.full_like(outs, -jnp.inf), outs)
    return list(outs) if primitive.multiple_results else [outs]


def _limited(name, results, operands):
    """Return the results, of igamma with its limits: JAX gives nan at some of them."""
    if name not in _AT_INFINITY:
        return results
    (outs,), (a, x), at_infinity = results, operands, _AT_INFINITY[name]
    everywhere = lax.full_like(outs, True, bool)

    def put(where, value, outs):
        return lax.select(where & everywhere, lax.full_like(outs, value), outs)

    outs = put((a == 0) & (x > 0), 1 - at_infinity, outs)
    outs = put((a == jnp.inf) & (x >= 0), at_infinity, outs)
    return [put((a == jnp.inf) & (x == jnp.inf), jnp.nan, outs)]


def _gathered(tangents, operand, *, select_prim, **window):
    """Reduce pairs: JAX's own packs two float64 into 64 bits, and rounds them."""

    def better(x, y):
        keeps = select_prim.bind(x[0], y[0])
        return lax.select(keeps, x[0], y[0]), lax.select(keeps, x[1], y[1])

    worst = -np.inf if select_prim.name == "ge" else np.inf
    dtype = operand.dtype
    inits = np.array(worst, dtype)[()], np.array(0, dtype)[()]
    return lax.reduce_window((operand, tangents), inits, better, **window)[1]


def _translated(param):
    """Return JAX's enumerator or tuple of the name of ours; the rest stays as it is."""
    if isinstance(param, Primitive):
        return PRIMITIVES[param.name]
    if hasattr(param, "_fields"):
        return getattr(lax, type(param).__name__)(*param)
    if isinstance(param, tuple):
        return tuple(map(_translated, param))
    if isinstance(param, enum.Enum):
        name = type(param).__name__
        return getattr(lax if hasattr(lax, name) else linalg, name)[param.name]
    return param


def compiled(calls):
    """Return the function that runs all calls in JAX, as one compiled program."""

    def every(values):
        return [
            _limited(
                call.primitive.name, bind(call.primitive.name, call.params, *xs), xs
            )
            for call, xs in zip(calls, values, strict=True)
        ]

    program = jit(every, QUICK | options_of(calls[0].primitive))

    def run(values):
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, program(values))

    return run


def out_avals(name, params, avals):
    """Return JAX's avals of the results; raises JAX's errors."""
    with jax.enable_x64(True):
        args = [
            jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals
        ]
        return jax.eval_shape(lambda *xs: bind(name, params, *xs), *args)


def compiled_jvp(calls):
    """Return the function that differentiates all calls in JAX, as one program.

    It takes primals, and tangents of those that are inexact, and returns tangents.
    """

    def tangents(call, primals, tangents):
        moving = [jnp.issubdtype(x.dtype, jnp.inexact) for x in primals]

        def run(*inexact):
            rest = iter(inexact)
            operands = [
                next(rest) if moves else x
                for x, moves in zip(primals, moving, strict=True)
            ]
            outs = bind(call.primitive.name, call.params, *operands)
            return [x for x in outs if jnp.issubdtype(x.dtype, jnp.inexact)]

        chosen = [x for x, moves in zip(primals, moving, strict=True) if moves]
        return jax.jvp(run, chosen, tangents)[1]

    program = jit(lambda values, given: list(map(tangents, calls, values, given)))

    def run(values, given):
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, program(values, given))

    return run


def runs(primitive, dtype):
    """Return whether JAX compiles an elementwise primitive on vectors of `dtype`."""
    operands = [np.ones(2, dtype)] * primitive.samples.arity
    with jax.enable_x64(True):
        try:
            jit(lambda *xs: bind(primitive.name, {}, *xs))(*operands)
        except (TypeError, ValueError, jax.errors.JaxRuntimeError):
            return False
    return True
