"""Programs that solve in loops: steps until an error is small, and rules around them.

As in `programs`, each takes the library (`jax` or `imprint`) and returns its results,
derivatives included. They follow well-known examples and tutorials of JAX.
"""

import functools
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

NODES = [
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
TIMES = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0]
ERROR = np.array(
    [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40],
    np.float32,
)


def _stages(jnp, fun, y, t, dt):
    ks = [fun(y, t)]
    for row, c in zip(NODES, TIMES, strict=True):
        moved = sum(a * k for a, k in zip(row, ks, strict=True))
        ks.append(fun(y + dt * moved, t + c * dt))
    last = y + dt * sum(a * k for a, k in zip(NODES[-1], ks, strict=False))
    return last, dt * jnp.tensordot(ERROR, jnp.stack(ks), axes=1)


def _advance(lib, fun, y, start, stop):
    """Go from one time to another, in steps as long as the error allows."""
    jnp = lib.numpy

    def unfinished(state):
        _, t, _, count = state
        return (t < stop) & (count < 200)

    def attempt(state):
        y, t, dt, count = state
        dt = jnp.minimum(dt, stop - t)
        new, wrong = _stages(jnp, fun, y, t, dt)
        scale = 1e-5 + 1e-5 * jnp.maximum(jnp.abs(y), jnp.abs(new))
        ratio = jnp.sqrt(jnp.mean((wrong / scale) ** 2))
        factor = jnp.clip(0.9 * ratio**-0.2, 0.2, 10.0)
        y, t = lib.tree.map(
            lambda a, b: jnp.where(ratio <= 1.0, a, b), (new, t + dt), (y, t)
        )
        return y, t, dt * factor, count + 1

    start = (y, start, (stop - start) / 4, 0)
    y, _, _, count = lib.lax.while_loop(unfinished, attempt, start)
    return y, count


def adaptive_ode_with_adjoint(lib):
    """The solver of Dormand and Prince, and its adjoint solved backwards in time."""
    jnp, lax = lib.numpy, lib.lax
    advance = functools.partial(_advance, lib)
    ravel_pytree = import_module(f"{lib.__name__}.flatten_util").ravel_pytree

    @functools.partial(lib.custom_vjp, nondiff_argnums=(0,))
    def solve(fun, y0, ts, params):
        def to_next(carry, stop):
            y, start = carry
            y, count = advance(lambda y, t: fun(y, t, params), y, start, stop)
            return (y, stop), (y, count)

        _, (ys, counts) = lax.scan(to_next, (y0, ts[0]), ts[1:])
        return jnp.concatenate([y0[None], ys]), counts

    def forward(fun, y0, ts, params):
        ys, counts = solve(fun, y0, ts, params)
        return (ys, counts), (ys, ts, params)

    def backward(fun, kept, cotangents):
        (ys, ts, params), (ys_bar, _) = kept, cotangents

        def augmented(packed, minus_t):
            y, y_bar, _ = unpack(packed)
            slope, pull = lib.vjp(lambda y, p: fun(y, -minus_t, p), y, params)
            y_bar_dot, params_bar_dot = pull(y_bar)
            return pack((-slope, y_bar_dot, params_bar_dot))

        pack = lambda tree: ravel_pytree(tree)[0]
        zeros = lib.tree.map(jnp.zeros_like, params)
        _, unpack = ravel_pytree((ys[0], ys[0], zeros))

        def to_previous(carry, i):
            y_bar, params_bar = carry
            packed, _ = advance(
                augmented, pack((ys[i], y_bar, params_bar)), -ts[i], -ts[i - 1]
            )
            _, y_bar, params_bar = unpack(packed)
            return (y_bar + ys_bar[i - 1], params_bar), None

        (y_bar, params_bar), _ = lax.scan(
            to_previous, (ys_bar[-1], zeros), jnp.arange(len(ts) - 1, 0, -1)
        )
        return y_bar, jnp.zeros_like(ts), params_bar

    solve.defvjp(forward, backward)

    def pendulum(y, t, params):
        angle, speed = y
        pull = -params["gravity"] * jnp.sin(angle)
        return jnp.stack([speed, pull - params["drag"] * speed + 0.1 * jnp.cos(t)])

    y0, ts = jnp.array([1.0, 0.0]), jnp.linspace(0.0, 2.0, 5)
    params = {"gravity": jnp.array(9.8), "drag": jnp.array(0.3)}

    @lib.jit
    def loss(y0, params):
        ys, counts = solve(pendulum, y0, ts, params)
        return jnp.sum(ys[:, 0] ** 2), (ys, counts)

    (value, aux), grads = lib.value_and_grad(loss, argnums=(0, 1), has_aux=True)(
        y0, params
    )
    return value, aux, grads


