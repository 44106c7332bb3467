"""What a code object mentions: the names by which it can reach a value.

It is read once from the bytecode, whole: every branch counts, and every way to write an
attribute. `o.rate`, `super().rate`, `case Point(rate=r)`, `getattr(o, "rate")` and
`attrgetter("rate")` all mention `rate`, on whatever stands there, so which receiver a
read has need not be known.
"""

import opcode
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from types import CodeType
from typing import Any, Final, NamedTuple
from weakref import ref

from imprint.record.bytecode import (
    ATTRIBUTES,
    GLOBALS,
    LOAD_CONST,
    Instructions,
    inner_codes,
    instructions,
    name_loaded,
    number,
    numbers,
    variables_of,
)
from imprint.record.items import ItemUses, item_uses
from imprint.watch.classes import class_of

_LONGEST: Final = 100
"""Characters of a text that may be a name, or a way of names with dots."""


class Mentions(NamedTuple):
    """What a code object mentions.

    Args:
        globals: the names that it reads or binds in its module.
        imports: the modules that it imports, with the dots of `from ..package import`.
        parts: what may be modules in packages that it imports, with these dots too.
        names: the attributes that it may read or write, of anything.
        public_names: those of them that do not begin with two underscores.
        stored: the names that it binds: globals, closure variables, attributes.
        stores_any: whether it may bind attributes by names that are worked out.
        changes_items: whether it may change what is in a container, by any key.
        grown: the names of what it appends to.
        uses: how it uses items of containers by constant keys.
        reads_any: whether it, or code in it, may read attributes by names that are
            worked out.
        reads_module: whether it may read its module so: `globals()`, `eval`.
        expects_absence: whether it may go on where an attribute is not there.
        absent: the names of attributes that it may go on without.
        reads_whole: whether it may read at once all that an object or a class holds.
        asks_class: whether it may ask of which class an object is.
        changes_given: whether it may change what it is given.
    """

    globals: tuple[str, ...]
    imports: tuple[str, ...]
    parts: tuple[str, ...]
    names: frozenset[str]
    public_names: frozenset[str]
    stored: frozenset[str]
    stores_any: bool
    changes_items: bool
    grown: frozenset[str]
    reads_any: bool
    reads_module: bool
    expects_absence: bool
    absent: frozenset[str]
    uses: ItemUses
    reads_whole: bool
    asks_class: bool
    changes_given: bool


# By `id`, what code that is alive mentions: an entry leaves with its code, whose hash and
# `==` would take 10 times as long.
_memo: Final[dict[int, tuple[Mentions, ref[CodeType]]]] = {}


def mentions_of(code: CodeType) -> Mentions:
    """Return what a code object mentions; remembered as long as the code lives."""
    key = id(code)
    found = _memo.get(key)
    if found is None or found[1]() is not code:
        gone = ref(code, lambda _: _memo.pop(key, None))
        found = _memo[key] = _read(code), gone
    return found[0]


def words_of(text: str) -> Sequence[str]:
    """Return the names in a text that is one, or names with dots between; else none."""
    if len(text) > _LONGEST or not text.replace(".", "_").isidentifier():
        return ()
    return text.split(".")


def words_of_fields(text: str) -> Sequence[str]:
    """Return the names in a text by which another is formatted: `"{0.rate}".format(o)`."""
    return _WORDS.findall("".join(_FIELDS.findall(text)))


def all_words(text: str) -> Sequence[str]:
    """Return all that may be a name in a text that is evaluated."""
    return _WORDS.findall(text)


def is_function_code(code: CodeType) -> bool:
    """Tell whether code is a function's, not the body of a class or a module."""
    return bool(code.co_flags & 1)  # CO_OPTIMIZED: its locals are fast


_IMPORT_NAME: Final = number("IMPORT_NAME")
_ASKS: Final = number("PRECALL" if "PRECALL" in opcode.opmap else "CALL")
"""The instruction at which the arguments of a call are on the stack."""
_STORE_GLOBALS: Final = numbers("STORE_GLOBAL", "DELETE_GLOBAL")
_STORE_ATTRS: Final = numbers("STORE_ATTR", "DELETE_ATTR")
_STORE_CELLS: Final = numbers("STORE_DEREF", "DELETE_DEREF")
_STORE_FAST: Final = number("STORE_FAST")
_BINARY_OP: Final = number("BINARY_OP")
_IN_PLACE: Final = (14, 20, 23, 25)  # &= |= -= ^=, of dicts and sets
_MAKES_LONGER: Final = (13, 18)  # += *=
_MATCH_CLASS: Final = number("MATCH_CLASS")
_ASKED_BY: Final = {
    _MATCH_CLASS: "__match_args__",
    **dict.fromkeys(numbers("DICT_MERGE", "DICT_UPDATE"), "keys"),
}
"""Instructions that ask for an attribute without its name."""
_HANDLES: Final = number("PUSH_EXC_INFO")
_ENDS_WITH: Final = number("WITH_EXCEPT_START")
_LOADS: Final = numbers("LOAD_CONST", "RETURN_CONST", "KW_NAMES")
_NAMED: Final = {**ATTRIBUTES, **dict.fromkeys(_STORE_ATTRS, 0)}
"""Instructions with an attribute: by how many bits the index of its name is shifted."""

