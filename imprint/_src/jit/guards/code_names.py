"""Names that a code object reads, by instruction.

A read is a chain: a head (a global, a closure variable, or any other value) and steps from
it, `.model`, `["lr"]`, each with the offset of its instruction. A chain ends where control
flow joins, so its steps always belong to its head. The bytecode is decoded here because
`dis` takes 20 times as long. Results are cached by code object.
"""

import opcode
import sys
from collections.abc import Iterator
from enum import Enum
from types import CodeType
from typing import Any, Final, NamedTuple, final
from weakref import ref


class Head(Enum):
    """The first value of a chain."""

    GLOBAL = "global"
    CELL = "cell"
    FIRST = "first"
    """The first parameter, which is never rebound: `self`."""
    OTHER = "other"


class StepKind(Enum):
    """How a step reads."""

    ATTRIBUTE = "attribute"
    METHOD = "method"
    """An attribute that is only called."""
    ITEM = "item"
    GET = "get"
    """An item, by a call of `get` with a constant key."""

    @property
    def is_item(self) -> bool:
        """Whether the step reads an item."""
        return self is StepKind.ITEM or self is StepKind.GET


class ChainStep(NamedTuple):
    """One step of a chain.

    Args:
        kind: how it reads.
        name: the attribute, or the constant key.
        offset: the offset of its instruction.
        after: the offset of the next instruction, which runs unless the read raises.
    """

    kind: StepKind
    name: Any
    offset: int
    after: int

    @property
    def read_name(self) -> str:
        """The attribute that is read; of a call of `get`, that."""
        return "get" if self.kind is StepKind.GET else self.name


class Chain(NamedTuple):
    """A head and the steps from it.

    Args:
        head: the kind of its first value.
        name: the global, closure variable or parameter.
        offset: the offset of the instruction that loads the head.
        steps: the reads from there.
        is_whole: whether the last value has other uses than constant keys.
    """

    head: Head
    name: str
    offset: int
    steps: tuple[ChainStep, ...]
    is_whole: bool


class Import(NamedTuple):
    """An import statement: `name` with leading dots, the names it binds, the offset."""

    name: str
    taken: tuple[str, ...]
    offset: int


@final
class CodeNames(NamedTuple):
    """The names that one code object reads and writes.

    Args:
        chains: the reads.
        constants: attributes that may be missing, each with its offset: constant strings
            of code that calls `getattr` or `hasattr`, and keyword names of class patterns.
        stores: the globals, closure variables and attributes that it binds, each with
            its offset.
        imports: the modules it imports.
        reads_class: whether it may read the class of an object.
        handles: whether it catches exceptions.
        matches: the offset of its first class pattern; -1 if it has none.
        nested: the code objects in it.
    """

    chains: tuple[Chain, ...]
    constants: tuple[tuple[str, int], ...]
    stores: tuple[tuple[str, int], ...]
    imports: tuple[Import, ...]
    reads_class: bool
    handles: bool
    matches: int
    nested: tuple[CodeType, ...]


def code_names(code: CodeType) -> CodeNames:
    """Return the names that a code object reads and writes."""
    key = id(code)
    found = _memo.get(key)
    if found is None or found[1]() is not code:
        gone = ref(code, lambda _, memo=_memo: memo.pop(key, None))
        found = _memo[key] = _BytecodeScanner(code).read(), gone
    return found[0]


_memo: Final[dict[int, tuple[CodeNames, "ref[CodeType]"]]] = {}