def fixed_points(lib):
    """Derivatives of the result of a while_loop, by a rule that is a while_loop itself."""
    jnp, lax = lib.numpy, lib.lax

    @functools.partial(lib.custom_vjp, nondiff_argnums=(0,))
    def fixed_point(f, a, guess):
        def unfinished(pair):
            before, after = pair
            return jnp.max(jnp.abs(before - after)) > 1e-6

        def body(pair):
            _, x = pair
            return x, f(a, x)

        return lax.while_loop(unfinished, body, (guess, f(a, guess)))[1]

    def forward(f, a, guess):
        found = fixed_point(f, a, guess)
        return found, (a, found)

    def backward(f, kept, x_bar):
        a, found = kept
        _, pull_a = lib.vjp(lambda a: f(a, found), a)
        (a_bar,) = pull_a(
            fixed_point(functools.partial(turned, f), (a, found, x_bar), x_bar)
        )
        return a_bar, jnp.zeros_like(found)

    def turned(f, packed, u):
        a, found, x_bar = packed
        _, pull_x = lib.vjp(lambda x: f(a, x), found)
        return x_bar + pull_x(u)[0]

    fixed_point.defvjp(forward, backward)

    def root(a):
        return fixed_point(lambda a, x: 0.5 * (x + a / x), a, a)

    def equilibrium(w, b):
        return fixed_point(
            lambda p, z: jnp.tanh(p[0] @ z + p[1]), (w, b), jnp.zeros_like(b)
        ).sum()

    w = 0.3 * lib.random.normal(lib.random.key(0), (4, 4))
    b = jnp.linspace(-1.0, 1.0, 4)
    return (
        lib.jit(root)(2.0),
        lib.grad(root)(2.0),
        lib.jit(lib.grad(lib.grad(root)))(2.0),
        lib.vmap(lib.grad(root))(jnp.array([1.0, 2.0, 3.0])),
        lib.value_and_grad(equilibrium, argnums=(0, 1))(w, b),
    )


def _dot(lib, a, b):
    pairs = zip(lib.tree.leaves(a), lib.tree.leaves(b), strict=True)
    return sum(lib.numpy.vdot(x, y) for x, y in pairs)


def _add(lib, a, scale, b):
    return lib.tree_util.tree_map(lambda x, y: x + scale * y, a, b)


def _conjugate_gradients(lib, matvec, b, limit=30):
    dot, add = functools.partial(_dot, lib), functools.partial(_add, lib)

    def unfinished(state):
        _, _, _, squared, k = state
        return (squared > 1e-9) & (k < limit)

    def body(state):
        x, r, p, squared, k = state
        ap = matvec(p)
        alpha = squared / dot(p, ap)
        x, r = add(x, alpha, p), add(r, -alpha, ap)
        new = dot(r, r)
        return x, r, add(r, new / squared, p), new, k + 1

    start = (lib.tree.map(lib.numpy.zeros_like, b), b, b, dot(b, b), 0)
    x, *_, count = lib.lax.while_loop(unfinished, body, start)
    return x, count


