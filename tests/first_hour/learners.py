"""Programs that learn or draw in loops: training, samplers, keys carried from step to step.

As in `programs`, each takes the library (`jax` or `imprint`) and returns its results,
derivatives included. They follow well-known examples and tutorials of JAX.
"""

import functools


def lstm_trained_in_loops(lib):
    """A recurrent network: scan over time, scan over steps, all in one jit."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random

    def cell(params, carry, x):
        h, c = carry
        gates = jnp.concatenate([x, h]) @ params["w"] + params["b"]
        i, f, g, o = jnp.split(gates, 4)
        c = lib.nn.sigmoid(f + 1.0) * c + lib.nn.sigmoid(i) * jnp.tanh(g)
        h = lib.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def predict(params, xs):
        start = (jnp.zeros(8), jnp.zeros(8))
        _, hs = lax.scan(functools.partial(cell, params), start, xs)
        return hs @ params["out"]

    def loss(params, batch):
        xs, ys = batch
        return jnp.mean((lib.vmap(predict, (None, 0))(params, xs)[..., 0] - ys) ** 2)

    @lib.jit
    def train(params, batches):
        def step(params, batch):
            value, grads = lib.value_and_grad(loss)(params, batch)
            return lib.tree.map(lambda p, g: p - 0.3 * g, params, grads), value

        return lax.scan(step, params, batches)

    k1, k2, k3 = random.split(random.key(0), 3)
    params = {
        "w": 0.3 * random.normal(k1, (9, 32)),
        "b": jnp.zeros(32),
        "out": 0.3 * random.normal(k2, (8, 1)),
    }
    phase = random.uniform(k3, (6, 4, 1), maxval=6.0)
    waves = jnp.sin(phase + 0.5 * jnp.arange(10))
    params, losses = train(params, (waves[..., :-1, None], waves[..., 1:]))
    return params, losses


def hmc_chains(lib):
    """Hamiltonian Monte Carlo: leapfrog in a fori_loop, chains side by side."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random
    precision = jnp.array([[2.0, 0.6], [0.6, 1.0]])

    def log_density(q):
        return -0.5 * q @ precision @ q - 0.1 * jnp.sum(q**4)

    def leapfrog(q, p, eps, count):
        def body(_, state):
            q, p = state
            q = q + eps * p
            return q, p + eps * lib.grad(log_density)(q)

        p = p + 0.5 * eps * lib.grad(log_density)(q)
        q, p = lax.fori_loop(0, count - 1, body, (q, p))
        q = q + eps * p
        return q, p + 0.5 * eps * lib.grad(log_density)(q)

    def transition(state, key):
        q, accepted = state
        kick, choose = random.split(key)
        p = random.normal(kick, q.shape)
        new, back = leapfrog(q, p, 0.2, 7)
        log_odds = log_density(new) - 0.5 * back @ back - log_density(q) + 0.5 * p @ p
        yes = jnp.log(random.uniform(choose)) < log_odds
        state = lax.cond(yes, lambda: (new, accepted + 1), lambda: (q, accepted))
        return state, state[0]

    @lib.jit
    def sample(key, start):
        keys = random.split(key, 15)
        return lax.scan(transition, (start, 0), keys)

    starts = random.normal(random.key(1), (4, 2))
    (_, accepted), draws = lib.vmap(sample)(random.split(random.key(0), 4), starts)
    return accepted, draws


