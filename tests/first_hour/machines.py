"""Programs whose loops decide: hashes, searches, events, chances, rules of one's own.

As in `programs`, each takes the library (`jax` or `imprint`) and returns its results,
derivatives included. They follow well-known examples and tutorials of JAX.
"""

import functools
import hashlib
from typing import Any, NamedTuple

import numpy as np
import scipy.special


def _roots(primes, power, bits=2**32):
    return np.array([int((p**power % 1) * bits) for p in primes], np.uint32)


def secure_hash(lib):
    """SHA-256, whose words wrap around, in three scans; hashlib says the same."""
    jnp, lax = lib.numpy, lib.lax
    primes = [p for p in range(2, 312) if all(p % q for q in range(2, p))]
    constants, start = _roots(primes, 1 / 3), _roots(primes[:8], 1 / 2)
    turn = lambda x, n: (x >> np.uint32(n)) | (x << np.uint32(32 - n))

    def extend(w, _):
        low = turn(w[1], 7) ^ turn(w[1], 18) ^ (w[1] >> np.uint32(3))
        high = turn(w[14], 17) ^ turn(w[14], 19) ^ (w[14] >> np.uint32(10))
        return jnp.append(w[1:], w[0] + low + w[9] + high), w[0]

    def mix(state, now):
        a, b, c, d, e, f, g, h = state
        constant, word = now
        chosen = (e & f) ^ (~e & g)
        first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + chosen + constant + word
        most = (a & b) ^ (a & c) ^ (b & c)
        second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + most
        return jnp.stack([first + second, a, b, c, d + first, e, f, g]), None

    @lib.jit
    def digest(blocks):
        def absorb(state, block):
            _, words = lax.scan(extend, block, None, length=64)
            return state + lax.scan(mix, state, (constants, words))[0], None

        return lax.scan(absorb, jnp.asarray(start), blocks)[0]

    text = b"the loops of the programs " * 5
    zeros = b"\0" * ((55 - len(text)) % 64)
    padded = text + b"\x80" + zeros + (8 * len(text)).to_bytes(8, "big")
    blocks = np.frombuffer(padded, ">u4").astype(np.uint32).reshape(-1, 16)
    found = digest(blocks)
    same = np.asarray(found).astype(">u4").tobytes() == hashlib.sha256(text).digest()
    return found, same


def queens(lib):
    """Count the solutions of the queens puzzle: a backtracking search, as a while_loop."""
    jnp, lax = lib.numpy, lib.lax

    class Board(NamedTuple):
        columns: Any
        left: Any
        right: Any
        free: Any

    @functools.partial(lib.jit, static_argnums=0)
    def count(n):
        full = (1 << n) - 1

        def place(board, depth, found):
            free = board.free[depth]
            queen = free & -free
            rest = lax.dynamic_update_index_in_dim(board.free, free ^ queen, depth, 0)
            columns = board.columns[depth] | queen
            left = (board.left[depth] | queen) << 1
            right = (board.right[depth] | queen) >> 1
            row = Board(columns, left, right, full & ~(columns | left | right))
            done = columns == full
            deeper = jnp.where(done, depth, depth + 1)
            board = lib.tree.map(
                lambda old, new: jnp.where(jnp.arange(n) == depth + 1, new, old),
                board._replace(free=rest),
                row,
            )
            return board, deeper, found + done

        def step(state):
            board, depth, found = state
            back = lambda board, depth, found: (board, depth - 1, found)
            return lax.cond(board.free[depth] == 0, back, place, board, depth, found)

        none = jnp.zeros(n, jnp.int32)
        first = jnp.where(jnp.arange(n) == 0, full, 0)
        state = (Board(none, none, none, first), 0, 0)
        return lax.while_loop(lambda state: state[1] >= 0, step, state)[2]

    return count(4), count(6)