_READS_WHOLE: Final = frozenset(
    (
        *("vars", "dir", "dumps", "__dict__", "__getattribute__", "__getstate__"),
        *("__reduce__", "__reduce_ex__", "__slots__", "getattr_static"),
        # What pydantic hands a model to, which is written in C.
        *("__pydantic_serializer__", "__pydantic_fields_set__", "__pydantic_extra__"),
    )
)
_READS_MODULE: Final = frozenset(
    ("globals", "eval", "exec", "f_globals", "locals", "vars")
)
_STORES_ANY: Final = frozenset(
    (
        *("setattr", "delattr", "vars", "globals", "locals", "eval", "exec"),
        *("__dict__", "__setattr__", "__delattr__", "__setstate__", "import_module"),
    )
)
CHANGES_ITEMS: Final = frozenset(
    (
        *("add", "append", "appendleft", "clear", "difference_update", "discard"),
        *("extend", "extendleft", "heappop", "heappush", "insert", "insort"),
        *("intersection_update", "move_to_end", "pop", "popitem", "popleft", "remove"),
        *("reverse", "rotate", "setdefault", "shuffle", "sort", "subtract"),
        *("symmetric_difference_update", "update", "__setitem__", "__delitem__"),
        *("setitem", "delitem", "iadd", "ior"),
    )
)
_ASKS_BY_NAME: Final = frozenset(("getattr", "hasattr"))
_GETTERS: Final = frozenset(("attrgetter", "methodcaller"))
_CONSTANT: Final = numbers("LOAD_CONST", "PUSH_NULL")
_ASKS_CLASS: Final = frozenset(
    ("isinstance", "issubclass", "type", "__class__", "__match_args__")
)
_EXPECTS_ABSENCE: Final = frozenset(("getattr", "hasattr", "suppress"))
_WORDS: Final = re.compile(r"[^\W\d]\w*")
_FIELDS: Final = re.compile(r"\{[^{}]*")


def _read(code: CodeType) -> Mentions:
    names = code.co_names
    found: dict[str, None] = {}
    attributes: set[str] = set()
    stored: set[str] = set()
    imports: list[str] = []
    parts: list[str] = []
    consts: list[Any] = [None, None]  # an import has two
    every = instructions(code)
    for op, arg in every:
        if op == LOAD_CONST:
            consts = [consts[-1], code.co_consts[arg]]
        elif op in GLOBALS:
            found[names[arg >> GLOBALS[op]]] = None
        elif op in _STORE_GLOBALS:
            found[names[arg]] = None
            stored.add(names[arg])
        elif op in _NAMED:
            attributes.add(names[arg >> _NAMED[op]])
            if op in _STORE_ATTRS:
                stored.add(names[arg])
        elif op == _IMPORT_NAME:
            imports.append(_module(names[arg], *consts))
            parts += _parts(names[arg], *consts)
        elif op in _STORE_CELLS:
            stored.add(variables_of(code)[arg])
        elif op in _ASKED_BY:
            attributes.add(_ASKED_BY[op])
    uses = item_uses(code, every)
    listed = tuple(found), tuple(imports), tuple(parts)
    return _mentions(code, every, listed, attributes, stored, uses)


def _changes_in_place(code: CodeType, every: Instructions) -> bool:
    """Tell whether `v += w` on a local variable, or `d |= e`, may change a container."""
    triples = zip(every[:-2], every[1:-1], every[2:], strict=True)
    for before, (op, arg), (after, _) in triples:
        if op != _BINARY_OP:
            continue
        if arg in _IN_PLACE or (arg in _MAKES_LONGER and after == _STORE_FAST):
            constant = before[0] == LOAD_CONST and code.co_consts[before[1]]
            if type(constant) not in (int, float, complex):
                return True
    return False


def _grown(code: CodeType, every: Instructions) -> frozenset[str]:
    """Return the names of what `append` is called on."""
    variables = variables_of(code)
    found = {
        name_loaded(code, variables, *before)
        for before, (op, arg) in pairwise(every)
        if op in ATTRIBUTES and code.co_names[arg >> ATTRIBUTES[op]] == "append"
    }
    return frozenset(name for name in found if name is not None)


