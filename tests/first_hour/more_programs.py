"""More programs of the first day: sciences, small libraries, and code around them.

As in `programs`, each takes the library (`jax` or `imprint`) and returns its results;
texts that a program would print or save are among them.
"""

import collections
import copy
import dataclasses
import functools
import io
import itertools
import math
import pickle

import numpy as np


def kalman_filter(lib):
    jnp = lib.numpy
    transition, noise = jnp.array([[1.0, 1.0], [0.0, 1.0]]), 0.01 * jnp.eye(2)
    observe = jnp.array([[1.0, 0.0]])

    def inverse(matrix):
        (a, b), (c, d) = matrix
        return jnp.array([[d, -b], [-c, a]]) / (a * d - b * c)

    @lib.jit
    def step(mean, cov, seen):
        mean, cov = transition @ mean, transition @ cov @ transition.T + noise
        gain = cov @ observe.T / (observe @ cov @ observe.T + 0.5)
        mean = mean + gain @ (seen - observe @ mean)
        return mean, (jnp.eye(2) - gain @ observe) @ cov

    mean, cov = jnp.zeros(2), jnp.eye(2)
    for seen in [1.0, 2.1, 2.9]:
        mean, cov = step(mean, cov, jnp.asarray([seen]))
    return mean, cov, inverse(cov), lib.jit(inverse)(cov)


def bfgs_by_hand(lib):
    jnp = lib.numpy

    def rosenbrock(x):
        return sum(
            100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
            for i in range(len(x) - 1)
        )

    f = lib.jit(lib.value_and_grad(rosenbrock))
    x, inverse = jnp.array([-1.2, 1.0]), jnp.eye(2)
    value, slope = f(x)
    for _ in range(4):
        direction, size = -inverse @ slope, 1.0
        while f(x + size * direction)[0] > value + 1e-4 * size * slope @ direction:
            size *= 0.5
        step = size * direction
        new_value, new_slope = f(x + step)
        change = new_slope - slope
        rho = 1 / jnp.dot(change, step)
        turn = jnp.eye(2) - rho * jnp.outer(step, change)
        inverse = turn @ inverse @ turn.T + rho * jnp.outer(step, step)
        x, value, slope = x + step, new_value, new_slope
    return x, value, inverse


def finite_elements(lib):
    jnp = lib.numpy
    load = jnp.ones(9)

    @lib.jit
    def sweep(u):
        inner = (u[:-2] + u[2:] + 0.01 * load) / 2
        return jnp.concatenate([u[:1], inner, u[-1:]])

    @functools.partial(lib.jit, static_argnames=("terms",))
    def square_wave(t, terms=5):
        odd = range(1, 2 * terms, 2)
        return 4 / jnp.pi * sum(jnp.sin(k * t) / k for k in odd)

    u = jnp.zeros(11)
    for _ in range(30):
        u = sweep(u)
    t = jnp.linspace(0, 2 * jnp.pi, 9, endpoint=False)
    off = jnp.diag(jnp.ones(3), 1)
    return (
        u,
        jnp.max(jnp.abs(u[2:] - 2 * u[1:-1] + u[:-2] + 0.01 * load)),
        2 * jnp.eye(4) - off - off.T,
        jnp.trapezoid(u, dx=0.1),
        square_wave(t),
        square_wave(t[::2], terms=2),
    )


def ising_model(lib):
    jnp = lib.numpy
    key = lib.random.PRNGKey(3)
    spins = 2 * lib.random.bernoulli(key, 0.5, (8, 8)).astype(jnp.int32) - 1
    even = (jnp.indices((8, 8)).sum(0) % 2).astype(bool)

    @lib.jit
    def sweep(key, spins, beta):
        for sites in (even, ~even):
            key, sub = lib.random.split(key)
            around = sum(jnp.roll(spins, s, a) for s in (1, -1) for a in (0, 1))
            odds = jnp.exp(-beta * 2 * spins * around)
            flip = lib.random.uniform(sub, spins.shape) < odds
            spins = jnp.where(flip & sites, -spins, spins)
        return key, spins

    means = []
    for _ in range(5):
        key, spins = sweep(key, spins, 0.6)
        means.append(float(spins.mean()))
    return spins, key, np.array(means)