def conjugate_gradients(lib):
    """Linear systems as functions of trees, by a while_loop, with an implicit rule."""
    jnp = lib.numpy
    cg = functools.partial(_conjugate_gradients, lib)
    dot, add = functools.partial(_dot, lib), functools.partial(_add, lib)

    @lib.custom_vjp
    def ridge(data, b, strength):
        return cg(functools.partial(normal, data, strength), b)[0]

    def normal(data, strength, x):
        out = data @ x["w"] + x["b"]
        back = {"w": data.T @ out, "b": out.sum()}
        return add(back, strength, x)

    def forward(data, b, strength):
        x = ridge(data, b, strength)
        return x, (data, strength, x)

    def backward(kept, x_bar):
        data, strength, x = kept
        b_bar, _ = cg(functools.partial(normal, data, strength), x_bar)
        pull = lib.vjp(lambda d, s: normal(d, s, x), data, strength)[1]
        data_bar, strength_bar = pull(lib.tree.map(jnp.negative, b_bar))
        return data_bar, b_bar, strength_bar

    ridge.defvjp(forward, backward)
    data = lib.random.normal(lib.random.key(0), (12, 3))
    b = {"w": jnp.array([1.0, -1.0, 0.5]), "b": jnp.array(2.0)}
    loss = lambda d, b, s: dot(ridge(d, b, s), ridge(d, b, s))
    return (
        lib.jit(lambda b: cg(functools.partial(normal, data, 0.5), b))(b),
        lib.jit(lib.value_and_grad(loss, argnums=(0, 1, 2)))(data, b, 0.5),
        lib.vmap(lambda s: ridge(data, b, s))(jnp.array([0.1, 1.0, 10.0])),
    )


class Descent(NamedTuple):
    x: Any
    value: Any
    slope: Any
    inverse: Any
    count: Any


def quasi_newton(lib):
    """BFGS whose line search is a loop in a loop, with its state in a NamedTuple."""
    jnp, lax = lib.numpy, lib.lax

    def minimize(fun, x0, limit=8):
        both = lib.value_and_grad(fun)

        def search(state, direction):
            steepness = state.slope @ direction

            def too_long(carry):
                t, tries = carry
                drop = fun(state.x + t * direction) - state.value
                return (drop > 1e-4 * t * steepness) & (tries < 20)

            return lax.while_loop(too_long, lambda c: (c[0] / 2, c[1] + 1), (1.0, 0))[0]

        def body(state):
            direction = -state.inverse @ state.slope
            moved = search(state, direction) * direction
            value, slope = both(state.x + moved)
            turned = slope - state.slope
            curvature = moved @ turned

            def updated(h):
                rho = 1.0 / curvature
                left = jnp.eye(len(x0)) - rho * jnp.outer(moved, turned)
                return left @ h @ left.T + rho * jnp.outer(moved, moved)

            inverse = lax.cond(curvature > 1e-8, updated, lambda h: h, state.inverse)
            return Descent(state.x + moved, value, slope, inverse, state.count + 1)

        def unfinished(state):
            return (jnp.abs(state.slope).max() > 1e-3) & (state.count < limit)

        start = Descent(x0, *both(x0), jnp.eye(len(x0)), 0)
        return lax.while_loop(unfinished, body, start)

    bowl = lambda x: jnp.sum((x - jnp.arange(3.0)) ** 2 * jnp.array([1.0, 3.0, 9.0]))
    bent = lambda x: bowl(x) + 0.1 * jnp.sum(jnp.cos(3.0 * x))
    return lib.jit(functools.partial(minimize, bent))(jnp.array([2.0, -1.0, 0.5]))


def sinkhorn(lib):
    """Optimal transport: rows and columns in turn, until the marginals fit."""
    jnp, lax = lib.numpy, lib.lax

    def potentials(cost, a, b, eps):
        def half(g, marginal, cost):
            return eps * (
                jnp.log(marginal) - lib.nn.logsumexp((g - cost) / eps, axis=1)
            )

        def body(carry, _):
            f, g = carry
            f = half(g, a, cost)
            g = half(f, b, cost.T)
            plan = jnp.exp((f[:, None] + g - cost) / eps)
            return (f, g), jnp.abs(plan.sum(axis=1) - a).sum()

        start = jnp.zeros_like(a), jnp.zeros_like(b)
        return lax.scan(body, start, length=12)

    def divergence(x, y, eps):
        cost = jnp.sum((x[:, None] - y) ** 2, axis=-1)
        a, b = jnp.full(len(x), 1 / len(x)), jnp.full(len(y), 1 / len(y))
        (f, g), wrong = potentials(cost, a, b, eps)
        return f @ a + g @ b, wrong

    kx, ky = lib.random.split(lib.random.key(5))
    x, y = lib.random.normal(kx, (5, 2)), lib.random.normal(ky, (7, 2)) + 1.0
    both = lib.value_and_grad(divergence, argnums=(0, 1, 2), has_aux=True)
    moved = lax.fori_loop(
        0, 3, lambda i, x: x - lib.grad(divergence, has_aux=True)(x, y, 0.5)[0], x
    )
    return lib.jit(both)(x, y, 0.5), moved