def _mentions(
    code: CodeType,
    done: Instructions,
    listed: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]],
    attributes: set[str],
    stored: set[str],
    uses: ItemUses,
) -> Mentions:
    """Return what a code object mentions, of which these are the instructions' part."""
    found, imports, parts = listed
    every = attributes.union(found)
    reads_module = not _READS_MODULE.isdisjoint(every)
    consts = code.co_consts if reads_module else _consts(code, done)
    texts = set(_texts(consts, every_word=reads_module))
    tuples = [const for const in code.co_consts if type(const) is not str]
    names = attributes | texts
    stores_any = not _STORES_ANY.isdisjoint(every)
    changes_items = (
        uses.stores_any
        or not CHANGES_ITEMS.isdisjoint(every)
        or _changes_in_place(code, done)
    )
    reads_whole = not _READS_WHOLE.isdisjoint(every | texts)
    return Mentions(
        found,
        imports,
        parts,
        frozenset(names),
        frozenset(name for name in names if not name.startswith("__")),
        frozenset(stored | texts if stores_any else stored),
        stores_any,
        changes_items,
        _grown(code, done),
        reads_whole
        or _has_computed_names(code, done, found)
        or (not _GETTERS.isdisjoint(every) and _makes_getters(code, done))
        or any(mentions_of(inner).reads_any for inner in inner_codes(code)),
        reads_module,
        bool(code.co_exceptiontable)
        or not _EXPECTS_ABSENCE.isdisjoint(every)
        or any(op == _MATCH_CLASS for op, _ in done),
        _absent(done, every, names, texts),
        uses._replace(
            whole=uses.whole.union(
                texts if reads_module else _texts(tuples, every_word=False)
            ),
        ),
        reads_whole,
        not _ASKS_CLASS.isdisjoint(every),
        stores_any or changes_items or bool(uses.stored),
    )


def _absent(
    done: Instructions, every: set[str], names: set[str], texts: set[str]
) -> frozenset[str]:
    """Return the names of attributes without which code may go on.

    It has a handler, or it asks for a name in a text. What ends a `with` is told.
    """
    handles = any(
        op == _MATCH_CLASS or (op == _HANDLES and after != _ENDS_WITH)
        for (op, _), (after, _) in pairwise(done)
    )
    if handles:
        return frozenset(names)
    return frozenset(() if _EXPECTS_ABSENCE.isdisjoint(every) else texts)


def _consts(code: CodeType, done: Instructions) -> tuple[Any, ...]:
    """Return the constants of a code object, but its docstring, which may be full of names."""
    consts = code.co_consts
    is_loaded = any(op in _LOADS and arg == 0 for op, arg in done)
    is_text = bool(consts) and type(consts[0]) is str
    return (
        consts[1:] if is_text and is_function_code(code) and not is_loaded else consts
    )


def _texts(consts: Iterable[Any], *, every_word: bool) -> Iterator[str]:
    """Yield the names in constants: keywords of patterns and calls, `getattr`'s."""
    for const in consts:
        kind = class_of(const)
        if kind is str:
            words = _WORDS.findall(const) if every_word else words_of(const)
            yield from words
            yield from words_of_fields(const)
            if len(words) > 1 and not every_word:
                yield const  # it may be a module's
        elif kind is tuple or kind is frozenset:
            yield from _texts(const, every_word=every_word)


def _has_computed_names(
    code: CodeType, done: Instructions, found: tuple[str, ...]
) -> bool:
    """Tell whether `getattr` or `hasattr` is used otherwise than on a constant name.

    A text that is no identifier, as `learning-rate`, is not looked for among the constants.
    """
    if _ASKS_BY_NAME.isdisjoint(found):
        return False
    depth = 0  # of the stack, where no branch is
    uses: list[int] = []  # depths at which the arguments of such a call begin
    before = [(0, 0), (0, 0)]
    for op, arg in done:
        if op == _ASKS and uses and depth == uses[-1] + arg:
            loads, const = before[1 - arg] if arg in (2, 3) else (0, 0)
            name = code.co_consts[const] if loads == LOAD_CONST else ""
            if type(name) is not str or words_of(name) != [name]:
                return True
            uses.pop()
        depth += opcode.stack_effect(op, arg if op >= opcode.HAVE_ARGUMENT else None)
        if op in GLOBALS and code.co_names[arg >> GLOBALS[op]] in _ASKS_BY_NAME:
            uses.append(depth)
        before = [before[-1], (op, arg)]
    return bool(uses)


def _makes_getters(code: CodeType, done: Instructions) -> bool:
    """Tell whether `attrgetter` is used otherwise than on constant names."""
    for i, (op, arg) in enumerate(done):
        shift = GLOBALS.get(op, ATTRIBUTES.get(op))
        if shift is None or code.co_names[arg >> shift] not in _GETTERS:
            continue
        given = [*takewhile(lambda each: each[0] != _ASKS, done[i + 1 :])]
        names = [code.co_consts[const] for op, const in given if op == LOAD_CONST]
        if any(op not in _CONSTANT for op, _ in given):
            return True
        if names and type(names[0]) is str and not words_of(names[0]):
            return True
    return False


def _parts(name: str, level: Any, names: Any) -> list[str]:
    """Return what an import may take from a package that is a module in it."""
    dots = "." * level if isinstance(level, int) else ""
    if names:  # `from a import b`
        return [f"{dots}{name}.{part}" if name else dots + part for part in names]
    steps = name.split(".")
    return [".".join(steps[:n]) for n in range(2, len(steps) + 1)]


def _module(name: str, level: Any, names: Any) -> str:
    """Return the module that an import binds, or takes names from."""
    if not names:  # `import a.b` binds `a`
        name = name.partition(".")[0]
    return "." * level + name if isinstance(level, int) else name