def predator_and_prey(lib):
    jnp = lib.numpy

    def change(y, p):
        prey, hunters = y
        a, b, c, d = p
        return jnp.stack(
            [a * prey - b * prey * hunters, d * prey * hunters - c * hunters]
        )

    def solve(p, start=(1.0, 0.5), dt=0.05, steps=10):
        y = jnp.asarray(start)
        path = [y]
        for _ in range(steps):
            k1 = change(y, p)
            k2 = change(y + dt / 2 * k1, p)
            k3 = change(y + dt / 2 * k2, p)
            k4 = change(y + dt * k3, p)
            y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            path.append(y)
        return jnp.array(path)

    p = jnp.array([1.5, 1.0, 3.0, 1.0])
    path, sensitivity = lib.jvp(solve, (p,), (jnp.array([1.0, 0, 0, 0]),))
    return (
        path,
        sensitivity,
        lib.jit(lib.jacfwd(lambda p: solve(p)[-1]))(p),
        lib.grad(lambda p: solve(p)[-1, 0])(p),
    )


def bayesian_logistic_regression(lib):
    jnp = lib.numpy
    x = lib.random.normal(lib.random.key(0), (50, 3))
    odds = lib.nn.sigmoid(x @ jnp.array([1.0, -2.0, 0.5]))
    y = lib.random.bernoulli(lib.random.key(1), odds)

    def log_posterior(w):
        logits = x @ w
        signed = jnp.where(y, logits, -logits)
        return lib.nn.log_sigmoid(signed).sum() - 0.5 * jnp.sum(w**2)

    @lib.jit
    def langevin(w, key, eps=1e-3):
        drift = eps / 2 * lib.grad(log_posterior)(w)
        return w + drift + jnp.sqrt(eps) * lib.random.normal(key, w.shape)

    w, samples = jnp.zeros(3), []
    for i, key in enumerate(lib.random.split(lib.random.key(2), 20)):
        w = langevin(w, key)
        if i % 5 == 0:
            samples.append(w)
    draws = jnp.vstack(samples)
    return draws, draws.mean(axis=0), jnp.cov(draws.T), y, log_posterior(w)


def softmax_regression(lib):
    jnp = lib.numpy
    rng = np.random.RandomState(0)
    x, labels = rng.randn(40, 5), rng.randint(0, 3, size=40)
    hot = lib.nn.one_hot(labels, 3)

    def loss(w, x, y):
        return -(lib.nn.log_softmax(x @ w) * y).sum(1).mean()

    w = jnp.zeros((5, 3))
    slope = lib.jit(lib.grad(loss))
    for _ in range(10):
        w -= 0.5 * slope(w, x, hot)
    accuracy = jnp.mean(jnp.argmax(x @ w, axis=1) == labels)
    said = f"{accuracy:.3f} {accuracy * 100:5.1f}% {round(float(accuracy), 2)}"
    return w, x @ w, said, "accuracy: %.3f" % accuracy, round(accuracy, 2)  # noqa: UP031


def dropout_and_batch_norm(lib):
    jnp = lib.numpy

    def dropout(key, x, rate):
        keep = lib.random.bernoulli(key, 1 - rate, x.shape)
        return jnp.where(keep, x / (1 - rate), 0)

    @functools.partial(lib.jit, static_argnames="train")
    def layer(key, x, state, train):
        if train:
            x = dropout(key, x, 0.3)
            mean, var = x.mean(0), x.var(0)
            old, state = state, {"mean": mean, "var": var}
            state = lib.tree.map(lambda a, b: 0.9 * a + 0.1 * b, old, state)
        else:
            mean, var = state["mean"], state["var"]
        return (x - mean) / jnp.sqrt(var + 1e-5), state

    x = lib.random.normal(lib.random.key(0), (8, 4))
    state = {"mean": jnp.zeros(4), "var": jnp.ones(4)}
    trained, state = layer(lib.random.key(1), x, state, train=True)
    tested, same = layer(lib.random.key(1), x, state, train=False)
    return trained, tested, state, same


def schedule_clipping_and_averages(lib):
    jnp = lib.numpy

    def rate(step, peak=0.1, warm=5, total=20):
        cosine = 0.5 * peak * (1 + jnp.cos(jnp.pi * (step - warm) / (total - warm)))
        return jnp.where(step < warm, peak * step / warm, cosine)

    def clip(grads, longest):
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in lib.tree.leaves(grads)))
        shrink = jnp.minimum(1.0, longest / (norm + 1e-6))
        return lib.tree.map(lambda g: g * shrink, grads), norm

    @lib.jit
    def step(i, params, average):
        loss = lambda p: jnp.sum((p["w"] @ p["v"] - 1) ** 2)
        grads, norm = clip(lib.grad(loss)(params), 1.0)
        params = lib.tree.map(lambda p, g: p - rate(i) * g, params, grads)
        average = lib.tree.map(lambda a, p: 0.99 * a + 0.01 * p, average, params)
        return params, average, norm

    params = {"w": jnp.ones((3, 2)) * 2, "v": jnp.array([1.0, 3.0])}
    average = lib.tree.map(jnp.copy, params)
    for i in range(6):
        params, average, norm = step(i, params, average)
    return params, average, norm, lib.vmap(rate)(jnp.arange(20)), rate(3)


