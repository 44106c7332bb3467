"""Programs of nested loops, choices, rules and transforms, drawn from a seed.

A program is a tree of plain data: a function is a list of `Let`s, each of which names the
results of a line of code, and holds the functions which that line needs. Its text is
Python, over a library `lib`, its `np` and its `lax`, so a failure is read and run as it is.
Names have a type, a letter of `TYPES`; code has `{v}` for a value. Functions see the names
of all functions around them. `reduced` finds a smaller program that fails. The forms of a
program are in `nest_forms`.
"""

import random
import re
from dataclasses import dataclass, replace
from typing import NamedTuple

TYPES = {
    "v": "np.asarray(W)",
    "m": "np.outer(W[:2], W)",
    "s": "np.asarray(0.5)",
    "h": "W.astype('float16')",
    "i": "np.asarray(2)",
    "n": "np.arange(3)",
    "b": "np.asarray(True)",
}
"""A constant of each type: float32[3], float32[2,3], float32[], float16[3], int32[],
int32[3] and bool[]."""

FLOATS = "vvvmsh"
NUMBERS = {"s": ("0.5", "1.0"), "i": ("0", "1")}
DTYPES = {"v": "float32", "m": "float32", "s": "float32", "h": "float16", "i": "int32"}
DTYPES |= {"n": "int32", "b": "bool"}


def _each(*lines):
    return " ; ".join(lines).split(" ; ")


# No tie may hang on rounding: the derivative of a maximum divides by how many there are.
VALUES = {
    "v": _each(
        "np.sin({v}) ; np.tanh({v}) * {s} ; {v} * 0.5 + W ; np.exp(-({v} ** 2))",
        "{v}[::-1] ; np.cumsum({v}) * 0.3 ; np.where({v} > 0.137, {v}, {v})",
        "np.where({b}, {v}, {v}) ; {v} @ np.outer(W, np.sin({v})) * 0.2",
        "{m}.sum(0) * 0.5 ; {m}[{i} % 2] ; {h}.astype('float32') * 0.5",
        "{n} * 0.1 + {v} ; np.sqrt(np.abs({v}) + 0.1) ; np.maximum({v}, {v})",
        "np.sin({s}) * W ; np.stack([{s}, np.sin({s}), {s} * 0.5])",
        "np.cos({v}) * {v} ; lax.stop_gradient({v}) * 0.5",
        "np.tanh({v}) - {v} * {s}",
        "lax.dynamic_update_slice_in_dim({v}, {v}[:1] * 0.5, {i} % 3, 0)",
    ),
    "m": _each(
        "np.stack([{v}, np.sin({v})]) ; np.outer(np.sin({v})[:2], {v}) * 0.5",
        "{m}[::-1] * 0.5 ; np.tanh({m}) ; np.where({b}, {m}, 0.3)",
        "{m} * {s} + {m} ; np.sin({m} @ np.outer(W, W)) ; {m} - {v} * 0.5",
    ),
    "s": _each(
        "{v}.sum() * 0.3 ; np.cos({s}) ; {v} @ np.sin({v}) * 0.2",
        "{s} * 0.7 + 0.2 ; {v}[{i} % 3] ; lax.stop_gradient({v}).max()",
        "np.where({b}, {s}, {s}) ; {i} * 0.25 ; {m}.mean() ; np.tanh({s}) * {s}",
        "{h}.sum().astype('float32') * 0.5",
    ),
    "h": _each(
        "{h} * 0.5 ; {v}.astype('float16') ; np.tanh({h}) ; np.abs({h})",
        "({h} * {s}).astype('float16') ; np.where({b}, {h}, {h}) ; {h}[::-1]",
    ),
    "i": _each(
        "{i} + 1 ; ({i} * 3 + 1) % 5 ; np.where({b}, {i}, 2) ; {n}[{i} % 3]",
        "{n}.sum() % 7 ; (np.abs({v}).sum() * 3 + 0.137).astype(int) % 4",
    ),
    "n": _each(
        "{n} + {i} ; {n} % 3 + np.arange(3) ; np.cumsum({n}) % 5 ; {n}[::-1]",
        "(np.tanh({v}) * 4 + 0.137).astype('int32')",
        "np.where({v} > 0.137, {n}, {i})",
    ),
    "b": _each(
        "{s} > 0.137 ; {v}[0] < W[1] + 0.011 ; ({i} % 2) == 0 ; ~{b}",
        "np.all({v} < 1.03) ; {b} & ({i} > 1) ; np.any({n} > 2)",
        "{b} ^ ({s} < 0.3)",
    ),
}
ALONG_AXES = {
    "v": ("lax.psum({v}, '{axis}') * 0.3", "{v} - lax.pmean({v}, '{axis}')"),
    "s": ("lax.pmean({s}, '{axis}')", "lax.all_gather({s}, '{axis}').sum() * 0.4"),
    "i": ("lax.axis_index('{axis}')", "{i} + lax.axis_index('{axis}')"),
    "n": ("lax.psum({n}, '{axis}') % 5",),
}


