"""Nests of loops, conditionals and transforms, drawn from a seed, as text of Python.

Each is an expression of `x`, a vector of three floats, that gives another one. `lib` is
the library, `np` its numpy, `lax` its lax; `w` is an array that it closes over. Loops of
unknown length are not drawn where a derivative in reverse is taken.
"""

import random

LEAVES = (
    *("np.sin({})", "np.tanh({}) * w", "{} * 0.5 + w", "np.exp(-({}) ** 2)"),
    *("({})[::-1]", "np.cumsum({}) * 0.3", "np.where({0} > 0.2, {0}, w)"),
    *("({}) @ np.outer(w, w) * 0.2", "w * 1.0", "np.sin(w) * {}"),
)
LOOPS = (
    "lax.scan(lambda x, y: ({f}, {g} * y), {of}, np.stack([w, x]))[1].sum(0)",
    "lax.scan(lambda x, _: ({f} * 0.7, None), {of}, None, {n})[0]",
    "lax.scan(lambda x, y: ({f} * y.sum(), x), {of}, np.stack([x, w]), "
    "reverse={flag})[0]",
    "(lambda c, ys: c[1] * c[0] + ys['b'].sum(0) + ys['a'][0])(*lax.scan("
    "lambda c, y: ((c[0] + 1, {f}), {{'a': x, 'b': y * c[0]}}), "
    "(0, {of}), np.stack([w, x, x]), unroll={n}))",
    "lax.scan(lambda c, i: ((c[1], {f}), None), ({of}, w), np.arange({n}))[0][1]",
    "lax.fori_loop(0, {n}, lambda i, x: {f} + i * 0.1, {of})",
    "lax.fori_loop(1, {n}, lambda i, c: (c[0], {f} * c[0], c[1]), (w, {of}, x))[2]",
    "lax.map(lambda x: {f}, np.stack([{of}, w, x])).sum(0)",
    "lax.map(lambda x: {f}, np.stack([{of}, w, x]), batch_size=2)[2]",
    "lax.scan(lambda x, y: ({f}, y), {of}, np.stack([w, x]), unroll=True)[1][1]",
    "lax.scan(lambda c, y: (c, y * c), {of}, np.stack([{f}, {g}]))[1][1]",
    "lax.scan(lib.jit(lambda x, y: ({f}, {g})), {of}, np.stack([w, x]))[0]",
    "lax.associative_scan(np.multiply, np.stack([{of}, {f}, w]))[2]",
)
WHILES = (
    "lax.while_loop(lambda c: c[0] < {n}, lambda c: (c[0] + 1, (lambda x: {f})(c[1])), "
    "(0, {of}))[1]",
    "lax.while_loop(lambda c: (np.abs(c[1]).sum() < 5) & (c[0] < 4), lambda c: "
    "(c[0] + 1, (lambda x: {f})(c[1]) * 1.5), (0, {of}))[1]",
    "lax.fori_loop(0, (np.abs({of}).sum() * 3).astype(int) % 4, lambda i, x: {f}, {of})",
)
TRANSFORMS = (
    "lib.jit(lambda x: {f})({of})",
    "lib.vmap(lambda x: {f})(np.stack([{of}, w])).sum(0)",
    "lib.vmap(lambda x, y: {f} + y, (None, 0), 1)({of}, w)[0]",
    "lib.jvp(lambda x: {f}, ({of},), (w,))[1]",
    "lib.linearize(lambda x: {f}, {of})[1](w)",
)
REVERSE = (
    "lib.grad(lambda x: ({f}).sum())({of})",
    "lib.vjp(lambda x: {f}, {of})[1](w)[0]",
    "lib.vmap(lib.grad(lambda x: ({f}).sum()))(np.stack([w, {of}]))[1]",
    "lib.jit(lib.grad(lambda x: ({f} * w).sum()))({of})",
)


def nest(seed, *, reverse=False):
    """Return the text of one program; without loops of unknown length if `reverse`."""
    draw = random.Random(seed)
    return _nest(draw, draw.choice((2, 3, 3)), 0, reverse=reverse)


def _nest(draw, depth, derivatives, *, reverse):
    if depth == 0:
        text = "x"
        for _ in range(draw.choice((1, 1, 2))):
            text = draw.choice(LEAVES).format(text)
        return text
    kinds = [LOOPS, LOOPS, TRANSFORMS]
    if not reverse:
        kinds.append(WHILES)
    if derivatives < 2:
        kinds.append(REVERSE)
    kind = draw.choice(kinds)
    form = draw.choice(kind)
    inner = kind is REVERSE or reverse
    derivatives += kind is REVERSE or "jvp" in form or "linearize" in form
    parts = {
        "f": _nest(draw, depth - 1, derivatives, reverse=inner),
        "g": _nest(draw, draw.randrange(depth), derivatives, reverse=inner),
        "of": draw.choice(("x", "x", "x * w", "np.sin(x)")),
        "n": draw.choice((1, 2, 3, 4)),
        "flag": draw.choice((True, False)),
    }
    return form.format(**parts)
