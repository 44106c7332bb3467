"""Programs as people write them on the first day, with JAX or with imprint.

Each takes the library (`jax` or `imprint`) and returns its results. None was written for
imprint: they use operators, methods, NumPy and Python loops as usual.
"""

import collections
import dataclasses
import functools
import math

import numpy as np


def linear_regression(lib):
    jnp = lib.numpy
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3)).astype(np.float32)
    y = x @ np.array([1.0, -2.0, 0.5], np.float32) + 0.3

    @lib.jit
    def loss(params, x, y):
        return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)

    params = {"w": jnp.zeros(3), "b": 0.0}
    step = lib.jit(lib.value_and_grad(loss))
    for _ in range(50):
        value, grads = step(params, x, y)
        params = lib.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, value


def logistic_regression(lib):
    jnp = lib.numpy
    x = lib.random.normal(lib.random.key(1), (64, 4))
    labels = (x.sum(axis=1) > 0).astype(jnp.float32)

    def loss(w, b):
        logits = jnp.dot(x, w) + b
        return -jnp.mean(
            labels * lib.nn.log_sigmoid(logits)
            + (1 - labels) * lib.nn.log_sigmoid(-logits)
        )

    w, b = jnp.zeros((4,)), jnp.array(0.0)
    update = lib.jit(lib.grad(loss, argnums=(0, 1)))
    for _ in range(20):
        dw, db = update(w, b)
        w, b = w - 0.5 * dw, b - 0.5 * db
    return w, b, float(loss(w, b)) < 0.5


def newton(lib):
    def f(x):
        return x**3 - 2 * x - 5

    x, steps = 2.0, 0
    while abs(f(x)) > 1e-5 and steps < 20:
        x = x - f(x) / lib.grad(f)(x)
        steps += 1
    return x


def multilayer_perceptron(lib):
    jnp = lib.numpy
    sizes = [3, 16, 16, 1]
    keys = lib.random.split(lib.random.PRNGKey(0), len(sizes) - 1)
    params = [
        (lib.random.normal(k, (m, n)) / jnp.sqrt(m), jnp.zeros(n))
        for k, m, n in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]

    def predict(params, x):
        for w, b in params[:-1]:
            x = jnp.tanh(x @ w + b)
        w, b = params[-1]
        return (x @ w + b)[..., 0]

    x = lib.random.uniform(lib.random.key(2), (32, 3), minval=-1.0)
    y = jnp.sin(x).prod(axis=-1)

    @lib.jit
    def update(params, x, y):
        loss, grads = lib.value_and_grad(
            lambda p: jnp.square(predict(p, x) - y).mean()
        )(params)
        return loss, [
            (w - 0.05 * dw, b - 0.05 * db)
            for (w, b), (dw, db) in zip(params, grads, strict=True)
        ]

    losses = []
    for _ in range(10):
        loss, params = update(params, x, y)
        losses.append(loss.item())
    return np.array(losses, np.float32), params


def black_scholes(lib):
    jnp = lib.numpy

    def cdf(x):
        return 0.5 * (1 + lib.lax.erf(x / jnp.sqrt(2.0)))

    @functools.partial(lib.jit, static_argnames=("call",))
    def price(spot, strike, time, rate, vol, call=True):
        d1 = (jnp.log(spot / strike) + (rate + vol**2 / 2) * time) / (
            vol * jnp.sqrt(time)
        )
        d2 = d1 - vol * jnp.sqrt(time)
        bond = strike * jnp.exp(-rate * time)
        if call:
            return spot * cdf(d1) - bond * cdf(d2)
        return bond * cdf(-d2) - spot * cdf(-d1)

    spots = jnp.linspace(80.0, 120.0, 9)
    delta = lib.vmap(lib.grad(price), in_axes=(0, None, None, None, None))
    gamma = lib.vmap(lib.grad(lib.grad(price)), (0, None, None, None, None))
    arguments = (spots, 100.0, 1.0, 0.05, 0.2)
    return (
        price(*arguments),
        price(*arguments, call=False),
        delta(*arguments),
        gamma(*arguments),
    )


def n_body(lib):
    jnp = lib.numpy
    mass = jnp.array([1.0, 0.5, 0.25])

    @lib.jit
    def step(position, velocity, dt=0.01):
        between = position[None, :, :] - position[:, None, :]
        distance = jnp.sqrt((between**2).sum(-1) + 1e-3)
        force = (between * (mass[None, :] / distance**3)[:, :, None]).sum(axis=1)
        velocity = velocity + dt * force
        return position + dt * velocity, velocity

    position = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    velocity = jnp.zeros_like(position)
    for _ in range(10):
        position, velocity = step(position, velocity)
    return position, velocity


