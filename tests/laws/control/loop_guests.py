"""The loops as guests of the laws: scan and while, with several steps."""

import jax
import jax.numpy as jnp

import imprint.numpy as inp
from imprint import lax
from imprint._src.control_flow.scan import scan_p
from imprint._src.control_flow.while_ import while_p
from tests.laws.control.guest import CAPTURED, Example, Guest, float64, int32

# ---- scan ----


def scanned(name, step, num_carry, *avals, **options):
    """Return the example of a step `(np, *carry, *slices) -> (carry, ys)`."""

    def run(scan, np, args):
        carry, xs = tuple(args[:num_carry]), tuple(args[num_carry:])
        kept, ys = scan(lambda carry, xs: step(np, *carry, *xs), carry, xs, **options)
        return [*kept, *ys]

    return Example(
        name,
        lambda *args: run(lax.scan, inp, args),
        avals,
        lambda *args: run(jax.lax.scan, jnp, args),
        scan_p,
    )


def _cell(np, h, x):
    new = np.tanh(h + x * h)
    return (new,), (np.sin(new), h * 2.0)


def _counted(np, h, n, x):
    return (h * np.cos(x) + n, n + 1), (h,)


def _captured(np, h, x):
    w = np.asarray(CAPTURED)
    return (np.sin(h * w) + x,), (h * np.exp(w),)


def _linear(np, h, k, x):
    return (h * 2.0 + x, k * 0.5 + h), (k + x,)


SCANS = (
    scanned("nonlinear", _cell, 1, float64(3), float64(4, 3)),
    scanned("reversed", _cell, 1, float64(3), float64(4, 3), reverse=True),
    scanned("unrolled", _cell, 1, float64(3), float64(5, 3), unroll=2),
    scanned("all at once", _cell, 1, float64(), float64(3), unroll=True),
    scanned("counted", _counted, 2, float64(2), int32(), float64(3, 2)),
    scanned("captured", _captured, 1, float64(3), float64(3, 3)),
    scanned("linear", _linear, 2, float64(2), float64(2), float64(3, 2)),
    scanned(
        "without slices", lambda np, x: ((np.sin(x),), ()), 1, float64(2), length=3
    ),
)

# ---- while ----


def repeated(name, condition, step, *avals):
    """Return the example of a loop over the carry that is its arguments."""

    def run(while_loop, np, args):
        return [
            *while_loop(
                lambda carry: condition(np, *carry),
                lambda carry: tuple(step(np, *carry)),
                tuple(args),
            )
        ]

    return Example(
        name,
        lambda *args: run(lax.while_loop, inp, args),
        avals,
        lambda *args: run(jax.lax.while_loop, jnp, args),
        while_p,
    )


WHILES = (
    repeated(
        "counted",
        lambda np, i, x: i < 5,
        lambda np, i, x: (i + 2, np.sin(x) + x),
        *(int32(), float64(3)),
    ),
    repeated(
        "captured",
        lambda np, i, x: i < np.asarray(CAPTURED).sum() * 2,
        lambda np, i, x: (i + 2, x * np.asarray(CAPTURED)),
        *(int32(), float64(3)),
    ),
    repeated(
        "a float decides, with more beside it",
        lambda np, x, y, n: x < 40.0,
        lambda np, x, y, n: (x * 1.5 + 1.0, np.sin(y) * 0.5 + n, n + 1),
        *(float64(), float64(2), int32()),
    ),
)


def _nan(np, h, x):
    return (np.log(h) * 2.0,), ()


LOOPS = (
    Guest(
        primitive=scan_p,
        examples=SCANS,
        culprit=scanned("makes NaN", _nan, 1, float64(3), float64(1, 3)),
        made_by=r"`log` at loop_guests\.py:\d+ \(np\.log\(\w+\)\)",
    ),
    Guest(
        primitive=while_p,
        examples=WHILES,
        culprit=repeated(
            "makes NaN",
            lambda np, i, x: i < 5,
            lambda np, i, x: (i + 5, np.log(x) * 2.0),
            *(int32(), float64(3)),
        ),
        made_by=r"`log` at loop_guests\.py:\d+ \(np\.log\(x\)\)",
        is_reversible=False,
    ),
)
