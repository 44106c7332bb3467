"""Ways to compile a program, and programs that cannot be on the disk."""

import numpy

import imprint
import imprint.numpy as np
from imprint import lax

X = numpy.arange(4, dtype=numpy.float32)
SQUARE = numpy.eye(3, dtype=numpy.float32) * 4


def jitted():
    return imprint.jit(lambda x: np.sin(x) * 2)(X)


def filtered():
    return imprint.filter_jit(lambda x, how: how(x) + 1)(X, np.cos)


def nested():
    inner = imprint.jit(lambda x: x * x)
    return imprint.jit(lambda x: inner(x) + inner(x + 1))(X)


def ahead_of_time():
    return imprint.jit(lambda x: np.tanh(x)).lower(X).compile()(X)


def eager_control_flow():
    return lax.fori_loop(0, 5, lambda i, x: x + i, X)


def with_derivative():
    return imprint.jit(imprint.grad(lambda x: np.sum(np.exp(x) * x)))(X)


def with_captured_array():
    return imprint.jit(lambda x: x + X)(X)


def with_linear_algebra():
    return imprint.jit(np.linalg.cholesky)(SQUARE)


def with_sort():
    return imprint.jit(lambda x: np.sort(x)[::-1])(X)


def with_donation():
    return imprint.jit(lambda x: x * 3, donate_argnums=0)(np.asarray(X) + 1)


def with_arc_tangent():
    return imprint.jit(lambda x: np.arctan2(x, 1.0))(X)


def with_sentinels():
    with imprint.debug_nans():
        return imprint.jit(lambda x: x / 2)(X)


def with_random_numbers():
    return imprint.jit(lambda key: imprint.random.normal(key, (3,)))(
        imprint.random.key(0)
    )


def wide():
    with imprint.enable_x64(True):
        return imprint.jit(lambda x: x / 3)(X.astype("float64"))


WAYS = (
    *(jitted, filtered, nested, ahead_of_time, eager_control_flow, with_derivative),
    *(with_captured_array, with_linear_algebra, with_sort, with_donation),
    *(with_arc_tangent, with_sentinels, with_random_numbers, wide),
)


def prints():
    def f(x):
        imprint.debug.print("{}", x)
        return x

    return imprint.jit(f), X


def calls_back():
    def f(x):
        return imprint.pure_callback(numpy.sin, x, x)

    return imprint.jit(f), np.asarray(X)


CALLING = prints, calls_back
