"""`check_grads`: derivatives compared with central differences.

A function of trees becomes a function of their inexact leaves. At each order and in each
mode, the derivative along one random direction is compared with differences; the derivative
is the function of the next order. If they disagree, the direction is restricted to one leaf
after the other, so that the error names an argument.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.core.aval import get_aval
from imprint._src.errors import ArgumentError
from imprint._src.interpreters.derivatives import jvp, vjp
from imprint._src.tree import internal as tree
from imprint.numpy import asarray

Leaves = list[np.ndarray[Any, Any]]

_MODES: Final = {"fwd": "forward mode", "rev": "reverse mode"}
# As in JAX, by the largest rounding error of a dtype.
_TOLERANCES: Final = ((1e-10, 1e-5), (1e-5, 2e-3), (2e-3, 1e-2), (1.0, 1e-1))


def check_grads(  # noqa: PLR0913, PLR0917 - JAX's signature
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of a function against finite differences.

    It checks one random direction for each order and mode, which is cheap for large
    arguments. Integers and booleans are constants.

    Args:
        f: a function of pytrees.
        args: where to check it, a tuple of arguments.
        order: the highest order of derivative.
        modes: "fwd" for `jvp`, "rev" for `vjp`; above order 1, each of each.
        atol: the absolute tolerance; by default 1e-5 in float64 and 2e-3 in float32.
        rtol: the relative tolerance.
        eps: the step; the default depends on the dtype.

    Returns:
        None, if they agree.

    Raises:
        AssertionError: they differ; the message names mode, order and argument.
        ArgumentError: the order or a mode is another, or no argument has floating values.

    References:
        JAX, `jax.test_util.check_grads`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.testing import check_grads
        >>> check_grads(lambda x: np.sin(x) * x, (np.arange(3.0),), order=2)
    """
    _check_options(order, modes)
    leaves, treedef = tree.flatten(tuple(args))
    free = [i for i, x in enumerate(leaves) if dtypes.is_inexact(get_aval(x).dtype)]
    if not free:
        raise ArgumentError(
            "check_grads: expected an argument with floating or complex values, got "
            f"{', '.join(str(get_aval(x)) for x in leaves) or 'none'}. Convert one with "
            "`.astype(float)`."
        )

    def of_free_leaves(*xs: Any) -> list[Any]:
        given = dict(zip(free, xs, strict=True))
        values = [given.get(i, leaf) for i, leaf in enumerate(leaves)]
        outs = tree.leaves(f(*treedef.unflatten(values)))
        return [y for y in outs if dtypes.is_inexact(get_aval(y).dtype)]

    xs = [asarray(leaves[i]) for i in free]
    paths = treedef.paths()
    check = _Check(
        name=getattr(f, "__name__", repr(f)),
        leaves=tuple(f"args{tree.keystr(paths[i])}" for i in free),
        atol=_tolerance(xs) if atol is None else atol,
        rtol=_tolerance(xs) if rtol is None else rtol,
        eps=_precision(xs) ** (1 / 3) if eps is None else eps,
    )
    _check_orders(check, of_free_leaves, xs, order, tuple(modes))


def _check_options(order: int, modes: Sequence[str]) -> None:
    if type(order) is not int or order < 1:
        raise ArgumentError(
            f"check_grads: expected an order of at least 1, got {order!r}. Order 1 checks "
            "the gradient, order 2 its derivatives too."
        )
    if not modes or not {*modes} <= {*_MODES}:
        raise ArgumentError(
            f"check_grads: expected modes among 'fwd' and 'rev', got {modes!r}. Write "
            'modes=("rev",) for one of them.'
        )


def _precision(xs: list[Any]) -> float:
    return max(float(cast("Any", dtypes.finfo(x.dtype)).eps) for x in xs)


def _tolerance(xs: list[Any]) -> float:
    return next(tol for eps, tol in _TOLERANCES if _precision(xs) <= eps)


# ---- one order after the other ----


class _Check(NamedTuple):
    """The checked function and options; `steps` are the modes of the derivative so far."""

    name: str
    leaves: tuple[str, ...]
    atol: float
    rtol: float
    eps: float
    steps: tuple[str, ...] = ()


