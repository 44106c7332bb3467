"""Programs that check, for JAX and for imprint, with arguments at which they fail.

Each makes of a library a function of one float32. `log` of a negative number is NaN, and
`1 / 0` a division by zero.
"""


def checks(lib, np, check):
    def f(x):
        check(x > 0, "a {x} b {}", x * 2, x=x)
        check(x < 5, "big {}", x)
        return np.log(x - 1) / (x - 3)

    return f


def calls(lib, np, check):
    f = checks(lib, np, check)
    return lambda x: lib.jit(f)(x) + f(x - 1)


def branches(lib, np, check):
    f = checks(lib, np, check)
    return lambda x: lib.lax.cond(x > 2, f, lambda x: f(x + 3) * 2, x)


def switches(lib, np, check):
    f = checks(lib, np, check)
    few = [f, lambda x: f(x) * 2, lambda x: 1 / (x - 2)]
    return lambda x: lib.lax.switch(x.astype(int), few, x)


def scans(lib, np, check):
    def f(x):
        def step(c, _):
            check(c < 6, "c={c}", c=c)
            return c + x, np.sqrt(x * c)

        return lib.lax.scan(step, x, None, length=4)

    return f


def walks(lib, np, check):
    def f(x):
        def step(c, y):
            check(y != 2, "at {y}", y=y)
            return c - y, c / y

        return lib.lax.scan(step, x, np.arange(3.0), reverse=True)

    return f


def counts(lib, np, check):
    return lambda x: lib.lax.fori_loop(0, 5, lambda i, c: c / (x - i), x)


def whiles(lib, np, check):
    def f(x):
        def condition(c):
            check(c != 4, "four {}", c)
            return np.log(c) < 3

        def body(c):
            check(c != 6, "six {}", c)
            return c + 1

        return lib.lax.while_loop(condition, body, x)

    return f


def remembers(lib, np, check):
    return lib.checkpoint(checks(lib, np, check))


def differentiates(lib, np, check):
    f = checks(lib, np, check)
    return lib.grad(lambda x: f(x) * lib.checkpoint(f)(x))


def with_rule(lib, np, check):
    f = lib.custom_jvp(checks(lib, np, check))
    f.defjvp(lambda primals, tangents: (np.log(*primals), *tangents))
    return f


def with_rule_back(lib, np, check):
    f = lib.custom_vjp(checks(lib, np, check))
    f.defvjp(lambda x: (np.log(x), x), lambda x, ct: (ct / x,))
    return f


def by_rule(lib, np, check):
    return lib.grad(with_rule_back(lib, np, check))


def indexes(lib, np, check):
    def f(x):
        i = x.astype(int)
        row = np.arange(3.0)
        part = lib.lax.dynamic_slice(row, (i,), (2,))
        put = lib.lax.dynamic_update_slice(row, np.ones(2), (i - 1,))
        return row[i] + part.sum() + put.sum()

    return f


def indexes_twice(lib, np, check):
    return lambda x: np.ones((2, 3))[x.astype(int), (x - 2).astype(int)]


def far_ahead(lib, np, check):
    return lambda x: lib.lax.dynamic_slice(np.arange(3.0) + x, (7,), (2,))


def far_behind(lib, np, check):
    return lambda x: lib.lax.dynamic_slice(np.arange(3.0) + x, (-7,), (2,))


def divides(lib, np, check):
    def f(x):
        i = x.astype(int)
        return i // (i - 2) + i % (i - 3)

    return f


def passes(lib, np, check):
    return lambda x: np.maximum(x, 0) + abs(np.square(-x)) + np.stack([x, x]).max()


def nests(lib, np, check):
    f = checks(lib, np, check)

    def program(x):
        def step(c, y):
            def small():
                return lib.lax.fori_loop(0, 2, lambda i, c: f(c + i), c)

            return lib.lax.cond(c > 2, lambda: f(c), small) + 1.5, y / c

        return lib.lax.scan(step, x, np.arange(3.0))

    return program


FEW = (-1.0, 0.5, 1.0, 3.0, 7.0, 2.0)
NAN = float("nan")
PROGRAMS = {
    checks: FEW,
    calls: (*FEW, 4.0),
    branches: (-4.0, *FEW, 4.0),
    switches: (-4.0, *FEW),
    scans: (-1.0, 1.0, 2.0, 9.0, 0.0),
    walks: (1.0, 0.0),
    counts: (0.0, 1.0, 3.0, 9.0),
    whiles: (0.0, 4.0, 5.0, -1.0, 7.0),
    remembers: FEW,
    differentiates: (-1.0, 0.5, 2.0, 7.0),
    with_rule: FEW,
    with_rule_back: FEW,
    by_rule: FEW,
    indexes: (-4.0, -3.0, -1.0, 0.0, 1.0, 2.0, 3.0, 5.0),
    indexes_twice: (-4.0, 0.0, 1.0, 2.0, 5.0, 8.0),
    far_ahead: (1.0,),
    far_behind: (1.0,),
    divides: (1.0, 2.0, 3.0),
    passes: (1.0, NAN, -1.0),
    nests: (-1.0, 0.5),  # for others JAX reports another error, by its release
}
"""What is checked, and of what."""
