"""Guests with implicit derivatives: linear equations and roots.

Their solvers are exact formulas, so that differences agree with the derivative.
"""

import dataclasses

import jax
import jax.numpy as jnp

import imprint.numpy as inp
from imprint import lax
from imprint._src.control_flow.implicit import custom_linear_solve_p, custom_root_p
from tests.laws.control.guest import CAPTURED, Example, Guest, float64


def example(name, primitive, function, *avals):
    """Return the example of a function of `lax`, `np` and arrays."""
    found = Example(
        name,
        lambda *xs: list(function(lax, inp, *xs)),
        avals,
        lambda *xs: list(function(jax.lax, jnp, *xs)),
        primitive,
    )
    return dataclasses.replace(found, has_rule=True)


# ---- linear equations ----


def solved(name, matvec, solve, *avals, **options):
    """Return the example of `matvec` and `solve`, each of `(np, a)`; b follows a."""

    def function(lax, np, a, *b):
        back = solve(np, a)
        outs = lax.custom_linear_solve(
            matvec(np, a), b, back, transpose_solve=back, **options
        )
        return [*outs[0], *outs[1]] if options else outs

    return example(name, custom_linear_solve_p, function, *avals)


def _diagonal(np, a):
    return lambda x: (a * x[0],)


def _by_quotient(np, a):
    return lambda matvec, b: (b[0] / matvec((np.ones(3),))[0],)


def _triangular(np, a):
    """Return a map of two parts that is not its own transpose."""
    return lambda x: (a * x[0] + x[1], np.exp(a) * x[1])


def _by_columns(np, a):
    """Return the solver for a map of two parts, by its columns."""

    def solve(matvec, b):
        one, zero = np.ones(3), np.zeros(3)
        (p, r), (q, s) = matvec((one, zero)), matvec((zero, one))
        by = p * s - q * r
        return (b[0] * s - b[1] * q) / by, (b[1] * p - b[0] * r) / by

    return solve


def _with_aux(np, a):
    def solve(matvec, b):
        return _by_columns(np, a)(matvec, b), (np.floor(a), np.sign(b[0]))

    return solve


def _captured(np, a):
    w = np.asarray(CAPTURED)
    return lambda x: (w * a * x[0],)


def _nan(np, a):
    return lambda matvec, b: (np.log(b[0]) * 2.0,)


SOLVED = (
    solved("one part", _diagonal, _by_quotient, float64(3), float64(3)),
    solved("two parts", _triangular, _by_columns, *[float64(3)] * 3),
    solved("auxiliary data", _triangular, _with_aux, *[float64(3)] * 3, has_aux=True),
    solved("captured", _captured, _by_quotient, float64(3), float64(3)),
)

# ---- roots ----


def root(name, f, solve, tangent_solve, *avals, **options):
    """Return the example of functions, each of `(np, a, b)`; the guess follows."""

    def function(lax, np, a, b, *guess):
        outs = lax.custom_root(
            f(np, a, b), guess, solve(np, a, b), tangent_solve(np, a, b), **options
        )
        return [*outs[0], *outs[1]] if options else outs

    return example(name, custom_root_p, function, *avals)


def _cubic(np, a, b):
    return lambda x: (a * x[0] ** 3 - np.exp(b),)


def _cube_root(np, a, b):
    return lambda f, guess: (np.cbrt(np.exp(b) / a) + guess[0] * 0.0,)


def _by_slope(np, a, b):
    return lambda g, y: (y[0] / g((np.ones(3),))[0],)


def _two(np, a, b):
    return lambda x: (a * x[0] + x[1] - b, x[1] * x[1] - a)


def _both_roots(np, a, b):
    def solve(f, guess):
        y = np.sqrt(a)
        return ((b - y) / a, y), (np.floor(b), np.sign(guess[0]))

    return solve


def _by_slopes(np, a, b):
    return _by_columns(np, a)


ROOTS = (
    root("one part", _cubic, _cube_root, _by_slope, *[float64(3)] * 3),
    root(
        "two parts and auxiliary data",
        *(_two, _both_roots, _by_slopes),
        *[float64(3)] * 4,
        has_aux=True,
    ),
)


def _nan_root(np, a, b):
    return lambda f, guess: (np.log(guess[0]) * 2.0,)


SOLUTIONS = (
    Guest(
        primitive=custom_linear_solve_p,
        examples=SOLVED,
        culprit=solved("makes NaN", _diagonal, _nan, float64(3), float64(3)),
        made_by=r"`log` at solution_guests\.py:\d+ \(np\.log\(b\[0\]\)\)",
    ),
    Guest(
        primitive=custom_root_p,
        examples=ROOTS,
        culprit=root("makes NaN", _cubic, _nan_root, _by_slope, *[float64(3)] * 3),
        made_by=r"`log` at solution_guests\.py:\d+ \(np\.log\(guess\[0\]\)\)",
    ),
)