def trace_by_probes(lib):
    jnp = lib.numpy
    a = jnp.arange(16.0).reshape(4, 4)
    f = lambda x: 0.5 * x @ (a + a.T) @ x + jnp.sum(jnp.cos(x))
    product = lambda x, v: lib.jvp(lib.grad(f), (x,), (v,))[1]
    x = jnp.ones(4)
    probes = lib.random.rademacher(lib.random.key(0), (10, 4), dtype=jnp.float32)
    estimates = lib.vmap(lambda v: v @ product(x, v))(probes)
    _, linear = lib.linearize(lib.grad(f), x)
    return (
        estimates.mean(),
        jnp.trace(lib.hessian(f)(x)),
        lib.vmap(linear)(jnp.eye(4)),
        lib.vmap(product, (None, 0))(x, probes[:2]),
    )


def roots(lib):
    jnp = lib.numpy

    def bisect(f, low, high, steps=20):
        for _ in range(steps):
            middle = (low + high) / 2
            left = jnp.sign(f(low)) * jnp.sign(f(middle)) <= 0
            low, high = jnp.where(left, low, middle), jnp.where(left, middle, high)
        return (low + high) / 2

    def secant(f, x, y):
        while abs(y - x) > 1e-4:
            x, y = y, y - f(y) * (y - x) / (f(y) - f(x))
        return y

    system = lib.jit(lambda v: jnp.array([v[0] ** 2 + v[1] ** 2 - 4, v[0] * v[1] - 1]))
    v = jnp.array([2.0, 0.5])
    for _ in range(4):
        (a, b), (c, d) = lib.jacobian(system)(v).tolist()
        r = system(v)
        v = v - jnp.array([d * r[0] - b * r[1], a * r[1] - c * r[0]]) / (a * d - b * c)
    return (
        lib.jit(bisect, static_argnums=0)(lambda x: x**3 - x - 2, 1.0, 2.0),
        lib.vmap(lambda c: bisect(lambda x: x**2 - c, 0.0, 3.0))(jnp.arange(1.0, 5.0)),
        secant(lambda x: x * x - 2, 1.0, 2.0),
        v,
    )


def physics_informed_network(lib):
    jnp = lib.numpy
    keys, sizes = lib.random.split(lib.random.key(0), 3), [1, 8, 8, 1]
    params = [
        (lib.random.normal(key, (m, n)) / n**0.5, jnp.zeros(m))
        for key, (n, m) in zip(keys, itertools.pairwise(sizes), strict=True)
    ]

    def network(params, x):
        h = jnp.array([x])
        for w, b in params[:-1]:
            h = jnp.tanh(w @ h + b)
        return (params[-1][0] @ h + params[-1][1])[0]

    def loss(params):
        x = jnp.linspace(0, 1, 9)
        curvature = lib.grad(lib.grad(network, 1), 1)
        rest = lib.vmap(curvature, (None, 0))(params, x)
        rest = rest + jnp.pi**2 * jnp.sin(jnp.pi * x)
        return jnp.mean(rest**2) + network(params, 0.0) ** 2 + network(params, 1.0) ** 2

    return lib.jit(lib.value_and_grad(loss))(params)


def methods_and_partials(lib):
    jnp = lib.numpy

    class Model:
        def __init__(self, factor):
            self.factor = factor

        @functools.partial(lib.jit, static_argnums=(0,), static_argnames=("power",))
        def predict(self, w, x, power=1):
            return jnp.tanh(x @ w) ** power * self.factor

        @staticmethod
        @lib.jit
        def loss(a, b):
            return jnp.abs(a - b).sum()

        def slope(self, w, x, y):
            return lib.grad(lambda w: self.loss(self.predict(w, x), y))(w)

    model, x, w = Model(2), jnp.ones((3, 2)), jnp.array([0.1, 0.2])
    partial = lib.tree_util.Partial(lambda a, x: a * x, jnp.array(2.0))
    return (
        model.predict(w, x),
        model.predict(w, x, power=2),
        model.slope(w, x, jnp.zeros(3)),
        lib.jit(lambda f, x: f(x))(partial, 3.0),
        lib.jit(functools.partial(lambda x, n: x**n, n=3))(2.0),
        [lib.jit(f)(0.5) for f in (jnp.sin, functools.partial(jnp.add, 1))],
    )


