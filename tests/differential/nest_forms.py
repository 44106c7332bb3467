"""The forms of a drawn nest: loops, choices, compiled parts, rules and transforms.

Each form draws the functions that it needs and returns a `Let`, or None where it is not
allowed: reverse mode goes through no loop of unknown length, forward mode through no
`custom_vjp`. Sometimes it is drawn all the same, or a function returns a wrong type: then
both libraries refuse.
"""

from dataclasses import replace

from tests.differential.nests import DTYPES, FLOATS, Let

WRONG = 0.01
ALONE = ("{0}", [""])
"""The tree of one leaf."""


def _given(nest, group, scope):
    """Return the text of arguments for a group `(tree, types)`, numbers among them."""
    (template, _), types = group
    return template.format(*(nest.start(kind, scope) for kind in types))


def _group(nest, types):
    return nest.tree(len(types)), types


def _atoms(nest, types, scope):
    return [nest.atom(kind, scope) for kind in types]


def _leaves(nest, group, of):
    """Return names for the leaves of a result, and the code that unpacks it."""
    (_, paths), types = group
    names = tuple(nest.fresh(kind) for kind in types)
    found = ", ".join(of + path for path in paths)
    return names, (f"{', '.join(names)} = {found}",) if names else ()


def _slip(nest, types):
    """Return the types, or wrong ones."""
    if types and nest.maybe(WRONG):
        return [nest.draw.choice("vsin"), *types[1:]]
    return types


VARIED = dict.fromkeys("vmsh", ("{}", "-{}", "{} * 0.5"))
VARIED |= dict.fromkeys("in", ("{}", "{} + 1", "{} + 2")) | {"b": ("{}", "~{}")}
"""Expressions that make values of one name different."""


def _several(nest, kind, length, scope):
    forms = VARIED[kind]
    return [forms[i % len(forms)].format(nest.atom(kind, scope)) for i in range(length)]


def _stacked(nest, kind, length, scope, axis=0):
    if kind == "v" and axis == 0 and length == 2 and nest.maybe(0.4):
        return nest.atom("m", scope)
    parts = ", ".join(_several(nest, kind, length, scope))
    return f"np.stack([{parts}]{f', {axis}' if axis else ''})"


def _of_stack(nest, kind, axis=0):
    """Draw a function of a stacked result, so that it has the type of an element."""
    if kind in "vms" and nest.maybe(0.5):
        return f"{{}}.sum({axis}) * 0.4"
    ahead = ":, " * axis if axis >= 0 else "..., "
    return f"{{}}[{ahead}{nest.draw.choice((0, -1))}]"


def _unstacked(nest, group, of):
    (_, paths), types = group
    names = tuple(nest.fresh(kind) for kind in types)
    found = ", ".join(
        _of_stack(nest, kind).format(of + path)
        for kind, path in zip(types, paths, strict=True)
    )
    return names, (f"{', '.join(names)} = {found}",) if names else ()


# ---- loops ----


def scan(nest, scope):
    carry, xs, ys = nest.some(0, 3), nest.some(0, 2), nest.some(0, 2)
    length = nest.draw.choice((1, 2, 3, 3))
    into, walked = _group(nest, carry), _group(nest, xs)
    stacked = _group(nest, ys)
    step = nest.function(
        "step",
        [into, walked],
        [(into[0], _slip(nest, carry)), stacked],
        scope.inner(),
    )
    template, _ = walked[0]
    over = template.format(*(_stacked(nest, kind, length, scope) for kind in xs))
    options = f", length={length}" if not xs or nest.maybe(0.2) else ""
    options += nest.draw.choice(("", "", ", reverse=True"))
    options += nest.draw.choice(("", "", "", ", unroll=2", ", unroll=True"))
    t, y = nest.fresh("t"), nest.fresh("t")
    begin = _given(nest, into, scope)
    names, code = _leaves(nest, into, t)
    others, more = _unstacked(nest, stacked, y)
    call = f"{t}, {y} = lax.scan({nest.wrapped(step)}, {begin}, {over}{options})"
    return Let((*names, *others), (call, *code, *more), (step,))