def mixture_by_em(lib):
    """Expectation and maximization until the likelihood is constant."""
    jnp, lax = lib.numpy, lib.lax
    k1, k2 = lib.random.split(lib.random.key(2))
    left, right = lib.random.normal(k1, (20,)) - 2.0, lib.random.normal(k2, (30,)) + 2.0
    data = jnp.concatenate([left, 0.5 * right])

    def log_joint(params, x):
        weight, mean, spread = params
        z = (x[:, None] - mean) / spread
        return jnp.log(weight) - jnp.log(spread) - 0.5 * (z**2 + jnp.log(2 * jnp.pi))

    @lib.jit
    def fit(params):
        def unfinished(state):
            _, now, before, count = state
            return (jnp.abs(now - before) > 1e-2) & (count < 50)

        def body(state):
            params, now, _, count = state
            joint = log_joint(params, data)
            share = lib.nn.softmax(joint, axis=1)
            total = share.sum(axis=0)
            mean = share.T @ data / total
            spread = jnp.sqrt((share * (data[:, None] - mean) ** 2).sum(axis=0) / total)
            params = total / data.size, mean, spread
            new = lib.nn.logsumexp(log_joint(params, data), axis=1).sum()
            return params, new, now, count + 1

        return lax.while_loop(unfinished, body, (params, -jnp.inf, 0.0, 0))

    return fit((jnp.ones(2) / 2, jnp.array([-1.0, 1.0]), jnp.ones(2)))


def diffusing_heat(lib):
    """Heat until it is constant, and the source that makes a wanted picture."""
    jnp, lax = lib.numpy, lib.lax

    def laplacian(u):
        padded = jnp.pad(u, 1, mode="edge")
        return (
            padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
        ) - 4 * u

    @lib.jit
    def settle(u):
        def body(carry):
            u, _, count = carry
            inner = (u + 0.2 * laplacian(u))[1:-1]
            new = jnp.pad(inner, ((1, 1), (0, 0)), constant_values=((1.0, 0.0), (0, 0)))
            return new, jnp.abs(new - u).max(), count + 1

        return lax.while_loop(
            lambda c: (c[1] > 1e-2) & (c[2] < 100), body, (u, jnp.inf, 0)
        )

    def simulate(source):
        def body(u, _):
            u = u + 0.2 * laplacian(u) + 0.1 * source
            return u, u[2, 2]

        return lax.scan(body, jnp.zeros_like(source), None, length=10, unroll=2)

    def loss(source):
        u, probe = simulate(source)
        return jnp.sum((u - 1.0) ** 2) + probe[-1]

    source = jnp.linspace(0.0, 1.0, 25).reshape(5, 5)
    descend = lambda _, s: s - 0.05 * lib.grad(loss)(s)
    return settle(jnp.zeros((5, 5))), lib.jit(
        lambda s: lax.fori_loop(0, 4, descend, s)
    )(source)


def escape_times(lib):
    """The Mandelbrot set: a while_loop for each point, and how often all of it ran."""
    jnp, lax = lib.numpy, lib.lax

    def escape(c):
        def inside(state):
            z, count = state
            return (jnp.abs(z) < 2.0) & (count < 20)

        return lax.while_loop(inside, lambda s: (s[0] ** 2 + c, s[1] + 1), (0j * c, 0))

    xs, ys = jnp.linspace(-2.0, 0.5, 6), jnp.linspace(-1.0, 1.0, 5)
    plane = xs + 1j * ys[:, None]
    by_rows = lib.jit(lambda p: lax.map(lib.vmap(escape), p))
    return by_rows(plane)[1], lib.vmap(lib.vmap(escape))(plane)[1]