_FLAT = {"v": "{}.sum()", "m": "{}.sum()", "s": "{}", "h": "{}.sum().astype('float32')"}
_FLAT |= {"i": "{} * 0.1", "n": "{}.sum() * 0.1", "b": "np.where({}, 0.3, -0.2)"}
_LONG = _FLAT | {"v": "{}", "m": "{}.sum(0)", "n": "{} * 0.1"}
_LONG |= {"h": "{}.astype('float32')"}
_TEST = {"v": "np.all({} < 0.513)", "s": "({} < 0.513)", "i": "({} % 2 == 0)"}
_TEST |= {"b": "{}"}
_TEST |= {"n": "np.any({} > 2)", "h": _TEST["v"], "m": _TEST["v"]}
_WHOLE = {"v": "(np.abs({}).sum() * 3 + 0.137).astype(int)", "i": "{}", "n": "{}.sum()"}
_WHOLE |= {"s": "(np.abs({}) * 3 + 0.137).astype(int)", "b": "np.where({}, 1, 0)"}
_WHOLE |= {"h": "np.sum({} > 0.3)", "m": _WHOLE["v"]}
ADDED = {
    "v": ("np.sin({} + {})", _LONG),
    "m": ("np.sin({} + {})", _LONG | {"m": "{}"}),
    "s": ("np.sin({} + {})", _FLAT),
    "h": ("({} + {}).astype('float16')", _LONG | {"h": "{}"}),
    "i": ("({} + {}) % 7", _WHOLE),
    "n": ("({} + {}) % 7", _WHOLE | {"n": "{}"}),
    "b": ("({}) ^ {}", _TEST),
}
"""How a value of a type takes in one of another, so that nothing is computed in vain."""


class Function(NamedTuple):
    """A function of a program; `unpack` gives names to the leaves of its arguments."""

    name: str
    parameters: str
    unpack: tuple
    lets: tuple
    result: str


class Let(NamedTuple):
    """Code that gives values to names, and the functions defined before it."""

    names: tuple
    code: tuple
    functions: tuple = ()


@dataclass(frozen=True)
class Scope:
    """The names in scope at a place, and the allowed depth of nests.

    `late` are the names of the innermost function, which are used first. `reverse` counts
    the derivatives in reverse around it, `orders` all; `forward` says that the innermost
    one is forward. `around` is the enclosing form: "map", "derivative" or "control"; None
    at the top.
    """

    names: tuple
    depth: int
    late: tuple = ()
    axes: tuple = ()
    reverse: int = 0
    forward: bool = False
    orders: int = 0
    around: str | None = None

    def inner(self, **changes):
        return replace(self, depth=self.depth - 1, **changes)

    def knows(self, names):
        return replace(self, names=self.names + names, late=self.late + names)