def fori(nest, scope):
    known = scope.reverse or nest.maybe(0.5)
    if known and nest.maybe(WRONG):
        known = False
    carry = nest.some(1, 3)
    into = _group(nest, carry)
    index = (ALONE, ["i"])
    step = nest.function(
        "step", [index, into], [(into[0], _slip(nest, carry))], scope.inner()
    )
    low, high = nest.draw.choice(((0, 1), (0, 3), (1, 3), (2, 1)))
    if not known:
        low, high = nest.draw.choice(
            ((0, "{0} % 4"), ("{0} % 3", 3), ("{0} % 3", "{0} % 4"))
        )
        count = f"({nest.value('i', scope)})"
        low, high = (str(x).format(count) for x in (low, high))
    options = ", unroll=2" if known and nest.maybe(0.2) else ""
    t = nest.fresh("t")
    begin = _given(nest, into, scope)
    names, code = _leaves(nest, into, t)
    call = f"{t} = lax.fori_loop({low}, {high}, {nest.wrapped(step)}, {begin}{options})"
    return Let(names, (call, *code), (step,))


def while_loop(nest, scope):
    if scope.reverse and not nest.maybe(WRONG):
        return None
    carry = ["i", *nest.some(1, 2)]
    into = _group(nest, carry)
    limit = nest.draw.choice((2, 4, 4))
    test_scope = scope.inner() if nest.maybe(0.2) else replace(scope, depth=0)
    test = nest.function("test", [into], [(ALONE, ["b"])], test_scope)
    step = nest.function("step", [into], [(into[0], _slip(nest, carry))], scope.inner())
    t, c = nest.fresh("t"), nest.fresh("t")
    begin = _given(nest, into, scope)
    names, code = _leaves(nest, into, t)
    # Mapped, examples stop at turns of their own.
    first = f"({nest.value('i', scope)}) % 4" if nest.maybe(0.6) else "0"
    # The first leaf counts iterations next to the result of the step, so each loop ends.
    calls = (
        f"{t}, _ = lax.while_loop(lambda {c}: ({c}[1] < {limit}) & {test.name}({c}[0]), "
        f"lambda {c}: ({nest.wrapped(step)}({c}[0]), {c}[1] + 1), ({begin}, {first}))"
    )
    return Let(names, (calls, *code), (test, step))


def map_(nest, scope):
    xs, ys = nest.some(1, 2), nest.some(1, 2)
    walked, stacked = _group(nest, xs), _group(nest, ys)
    length = nest.draw.choice((1, 2, 3))
    step = nest.function("each", [walked], [stacked], scope.inner())
    over = walked[0][0].format(*(_stacked(nest, kind, length, scope) for kind in xs))
    options = nest.draw.choice(("", "", ", batch_size=2"))
    t = nest.fresh("t")
    names, code = _unstacked(nest, stacked, t)
    call = f"{t} = lax.map({nest.wrapped(step)}, {over}{options})"
    return Let(names, (call, *code), (step,))


def associative(nest, scope):
    length = nest.draw.choice((2, 3, 4))
    options = nest.draw.choice(("", ", reverse=True"))
    kind = nest.draw.choice("vsin")
    over = _stacked(nest, kind, length, scope)
    t = nest.fresh("t")
    combine = nest.draw.choice(
        ("np.multiply", "np.add", "lambda p, q: np.maximum(p, q)", None)
    )
    if combine is None:
        more = _stacked(nest, kind, length, scope)
        pair = "lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1])"
        over, combine, options = f"({over}, {more})", pair, options + ")[1"
        call = f"{t} = lax.associative_scan({combine}, {over}{options.removesuffix(')[1')})[1]"
    else:
        call = f"{t} = lax.associative_scan({combine}, {over}{options})"
    name = nest.fresh(kind)
    return Let((name,), (call, f"{name} = {_of_stack(nest, kind).format(t)}"))