def heat_equation(lib):
    jnp = lib.numpy

    @lib.jit
    def step(u):
        laplacian = (
            jnp.roll(u, 1, 0)
            + jnp.roll(u, -1, 0)
            + jnp.roll(u, 1, 1)
            + jnp.roll(u, -1, 1)
            - 4 * u
        )
        return u + 0.1 * laplacian

    grid = jnp.arange(16.0)
    u = jnp.exp(-((grid[:, None] - 8) ** 2 + (grid[None, :] - 8) ** 2) / 8)
    for _ in range(5):
        u = step(u)
    return u, u.sum()


def game_of_life(lib):
    jnp = lib.numpy

    @lib.jit
    def step(board):
        neighbours = sum(
            jnp.roll(board, (i, j), axis=(0, 1))
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if (i, j) != (0, 0)
        )
        return ((neighbours == 3) | ((board == 1) & (neighbours == 2))).astype(
            jnp.int32
        )

    board = np.zeros((8, 8), np.int32)
    board[1, 2] = board[2, 3] = board[3, 1] = board[3, 2] = board[3, 3] = 1
    for _ in range(8):
        board = step(board)
    return board, int(board.sum())


def mandelbrot(lib):
    jnp = lib.numpy

    @functools.partial(lib.jit, static_argnums=1)
    def escape(c, steps):
        z, count = jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)
        for _ in range(steps):
            inside = jnp.abs(z) <= 2
            z = jnp.where(inside, z * z + c, z)
            count = count + inside
        return count

    x, y = jnp.meshgrid(jnp.linspace(-2, 0.5, 12), jnp.linspace(-1, 1, 8))
    return escape(x + 1j * y, 10)


def metropolis(lib):
    jnp = lib.numpy

    def log_density(x):
        return -0.5 * jnp.sum(x**2)

    @lib.jit
    def propose(key, x):
        move, accept = lib.random.split(key)
        new = x + 0.5 * lib.random.normal(move, x.shape)
        ratio = log_density(new) - log_density(x)
        taken = jnp.log(lib.random.uniform(accept)) < ratio
        return jnp.where(taken, new, x), taken

    x, key, accepted = jnp.ones(2), lib.random.key(7), 0
    for i in range(20):
        x, taken = propose(lib.random.fold_in(key, i), x)
        accepted += int(taken)
    return x, accepted


def k_means(lib):
    jnp = lib.numpy
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2)).astype(np.float32)

    @lib.jit
    def step(centers):
        squared = ((points[:, None] - centers) ** 2).sum(-1)
        chosen = lib.nn.one_hot(squared.argmin(1), centers.shape[0])
        return (chosen.T @ points) / jnp.clip(chosen.sum(0), 1)[:, None]

    centers = points[:4]
    for _ in range(5):
        centers = step(centers)
    return centers


def runge_kutta(lib):
    jnp = lib.numpy

    def pendulum(state, t):
        angle, speed = state
        return jnp.array([speed, -jnp.sin(angle) - 0.1 * speed])

    @functools.partial(lib.jit, static_argnames="f")
    def step(f, state, t, dt):
        k1 = f(state, t)
        k2 = f(state + dt / 2 * k1, t + dt / 2)
        k3 = f(state + dt / 2 * k2, t + dt / 2)
        k4 = f(state + dt * k3, t + dt)
        return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    state, path = jnp.array([1.0, 0.0]), []
    for t in np.arange(0, 0.5, 0.1):
        path.append(state)
        state = step(pendulum, state, t, 0.1)
    return jnp.stack(path)


def attention(lib):
    jnp = lib.numpy
    keys = lib.random.split(lib.random.key(0), 4)
    x = lib.random.normal(keys[0], (2, 6, 8))
    wq, wk, wv = (0.3 * lib.random.normal(k, (8, 8)) for k in keys[1:])

    def heads(x, w):
        return (x @ w).reshape(*x.shape[:-1], 2, 4).swapaxes(1, 2)

    @lib.jit
    def forward(x):
        q, k, v = heads(x, wq), heads(x, wk), heads(x, wv)
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
        mask = jnp.tril(jnp.ones((6, 6), bool))
        weights = lib.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
        out = jnp.einsum("bhqk,bhkd->bhqd", weights, v)
        return out.swapaxes(1, 2).reshape(x.shape)

    return forward(x), lib.grad(lambda x: forward(x).sum())(x)


