"""The Python construct that needed the value of a tracer, and its remedy.

Python calls `bool(x)` for `if`, `while`, `and`, `in` and `min` alike; only the source
distinguishes them. The current instruction has a position in the source. The source is
parsed, and the node at that position, or the node whose condition it is, has a name and
a remedy. Releases of Python place a jump at its operand or at its statement. Without
the source (a program given to `exec`) there is mostly no result, and the caller uses a
generic remedy. This runs only when an error is certain.
"""

import ast
import builtins
import dis
import linecache
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FrameType, ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.bootstrap import hooks
from imprint._src.diagnostics.source import user_frame


class Construct(NamedTuple):
    """A construct as a message names it, and its remedy, or ""."""

    name: str
    remedy: str


def current_construct() -> Construct | None:
    """Return the construct in user code that runs now; None if its source is unknown."""
    frame = user_frame()
    if frame is None:
        return None
    opname = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if opname in _BY_OPCODE:
        return _BY_OPCODE[opname]
    place = _place(frame.f_code, frame.f_lasti)
    path = _path_to(_file(frame), place) if place else []
    if not path:
        return None
    if opname in _CONDITIONS or "JUMP" in opname:
        return _condition(path)
    return _operation(path[-1], frame)


# ---- the node ----

_Span = tuple[int, int, int, int]


