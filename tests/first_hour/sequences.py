"""Programs that go through time in loops: filters, simulations, control, layers.

As in `programs`, each takes the library (`jax` or `imprint`) and returns its results,
derivatives included. They follow well-known examples and tutorials of JAX.
"""

import functools
from typing import Any, NamedTuple


class Belief(NamedTuple):
    mean: Any
    cov: Any


def _inverse(jnp, m):
    (a, b), (c, d) = m
    return jnp.array([[d, -b], [-c, a]]) / (a * d - b * c)


def kalman_smoother(lib):
    """A Kalman filter forwards, a smoother backwards, and the slope of the likelihood."""
    jnp, lax = lib.numpy, lib.lax

    def filtered(params, seen):
        move = jnp.array([[1.0, params["dt"]], [0.0, 1.0]])
        process = jnp.exp(params["process"]) * jnp.eye(2)
        noise = jnp.exp(params["noise"])

        def step(belief, y):
            mean = move @ belief.mean
            cov = move @ belief.cov @ move.T + process
            spread = cov[0, 0] + noise
            gain = cov[:, 0] / spread
            wrong = y - mean[0]
            after = Belief(mean + gain * wrong, cov - jnp.outer(gain, cov[0]))
            log_p = -0.5 * (wrong**2 / spread + jnp.log(2 * jnp.pi * spread))
            return after, (after, Belief(mean, cov), log_p)

        start = Belief(jnp.zeros(2), jnp.eye(2))
        _, (after, before, log_p) = lax.scan(step, start, seen)
        return move, after, before, log_p.sum()

    @lib.jit
    def smoothed(params, seen):
        move, after, before, _ = filtered(params, seen)

        def step(later, both):
            now, predicted = both
            gain = now.cov @ move.T @ _inverse(jnp, predicted.cov)
            mean = now.mean + gain @ (later.mean - predicted.mean)
            cov = now.cov + gain @ (later.cov - predicted.cov) @ gain.T
            return Belief(mean, cov), Belief(mean, cov)

        last = lib.tree.map(lambda x: x[-1], after)
        earlier = lib.tree.map(lambda x: x[:-1], after)
        predicted = lib.tree.map(lambda x: x[1:], before)
        return lax.scan(step, last, (earlier, predicted), reverse=True)[1]

    params = {"dt": 0.5, "process": -2.0, "noise": -1.0}
    params = lib.tree.map(jnp.asarray, params)
    seen = jnp.sin(jnp.arange(24.0).reshape(3, 8))
    likelihood = lambda p, y: filtered(p, y)[-1]
    slopes = lib.jit(lib.vmap(lib.value_and_grad(likelihood), (None, 0)))(params, seen)
    return lib.vmap(smoothed, (None, 0))(params, seen), slopes


def _riccati(lax, end, expansion):
    def step(carry, now):
        vx, vxx = carry
        fx, fu, cx, cu, cxx, cxu, cuu = now
        qx, qu = cx + fx.T @ vx, cu + fu.T @ vx
        qxx = cxx + fx.T @ vxx @ fx
        quu = cuu + fu.T @ vxx @ fu
        qux = cxu.T + fu.T @ vxx @ fx
        k, gain = -qu / quu[0, 0], -qux / quu[0, 0]
        vx = qx + gain.T @ quu @ k + gain.T @ qu + qux.T @ k
        vxx = qxx + gain.T @ quu @ gain + gain.T @ qux + qux.T @ gain
        return (vx, vxx), (k, gain)

    return lax.scan(step, end, expansion, reverse=True)[1]


def trajectory_optimization(lib):
    """Iterative LQR of a pendulum: rollouts and Riccati steps are scans."""
    jnp, lax = lib.numpy, lib.lax

    def dynamics(x, u):
        angle, speed = x
        speed = speed + 0.1 * (jnp.sin(angle) + u[0] - 0.1 * speed)
        return jnp.array([angle + 0.1 * speed, speed])

    cost = lambda x, u: 0.5 * jnp.sum(x**2) + 0.05 * jnp.sum(u**2)

    def rollout(x0, us):
        def step(x, u):
            return dynamics(x, u), (x, cost(x, u))

        last, (xs, costs) = lax.scan(step, x0, us)
        return xs, costs.sum() + 10.0 * jnp.sum(last**2), last

    def gains(xs, us, last):
        fx, fu = lib.vmap(lib.jacfwd(dynamics, (0, 1)))(xs, us)
        cx, cu = lib.vmap(lib.grad(cost, (0, 1)))(xs, us)
        (cxx, cxu), (_, cuu) = lib.vmap(lib.hessian(cost, (0, 1)))(xs, us)

        end = (20.0 * last, 20.0 * jnp.eye(2))
        return _riccati(lax, end, (fx, fu, cx, cu, cxx, cxu, cuu))

    def improve(_, state):
        x0, us, best = state
        xs, _, last = rollout(x0, us)
        ks, gain = gains(xs, us, last)

        def candidate(alpha):
            def step(x, now):
                old, u, k, gain = now
                u = u + alpha * k + gain @ (x - old)
                return dynamics(x, u), u

            new = lax.scan(step, x0, (xs, us, ks, gain))[1]
            return new, rollout(x0, new)[1]

        tried, costs = lax.map(candidate, jnp.array([1.0, 0.5, 0.1]))
        chosen = jnp.argmin(costs)
        us = lax.cond(costs[chosen] < best, lambda: tried[chosen], lambda: us)
        return x0, us, jnp.minimum(best, costs[chosen])

    @lib.jit
    def optimize(x0):
        us = jnp.zeros((12, 1))
        return lax.fori_loop(0, 3, improve, (x0, us, rollout(x0, us)[1]))

    return optimize(jnp.array([1.0, 0.0]))