def _check_orders(
    check: _Check,
    fun: Callable[..., list[Any]],
    xs: list[Any],
    order: int,
    modes: tuple[str, ...],
) -> None:
    # Another direction at each order: a single one would miss half of a Hessian.
    draw = np.random.default_rng(len(check.steps)).standard_normal
    cts = [_draw(draw, y) for y in fun(*xs)]
    ts = [_draw(draw, x) for x in xs]
    for mode in modes:
        here = check._replace(steps=(mode, *check.steps))
        _check_mode(here, fun, xs, ts, cts)
        if order > 1:
            derivative = _forward(fun, ts) if mode == "fwd" else _reverse(fun, cts)
            _check_orders(here, derivative, xs, order - 1, modes)


def _forward(fun: Callable[..., list[Any]], ts: Leaves) -> Callable[..., list[Any]]:
    return lambda *xs: jvp(fun, xs, tuple(ts))[1]


def _reverse(fun: Callable[..., list[Any]], cts: Leaves) -> Callable[..., list[Any]]:
    return lambda *xs: list(vjp(fun, *xs)[1](cts))


def _draw(draw: Callable[..., Any], x: Any) -> np.ndarray[Any, Any]:
    real, imaginary = draw((2, *x.shape))
    value = real + 1j * imaginary if dtypes.is_complex(x.dtype) else real
    return np.asarray(value).astype(x.dtype)


# ---- one order, one mode ----


def _check_mode(
    check: _Check, fun: Callable[..., list[Any]], xs: list[Any], ts: Leaves, cts: Leaves
) -> None:
    together = _disagreement(check, fun, xs, ts, cts)
    if together is None:
        return
    where, found = " and ".join(check.leaves), together
    for i, name in enumerate(check.leaves):
        alone = [t if i == j else np.zeros_like(t) for j, t in enumerate(ts)]
        disagreement = _disagreement(check, fun, xs, alone, cts)
        if disagreement is not None:
            where, found = name, disagreement
            break
    mode = " of ".join(_MODES[step] for step in check.steps)
    raise AssertionError(
        f"check_grads: expected the derivative of {check.name} by {where} to agree with "
        f"finite differences in {mode} (order {len(check.steps)}), got {found[0]:.6g} by "
        f"{_MODES[check.steps[0]]} and {found[1]:.6g} by differences, with "
        f"atol={check.atol:g}, rtol={check.rtol:g} and eps={check.eps:g}. If the function "
        "is smooth there, a rule that it uses is wrong; else choose another point or eps."
    )


def _disagreement(
    check: _Check, fun: Callable[..., list[Any]], xs: list[Any], ts: Leaves, cts: Leaves
) -> tuple[Any, Any] | None:
    """Return the derivative and the difference quotient that differ most."""
    plus, minus = _step(xs, ts, check.eps), _step(xs, ts, -check.eps)
    slopes = _slopes(fun(*plus), fun(*minus), check.eps)
    # The direction after rounding.
    steps = _slopes(plus, minus, check.eps)
    if not any(map(np.any, steps)) and any(x.size for x in xs):
        raise ArgumentError(
            f"check_grads: expected a step eps that changes {' and '.join(check.leaves)}, "
            f"got eps={check.eps:g}, which rounding takes away. Make it larger, or use "
            "float64."
        )
    ts = [step.astype(t.dtype) for step, t in zip(steps, ts, strict=True)]
    if check.steps[0] == "fwd":
        outs = _forward(fun, ts)(*xs)
        found = np.concatenate([np.ravel(_wide(t)) for t in outs])
        want = np.concatenate([np.ravel(slope) for slope in slopes])
    else:
        found = _inner(_reverse(fun, cts)(*xs), ts)
        want = _inner(cts, slopes)
    apart = np.abs(found - want) - (check.atol + check.rtol * np.abs(want))
    if np.all(apart <= 0):  # False for NaN
        return None
    worst = int(np.argmax(apart))  # the first NaN, if there is one
    return found[worst], want[worst]


def _step(xs: list[Any], ts: Leaves, eps: float) -> list[Any]:
    return [
        asarray((_wide(x) + eps * _wide(t)).astype(x.dtype))
        for x, t in zip(xs, ts, strict=True)
    ]


def _slopes(plus: Sequence[Any], minus: Sequence[Any], eps: float) -> Leaves:
    return [(_wide(p) - _wide(m)) / (2 * eps) for p, m in zip(plus, minus, strict=True)]


def _inner(cts: Sequence[Any], ts: Sequence[Any]) -> np.ndarray[Any, Any]:
    products = [
        np.sum(_wide(ct) * _wide(t)).real for ct, t in zip(cts, ts, strict=True)
    ]
    return np.array([sum(products)])


def _wide(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x).astype(np.result_type(np.asarray(x), np.float64))