def _place(code: CodeType, offset: int) -> _Span | None:
    """Return first line, last line, first column and last column of an instruction."""
    first, last, start, end = list(code.co_positions())[offset // 2]
    if first is None or last is None or start is None or end is None:
        return None
    return first, last, start, end


def _file(frame: FrameType) -> ast.AST | None:
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    return _parsed("".join(lines))


@lru_cache(maxsize=4)
def _parsed(text: str) -> ast.AST | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _path_to(root: ast.AST | None, place: _Span) -> list[ast.AST]:
    """Return the nodes from the root to the innermost one at `place`."""
    if root is None:
        return []
    found: list[ast.AST] = []
    for path in _around([root], place):
        if _place_of(path[-1]) == place and len(path) > len(found):
            found = path
    return found


def _around(path: list[ast.AST], place: _Span) -> Iterator[list[ast.AST]]:
    yield path
    for child in ast.iter_child_nodes(path[-1]):
        span = _place_of(child)
        decorated = getattr(child, "decorator_list", ())  # outside of its span
        if (
            span is None
            or decorated
            or (
                (span[0], span[2]) <= (place[0], place[2])
                and (place[1], place[3]) <= (span[1], span[3])
            )
        ):
            yield from _around([*path, child], place)


def _place_of(node: Any) -> _Span | None:
    if getattr(node, "end_lineno", None) is None:
        return None
    if getattr(node, "decorator_list", None):  # decorators precede the first line
        return None
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


# ---- the construct ----


def _operation(node: ast.AST, frame: FrameType) -> Construct | None:
    """Name a call or an operator that needs a value."""
    if isinstance(node, ast.Call):
        return _call(node, frame)
    if isinstance(node, ast.Subscript):
        return _subscript(node, frame)
    if isinstance(node, ast.BinOp):
        return _operator(node)
    return None


def _condition(path: list[ast.AST]) -> Construct | None:
    """Name the construct that has the innermost node of `path` as its condition."""
    node: Any = path[-1]
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return Construct("a chained comparison", _chain(node))
    # CPython 3.11 places the jump of `if x` at the whole statement.
    if type(node) in _STATEMENTS:
        return _statement(node)
    if getattr(node, "generators", None):
        return Construct("the `if` of a comprehension", _COMPREHENSION)
    for parent in reversed(path[:-1]):
        is_last = isinstance(parent, ast.BoolOp) and parent.values[-1] is node
        if type(parent) in _STATEMENTS and getattr(parent, "test", None) is node:
            return _statement(parent)
        if isinstance(parent, ast.BoolOp) and not is_last:
            return _and_or(parent)
        if isinstance(parent, ast.comprehension):
            return Construct("the `if` of a comprehension", _COMPREHENSION)
        if isinstance(parent, ast.match_case):
            return Construct("`match`", _MATCH)
        if not isinstance(
            parent, ast.BoolOp | ast.UnaryOp | ast.NamedExpr | ast.pattern
        ):
            break
        node = parent
    return _alone(path[-1])


def _alone(node: Any) -> Construct | None:
    """Name a node that needs a bool by itself."""
    if isinstance(node, ast.BoolOp):
        return _and_or(node)
    if isinstance(node, ast.UnaryOp):
        return Construct("`not`", _NOT.format(_text(node.operand)))
    if isinstance(node, ast.Compare):
        return Construct("a comparison of containers", _CONTAINERS)
    return None


def _and_or(node: ast.BoolOp) -> Construct:
    word, sign = ("and", "&") if isinstance(node.op, ast.And) else ("or", "|")
    return Construct(f"`{word}`", _AND_OR.format(word, sign))


def _statement(node: Any) -> Construct:
    if isinstance(node, ast.IfExp):
        written = f"({_text(node.test)}, {_text(node.body)}, {_text(node.orelse)})"
        short = written if len(written) <= 60 else "(condition, a, b)"
        return Construct("`… if … else …`", _IF.format(short))
    return _STATEMENTS[type(node)]


def _chain(node: ast.Compare) -> str:
    """Return a chained comparison as comparisons of two, joined by `&`."""
    lefts = [node.left, *node.comparators[:-1]]
    pairs = [
        ast.unparse(ast.Compare(left, [op], [right]))
        for left, op, right in zip(lefts, node.ops, node.comparators, strict=True)
    ]
    return _CHAIN.format(" & ".join(f"({pair})" for pair in pairs))


def _subscript(node: ast.Subscript, frame: FrameType) -> Construct | None:
    if isinstance(node.value, ast.Constant | ast.JoinedStr):  # a text
        return None
    name = getattr(node.value, "attr", "")
    if type(_value(node.value, frame)) in _JOINERS and name:
        return Construct(f"`numpy.{name}[]`", _NAMESAKE.format(name))
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(isinstance(part, ast.Slice) for part in parts):
        return Construct("a slice", _SLICE.format(_text(node.value)))
    index = f"imprint.numpy.asarray({_text(node.value)})[{_text(node.slice)}]"
    return Construct("an index", _INDEX.format(index))


def _operator(node: ast.BinOp) -> Construct | None:
    if isinstance(node.op, ast.Mod):
        return Construct("`%` of a text", _FORMAT)
    if isinstance(node.op, ast.Mult):
        return Construct("`*` of a text", _SIZE)
    return None


def _text(node: ast.AST) -> str:
    written = ast.unparse(node)
    return written if len(written) <= 40 else "…"


# ---- calls ----


def _call(node: ast.Call, frame: FrameType) -> Construct | None:
    """Name the called function and its replacement."""
    fun = _value(node.func, frame)
    try:
        known = _BUILTINS.get(fun)
    except TypeError:  # no hash
        known = None
    argument = _text(node.args[0]) if node.args else "x"
    if known is not None:
        array = f"({argument})" if " " in argument else argument
        return Construct(f"`{fun.__name__}()`", known(len(node.args)).format(array))
    name, home = getattr(fun, "__name__", ""), getattr(fun, "__module__", None) or ""
    if isinstance(fun, np.ufunc):
        home = "numpy"
    if home.startswith("numpy.random") or _is_generator(getattr(fun, "__self__", None)):
        return Construct(f"`numpy.random.{name}()`", _RANDOM)
    if home.partition(".")[0] in ("numpy", "math", "cmath"):
        return _namesake(home, name)
    if home.partition(".")[0] == "imprint":
        return Construct(f"`{name}()`", _SIZE)
    if fun is None and isinstance(node.func, ast.Attribute):
        owner = _value(node.func.value, frame)
        if _is_generator(owner):
            return Construct(f"`numpy.random.Generator.{node.func.attr}()`", _RANDOM)
        if isinstance(owner, np.ufunc):
            return _of_ufunc(owner.__name__, node.func.attr)
        return _METHODS.get(node.func.attr, Construct(f"`.{node.func.attr}()`", ""))
    whole = name if home in ("", "builtins") else f"{home.lstrip('_')}.{name}"
    return Construct(f"`{whole}()`", "") if name else None


def _of_ufunc(name: str, method: str) -> Construct:
    """Name the replacement of a method of a ufunc."""
    if hasattr(getattr(hooks.numpy, name, None), method):
        return Construct(f"`numpy.{name}.{method}()`", _METHOD.format(name, method))
    ours = {"reduce": "reduce", "accumulate": "associative_scan"}.get(method)
    return Construct(
        f"`numpy.{name}.{method}()`", _BY_LAX.format(ours) if ours else _OUTSIDE
    )


def _is_generator(x: Any) -> bool:
    return type(x).__module__.startswith("numpy.random")


def _namesake(home: str, name: str) -> Construct:
    """Name the function of imprint.numpy that replaces one of NumPy or math."""
    ours = _RENAMED.get((home, name), name)
    whole = f"{home}.{name}"
    function = getattr(hooks.numpy, ours, None)
    if getattr(function, "__module__", None) == "numpy":  # it prints, or writes a file
        return Construct(f"`{whole}()`", _OUTSIDE)
    if home in ("numpy", "math", "cmath") and callable(function):
        return Construct(f"`{whole}()`", _NAMESAKE.format(ours))
    return Construct(f"`{whole}()`", _NO_NAMESAKE.format(whole))


def _value(node: ast.AST, frame: FrameType) -> Any:
    """Return the object of a dotted name in a frame; None if it belongs to no module."""
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(builtins)):
            if node.id in names:
                return names[node.id]
    elif isinstance(node, ast.Attribute):
        home = _value(node.value, frame)
        if isinstance(home, ModuleType):  # of all else an attribute may run code
            return vars(home).get(node.attr)
    return None