def ctc_loss(lib):
    """How likely a sequence of labels is, over all alignments to longer logits."""
    jnp, lax = lib.numpy, lib.lax
    never = -1e5

    def loss(logits, frames, labels, length):
        log_p = lib.nn.log_softmax(logits)
        size = 2 * len(labels) + 1
        extended = jnp.zeros(size, labels.dtype)
        extended = jnp.where(
            jnp.arange(size) % 2 == 1,
            jnp.repeat(labels, 2, total_repeat_length=size),
            0,
        )
        emit = log_p @ lib.nn.one_hot(extended, logits.shape[-1]).T
        skips = (extended != 0) & (extended != jnp.roll(extended, 2))
        skips = skips & (jnp.arange(size) >= 2)

        def shifted(alpha, by):
            return jnp.concatenate([jnp.full(by, never), alpha[:-by]])

        def step(alpha, inputs):
            here, alive = inputs
            ways = jnp.stack(
                [alpha, shifted(alpha, 1), jnp.where(skips, shifted(alpha, 2), never)]
            )
            new = lib.nn.logsumexp(ways, axis=0) + here
            return jnp.where(alive, new, alpha), None

        first = jnp.where(jnp.arange(size) < 2, emit[0], never)
        alive = jnp.arange(1, len(logits)) < frames
        last, _ = lax.scan(step, first, (emit[1:], alive))
        end = 2 * length
        return -jnp.logaddexp(last[end], last[end - 1])

    logits = lib.random.normal(lib.random.key(0), (3, 9, 5))
    labels = jnp.array([[1, 2, 2], [3, 1, 0], [4, 4, 4]])
    frames, lengths = jnp.array([9, 6, 9]), jnp.array([3, 2, 3])
    batched = lib.vmap(lib.value_and_grad(loss))
    return lib.jit(batched)(logits, frames, labels, lengths)