# ---- choices ----


def cond(nest, scope):
    types, given = nest.some(1, 3), nest.some(0, 2)
    out, operands = _group(nest, types), [_group(nest, [kind]) for kind in given]
    branches = [
        nest.function(
            stem, operands, [(out[0], _slip(nest, types))], scope.inner(), strong=True
        )
        for stem in ("yes", "no")
    ]
    test = nest.value("b", scope)
    if nest.maybe(0.25):
        test = nest.draw.choice((nest.atom("b", scope), nest.value("i", scope), "True"))
    handed = "".join(f", {_given(nest, group, scope)}" for group in operands)
    if len(operands) == 1 and nest.maybe(0.3):
        handed = handed.replace(", ", ", operand=", 1)
    t = nest.fresh("t")
    names, code = _leaves(nest, out, t)
    yes, no = map(nest.wrapped, branches)
    call = f"{t} = lax.cond({test}, {yes}, {no}{handed})"
    return Let(names, (call, *code), tuple(branches))


def switch(nest, scope):
    types, given = nest.some(1, 2), nest.some(0, 2)
    out, operands = _group(nest, types), [_group(nest, [kind]) for kind in given]
    branches = [
        nest.function(
            "case", operands, [(out[0], _slip(nest, types))], scope.inner(), strong=True
        )
        for _ in range(nest.draw.choice((1, 2, 3)))
    ]
    at = nest.draw.choice((nest.value("i", scope), nest.atom("i", scope), "1"))
    handed = "".join(f", {_given(nest, group, scope)}" for group in operands)
    t = nest.fresh("t")
    names, code = _leaves(nest, out, t)
    listed = ", ".join(map(nest.wrapped, branches))
    call = f"{t} = lax.switch({at}, [{listed}]{handed})"
    return Let(names, (call, *code), tuple(branches))


# ---- parts ----


def part(nest, scope):
    """A compiled or checkpointed function, called once or twice."""
    types, given = nest.some(1, 3), nest.some(1, 2)
    out, groups = _group(nest, types), [_group(nest, [kind]) for kind in given]
    wrapper = nest.draw.choice(
        (
            *("lib.jit({})", "lib.jit({}, inline=True)", "lib.checkpoint({})"),
            "lib.checkpoint({}, policy=lib.checkpoint_policies.dots_saveable)",
            "lib.checkpoint({}, policy=lib.checkpoint_policies.everything_saveable)",
            *("lib.checkpoint(lib.jit({}))", "lib.jit(lib.checkpoint({}))"),
        )
    )
    static = ""
    if nest.maybe(0.25):
        wrapper = nest.draw.choice(
            ("lib.jit({}, static_argnums=0)", "lib.checkpoint({}, static_argnums=(0,))")
        )
        static = f"{nest.draw.choice((2, 3))}, "
        number = (ALONE, ["i"])
        groups = [number, *groups]
    function = nest.function("part", groups, [out], scope.inner())
    groups = groups[1:] if static else groups
    f = nest.fresh("f")
    code = [f"{f} = {wrapper.format(function.name)}"]
    names = ()
    for _ in range(nest.draw.choice((1, 1, 2))):
        t = nest.fresh("t")
        handed = ", ".join(_given(nest, group, scope) for group in groups)
        own, more = _leaves(nest, out, t)
        code += [f"{t} = {f}({static}{handed})", *more]
        names += own
    return Let(names, tuple(code), (function,))