def ising_temperatures(lib):
    """Metropolis on a checkerboard, many temperatures at once, with keys in the loop."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random
    rows, columns = jnp.mgrid[0:6, 0:6]
    even = (rows + columns) % 2 == 0

    def update(spins, key, beta, mask):
        around = sum(
            jnp.roll(spins, shift, axis) for shift in (1, -1) for axis in (0, 1)
        )
        odds = jnp.exp(-2.0 * beta * spins * around)
        flipped = (random.uniform(key, spins.shape) < odds) & mask
        return jnp.where(flipped, -spins, spins)

    def sweep(i, state, beta):
        spins, key = state
        first, second = random.split(random.fold_in(key, i))
        spins = update(spins, first, beta, even)
        return update(spins, second, beta, ~even), key

    @lib.jit
    def simulate(key, beta):
        spins = jnp.where(random.bernoulli(key, shape=(6, 6)), 1, -1)

        def measure(carry, _):
            body = functools.partial(sweep, beta=beta)
            spins, key = lax.fori_loop(0, 4, body, carry)
            key, _ = random.split(key)
            return (spins, key), jnp.abs(spins.mean())

        (spins, _), means = lax.scan(measure, (spins, key), None, length=5)
        return spins, means

    betas = jnp.linspace(0.1, 0.9, 4)
    return lib.vmap(simulate)(random.split(random.PRNGKey(0), 4), betas)


def _denoise(lib, params, x, t):
    jnp = lib.numpy
    h = jnp.concatenate([x, jnp.stack([jnp.sin(0.5 * t), jnp.cos(0.5 * t)])])
    for w, b in params[:-1]:
        h = lib.nn.silu(h @ w + b)
    w, b = params[-1]
    return h @ w + b


def diffusion_model(lib):
    """A denoiser trained by a scan over keys; sampling goes backwards in a fori_loop."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random
    betas = jnp.linspace(1e-3, 0.2, 10)
    kept = jnp.cumprod(1.0 - betas)

    def loss(params, key, data):
        def one(key, x):
            which, draw = random.split(key)
            t = random.randint(which, (), 0, 10)
            noise = random.normal(draw, x.shape)
            mixed = jnp.sqrt(kept[t]) * x + jnp.sqrt(1 - kept[t]) * noise
            return jnp.mean((_denoise(lib, params, mixed, t) - noise) ** 2)

        return lib.vmap(one)(random.split(key, len(data)), data).mean()

    @lib.jit
    def train(params, keys, data):
        def step(carry, key):
            params, average = carry
            value, grads = lib.value_and_grad(loss)(params, key, data)
            params = lib.tree.map(lambda p, g: p - 0.1 * g, params, grads)
            average = lib.tree.map(lambda a, p: 0.9 * a + 0.1 * p, average, params)
            return (params, average), value

        return lax.scan(step, (params, params), keys)

    @lib.jit
    def sample(params, key):
        def body(i, carry):
            x, key = carry
            t = 9 - i
            key, sub = random.split(key)
            wanted = _denoise(lib, params, x, t)
            mean = (x - betas[t] / jnp.sqrt(1 - kept[t]) * wanted) / jnp.sqrt(
                1 - betas[t]
            )
            noise = jnp.sqrt(betas[t]) * random.normal(sub, x.shape)
            return jnp.where(t > 0, mean + noise, mean), key

        return lax.fori_loop(0, 10, body, (random.normal(key, (2,)), key))[0]

    k1, k2, k3, k4 = random.split(random.key(0), 4)
    sizes = [(k1, 4, 16), (k2, 16, 2)]
    params = [(random.normal(k, (m, n)) / m**0.5, jnp.zeros(n)) for k, m, n in sizes]
    angles = jnp.linspace(0.0, 6.0, 16)
    data = jnp.stack([jnp.cos(angles), jnp.sin(angles)], axis=1)
    (params, average), losses = train(params, random.split(k3, 8), data)
    draws = lib.vmap(sample, in_axes=(None, 0))(average, random.split(k4, 3))
    return params, average, losses, draws