# ---- the remedies: a caller appends how to make it a Python value ----

_IF: Final = (
    "To choose by a traced condition write imprint.numpy.where{}, or\n"
    "  imprint.lax.cond(condition, f, g), which computes only one of the two"
)
_AND_OR: Final = (
    "To join traced conditions write imprint.numpy.logical_{}(a, b), or `(a) {} (b)`"
)
_NOT: Final = "To negate a traced condition write imprint.numpy.logical_not({})"
_CHAIN: Final = (
    "Python asks the first comparison for a bool before it makes the next: write\n"
    "  `{}`, and choose by it with imprint.numpy.where"
)
_IN: Final = (
    "To look for a traced value write `(imprint.numpy.asarray(values) == x).any()`,\n"
    "  and choose by it with imprint.numpy.where"
)
_COMPREHENSION: Final = (
    "How many elements are left must be known while tracing: keep them all, and put\n"
    "  something neutral in the place of the others with imprint.numpy.where"
)
_MATCH: Final = (
    "To choose by a traced value write imprint.numpy.where(x == case, a, b), or\n"
    "  imprint.lax.switch(index, functions)"
)
_CONTAINERS: Final = (
    "Python asks each pair of elements for a bool: compare them as arrays,\n"
    "  imprint.numpy.array_equal(a, b), or imprint.numpy.stack(a) == b"
)
_SLICE: Final = (
    "The length of a slice must be known while tracing; its start need not be: write\n"
    "  imprint.lax.dynamic_slice_in_dim({}, start, length)"
)
_INDEX: Final = (
    "A list, a tuple or an array of NumPy takes only an index that is known; one of\n"
    "  imprint's takes a traced one: write {}"
)
_SIZE: Final = (
    "A shape, a size or a count must be known while tracing: take it from `x.shape`"
)
_RANGE: Final = (
    "The number of steps must be known while tracing: take it from `x.shape`; or write\n"
    "  imprint.lax.fori_loop(lower, upper, step, value), which takes a traced one"
)
_FORMAT: Final = (
    "The value exists only when the compiled program runs: return it, and make the\n"
    "  text of it outside"
)
_READ: Final = (
    "The value exists only when the compiled program runs: compute with the array\n"
    "  itself, or return it and read it outside"
)
_ASSIGN: Final = (
    "An array of NumPy holds no traced value, and takes no traced index: make it one of\n"
    "  imprint's, a = imprint.numpy.asarray(a), and write a = a.at[index].set(value); or\n"
    "  collect the parts in a list, and write imprint.numpy.stack(parts)"
)
_RANDOM: Final = (
    "Inside a traced function NumPy draws while it is traced, once for all calls: draw\n"
    "  of a key, imprint.random.normal(key, shape), where the key is an argument"
)
_NAMESAKE: Final = (
    "The values exist only when the compiled program runs: write imprint.numpy.{}"
)
_METHOD: Final = (
    "The values exist only when the compiled program runs: write\n"
    "  imprint.numpy.{}.{}, and make a list an array with imprint.numpy.asarray"
)
_OUTSIDE: Final = (
    "The values exist only when the compiled program runs: do this outside the traced\n"
    "  call, or inside of imprint.debug.callback"
)
_BY_LAX: Final = (
    "The values exist only when the compiled program runs: write imprint.lax.{},\n"
    "  with the function of imprint.numpy"
)
_NO_NAMESAKE: Final = (
    "The values exist only when the compiled program runs, and imprint.numpy has no\n"
    "  function for {} yet: do this outside the traced call"
)
_SORTED: Final = (
    "The order of traced values is not known while tracing: write imprint.numpy.sort(x)\n"
    "  of an array, or of imprint.numpy.stack(list)"
)


