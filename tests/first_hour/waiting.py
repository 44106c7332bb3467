"""Programs that stop at one name that is not there yet, each with that name.

When the name comes, its program belongs in `programs`; a test says so.
"""

import numpy as np


def norm_of_rows(lib):
    points = np.ones((5, 2), np.float32)
    return lib.jit(lambda x: lib.numpy.linalg.norm(x, axis=-1))(points)


def gaussian_process(lib):
    jnp = lib.numpy
    x = jnp.linspace(0, 1, 8)
    kernel = jnp.exp(-((x[:, None] - x[None]) ** 2) * 8) + 0.1 * jnp.eye(8)
    return lib.jit(lambda k: jnp.linalg.solve(k, jnp.sin(6 * x)))(kernel)


def spectral_equation(lib):
    jnp = lib.numpy
    u = jnp.sin(jnp.linspace(0, 6.28, 16))
    return lib.jit(lambda u: jnp.fft.ifft(jnp.fft.fft(u)).real)(u)


WAITING = {
    norm_of_rows: "imprint.numpy.linalg",
    gaussian_process: "imprint.numpy.linalg",
    spectral_equation: "imprint.numpy.fft",
}