def layer_norm_and_gelu(lib):
    jnp = lib.numpy

    def norm(x, scale, eps=1e-6):
        mean = x.mean(axis=-1, keepdims=True)
        return scale * (x - mean) * lib.lax.rsqrt(x.var(-1, keepdims=True) + eps)

    def block(params, x):
        hidden = lib.nn.gelu(norm(x, params["scale"]) @ params["in"])
        return x + hidden @ params["out"]

    rng = np.random.default_rng(3)
    params = {
        "scale": jnp.ones(4),
        "in": jnp.asarray(rng.normal(size=(4, 8)), jnp.float32),
        "out": jnp.asarray(rng.normal(size=(8, 4)), dtype="float32"),
    }
    x = jnp.asarray(rng.normal(size=(5, 4)).astype("f4"))
    loss = lib.jit(lambda p, x: jnp.abs(block(p, x)).sum())
    return lib.grad(loss)(params, x)


def gated_recurrent_unit(lib):
    jnp = lib.numpy
    rng = np.random.default_rng(5)
    w, u = (jnp.array(rng.normal(size=(3, n, 4)), jnp.float32) for n in (2, 4))

    def cell(h, x):
        z = lib.nn.sigmoid(x @ w[0] + h @ u[0])
        r = lib.nn.sigmoid(x @ w[1] + h @ u[1])
        candidate = jnp.tanh(x @ w[2] + (r * h) @ u[2])
        return (1 - z) * h + z * candidate

    @lib.jit
    def run(inputs):
        h = jnp.zeros((4,))
        for x in inputs:
            h = cell(h, x)
        return h

    return run(jnp.asarray(rng.normal(size=(5, 2)), "float32"))


def graph_network(lib):
    jnp = lib.numpy
    Graph = collections.namedtuple("Graph", "nodes adjacency")
    adjacency = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], np.float32)

    @lib.jit
    def layer(graph, w):
        degree = graph.adjacency.sum(1, keepdims=True)
        messages = graph.adjacency @ (graph.nodes @ w) / jnp.maximum(degree, 1)
        return graph._replace(nodes=lib.nn.relu(messages + graph.nodes @ w))

    graph = Graph(jnp.eye(3, 4), adjacency)
    w = jnp.arange(16.0).reshape(4, 4) / 10
    out = layer(layer(graph, w), w)
    return out.nodes, type(out).__name__


def monte_carlo_option(lib):
    jnp = lib.numpy

    @functools.partial(lib.jit, static_argnums=(1, 2))
    def value(key, paths, steps, spot=100.0, vol=0.2, rate=0.03):
        dt = 1 / steps
        noise = lib.random.normal(key, (steps, paths))
        growth = (rate - vol**2 / 2) * dt + vol * dt**0.5 * noise
        final = spot * jnp.exp(growth.sum(0))
        return jnp.exp(-rate) * jnp.maximum(final - 100.0, 0).mean()

    key = lib.random.key(0)
    return value(key, 500, 8), lib.grad(lambda s: value(key, 500, 8, s))(100.0)


def gaussian_mixture(lib):
    jnp = lib.numpy

    def log_likelihood(params, x):
        logits, means, log_scales = params
        parts = (
            lib.nn.log_softmax(logits)
            - log_scales
            - 0.5 * ((x[:, None] - means) / jnp.exp(log_scales)) ** 2
        )
        return lib.nn.logsumexp(parts, axis=1).mean()

    x = jnp.concatenate([jnp.linspace(-3, -1, 10), jnp.linspace(1, 4, 10)])
    params = (jnp.zeros(2), jnp.array([-1.0, 1.0]), jnp.zeros(2))
    climb = lib.jit(lib.value_and_grad(log_likelihood))
    for _ in range(5):
        value, grads = climb(params, x)
        params = lib.tree.map(jnp.add, params, grads)
    return value, params


def hessians(lib):
    jnp = lib.numpy

    def rosenbrock(x):
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    x = jnp.array([1.2, 1.0, 0.8])
    direction = jnp.array([1.0, 0.0, -1.0])
    product = lib.jvp(lib.grad(rosenbrock), (x,), (direction,))[1]
    return (
        lib.jit(lib.hessian(rosenbrock))(x),
        product,
        lib.jacfwd(lib.grad(rosenbrock))(x),
    )


def adam_by_hand(lib):
    jnp = lib.numpy

    @dataclasses.dataclass(frozen=True)
    class Settings:
        rate: float = 0.1
        b1: float = 0.9
        b2: float = 0.999

    @functools.partial(lib.jit, static_argnums=0)
    def step(settings, params, state, grads):
        m, v, count = state
        count = count + 1
        m = lib.tree.map(lambda m, g: settings.b1 * m + (1 - settings.b1) * g, m, grads)
        v = lib.tree.map(
            lambda v, g: settings.b2 * v + (1 - settings.b2) * g * g, v, grads
        )

        def move(p, m, v):
            m, v = m / (1 - settings.b1**count), v / (1 - settings.b2**count)
            return p - settings.rate * m / (jnp.sqrt(v) + 1e-8)

        return lib.tree.map(move, params, m, v), (m, v, count)

    params = {"a": jnp.array([1.0, -1.0]), "b": [jnp.array(2.0)]}
    zeros = lib.tree.map(jnp.zeros_like, params)
    state = (zeros, zeros, 0)
    loss = lambda p: (p["a"] ** 2).sum() + (p["b"][0] - 1) ** 2
    for _ in range(5):
        params, state = step(Settings(), params, state, lib.grad(loss)(params))
    return params