class Nest:
    """Draws the parts of one program."""

    def __init__(self, seed, form):
        self.draw = random.Random(seed)
        self.form = form
        self.count = 0
        self.used = set()

    def maybe(self, chance):
        return self.draw.random() < chance

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def some(self, low, high, of="vvvvvsssmhinb"):
        """Draw types, from `low` to `high` of them."""
        return [self.draw.choice(of) for _ in range(self.draw.randint(low, high))]

    # ---- values ----

    def waiting(self, scope):
        """Return the names of the innermost function that nothing uses."""
        return [name for name in scope.late if name not in self.used]

    def atom(self, kind, scope):
        """Return a name of this type: one that waits, a late one, any; or a constant."""
        waiting, late, every = (
            [name for name in names if name[0] == kind]
            for names in (self.waiting(scope), scope.late, scope.names)
        )
        if not every or self.maybe(0.04):
            return TYPES[kind]
        if self.maybe(0.2):
            waiting = late = ()
        name = self.draw.choice(waiting or late or every)
        self.used.add(name)
        return name

    def start(self, kind, scope):
        """Return a value, or a number of Python's: a weak one."""
        weak = kind in NUMBERS and self.maybe(0.4)
        return self.draw.choice(NUMBERS[kind]) if weak else self.atom(kind, scope)

    def value(self, kind, scope):
        templates = VALUES[kind]
        if scope.axes and kind in ALONG_AXES and self.maybe(0.3):
            templates = ALONG_AXES[kind]
        wanted = {name[0] for name in self.waiting(scope) or scope.late}
        likely = [t for t in templates if wanted & set(re.findall(r"{(\w)}", t))]
        text = self.draw.choice(likely or templates)
        if "{axis}" in text:
            text = text.replace("{axis}", self.draw.choice(scope.axes))
        return re.sub(r"\{(\w)\}", lambda hole: self.atom(hole[1], scope), text)

    def results(self, types, scope):
        """Draw the results of a function: values that use all pending ones."""
        found = [self.value(kind, scope) for kind in types]
        for name in self.waiting(scope) if types else ():
            i = self.draw.randrange(len(types))
            form, taken = ADDED[types[i]]
            found[i] = form.format(found[i], taken[name[0]].format(name))
            self.used.add(name)
        return found

    # ---- trees ----

    def tree(self, count):
        """Draw a container of `count` leaves: a template, and the path of each leaf."""
        if count == 0:
            return "None", []
        if count == 1 and self.maybe(0.6):
            return "{0}", [""]
        holes = [f"{{{i}}}" for i in range(count)]
        kind = self.draw.choice(("tuple", "list", "none", "dict", "nest"))
        if kind == "nest":
            paths = ["[0]", *(f"[1]['q'][{i}]" for i in range(count - 1))]
            return f"({holes[0]}, {{{{'q': [{', '.join(holes[1:])}]}}}})", paths
        if kind == "dict":
            items = (f"'{key}': {x}" for key, x in zip("pqrst", holes, strict=False))
            return f"{{{{{', '.join(items)}}}}}", [
                f"['{key}']" for key in "pqrst"[:count]
            ]
        form = {"tuple": "({},)", "list": "[{}]", "none": "(None, {},)"}[kind]
        paths = [f"[{i + (kind == 'none')}]" for i in range(count)]
        return form.format(", ".join(holes)), paths

    # ---- functions ----

    def function(self, stem, groups, results, scope, *, strong=False):
        """Draw a function.

        Args:
            stem: the beginning of its name.
            groups: a pair `(tree, types)` for each parameter.
            results: a pair for each result; one alone is returned as it is.
            scope: the names that it sees.
            strong: whether no result may be weak.
        """
        parameters, unpack, names = [], [], []
        for (_, paths), types in groups:
            own = [self.fresh(kind) for kind in types]
            names += own
            if paths == [""]:
                parameters += own
                continue
            parameters.append(self.fresh("t"))
            if own:
                found = ", ".join(parameters[-1] + path for path in paths)
                unpack.append(f"{', '.join(own)} = {found}")
        scope = replace(scope, late=()).knows(tuple(names))
        lets, scope = self.lets(scope)
        types = [kind for _, kinds in results for kind in kinds]
        leaves = self.results(types, scope)
        if strong:  # JAX has rules of its own for branches of which some are weak
            leaves = [
                f"lax.convert_element_type({leaf}, '{DTYPES[kind]}')"
                if kind in "si"
                else leaf
                for leaf, kind in zip(leaves, types, strict=True)
            ]
        rest = iter(leaves)
        given = [
            form.format(*(next(rest) for _ in kinds)) for (form, _), kinds in results
        ]
        return Function(
            self.fresh(stem),
            ", ".join(parameters),
            tuple(unpack),
            lets,
            ", ".join(given),
        )

    def lets(self, scope):
        """Draw the lines of a function; return them, and the scope behind them."""
        found = []
        for _ in range(self.draw.choice((1, 1, 2))):
            if scope.depth > 0:
                let = self.form(self, scope)
                if let is None:  # it is not allowed here
                    continue
            else:
                kind = self.draw.choice("vvvvsssmhinb")
                name, text = self.fresh(kind), self.value(kind, scope)
                let = Let((name,), (f"{name} = {text}",))
            found.append(let)
            scope = scope.knows(let.names)
        return tuple(found), scope

    def wrapped(self, function):
        """Return the name of a function, perhaps in something that changes no value."""
        if self.maybe(0.75):
            return function.name
        wrapper = self.draw.choice(
            ("lib.jit({})", "lib.checkpoint({})", "lib.jit({}, inline=True)")
        )
        return wrapper.format(function.name)