def records_as_trees(lib):
    jnp = lib.numpy
    fields = {"data_fields": ["place", "speed"], "meta_fields": ["mass"]}

    @functools.partial(lib.tree_util.register_dataclass, **fields)
    @dataclasses.dataclass(frozen=True)
    class Body:
        place: lib.Array
        speed: lib.Array
        mass: float = 1.0

        @property
        def energy(self):
            return 0.5 * (self.mass * (self.speed**2).sum() + (self.place**2).sum())

        def step(self, dt):
            speed = self.speed - dt * self.place / self.mass
            return dataclasses.replace(self, place=self.place + dt * speed, speed=speed)

    Moments = collections.namedtuple("Moments", "mean var")
    body = Body(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]), 2.0)
    for _ in range(3):
        body = lib.jit(Body.step)(body, 0.1)
    batch = lib.vmap(lambda p: Body(p, p).energy)(jnp.ones((3, 2)))
    paths = [
        lib.tree_util.keystr(path)
        for path, _ in lib.tree_util.tree_flatten_with_path({"body": [body]})[0]
    ]
    moments = lib.jit(lambda x: Moments(x.mean(), x.var()))(jnp.arange(4.0))
    slope = lib.grad(lambda b: b.energy)(body)
    return body, slope, body.mass, batch, paths, moments, type(moments).__name__


def conversions(lib):
    jnp = lib.numpy
    x, i = jnp.linspace(0, 1, 4), jnp.array(3)
    first, *rest = x
    buffer = np.zeros(4)
    buffer[:] = x
    buffer[0] = x[1]
    return (
        [
            float(x[1]),
            int(i),
            bool(i),
            complex(x[1]),
            i.item(),
            x.tolist(),
            list(range(i)),
        ],
        "%d %.2f %s" % (i, x[1], i),  # noqa: UP031
        f"{x} {i:03d} {x[2]:.3f} {x!r}",
        [math.sqrt(x[3]), math.floor(jnp.array(2.7)), [1, 2, 3, 4][i], "a" * i],
        [
            np.asarray(x),
            np.array(x, dtype=float),
            np.stack([x, x]),
            np.array([x[0], x[1]]),
        ],
        [np.ones(4) * x, x * np.float64(2), np.float32(2) * x, np.ones(4) @ x],
        [len(x), max(x), sum(x), 3 in jnp.arange(4), i == 3, first, rest],
        [
            np.allclose(x, np.linspace(0, 1, 4)),
            np.median(x),
            np.percentile(x, 30),
            buffer,
        ],
        lib.tree.map(lambda a: a.astype("float16"), {"x": x}),
    )


def saved_and_copied(lib):
    jnp = lib.numpy
    params = {"w": jnp.ones((2, 3)), "b": jnp.zeros(3, jnp.int32)}
    file = io.BytesIO()
    np.savez(file, **params)
    file.seek(0)
    text = io.StringIO()
    np.savetxt(text, params["w"], delimiter=",", fmt="%.2f")
    half = jnp.ones(2, jnp.bfloat16)
    return (
        {name: jnp.asarray(value) for name, value in np.load(file).items()},
        text.getvalue(),
        pickle.loads(pickle.dumps([params, half])),
        copy.deepcopy(params),
        copy.copy(half),
        lib.device_get(params),
        lib.device_put(params),
    )


def hamiltonian_monte_carlo(lib):
    jnp = lib.numpy
    potential = lambda q: 0.5 * jnp.sum(q**2 / jnp.array([1.0, 4.0]))
    energy = lambda q, p: potential(q) + 0.5 * p @ p

    @functools.partial(lib.jit, static_argnames="steps")
    def propose(key, start, eps=0.1, steps=5):
        kick, choose = lib.random.split(key)
        first = lib.random.normal(kick, start.shape)
        q, p = start, first - eps / 2 * lib.grad(potential)(start)
        for i in range(steps):
            q += eps * p
            p -= (eps if i < steps - 1 else eps / 2) * lib.grad(potential)(q)
        odds = jnp.exp(energy(start, first) - energy(q, p))
        taken = lib.random.uniform(choose) < odds
        return jnp.where(taken, q, start), taken

    q, count = jnp.zeros(2), 0
    for key in lib.random.split(lib.random.PRNGKey(1), 5):
        q, taken = propose(key, q)
        count += taken
    return q, count