def numpy_unchanged(lib):
    jnp = lib.numpy

    def standardize(x):
        return (x - np.mean(x, axis=0)) / np.std(x, axis=0)

    def features(x):
        x = standardize(x)
        return np.concatenate([x, np.sin(x), np.maximum(x, 0)], axis=1)

    x = jnp.asarray(np.random.default_rng(2).normal(size=(6, 2)), jnp.float32)
    total = np.zeros(6)
    total += jnp.ones(6)
    return (
        np.asarray(features(np.asarray(x))),
        np.asarray(total, np.float32),
        np.exp(np.asarray(x)),
    )


def principal_components_by_power(lib):
    jnp = lib.numpy
    x = np.random.default_rng(4).normal(size=(30, 5)).astype(np.float32)
    x = x * np.array([3, 1, 0.5, 0.2, 0.1], np.float32)

    @lib.jit
    def power(v):
        v = x.T @ (x @ v)
        return v / jnp.sqrt(jnp.vdot(v, v))

    v = jnp.ones(5) / 5**0.5
    for _ in range(30):
        v = power(v)
    return v


def per_example_gradients(lib):
    jnp = lib.numpy

    def loss(w, x, y):
        return (jnp.tanh(w @ x) - y) ** 2

    w = jnp.arange(3.0)
    x = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)
    y = jnp.array([0.0, 1.0, 0.0, 1.0])
    grads = lib.jit(lib.vmap(lib.grad(loss), in_axes=(None, 0, 0)))(w, x, y)
    clipped = grads / jnp.maximum(1.0, jnp.sqrt((grads**2).sum(1, keepdims=True)))
    return grads, clipped.mean(0)


def projectile_fit(lib):
    jnp = lib.numpy
    times = jnp.arange(0, 2, 0.25)
    seen = 3 * times - 4.905 * times**2

    @lib.jit
    def residuals(v, g):
        return v * times - g / 2 * times**2 - seen

    def gauss_newton(p):
        jacobian = jnp.stack(lib.jacrev(residuals, argnums=(0, 1))(*p), axis=1)
        a, r = jacobian.T @ jacobian, jacobian.T @ residuals(*p)
        det = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
        inverse = jnp.array([[a[1, 1], -a[0, 1]], [-a[1, 0], a[0, 0]]]) / det
        return p - inverse @ r

    p = jnp.array([1.0, 5.0])
    for _ in range(3):
        p = gauss_newton(p)
    return p


def stop_early(lib):
    return lib.jit(lambda x: lib.lax.cond(x > 0, lambda: x, lambda: -x))(2.0)


def recurrent_network(lib):
    jnp = lib.numpy
    cell = lambda h, x: (jnp.tanh(h + x), h)
    return lib.lax.scan(cell, jnp.zeros(3), jnp.ones((5, 3)))


def bisection(lib):
    return lib.lax.while_loop(lambda x: x > 1.0, lambda x: x / 2, 10.0)


def convolutional_network(lib):
    image, kernel = np.ones((1, 1, 8, 8), "f4"), np.ones((1, 1, 3, 3), "f4")
    return lib.lax.conv(image, kernel, (1, 1), "SAME")


def median_filter(lib):
    return lib.numpy.median(np.arange(12.0).reshape(4, 3), axis=0)


def histogram_of_draws(lib):
    return lib.numpy.sort(lib.random.normal(lib.random.key(0), (9,)))


def spectral_equation(lib):
    jnp = lib.numpy
    u = jnp.sin(jnp.linspace(0, 6.28, 16))
    return lib.jit(lambda u: jnp.fft.ifft(jnp.fft.fft(u)).real)(u)


def norm_of_rows(lib):
    points = np.ones((5, 2), np.float32)
    return lib.jit(lambda x: lib.numpy.linalg.norm(x, axis=-1))(points)


def gaussian_process(lib):
    jnp = lib.numpy
    x = jnp.linspace(0, 1, 8)
    kernel = jnp.exp(-((x[:, None] - x[None]) ** 2) * 8) + 0.1 * jnp.eye(8)
    return lib.jit(lambda k: jnp.linalg.solve(k, jnp.sin(6 * x)))(kernel)