def bouncing_ball(lib):
    """A ball whose bounces are found by halving the step; and their derivatives."""
    jnp, lax = lib.numpy, lib.lax

    class Ball(NamedTuple):
        height: Any
        speed: Any
        bounces: Any

    def fall(ball, dt):
        height = ball.height + dt * ball.speed - 4.9 * dt**2
        return ball._replace(height=height, speed=ball.speed - 9.8 * dt)

    def bounce(ball, keeps, dt):
        def halve(_, bounds):
            low, high = bounds
            middle = (low + high) / 2
            below = fall(ball, middle).height < 0
            return jnp.where(below, low, middle), jnp.where(below, middle, high)

        hit = lax.fori_loop(0, 12, halve, (0.0, dt))[0]
        down = fall(ball, hit)
        up = Ball(down.height, -keeps * down.speed, down.bounces + 1)
        return fall(up, dt - hit)

    def simulate(keeps, height, steps=20):
        def step(ball, _):
            after = fall(ball, 0.05)
            hit = lambda ball: bounce(ball, keeps, 0.05)
            ball = lax.cond(after.height < 0, hit, lambda _: after, ball)
            return ball, ball.height

        return lax.scan(step, Ball(height, 0.0, 0), None, length=steps)

    mean_height = lambda keeps, height: simulate(keeps, height)[1].mean()
    return (
        lib.jit(simulate, static_argnums=2)(0.8, 1.0, 30),
        lib.jit(lib.grad(mean_height, (0, 1)))(0.8, 1.0),
        lib.vmap(lambda keeps: simulate(keeps, 1.0)[0])(jnp.linspace(0.3, 0.9, 4)),
    )


def chemical_reactions(lib):
    """Gillespie's algorithm: waits and choices by chance, until a time is over."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random
    changes = jnp.array([[1, 0], [-1, 1], [0, -1]])

    def react(state):
        t, amounts, key, count = state
        key, wait, choose = random.split(key, 3)
        a, b = amounts
        rates = jnp.stack([5.0, 0.1 * a * (b + 1), 0.5 * b])
        t = t + random.exponential(wait) / rates.sum()
        chosen = random.categorical(choose, jnp.log(rates))
        return t, amounts + changes[chosen], key, count + 1

    def simulate(key, amounts, end):
        unfinished = lambda state: (state[0] < end) & (state[3] < 60)
        t, amounts, _, count = lax.while_loop(unfinished, react, (0.0, amounts, key, 0))
        return t, amounts, count

    keys = random.split(random.key(0), 5)
    run = lib.jit(lib.vmap(simulate, in_axes=(0, None, None)))
    return run(keys, jnp.array([10, 5]), 2.0)


def spiking_neurons(lib):
    """Neurons that spike, with a smooth derivative for the jump: custom_jvp in a scan."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random

    @lib.custom_jvp
    def spike(v):
        return (v > 0).astype(v.dtype)

    spike.defjvps(lambda t, _, v: t / (1 + 10 * jnp.abs(v)) ** 2)

    def network(weights, xs):
        def step(carry, x):
            hidden, out = carry
            fired = spike(hidden - 1.0)
            hidden = 0.9 * hidden * (1 - fired) + weights[0] @ x
            last = spike(out - 1.0)
            return (hidden, 0.8 * out + weights[1] @ fired - last), last

        return lax.scan(step, (jnp.zeros(5), jnp.zeros(2)), xs)[1].mean(axis=0)

    k1, k2, k3 = random.split(random.key(0), 3)
    weights = [random.normal(k1, (5, 3)), random.normal(k2, (2, 5))]
    xs = random.bernoulli(k3, 0.4, (4, 12, 3)).astype(jnp.float32)
    rates = lambda weights: lib.vmap(network, (None, 0))(weights, xs)
    loss = lambda weights: jnp.mean((rates(weights) - 0.3) ** 2)
    return lib.jit(lib.value_and_grad(loss))(weights), lib.jvp(
        loss, (weights,), (weights,)
    )