def state_space_layers(lib):
    """A linear recurrence of complex states by associative_scan, and by scan."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random

    def combine(first, second):
        (a, x), (b, y) = first, second
        return a * b, b * x + y

    def layer(params, us, parallel):
        rate = jnp.exp(-jnp.exp(params["decay"]) + 1j * params["turn"])
        drive = us @ params["b"]
        if parallel:
            rates = jnp.broadcast_to(rate, drive.shape)
            _, states = lax.associative_scan(combine, (rates, drive))
        else:
            step = lambda x, u: (rate * x + u, rate * x + u)
            _, states = lax.scan(step, jnp.zeros_like(drive[0]), drive)
        return jnp.real(states @ params["c"]) + us * params["d"]

    def loss(params, us, parallel):
        out = lib.vmap(lambda u: layer(params, u, parallel))(us)
        return jnp.mean(lib.nn.gelu(out) ** 2)

    k1, k2, k3, k4 = random.split(random.key(0), 4)
    params = {
        "decay": jnp.linspace(-2.0, 0.0, 5),
        "turn": jnp.linspace(0.0, 3.0, 5),
        "b": random.normal(k1, (2, 5)).astype(jnp.complex64),
        "c": random.normal(k2, (5, 2)) + 1j * random.normal(k3, (5, 2)),
        "d": jnp.ones(2),
    }
    us = random.normal(k4, (3, 11, 2))
    both = lib.jit(lib.value_and_grad(loss), static_argnums=2)
    return both(params, us, True), both(params, us, False)


def viterbi(lib):
    """The likeliest path of a hidden chain: forwards by scan, and back by indices."""
    jnp, lax = lib.numpy, lib.lax
    k1, k2, k3 = lib.random.split(lib.random.key(4), 3)
    move = lib.nn.log_softmax(lib.random.normal(k1, (4, 4)))
    emit = lib.nn.log_softmax(lib.random.normal(k2, (4, 6)))
    seen = lib.random.randint(k3, (9,), 0, 6)

    @lib.jit
    def decode(seen):
        def forwards(score, symbol):
            through = score[:, None] + move
            return through.max(axis=0) + emit[:, symbol], through.argmax(axis=0)

        score, pointers = lax.scan(forwards, emit[:, seen[0]], seen[1:])
        last = jnp.argmax(score)

        def backwards(state, pointer):
            before = pointer[state]
            return before, before

        _, path = lax.scan(backwards, last, pointers, reverse=True)
        return jnp.append(path, last), score.max()

    return decode(seen)


def neural_ode_with_checkpoints(lib):
    """Runge and Kutta's steps in a scan that remembers only where each began."""
    jnp, lax = lib.numpy, lib.lax

    def field(params, y):
        for w in params[:-1]:
            y = jnp.tanh(w @ y)
        return params[-1] @ y

    def step(params, y, dt):
        k1 = field(params, y)
        k2 = field(params, y + dt / 2 * k1)
        k3 = field(params, y + dt / 2 * k2)
        k4 = field(params, y + dt * k3)
        return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def solve(params, y0, dts, wrap):
        @wrap
        def body(y, dt):
            y = step(params, y, dt)
            return y, y

        return lax.scan(body, y0, dts)[1]

    keys = lib.random.split(lib.random.key(3), 2)
    shapes = [(6, 2), (2, 6)]
    params = [lib.random.normal(k, s) / 2 for k, s in zip(keys, shapes, strict=True)]
    dts = jnp.full(8, 0.25)
    dots = lib.checkpoint_policies.dots_saveable
    wraps = [
        lambda f: f,
        lib.checkpoint,
        functools.partial(lib.checkpoint, policy=dots, prevent_cse=False),
    ]

    def loss(params, y0, wrap):
        return jnp.sum(lib.vmap(lambda y: solve(params, y, dts, wrap))(y0) ** 2)

    y0 = jnp.array([[1.0, 0.0], [0.0, 1.0], [0.5, -0.5]])
    return [
        lib.jit(lib.value_and_grad(functools.partial(loss, wrap=wrap), (0, 1)))(
            params, y0
        )
        for wrap in wraps
    ]


def lyapunov_exponents(lib):
    """How fast neighbours of an orbit part: tangents carried along by jvp in a scan."""
    jnp, lax = lib.numpy, lib.lax

    def lorenz(s):
        x, y, z = s
        return jnp.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    def step(s, dt=0.01):
        k1 = lorenz(s)
        k2 = lorenz(s + dt / 2 * k1)
        k3 = lorenz(s + dt / 2 * k2)
        return s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + lorenz(s + dt * k3))

    def orthonormal(q):
        def project(done, i):
            v = q[i] - done.T @ (done @ q[i])
            length = jnp.sqrt(v @ v)
            return lax.dynamic_update_index_in_dim(done, v / length, i, 0), length

        return lax.scan(project, jnp.zeros_like(q), jnp.arange(len(q)))

    @lib.jit
    def exponents(s):
        def body(carry, _):
            s, q = carry
            push = lambda v: lib.jvp(step, (s,), (v,))[1]
            q, lengths = orthonormal(lib.vmap(push)(q))
            return (step(s), q), jnp.log(lengths)

        (s, q), logs = lax.scan(body, (s, jnp.eye(3)), None, length=20)
        return s, q, logs.sum(axis=0)

    return exponents(jnp.array([1.0, 2.0, 20.0]))


def pooled_convolution(lib):
    """A small network of images by hand: shifted products, pooling by reduce_window."""
    jnp, lax = lib.numpy, lib.lax

    def convolve(image, kernel):
        height, width = image.shape[0] - 2, image.shape[1] - 2

        def add(total, place):
            i, j = place // 3, place % 3
            part = lax.dynamic_slice(image, (i, j), (height, width))
            return total + part * kernel[i, j], None

        return lax.scan(add, jnp.zeros((height, width)), jnp.arange(9))[0]

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID")

    def mean_pool(x):
        return lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "SAME") / 4.0

    def loss(kernels, images):
        layer = lambda image: lib.vmap(lambda k: convolve(image, k))(kernels)
        out = lib.vmap(lambda image: lib.vmap(pool)(lib.nn.relu(layer(image))))(images)
        return jnp.mean(lib.vmap(lib.vmap(mean_pool))(out) ** 2)

    kernels = lib.random.normal(lib.random.key(0), (2, 3, 3))
    images = lib.random.normal(lib.random.key(1), (3, 8, 8))
    return lib.jit(lib.value_and_grad(loss, (0, 1)))(kernels, images)