def custom_jvp(nest, scope):
    if scope.orders > 1:  # JAX 0.10 forgets the rule of a loop's step by then
        return None
    types, given = nest.some(1, 2, FLOATS), nest.some(1, 2, FLOATS)
    out, groups = _group(nest, types), [_group(nest, [kind]) for kind in given]
    alone = scope.inner(names=(), axes=())
    function, rule = (nest.function(s, groups, [out], alone) for s in ("fun", "rule"))
    f, t = nest.fresh("f"), nest.fresh("t")
    names, code = _leaves(nest, out, t)
    handed = ", ".join(_given(nest, group, scope) for group in groups)
    lines = (
        f"{f} = lib.custom_jvp({function.name})",
        f"{f}.defjvp(lambda xs, ts: ({function.name}(*xs), "
        f"lib.jvp({rule.name}, xs, ts)[1]))",
        f"{t} = {f}({handed})",
    )
    return Let(names, (*lines, *code), (function, rule))


def custom_vjp(nest, scope):
    if scope.forward and not nest.maybe(WRONG):
        return None
    # One result, made of all arguments: see the differences about one that is shared.
    types, given = nest.some(1, 1, FLOATS), nest.some(1, 2, FLOATS)
    out, groups = _group(nest, types), [_group(nest, [kind]) for kind in given]
    alone = scope.inner(names=(), axes=(), reverse=max(scope.reverse - 1, 0))
    function = nest.function("fun", groups, [out], alone)
    alone = scope.inner(names=(), axes=(), reverse=1)
    rule = nest.function("rule", groups, [out], alone)
    f, t = nest.fresh("f"), nest.fresh("t")
    names, code = _leaves(nest, out, t)
    handed = ", ".join(_given(nest, group, scope) for group in groups)
    lines = (
        f"{f} = lib.custom_vjp({function.name})",
        f"{f}.defvjp(lambda *xs: ({function.name}(*xs), xs), "
        f"lambda xs, ct: lib.vjp({rule.name}, *xs)[1](ct))",
        f"{t} = {f}({handed})",
    )
    return Let(names, (*lines, *code), (function, rule))


# ---- transforms ----


def vmap(nest, scope):
    size = nest.draw.choice((2, 3))
    types, given = nest.some(1, 3), nest.some(1, 3)
    out = [(ALONE, [kind]) for kind in types]
    groups = [(ALONE, [kind]) for kind in given]
    axis = nest.fresh("axis") if nest.maybe(0.5) else None
    axes = (*scope.axes, axis) if axis else scope.axes
    function = nest.function("row", groups, out, scope.inner(axes=axes, around="map"))
    places = [
        nest.draw.choice((0, 0, None, *((1, -1) if kind in "vmhn" else ())))
        for kind in given
    ]
    if all(place is None for place in places):
        places[0] = 0
    handed = ", ".join(
        nest.start(kind, scope)
        if place is None
        else _stacked(nest, kind, size, scope, place)
        for kind, place in zip(given, places, strict=True)
    )
    outs = [
        nest.draw.choice((0, 0, 0, *((1, -1) if kind in "vmhn" else ())))
        for kind in types
    ]
    axes = f", in_axes=({', '.join(map(str, places))},)"
    if any(outs):
        axes += f", out_axes={outs[0] if len(outs) == 1 else tuple(outs)}"
    axes += f", axis_name='{axis}'" if axis else ""
    t = nest.fresh("t")
    names = tuple(nest.fresh(kind) for kind in types)
    paths = [""] if len(types) == 1 else [f"[{i}]" for i in range(len(types))]
    found = ", ".join(
        _of_stack(nest, kind, place).format(t + path)
        for kind, place, path in zip(types, outs, paths, strict=True)
    )
    call = f"{t} = lib.vmap({nest.wrapped(function)}{axes})({handed})"
    return Let(names, (call, f"{', '.join(names)} = {found}"), (function,))


def _derived(scope, *, reverse):
    if scope.orders > 1:
        return None
    return scope.inner(
        reverse=scope.reverse + reverse, forward=not reverse, orders=scope.orders + 1
    )


def _ones(nest, types, scope):
    """Return tangents or cotangents: values that have no weak type."""
    return [
        f"lax.convert_element_type({nest.atom(k, scope)}, '{DTYPES[k]}')" for k in types
    ]


