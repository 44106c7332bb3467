"""Identities with barriers, for the compiler and for derivatives.

optimization_barrier takes and returns any number of values. All its results are computed
before any user of one of them, and equal computations on both sides are not merged. XLA:CPU
drops it before fusion, and may then compute a cheap operand again in each user; materialize,
which is imprint's own, is computed once. stop_gradient is the identity with a zero
derivative. name is the identity, too: policies of `checkpoint` identify values by it.
"""

from typing import Any, Final, TypeVar

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import NO_WORK, UNFUSED
from imprint._src.core.padding import EACH
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import is_zero
from imprint._src.dtypes import is_inexact
from imprint._src.primitives.families import ANY, unary
from imprint._src.primitives.shape import EVERY
from imprint._src.stablehlo import Builder, Value
from imprint._src.tree.internal import flatten, unflatten

T = TypeVar("T")

# ---- optimization_barrier ----


def _aval(*avals: ShapedArray) -> Avals:
    return avals


def _present(values: Values) -> Values:
    """Put the values that are not symbolically zero behind one barrier."""
    bound = iter(
        optimization_barrier_p.bind_all(*(v for v in values if not is_zero(v)))
    )
    return tuple(v if is_zero(v) else next(bound) for v in values)


def _reference(*arrays: Any) -> Values:
    return arrays


def _lower(b: Builder, *values: Value) -> tuple[Value, ...]:
    return b.optimization_barrier(values)


def _jvp(primals: Values, tangents: Values) -> Any:
    return optimization_barrier_p.bind_all(*primals), _present(tangents)


def _transpose(cts: Values, _: Values) -> Values:
    return _present(cts)


def _batch(args: Values, dims: Dims) -> Any:
    return optimization_barrier_p.bind_all(*args), dims


optimization_barrier_p: Final = Primitive(
    name="optimization_barrier",
    multiple_results=True,
    aval=_aval,
    reference=_reference,
    lower=_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    pad=EACH,
    samples=Samples(
        EVERY,
        cases=(
            Case(((2, 3),)),
            Case(((3,), (), (0, 2))),
        ),
    ),
)


def optimization_barrier(operand: Any, /) -> Any:
    """Return the pytree `operand`; the compiler moves nothing across it.

    Args:
        operand: a pytree of arrays.

    Returns:
        A pytree of the same structure, shapes, dtypes and values.

    References:
        StableHLO, `optimization_barrier`.
    """
    leaves, treedef = flatten(operand)
    return unflatten(treedef, optimization_barrier_p.bind_all(*leaves))


# ---- materialize ----


def _materialize_lower(b: Builder, x: Value) -> tuple[Value, ...]:
    return (b.materialize(x),)


def _materialize_jvp(primals: Values, tangents: Values) -> Any:
    return materialize_p.bind_all(*primals), tangents


def _materialize_transpose(cts: Values, _: Values) -> Values:
    return cts


def _materialize_batch(args: Values, dims: Dims) -> Any:
    return materialize_p.bind_all(*args), dims


materialize_p: Final = Primitive(
    name="materialize",
    aval=_aval,
    reference=_reference,
    lower=_materialize_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_materialize_jvp,
    transpose=_materialize_transpose,
    batch=_materialize_batch,
    pad=EACH,
    samples=Samples(EVERY, cases=(Case(((),)), Case(((2, 3),)), Case(((0,),)))),
)


def materialize(x: Any) -> Any:
    """Return `x`, computed once and written to memory, however often it is used."""
    return materialize_p.bind1(x)


# ---- stop_gradient ----

stop_gradient_p: Final = unary(
    "stop_gradient",
    dtypes=ANY,
    reference=lambda x: x,
    lower=lambda _, x: x,
    fusion=NO_WORK,
    makes_nan=False,
    derivative=None,
    samples=Samples(EVERY, arity=1, differentiable=False),
)


def stop_gradient(x: T) -> T:
    """Return the pytree `x`; its arrays count as constants in derivatives.

    Args:
        x: a pytree of arrays.

    Returns:
        A pytree of the same structure, shapes, dtypes and values; integers have no
        derivative in any case.

    References:
        JAX, `jax.lax.stop_gradient`.
    """
    leaves, treedef = flatten(x)
    return unflatten(treedef, [_constant(leaf) for leaf in leaves])


def _constant(x: Any) -> Any:
    return stop_gradient_p.bind1(x) if is_inexact(get_aval(x).dtype) else x


# ---- name ----


def _name_aval(x: ShapedArray, *, name: str) -> Avals:
    return (x,)


def _name_reference(x: Any, *, name: str) -> Values:
    return (x,)


def _name_lower(_: Builder, x: Value, *, name: str) -> tuple[Value, ...]:
    return (x,)


def _name_jvp(primals: Values, tangents: Values, *, name: str) -> Any:
    return name_p.bind_all(*primals, name=name), tangents


def _name_transpose(cts: Values, _: Values, *, name: str) -> Values:
    return cts


def _name_batch(args: Values, dims: Dims, *, name: str) -> Any:
    return name_p.bind_all(*args, name=name), dims


name_p: Final = Primitive(
    name="name",
    aval=_name_aval,
    reference=_name_reference,
    lower=_name_lower,
    fusion=NO_WORK,
    makes_nan=False,
    jvp=_name_jvp,
    transpose=_name_transpose,
    batch=_name_batch,
    pad=EACH,
    samples=Samples(
        EVERY,
        cases=(
            Case(((),), {"name": "x"}),
            Case(((2, 3),), {"name": "hidden"}),
            Case(((0,),), {"name": "x"}),
        ),
    ),
)


def checkpoint_name(x: Any, name: str) -> Any:
    """Return the pytree `x`; a policy of `checkpoint` knows its arrays by a name.

    Args:
        x: a pytree of arrays.
        name: the name.

    Returns:
        A pytree of the same structure, shapes, dtypes and values.

    References:
        JAX, `jax.ad_checkpoint.checkpoint_name`.

    Example:
        >>> import imprint
        >>> from imprint.ad_checkpoint import checkpoint_name
        >>> print(imprint.make_jaxpr(lambda x: checkpoint_name(x, "hidden"))(1.0))
        { lambda ; a:f32[]. let b:f32[] = name[name=hidden] a in (b,) }
    """
    leaves, treedef = flatten(x)
    return unflatten(treedef, [name_p.bind1(leaf, name=name) for leaf in leaves])