def _extreme(pair: str, one: str) -> Callable[[int], str]:
    """Return the remedy for `min` and `max`, by the number of their arguments."""

    def remedy(arguments: int) -> str:
        if arguments > 1:
            return f"To compare traced values write imprint.numpy.{pair}(a, b)"
        return (
            f"To compare traced values write imprint.numpy.{one}(x) of an array, or of "
            "a\n  list of them that imprint.numpy.stack makes one"
        )

    return remedy


def _always(remedy: str) -> Callable[[int], str]:
    return lambda arguments: remedy


_BUILTINS: Final[dict[Any, Callable[[int], str]]] = {
    min: _extreme("minimum", "min"),
    max: _extreme("maximum", "max"),
    any: _always(
        "Write imprint.numpy.any(x), of an array or of imprint.numpy.stack(list)"
    ),
    all: _always(
        "Write imprint.numpy.all(x), of an array or of imprint.numpy.stack(list)"
    ),
    sorted: _always(_SORTED),
    filter: _always(_COMPREHENSION),
    bool: _always("To have a truth value as an array write `{}.astype(bool)`"),
    int: _always(
        "To have a whole number as an array write `{}.astype(int)`; a size, an index\n"
        "  or a count must be known while tracing: take it from `x.shape`"
    ),
    float: _always(
        "Keep it an array, `{}.astype(float)`: imprint.numpy computes with it"
    ),
    complex: _always(
        "Keep it an array, `{}.astype(complex)`: imprint.numpy computes with it"
    ),
    range: _always(_RANGE),
}
_STATEMENTS: Final[dict[type, Construct]] = {
    ast.If: Construct("`if`", _IF.format("(condition, a, b)")),
    ast.IfExp: Construct("`… if … else …`", _IF.format("(condition, a, b)")),
    ast.While: Construct(
        "`while`",
        "To loop as long as a traced condition holds write\n"
        "  imprint.lax.while_loop(condition, step, value)",
    ),
    ast.Assert: Construct(
        "`assert`",
        "A traced value can be checked when the program runs:\n"
        "  imprint.debug.check(condition, message) raises there; NaN are found by\n"
        "  imprint.debug_nans",
    ),
}
# Instructions besides jumps that need a bool.
_CONDITIONS: Final = ("TO_BOOL", "COMPARE_OP", "UNARY_NOT")
_BY_OPCODE: Final[dict[str, Construct]] = {  # known without the text
    "STORE_SUBSCR": Construct("an assignment to an item", _ASSIGN),
    "STORE_SLICE": Construct("an assignment to an item", _ASSIGN),  # since 3.12
    "CONTAINS_OP": Construct("`in`", _IN),
    "FORMAT_VALUE": Construct("an f-string", _FORMAT),
    "FORMAT_WITH_SPEC": Construct("an f-string", _FORMAT),  # since CPython 3.13
}
_METHODS: Final[dict[str, Construct]] = {
    "item": Construct("`.item()`", _READ),
    "tolist": Construct("`.tolist()`", _READ),
    "format": Construct("`.format()`", _FORMAT),
    "reshape": Construct("`.reshape()`", _SIZE),
}
_JOINERS: Final = (type(np.r_), type(np.c_))
_RENAMED: Final[dict[tuple[str, str], str]] = {
    ("math", "fsum"): "sum",
    ("cmath", "phase"): "angle",
}
