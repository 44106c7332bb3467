"""The tangent of a call of a `custom_vjp`: known backwards only.

The linear function that a `custom_vjp` stands for is written down as one equation of
residuals and tangents. Its transpose is the user's backward function; forwards it cannot
be evaluated, so forward mode raises where the tangent is needed, and only there.
A `Pull` is flat: it takes residuals and cotangents and gives cotangents.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from imprint._src.control_flow.custom import Rule, custom_vjp_call_p
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import Absent, Avals, Dims, Primitive, Values
from imprint._src.core.tangents import Zero, is_zero, zero_of
from imprint._src.dtypes import is_inexact
from imprint._src.errors import NotDifferentiableError
from imprint._src.interpreters.batching import (
    at_axis,
    batch_flat,
    hidden_axis,
    hidden_size,
)
from imprint._src.primitives.core_ops import reduce_sum


class Pull:
    """The backward function of one call; compared by identity.

    Args:
        name: the user's name of the function.
        pull: `(residuals, cotangents) -> cotangents`, those of the differentiated
            arguments; one may be `Zero` both ways.
    """

    def __init__(
        self, name: str, pull: Callable[[Values, Values], Sequence[Any]]
    ) -> None:
        self.name: str = name
        self.pull: Callable[[Values, Values], Sequence[Any]] = pull

    def __repr__(self) -> str:
        return self.name


class BackwardRule(Rule):
    """A rule that is known by its forward and its backward function."""

    def __init__(self, name: str) -> None:
        super().__init__(custom_vjp_call_p, name)

    def forward(
        self, primals: Values, perturbed: tuple[bool, ...]
    ) -> tuple[Values, Values, Pull]:
        """Return the results, the residuals and the backward function.

        Args:
            primals: the arguments.
            perturbed: which of them are differentiated.
        """
        raise NotImplementedError

    def tangents(self, primals: Values, tangents: Values) -> tuple[Values, Values]:
        """Return the results, and tangents that are known backwards."""
        perturbed = tuple(not is_zero(t) for t in tangents)
        outs, residuals, pull = self.forward(primals, perturbed)
        given = [t for t in tangents if not is_zero(t)]
        avals = tuple([get_aval(x).unplaced() for x in outs])
        found = iter(
            custom_lin_p.bind(
                *residuals, *given, pull=pull, known=len(residuals), results=avals
            )
        )
        return tuple(outs), tuple(
            next(found) if is_inexact(aval.dtype) else zero_of(aval) for aval in avals
        )


def _aval(
    *avals: ShapedArray, pull: Pull, known: int, results: tuple[ShapedArray, ...]
) -> Avals:
    return tuple(aval for aval in results if is_inexact(aval.dtype))


def _forwards(*_: Any, pull: Pull, **__: Any) -> NoReturn:
    raise NotDifferentiableError(
        f"custom_vjp({pull.name}): expected reverse mode, got forward mode (jvp, jacfwd or the result "
        "of linearize): a custom_vjp function says only how cotangents are pulled back. "
        "Use imprint.grad, vjp or jacrev, or give it a rule with imprint.custom_jvp, "
        "which serves both."
    )


def _transpose(
    cts: Values,
    operands: Values,
    *,
    pull: Pull,
    known: int,
    results: tuple[ShapedArray, ...],
) -> Values:
    found = pull.pull(tuple(operands[:known]), tuple(cts))
    return (*[None] * known, *found)


def _batch(
    args: Values,
    dims: Dims,
    *,
    pull: Pull,
    known: int,
    results: tuple[ShapedArray, ...],
) -> tuple[Values, Dims]:
    size = hidden_size(args, dims)
    batched = _batched(pull, size, dims[:known], dims[known:])
    avals = tuple(aval.with_shape((size, *aval.shape)) for aval in results)
    outs = custom_lin_p.bind(*args, pull=batched, known=known, results=avals)
    return outs, (0,) * len(outs)


def _batched(pull: Pull, size: int, known_dims: Dims, dims: Dims) -> Pull:
    """Return the backward function of slices, whose cotangents have the axis in front."""
    axis = hidden_axis()

    def pulled(residuals: Values, cts: Values) -> list[Any]:
        given = [ct for ct in cts if not is_zero(ct)]
        zeros: list[Any] = []

        def one(*xs: Any) -> list[Any]:
            some = iter(xs[len(residuals) :])
            own = tuple(
                Zero(ct.aval.with_shape(ct.aval.shape[1:]))
                if is_zero(ct)
                else next(some)
                for ct in cts
            )
            found = pull.pull(xs[: len(residuals)], own)
            zeros[:] = [ct if is_zero(ct) else None for ct in found]
            return [ct for ct in found if not is_zero(ct)]

        given_dims = (*known_dims, *[0] * len(given))
        values = (*residuals, *given)
        found, came = batch_flat(one, values, given_dims, pull.name, axis)
        rest = iter(zip(found, came, strict=True))
        return [
            _zero_with_axis(zero, d, size)
            if zero is not None
            else _of_argument(*next(rest), d, size)
            for zero, d in zip(zeros, dims, strict=True)
        ]

    return Pull(pull.name, pulled)


def _zero_with_axis(zero: Zero, dim: int | None, size: int) -> Zero:
    if dim is None:
        return zero
    shape = zero.aval.shape
    return Zero(zero.aval.with_shape((*shape[:dim], size, *shape[dim:])))


def _of_argument(ct: Any, came: int | None, dim: int | None, size: int) -> Any:
    """Return a cotangent with the axis of its argument; one that has none gets the sum."""
    if dim is not None:
        return at_axis(ct, came, dim, size)
    return ct if came is None else reduce_sum(ct, (came,))


custom_lin_p: Final = Primitive(
    name="custom_lin",
    aval=_aval,
    reference=_forwards,
    lower=_forwards,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_forwards,
    transpose=_transpose,
    batch=_batch,
    pad=PerSize("it cannot be evaluated forwards"),
    samples=Absent("it cannot be evaluated forwards"),
)