def program(seed, form):
    """Draw a program: a function of one value of each type but matrices.

    Args:
        seed: of the draws.
        form: `(nest, scope)`, which draws a `Let`, or None if it is not allowed there.
    """
    nest = Nest(seed, form)
    names = ("v", "s", "h", "i", "n", "b")
    scope = Scope(names, depth=nest.draw.choice((2, 2, 2, 3)))
    lets, _ = nest.lets(scope)
    while not any(let.functions for let in lets):
        lets, _ = nest.lets(scope)
    made = [name for let in lets for name in let.names]
    return Function("program", ", ".join(names), (), lets, f"[{', '.join(made)}]")


# ---- text ----


def text(function, indent=""):
    """Return the function as Python."""
    inner = indent + "    "
    lines = [f"{indent}def {function.name}({function.parameters}):"]
    lines += [inner + line for line in function.unpack]
    for let in function.lets:
        lines += [text(each, inner) for each in let.functions]
        lines += [inner + line for line in let.code]
    return "\n".join([*lines, f"{inner}return {function.result}"])


def reduced(function, fails):
    """Return a smaller program for which `fails(text)` holds, as it does for this one."""
    while True:
        for smaller in _smaller(function):
            if fails(text(smaller)):
                function = smaller
                break
        else:
            return function


def _smaller(function):
    """Yield the programs with one `Let` less, from the outside inwards."""
    for i, let in enumerate(function.lets):
        before, after = function.lets[:i], function.lets[i + 1 :]
        constants = tuple(f"{name} = {TYPES[name[0]]}" for name in let.names)
        if let.code != constants:
            yield function._replace(lets=(*before, Let(let.names, constants), *after))
        elif not re.search(
            rf"\b({'|'.join(let.names)})\b", text(_without(function, i))
        ):
            yield _without(function, i)
        for j, inner in enumerate(let.functions):
            for smaller in _smaller(inner):
                functions = (*let.functions[:j], smaller, *let.functions[j + 1 :])
                changed = let._replace(functions=functions)
                yield function._replace(lets=(*before, changed, *after))


def _without(function, i):
    return function._replace(lets=function.lets[:i] + function.lets[i + 1 :])