def grad(nest, scope):
    inner = _derived(scope, reverse=True)
    if inner is None:
        return None
    given = nest.some(1, 2, FLOATS)
    more = nest.some(0, 1, "inbv")
    groups = [_group(nest, [kind]) for kind in given + more]
    parts = nest.some(1, 2, "vms")

    total = (" + ".join(f"np.sum({{{i}}})" for i in range(len(parts))), [""])
    held = _group(nest, nest.some(1, 2)) if nest.maybe(0.3) else None
    mapped = nest.maybe(0.35)
    inner = replace(inner, around="map") if mapped else inner
    results = [(total, parts), held] if held else [(total, parts)]
    function = nest.function("loss", groups, results, inner)
    arguments = groups, len(given)
    return _gradient(nest, scope, function, arguments, held, mapped=mapped)


def _gradient(nest, scope, function, arguments, held, *, mapped):
    groups, count = arguments
    every = count > 1 and nest.maybe(0.6)
    options = f", {tuple(range(count))}" if every else ""
    options += ", has_aux=True" if held else ""
    with_value = nest.maybe(0.4)
    name = "lib.value_and_grad" if with_value else "lib.grad"
    call = f"{name}({nest.wrapped(function)}{options})"
    call = f"lib.vmap({call})" if mapped else call
    call = f"lib.jit({call})" if nest.maybe(0.2) else call
    handed = ", ".join(
        group[0][0].format(*(_stacked(nest, kind, 2, scope) for kind in group[1]))
        if mapped
        else _given(nest, group, scope)
        for group in groups
    )
    t, d, a = (nest.fresh("t") for _ in range(3))
    total = (("", [""]), ["s"])
    to = {(True, True): f"({{}}, {a}), {d}", (True, False): f"{{}}, {d}"}
    to |= {(False, True): f"{d}, {a}", (False, False): d}
    lines = [f"{to[with_value, bool(held)].format(t)} = {call}({handed})"]
    taken = [(total, t)] if with_value else []
    taken += [(held, a)] if held else []
    moved = enumerate(groups[:count]) if every else [(None, groups[0])]
    taken += [(group, d if i is None else f"{d}[{i}]") for i, group in moved]
    names = ()
    for group, of in taken:
        own, code = (_unstacked if mapped else _leaves)(nest, group, of)
        names, lines = names + own, lines + list(code)
    return Let(names, tuple(lines), (function,))


def _points(nest, types, scope, *, mapped, tangents=False):
    """Return the text of a point, or of tangents or cotangents; of several if mapped."""
    draw = _ones if tangents else _atoms
    if not mapped:
        return draw(nest, types, scope)
    if not tangents:
        return [
            f"np.stack([{', '.join(_several(nest, kind, 2, scope))}])" for kind in types
        ]
    return [f"np.stack([{', '.join(draw(nest, [kind] * 2, scope))}])" for kind in types]


def pushed(nest, scope):
    """A derivative forward, by `jvp` or by a linear function that is called twice."""
    inner = _derived(scope, reverse=False)
    if inner is None:
        return None
    given, types = nest.some(1, 2, FLOATS), nest.some(1, 2, FLOATS)
    groups, out = [(ALONE, [kind]) for kind in given], _group(nest, types)
    mapped = nest.maybe(0.35)
    inner = replace(inner, around="map") if mapped else inner
    function = nest.function("fun", groups, [out], inner)
    xs = ", ".join(_points(nest, given, scope, mapped=mapped))
    ts = ", ".join(_points(nest, given, scope, mapped=mapped, tangents=True))
    t, d = nest.fresh("t"), nest.fresh("t")
    f = nest.wrapped(function)
    f = f"lib.vmap({f})" if mapped else f
    if nest.maybe(0.5):
        lines = (f"{t}, {d} = lib.jvp({f}, ({xs},), ({ts},))",)
    else:
        linear = nest.fresh("f")
        lines = (f"{t}, {linear} = lib.linearize({f}, {xs})", f"{d} = {linear}({ts})")
        if nest.maybe(0.3):
            others = _points(nest, given, scope, mapped=mapped, tangents=True)
            added = f"{linear}({', '.join(others)})"
            lines += (f"{d} = lib.tree.map(lambda p, q: p + q * 0.5, {d}, {added})",)
    unpack = _unstacked if mapped else _leaves
    names, code = unpack(nest, out, t)
    others, more = unpack(nest, out, d)
    return Let((*names, *others), (*lines, *code, *more), (function,))