def all_code(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all code objects nested in it."""
    yield code
    for inner in code_names(code).nested:
        yield from all_code(inner)


# ---- decoding ----


class _Instruction(NamedTuple):
    op: int
    arg: int
    offset: int


def _op(name: str) -> int:
    return opcode.opmap.get(name, -1)


def _ops(*names: str) -> frozenset[int]:
    return frozenset(opcode.opmap[n] for n in names if n in opcode.opmap)


_CACHE: Final = _op("CACHE")
_EXTENDED_ARG: Final = _op("EXTENDED_ARG")
_NEW: Final = sys.version_info >= (3, 12)
_GLOBALS: Final = {
    _op("LOAD_GLOBAL"): 1,
    _op("LOAD_NAME"): 0,
    _op("LOAD_FROM_DICT_OR_GLOBALS"): 0,
}
"""By opcode, the shift of the index of the name in the argument."""
_ATTRIBUTES: Final = {
    _op("LOAD_ATTR"): int(_NEW),  # the lowest bit marks a method
    _op("LOAD_METHOD"): 0,
    _op("LOAD_SUPER_ATTR"): 2,
    _op("IMPORT_FROM"): 0,
}
_ATTRIBUTES.pop(-1, None)
_GLOBALS.pop(-1, None)
_SUPER: Final = _op("LOAD_SUPER_ATTR")
_METHOD: Final = _op("LOAD_METHOD")
_LOAD_ATTR: Final = _op("LOAD_ATTR")
_IMPORT_NAME: Final = _op("IMPORT_NAME")
_CELLS: Final = _ops("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_LOAD_CONST: Final = _op("LOAD_CONST")
_FAST: Final = _ops("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW")
_TWO_FAST: Final = _op("LOAD_FAST_LOAD_FAST")
_STORE_LOAD: Final = _op("STORE_FAST_LOAD_FAST")
_STORES_FAST: Final = _ops("STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR")
_STORES_TWO: Final = _op("STORE_FAST_STORE_FAST")
_SUBSCRIPT: Final = _op("BINARY_SUBSCR")
_WRITES_ITEM: Final = _ops("STORE_SUBSCR", "DELETE_SUBSCR")
_CONTAINS: Final = _op("CONTAINS_OP")
_COPY: Final = _op("COPY")
_STORES_NAME: Final = _ops("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR")
_STORES_CELL: Final = _ops("STORE_DEREF", "DELETE_DEREF")
_MATCH_CLASS: Final = _op("MATCH_CLASS")
_HANDLES: Final = _op("PUSH_EXC_INFO")
_ENDS_WITH: Final = _op("WITH_EXCEPT_START")
_CALLS: Final = _ops("PRECALL", "CALL")
_JUMPS_BY: Final = frozenset(opcode.hasjrel)
_GETTERS: Final = frozenset(("getattr", "hasattr", "attrgetter", "methodcaller"))
_READS_CLASS: Final = frozenset(("isinstance", "issubclass", "type", "__class__"))


def _decode(code: CodeType) -> list[_Instruction]:
    raw = code.co_code
    prefix, start = 0, -1
    found: list[_Instruction] = []
    for i in range(0, len(raw), 2):
        op, low = raw[i], raw[i + 1]
        if op == _EXTENDED_ARG:
            start = i if start < 0 else start
            prefix = (prefix | low) << 8
        elif op != _CACHE:
            # The offset of an event is that of the first prefix.
            found.append(_Instruction(op, prefix | low, i if start < 0 else start))
            prefix, start = 0, -1
    return found


def _targets(code: CodeType, every: list[_Instruction]) -> set[int]:
    """Return the offsets to which code jumps, exception handlers included."""
    found = {0}
    raw = code.co_code
    size = len(raw)
    for n, (op, arg, _) in enumerate(every):
        if op in _JUMPS_BY:
            after = every[n + 1].offset if n + 1 < len(every) else size
            sign = -1 if "BACKWARD" in opcode.opname[op] else 1
            found.add(after + sign * 2 * arg)  # both count from behind the caches
    return found | set(_handlers(code))


def _handlers(code: CodeType) -> Iterator[int]:
    """Yield the offsets of exception handlers (`Objects/exception_handling_notes.txt`)."""
    numbers = _varints(code.co_exceptiontable)
    for _, _, target, _ in zip(numbers, numbers, numbers, numbers, strict=True):
        yield target * 2


def _varints(table: bytes) -> Iterator[int]:
    value = 0
    for byte in table:
        value = (value << 6) | (byte & 63)
        if not byte & 64:
            yield value
            value = 0


@final
class _BytecodeScanner:
    """One pass over a code object."""

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._every = _decode(code)
        cells = [n for n in code.co_cellvars if n not in code.co_varnames]
        self._variables = (*code.co_varnames, *cells, *code.co_freevars)
        self._targets = _targets(code, self._every)
        self._chains: list[Chain] = []
        self._in_chains: set[int] = set()  # offsets of steps and keys

    def read(self) -> CodeNames:
        code, every = self._code, self._every
        first = self._first_parameter()
        stores: list[tuple[str, int]] = []
        imports: list[Import] = []
        for i, (op, arg, offset) in enumerate(every):
            if op in _GLOBALS:
                name = code.co_names[arg >> _GLOBALS[op]]
                self._chain(Head.GLOBAL, name, i)
            elif op in _CELLS:
                self._chain(Head.CELL, self._variables[arg], i)
            elif op in _FAST or op in (_TWO_FAST, _STORE_LOAD):
                last = arg if op in _FAST else arg & 15
                name = self._variables[last]
                self._chain(Head.FIRST if name == first else Head.OTHER, name, i)
            elif op in _ATTRIBUTES and offset not in self._in_chains:
                self._chain(Head.OTHER, "", i - 1)
            elif op in _STORES_NAME:
                stores.append((code.co_names[arg], offset))
            elif op in _STORES_CELL:
                stores.append((self._variables[arg], offset))
            elif op == _IMPORT_NAME:
                imports.append(self._import(i))
        names = frozenset(c.name for c in self._chains)
        every_name = names.union(
            *({s.name for s in c.steps if not s.kind.is_item} for c in self._chains)
        )
        patterns = [offset for op, _, offset in every if op == _MATCH_CLASS]
        handles = any(
            op == _HANDLES
            and not (i + 1 < len(every) and every[i + 1].op == _ENDS_WITH)
            for i, (op, *_) in enumerate(every)
        )
        return CodeNames(
            tuple(self._chains),
            tuple(self._constants(every_name)),
            tuple(stores),
            tuple(imports),
            bool(patterns) or not _READS_CLASS.isdisjoint(every_name),
            handles or bool(patterns),
            patterns[0] if patterns else -1,
            tuple(c for c in code.co_consts if type(c) is CodeType),
        )

    def _first_parameter(self) -> str:
        """Return the first parameter, or "" if it is rebound."""
        code = self._code
        if not code.co_argcount:
            return ""
        for op, arg, _ in self._every:
            stored = (
                (arg,)
                if op in _STORES_FAST
                else (arg >> 4,)
                if op == _STORE_LOAD
                else (arg >> 4, arg & 15)
                if op == _STORES_TWO
                else ()
            )
            if 0 in stored:
                return ""
        return code.co_varnames[0]

    def _chain(self, head: Head, name: str, i: int) -> None:  # noqa: C901, PLR0915 - one automaton
        """Read the chain whose head instruction `i` loads."""
        every = self._every
        offset = every[i].offset if i >= 0 else -1
        steps: list[ChainStep] = []
        at = i + 1
        if head is Head.OTHER and not name and every[at].op == _SUPER:
            op, arg, here = every[at]
            text = self._code.co_names[arg >> _ATTRIBUTES[op]]
            after = every[at + 1].offset if at + 1 < len(every) else here
            steps.append(ChainStep(StepKind.ATTRIBUTE, text, here, after))
            at += 1
        while at < len(every):
            op, arg, here = every[at]
            if here in self._targets and (steps or head is not Head.OTHER or name):
                break
            after = every[at + 1].offset if at + 1 < len(every) else here
            if op == _COPY and arg == 1:
                at += 1
                continue
            if op in _ATTRIBUTES and op != _SUPER:
                text = self._code.co_names[arg >> _ATTRIBUTES[op]]
                key = self._get_key(at, text)
                if key is not None:
                    steps.append(ChainStep(StepKind.GET, key, here, after))
                    self._in_chains.add(here)
                    self._chains.append(
                        Chain(head, name, offset, tuple(steps), is_whole=True)
                    )
                    return
                is_method = op == _METHOD or (_NEW and op == _LOAD_ATTR and arg & 1)
                kind = StepKind.METHOD if is_method else StepKind.ATTRIBUTE
                steps.append(ChainStep(kind, text, here, after))
                self._in_chains.add(here)
                at += 1
                continue
            width = self._subscript(at)
            if not width:
                break
            where = every[at + width - 1].offset
            key = self._code.co_consts[arg]
            kind = StepKind.ITEM
            if steps and steps[-1].name == "__dict__" and type(key) is str:
                steps.pop()  # `o.__dict__["rate"]` reads an attribute
                kind = StepKind.ATTRIBUTE
            steps.append(ChainStep(kind, key, where, after))
            self._in_chains.add(here)
            at += width
        is_whole = not self._only_keyed(at)
        if not steps or head is not Head.OTHER:
            key = self._contained_key(at, i)
            if key is not None:
                here = every[at].offset
                steps.append(ChainStep(StepKind.ITEM, key, here, here))
        if head in (Head.GLOBAL, Head.CELL) or steps:
            self._chains.append(Chain(head, name, offset, tuple(steps), is_whole))

    def _subscript(self, at: int) -> int:
        """Return the number of instructions that read an item under a constant key, or 0."""
        every = self._every
        if every[at].op != _LOAD_CONST or at + 1 >= len(every):
            return 0
        if not _is_key(self._code.co_consts[every[at].arg]):
            return 0
        if every[at + 1].op == _SUBSCRIPT:
            return 2
        copies = [every[at + n][:2] for n in (1, 2) if at + n < len(every)]
        if copies == [(_COPY, 2), (_COPY, 2)] and at + 3 < len(every):
            return 4 if every[at + 3].op == _SUBSCRIPT else 0
        return 0

    def _get_key(self, at: int, name: str) -> Any:
        """Return the key of `.get("key")` or `.get("key", constant)`, or None."""
        every = self._every
        if name != "get" or at + 2 >= len(every) or every[at + 1].op != _LOAD_CONST:
            return None
        key = self._code.co_consts[every[at + 1].arg]
        if type(key) is not str:
            return None
        rest = [each.op for each in every[at + 2 : at + 4]]
        if rest and rest[0] in _CALLS:
            return key
        if len(rest) == 2 and rest[0] == _LOAD_CONST and rest[1] in _CALLS:
            return key
        return None

    def _contained_key(self, at: int, i: int) -> Any:
        """Return the key of `"key" in value`, or None."""
        every = self._every
        if at >= len(every) or every[at].op != _CONTAINS or i < 1:
            return None
        if every[i - 1].op != _LOAD_CONST:
            return None
        key = self._code.co_consts[every[i - 1].arg]
        self._in_chains.add(every[i - 1].offset)
        return key if _is_key(key) else None

    def _only_keyed(self, at: int) -> bool:
        """Return whether the value before `at` is only written under a constant key."""
        every = self._every
        if at + 1 >= len(every) or every[at].op != _LOAD_CONST:
            return False
        if every[at + 1].op not in _WRITES_ITEM:
            return False
        return _is_key(self._code.co_consts[every[at].arg])

    def _constants(self, names: frozenset[str]) -> Iterator[tuple[str, int]]:
        """Yield the constants that may be names of missing attributes."""
        every, consts = self._every, self._code.co_consts
        uses_getters = not _GETTERS.isdisjoint(names)
        for i, (op, arg, offset) in enumerate(every):
            if op == _MATCH_CLASS and i and every[i - 1].op == _LOAD_CONST:
                keywords = consts[every[i - 1].arg]
                yield from ((k, offset) for k in keywords)
            is_text = uses_getters and op == _LOAD_CONST and type(consts[arg]) is str
            if is_text and offset not in self._in_chains:
                for part in {consts[arg], *consts[arg].split(".")}:
                    if len(part) < _LONGEST:
                        yield part, offset

    def _import(self, i: int) -> Import:
        every, code = self._every, self._code
        level = code.co_consts[every[i - 2].arg] if i >= 2 else 0
        taken = code.co_consts[every[i - 1].arg] if i >= 1 else None
        level = level if type(level) is int else 0
        name = "." * level + code.co_names[every[i].arg]
        return Import(name, taken if type(taken) is tuple else (), every[i].offset)


_LONGEST: Final = 100
"""Characters of a string that may be a name."""


def _is_key(key: object) -> bool:
    return type(key) in (str, int, bool, bytes)