def cart_pole_policy(lib):
    """A policy gradient through episodes that restart inside of a scan."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random

    def move(state, force):
        _, v, angle, turn = state
        push = (force + 0.05 * turn**2 * jnp.sin(angle)) / 1.1
        swing = (9.8 * jnp.sin(angle) - jnp.cos(angle) * push) / (
            0.5 * (4 / 3 - 0.1 * jnp.cos(angle) ** 2 / 1.1)
        )
        slide = push - 0.05 * swing * jnp.cos(angle) / 1.1
        return state + 0.02 * jnp.stack([v, slide, turn, swing])

    def begin(key):
        return random.uniform(key, (4,), minval=-0.05, maxval=0.05)

    def act(params, state):
        return jnp.tanh(state @ params["w"]) @ params["v"]

    def step(params, carry, key):
        state, age = carry
        choose, again = random.split(key)
        logits = act(params, state)
        action = random.categorical(choose, logits)
        log_p = lib.nn.log_softmax(logits)[action]
        new = move(state, jnp.where(action == 1, 10.0, -10.0))
        fell = (jnp.abs(new[2]) > 0.2) | (age >= 30)
        new = lax.cond(fell, begin, lambda _: new, again)
        age = jnp.where(fell, 0, age + 1)
        return (new, age), (log_p, jnp.where(fell, 0.0, 1.0))

    def surrogate(params, key):
        first, *rest = random.split(key, 1 + 24)
        run = functools.partial(step, params)
        _, (log_p, reward) = lax.scan(run, (begin(first), 0), jnp.stack(rest))

        def discounted(total, r):
            total = r + 0.9 * total * r
            return total, total

        _, returns = lax.scan(discounted, 0.0, reward, reverse=True)
        return -jnp.mean(log_p * lax.stop_gradient(returns)), returns

    k1, k2, k3 = random.split(random.key(7), 3)
    params = {
        "w": random.normal(k1, (4, 8)),
        "v": 0.1 * random.normal(k2, (8, 2)),
    }
    both = lib.value_and_grad(surrogate, has_aux=True)
    return lib.jit(lib.vmap(both, (None, 0)))(params, random.split(k3, 3))


def meta_learning(lib):
    """MAML: the gradient of the result of a few steps of gradient descent."""
    jnp, lax = lib.numpy, lib.lax

    def net(params, x):
        h = jnp.tanh(x[:, None] * params["w1"] + params["b1"])
        return h @ params["w2"] + params["b2"]

    def loss(params, x, y):
        return jnp.mean((net(params, x) - y) ** 2)

    def adapt(params, rate, x, y):
        def body(_, params):
            grads = lib.grad(loss)(params, x, y)
            return lib.tree.map(lambda p, g: p - rate * g, params, grads)

        return lax.fori_loop(0, 3, body, params)

    def outer(meta, x, y, test_x, test_y):
        return loss(adapt(meta["params"], meta["rate"], x, y), test_x, test_y)

    k1, k2, k3 = lib.random.split(lib.random.key(0), 3)
    params = {
        "w1": lib.random.normal(k1, (6,)),
        "b1": jnp.zeros(6),
        "w2": lib.random.normal(k2, (6,)) / 2,
        "b2": jnp.array(0.0),
    }
    meta = {"params": params, "rate": jnp.array(0.1)}
    tasks = lib.random.uniform(k3, (4, 2), minval=0.5, maxval=2.0)
    x = jnp.linspace(-2.0, 2.0, 7)
    wave = lambda task, x: task[0] * jnp.sin(task[1] * x)

    @lib.jit
    def step(meta):
        def mean_loss(meta):
            one = lambda t: outer(meta, x, wave(t, x), x + 0.3, wave(t, x + 0.3))
            return lib.vmap(one)(tasks).mean()

        value, grads = lib.value_and_grad(mean_loss)(meta)
        return lib.tree.map(lambda p, g: p - 0.05 * g, meta, grads), value

    meta, first = step(meta)
    return step(meta), first


def markov_text(lib):
    """Text drawn by a chain of letters that was counted from a text."""
    jnp, lax, random = lib.numpy, lib.lax, lib.random
    text = "the loops of the programs that the users of the loops wrote"
    alphabet = sorted(set(text))
    codes = jnp.array([alphabet.index(letter) for letter in text])

    @lib.jit
    def counted(codes):
        def body(i, counts):
            row, column = codes[i], codes[i + 1]
            more = counts[row, column][None, None] + 1.0
            return lax.dynamic_update_slice(counts, more, (row, column))

        start = jnp.full((len(alphabet), len(alphabet)), 0.01)
        return lax.fori_loop(0, len(codes) - 1, body, start)

    @functools.partial(lib.jit, static_argnames="length")
    def draw(key, logits, length):
        def step(carry, _):
            key, letter = carry
            key, sub = random.split(key)
            letter = random.categorical(sub, logits[letter])
            return (key, letter), letter

        return lax.scan(step, (key, 0), length=length)[1]

    counts = counted(codes)
    drawn = draw(random.key(1), jnp.log(counts), length=30)
    return counts, "".join(alphabet[i] for i in drawn.tolist())
