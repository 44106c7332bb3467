"""Nests of conditionals and transforms, drawn from a seed, as text of Python.

Each is an expression of `x`, a vector of three floats, that gives another one. `lib` is
the library, `np` its numpy, `lax` its lax; `w` is an array that it closes over.
"""

import random

LEAVES = (
    *("np.sin({})", "np.tanh({}) * w", "{} * 0.5 + w", "np.exp(-({}) ** 2)"),
    *("({})[::-1]", "np.cumsum({}) * 0.3", "np.where({0} > 0.2, {0}, w)"),
    *("np.sqrt(np.abs({}) + 0.1)", "({}) @ np.outer(w, w) * 0.2", "w * 1.0"),
)
CHOICES = (
    "lax.cond({test}, lambda x: {f}, lambda x: {g}, {of})",
    "(lambda x: lax.cond({test}, lambda: {f}, lambda: {g}))({of})",
    "lax.cond({test}, lambda x, y: {f} * y, lambda x, y: {g} + y, {of}, x)",
    "lax.cond({test}, lambda t: (lambda x: {f})(t['a']), lambda t: t['a'], "
    "{{'a': {of}}})",
    "lax.switch(({of}).sum().astype(int), [lambda x: {f}, lambda x: {g}, "
    "lambda x: x * x], {of})",
    "sum(lax.cond({test}, lambda x: ({f}, x), lambda x: (x, {g}), {of}))",
)
TRANSFORMS = (
    "lib.jit(lambda x: {f})({of})",
    "lib.grad(lambda x: ({f}).sum())({of})",
    "lib.vmap(lambda x: {f})(np.stack([{of}, w])).sum(0)",
    "lib.vmap(lambda x, y: {f} + y, (None, 0), 1)({of}, w)[0]",
    "lib.jvp(lambda x: {f}, ({of},), (w,))[1]",
    "lib.vjp(lambda x: {f}, {of})[1](w)[0]",
    "lib.linearize(lambda x: {f}, {of})[1](w)",
    "lib.vmap(lib.grad(lambda x: ({f}).sum()))(np.stack([w, {of}]))[1]",
)
TESTS = ("x.sum() > 0.4", "x[0] < w[1]", "np.all(x < 1.0)", "True", "x[1] * 0 + 1")


def nest(seed):
    """Return the text of one program."""
    draw = random.Random(seed)
    return _nest(draw, draw.choice((2, 3, 3)), 0)


def _nest(draw, depth, derivatives):
    if depth == 0:
        text = "x"
        for _ in range(draw.choice((1, 1, 2))):
            text = draw.choice(LEAVES).format(text)
        return text
    is_choice = draw.random() < 0.6
    form = draw.choice(CHOICES if is_choice else TRANSFORMS)
    if "jv" in form or "lib.grad" in form or "lib.vjp" in form:
        derivatives += 1
        if derivatives > 2:
            form = TRANSFORMS[0]
    parts = {
        "f": _nest(draw, depth - 1, derivatives),
        "g": _nest(draw, draw.randrange(depth), derivatives),
        "of": draw.choice(("x", "x", "x * w", "np.sin(x)")),
        "test": draw.choice(TESTS),
    }
    return form.format(**parts)