def pulled(nest, scope):
    """A derivative in reverse, by `vjp`: of one point, of several, or along several."""
    inner = _derived(scope, reverse=True)
    if inner is None:
        return None
    given, types = nest.some(1, 2, FLOATS), nest.some(1, 2, FLOATS)
    groups, out = [(ALONE, [kind]) for kind in given], _group(nest, types)
    way = nest.draw.choice(("one", "points", "points", "points", "directions"))
    inner = replace(inner, around="derivative" if way == "one" else "map")
    function = nest.function("fun", groups, [out], inner, strong=True)
    xs = ", ".join(_points(nest, given, scope, mapped=way == "points"))
    cts = _points(nest, types, scope, mapped=way != "one", tangents=True)
    t, d, pull = nest.fresh("t"), nest.fresh("t"), nest.fresh("f")
    f = nest.wrapped(function)
    f = f"lib.vmap({f})" if way == "points" else f
    called = f"lib.vmap({pull})" if way == "directions" else pull
    lines = (
        f"{t}, {pull} = lib.vjp({f}, {xs})",
        f"{d} = {called}({out[0][0].format(*cts)})",
    )
    names, code = (_unstacked if way == "points" else _leaves)(nest, out, t)
    gradient = (("", [f"[{i}]" for i in range(len(given))]), given)
    others, more = (_leaves if way == "one" else _unstacked)(nest, gradient, d)
    return Let((*names, *others), (*lines, *code, *more), (function,))


def curved(nest, scope):
    """Second derivatives: products with a Hessian, Jacobians."""
    if scope.orders:
        return None
    kind = nest.draw.choice(("hvp", "rr", "jac", "hess"))
    reverse = scope.reverse + 1
    inner = scope.inner(reverse=reverse, orders=2)
    of, to = "v", "v" if kind == "jac" else "s"
    function = nest.function(
        "fun", [(ALONE, [of])], [(ALONE, [to])], inner, strong=True
    )
    x, t, name = nest.atom("v", scope), nest.atom("v", scope), nest.fresh("v")
    f = nest.wrapped(function)
    code = {
        "hvp": f"{name} = lib.jvp(lib.grad({f}), ({x},), ({t},))[1]",
        "rr": f"{name} = lib.grad(lambda x: lib.grad({f})(x) @ {t})({x})",
        "jac": f"{name} = {nest.draw.choice(('lib.jacfwd', 'lib.jacrev'))}({f})({x}) @ {t}",
        "hess": f"{name} = lib.hessian({f})({x}) @ {t}",
    }[kind]
    return Let((name,), (code,), (function,))


CONTROL = (
    *(scan, scan, scan, fori, while_loop, while_loop, map_, associative),
    *(cond, cond, cond, switch, part, part, custom_jvp, custom_vjp),
)
TRANSFORMS = (vmap, vmap, vmap, grad, grad, pushed, pulled, pulled, curved)


CHOICES = (cond, cond, cond, switch, while_loop, while_loop, scan, fori, part)
CHANCES = {None: 0.75, "control": 0.5, "derivative": 0.3, "map": 0.15}
"""Probability of a transform by the enclosing form; inside maps, most forms are choices."""


def form(nest, scope):
    """Draw a form: control inside of transforms and these around it, most of the time."""
    if nest.maybe(CHANCES[scope.around]):
        return nest.draw.choice(TRANSFORMS)(nest, replace(scope, around="derivative"))
    forms = CHOICES if scope.around == "map" else CONTROL
    return nest.draw.choice(forms)(nest, replace(scope, around="control"))
