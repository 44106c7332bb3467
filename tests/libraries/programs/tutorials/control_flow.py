"""Loops and branches of `jax.lax`: while, fori, cond, switch, map, associative_scan."""

import sys
import time
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def collatz(n):
    def step(state):
        n, count = state
        return lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), count + 1

    return lax.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]


@partial(jax.jit, static_argnames="order")
def power(x, order):
    return lax.fori_loop(0, order, lambda _, y: y * x, jnp.ones_like(x))


@jax.jit
def activate(kind, x):
    return lax.switch(kind, [jax.nn.relu, jnp.tanh, lambda x: x * jax.nn.sigmoid(x)], x)


@jax.jit
def linear_recurrence(a, b):
    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    return lax.associative_scan(combine, (a, b))[1]


@jax.jit
def mandelbrot(points):
    def escape(c):
        def step(state):
            z, count = state
            return z * z + c, count + 1

        go_on = lambda state: (jnp.abs(state[0]) < 2) & (state[1] < 50)
        return lax.while_loop(go_on, step, (jnp.zeros_like(c), 0))[1]

    return jax.vmap(escape)(points)


@jax.jit
def clipped_walk(key, steps=jnp.zeros(64)):
    def step(carry, _):
        at, key = carry
        key, now = jax.random.split(key)
        at = jnp.clip(at + jax.random.normal(now), -2, 2)
        return (at, key), at

    return lax.scan(step, (0.0, key), steps)[1]


print([int(collatz(n)) for n in (1, 7, 27, 97)])
print(power(jnp.array([1.5, 2.0]), 5), power(jnp.array([1.5, 2.0]), 2))
print([f"{activate(k, -0.5):.3f}" for k in range(3)])
print(f"{linear_recurrence(jnp.full(32, 0.9), jnp.ones(32))[-1]:.3f}")
real, imag = jnp.meshgrid(jnp.linspace(-2, 0.5, 40), jnp.linspace(-1, 1, 30))
points = (real + 1j * imag).ravel()
print(int(mandelbrot(points).sum()))
print(lax.map(lambda x: x**2, jnp.arange(5.0)))
for i in range(100):
    if i == 20:
        start = time.perf_counter()
    counts = mandelbrot(points)
    walk = clipped_walk(jax.random.key(i))
jax.block_until_ready((counts, walk))
print((time.perf_counter() - start) / 80, file=sys.stderr)
print(f"{walk[-1]:.3f}")