def distances_of_sequences(lib):
    """Edit distance and soft time warping: scans in scans, to second derivatives."""
    jnp, lax = lib.numpy, lib.lax

    def table(first_row, begin, cell, rows, columns):
        def next_row(row, x):
            def next_cell(carry, inputs):
                left, corner = carry
                y, above = inputs
                value = cell(x, y, left, above, corner)
                return (value, above), value

            first = begin(row[0])
            _, rest = lax.scan(next_cell, (first, row[0]), (columns, row[1:]))
            return jnp.concatenate([first[None], rest]), None

        return lax.scan(next_row, first_row, rows)[0][-1]

    def edits(a, b):
        least = lambda x, y, left, above, corner: jnp.minimum(
            jnp.minimum(left, above) + 1, corner + (x != y)
        )
        return table(jnp.arange(len(b) + 1), lambda x: x + 1, least, a, b)

    def warping(a, b):
        far = jnp.float32(1e6)

        def least(x, y, left, above, corner):
            soft = lib.nn.logsumexp(-10.0 * jnp.stack([left, above, corner])) / 10.0
            return (x - y) ** 2 - soft

        row = jnp.concatenate([jnp.zeros(1), jnp.full(len(b), far)])
        return table(row, lambda _: far, least, a, b)

    a, b = jnp.array([1, 3, 2, 4, 4, 1]), jnp.array([3, 2, 1, 4, 1])
    x, y = jnp.sin(jnp.arange(6.0)), jnp.cos(jnp.arange(5.0))
    return (
        lib.jit(edits)(a, b),
        lib.vmap(edits, (None, 0))(a, jnp.stack([b, b[::-1]])),
        lib.jit(lib.value_and_grad(warping, (0, 1)))(x, y),
        lib.hessian(warping)(x, y),
    )


def calculator(lib):
    """A machine of four instructions, by switch in a scan, and its derivatives."""
    jnp, lax = lib.numpy, lib.lax
    instructions = [
        lambda total, x: total + x,
        lambda total, x: total - x,
        lambda total, x: total * x,
        lambda total, x: jnp.where(x == 0, total, total / jnp.where(x == 0, 1.0, x)),
    ]

    def run(codes, numbers, total):
        def step(total, now):
            code, x = now
            return lax.switch(code, instructions, total, x), total

        return lax.scan(step, total, (codes, numbers))

    codes = jnp.array([0, 2, 1, 3, 7, -2])
    numbers = jnp.array([1.0, 2.0, 3.0, 4.0, 0.0, 1.0])
    last = lambda codes, numbers, total: run(codes, numbers, total)[0]
    return (
        lib.jit(run)(codes, numbers, 2.0),
        lib.jit(lib.grad(last, (1, 2)))(codes, numbers, 2.0),
        lib.vmap(run, (0, None, None))(jnp.stack([codes, codes[::-1]]), numbers, 1.0),
    )


def bessel_functions(lib):
    """SciPy's function by a callback, with a rule for it: mapped, nested, in a scan."""
    jnp, lax = lib.numpy, lib.lax

    def host(order, z):
        return np.asarray(scipy.special.jv(order, z)).astype(z.dtype)

    @functools.partial(lib.custom_jvp, nondiff_argnums=(0,))
    def bessel(order, z):
        z = jnp.asarray(z, jnp.float32)
        out = lib.ShapeDtypeStruct(z.shape, z.dtype)
        call = functools.partial(host, order)
        return lib.pure_callback(call, out, z, vmap_method="broadcast_all")

    @bessel.defjvp
    def _(order, primals, tangents):
        (z,), (z_dot,) = primals, tangents
        slope = 0.5 * (bessel(order - 1, z) - bessel(order + 1, z))
        return bessel(order, z), slope * z_dot

    first = functools.partial(bessel, 1)
    zs = jnp.linspace(0.0, 5.0, 6)
    total = lambda total, z: (total + first(z), lib.grad(first)(z))
    return (
        first(zs),
        lib.vmap(lib.grad(first))(zs),
        lib.jit(lib.vmap(lib.hessian(first)))(zs),
        lax.scan(total, jnp.float32(0), zs),
    )
