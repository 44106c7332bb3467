"""What a code object reads by name, found in its bytecode.

A `Chain` is a name with the attributes that follow it: `cfg.SCALE` is the global `cfg`
and the attribute `SCALE`. It begins at a global, a closure variable, a parameter, or an
import inside the function. A local name that is bound once, to a chain, stands for it.
Bytecode is decoded here and not by `dis`, which takes 20 times as long. Names computed
with getattr, eval or globals() are not seen.
"""

import opcode
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from types import CodeType
from typing import Any, Final, final
from weakref import ref


class Base(Enum):
    """What the first name of a chain is."""

    GLOBAL = auto()
    CELL = auto()
    IMPORT = auto()
    """A module, written as in `from ..package import`, with its leading dots."""
    PARAMETER = auto()


@dataclass(frozen=True, slots=True)
class Chain:
    """A name and the attributes read from it."""

    base: Base
    name: str
    attributes: tuple[str, ...] = ()

    def attribute(self, name: str) -> "Chain":
        """Return the chain with one more attribute."""
        return Chain(self.base, self.name, (*self.attributes, name))


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a code object reads by name.

    Args:
        chains: what it reads; where one begins another, only the longer one.
        written: what it binds: global names, attributes of chains.
        parameters: of each parameter, the attributes that are read from it.
        loose: the attributes that it reads from anything else, in nested code too.
        imports: whether it imports anything.
    """

    chains: tuple[Chain, ...]
    written: tuple[Chain, ...]
    parameters: dict[str, list[tuple[str, ...]]]
    loose: tuple[str, ...]
    imports: bool


# By `id`, what code that is alive reads: an entry leaves with its code, whose hash and
# `==` would take 10 times as long.
_memo: Final[dict[int, tuple[Mentions, ref[CodeType]]]] = {}


def mentions_of(code: CodeType) -> Mentions:
    """Return what a code object reads by name; remembered as long as the code lives."""
    key = id(code)
    found = _memo.get(key)
    if found is None or found[1]() is not code:
        gone = ref(code, lambda _: _memo.pop(key, None))
        found = _memo[key] = _Decoder(code).run(), gone
    return found[0]


def is_function_code(code: CodeType) -> bool:
    """Tell whether code is a function's, not the body of a class or a module."""
    return bool(code.co_flags & 1)  # CO_OPTIMIZED: its locals are fast


def instructions(code: CodeType) -> Iterator[tuple[int, int]]:
    """Yield opcode and whole argument of each instruction, leaving out the caches."""
    raw = code.co_code
    prefix = 0
    for op, low in zip(raw[::2], raw[1::2], strict=True):
        if op == _EXTENDED_ARG:
            prefix = (prefix | low) << 8
        elif op != _CACHE:
            yield op, prefix | low
            prefix = 0


def _codes(*names: str) -> frozenset[int]:
    return frozenset(opcode.opmap[n] for n in names if n in opcode.opmap)


def _code(name: str) -> int:
    return opcode.opmap.get(name, -1)  # -1: another Python's


_CACHE: Final = _code("CACHE")
_EXTENDED_ARG: Final = _code("EXTENDED_ARG")
_LOAD_GLOBAL: Final = _code("LOAD_GLOBAL")
_LOAD_NAMES: Final = _codes("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_LOAD_ATTR: Final = _code("LOAD_ATTR")
_LOAD_METHOD: Final = _code("LOAD_METHOD")
_STORE_ATTR: Final = _code("STORE_ATTR")
_STORE_GLOBALS: Final = _codes("STORE_GLOBAL", "DELETE_GLOBAL")
_LOAD_CONST: Final = _code("LOAD_CONST")
_IMPORT_NAME: Final = _code("IMPORT_NAME")
_IMPORT_FROM: Final = _code("IMPORT_FROM")
_COPY: Final = _code("COPY")
_SWAP: Final = _code("SWAP")
_STORE_FAST: Final = _code("STORE_FAST")
_LOAD_VARIABLES: Final = _codes(
    "LOAD_FAST",
    "LOAD_FAST_CHECK",
    "LOAD_DEREF",
    "LOAD_CLASSDEREF",
    "LOAD_FROM_DICT_OR_DEREF",
)
_STORE_VARIABLES: Final = _codes("STORE_FAST", "STORE_DEREF")
_LOAD_TWO: Final = _code("LOAD_FAST_LOAD_FAST")
_STORE_LOAD: Final = _code("STORE_FAST_LOAD_FAST")
_STORE_TWO: Final = _code("STORE_FAST_STORE_FAST")
_ATTR_SHIFT: Final = int(sys.version_info >= (3, 12))
"""From 3.12 LOAD_ATTR loads methods too, and the lowest bit of its argument says so."""


@final
class _Decoder:
    """One pass over a code object, with the chain on top of the stack."""

    def __init__(self, code: CodeType) -> None:
        self._code = code
        cells = [n for n in code.co_cellvars if n not in code.co_varnames]
        self._variables = (*code.co_varnames, *cells, *code.co_freevars)
        self._instructions = tuple(instructions(code))
        self._bound = self._count_bindings()
        self._aliases = {n: Chain(Base.CELL, n) for n in code.co_freevars}
        self._parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for name in self._parameters:
            if not self._bound[name]:
                self._aliases[name] = Chain(Base.PARAMETER, name)
        self._chains: dict[Chain, None] = {}
        self._written: dict[Chain, None] = {}
        self._loose: dict[str, None] = {
            name: None
            for const in code.co_consts
            if isinstance(const, CodeType)
            for name in mentions_of(const).loose
        }
        self._top: Chain | None = None
        self._imported: Chain | None = None
        self._consts: list[Any] = [0, None]

    def run(self) -> Mentions:
        for op, arg in self._instructions:
            self._top = self._step(op, arg)
            if self._top is not None:
                self._chains[self._top] = None
        for chain in tuple(self._chains):
            if chain.attributes:
                shorter = Chain(chain.base, chain.name, chain.attributes[:-1])
                self._chains.pop(shorter, None)
        imports = any(chain.base is Base.IMPORT for chain in self._chains)
        chains, written = tuple(self._chains), tuple(self._written)
        parameters, loose = self._of_parameters(), tuple(self._loose)
        return Mentions(chains, written, parameters, loose, imports)

    def _of_parameters(self) -> dict[str, list[tuple[str, ...]]]:
        """Return attributes by parameter; the first may be `self`, so it is there."""
        found = {name: list[tuple[str, ...]]() for name in self._parameters[:1]}
        for chain in (*self._chains, *self._written):
            if chain.base is Base.PARAMETER and chain.attributes:
                found.setdefault(chain.name, []).append(chain.attributes)
        return found

    def _count_bindings(self) -> Counter[str]:
        names = self._variables
        bound: Counter[str] = Counter()
        for op, arg in self._instructions:
            if op in _STORE_VARIABLES:
                bound[names[arg]] += 1
            elif op == _STORE_LOAD:
                bound[names[arg >> 4]] += 1
            elif op == _STORE_TWO:
                bound.update((names[arg >> 4], names[arg & 15]))
        return bound

    def _step(self, op: int, arg: int) -> Chain | None:
        """Return the chain on top of the stack after an instruction, if there is one."""
        top = self._top
        if op == _LOAD_GLOBAL:
            return Chain(Base.GLOBAL, self._code.co_names[arg >> 1])
        if op in _LOAD_NAMES:
            return Chain(Base.GLOBAL, self._code.co_names[arg])
        if op in _LOAD_VARIABLES:
            return self._aliases.get(self._variables[arg])
        if op == _COPY:
            return top if arg == 1 else None
        if op in (_LOAD_ATTR, _LOAD_METHOD):
            return self._attribute(self._code.co_names[arg >> _ATTR_SHIFT])
        if op in (_LOAD_CONST, _IMPORT_NAME, _IMPORT_FROM, _SWAP):
            return self._import(op, arg)
        return self._store(op, arg)

    def _attribute(self, name: str) -> Chain | None:
        if self._top is None:
            self._loose[name] = None
            return None
        return self._top.attribute(name)

    def _store(self, op: int, arg: int) -> Chain | None:
        if op in (_STORE_FAST, _STORE_LOAD):
            name = self._variables[arg if op == _STORE_FAST else arg >> 4]
            if self._top is not None and self._bound[name] == 1:
                self._aliases.setdefault(name, self._top)
        if op in (_STORE_LOAD, _LOAD_TWO):
            return self._aliases.get(self._variables[arg & 15])
        if op in _STORE_GLOBALS:
            self._written[Chain(Base.GLOBAL, self._code.co_names[arg])] = None
        elif op == _STORE_ATTR and self._top is not None:
            self._written[self._top.attribute(self._code.co_names[arg])] = None
        return None

    def _import(self, op: int, arg: int) -> Chain | None:
        if op == _LOAD_CONST:
            self._consts = [self._consts[-1], self._code.co_consts[arg]]
            return None
        if op == _IMPORT_FROM:
            name = self._code.co_names[arg]
            return None if self._imported is None else self._imported.attribute(name)
        if op == _SWAP:  # `import a.b.c as d` goes on with what it just got
            self._imported = self._top
            return None
        level, names = self._consts
        module = self._code.co_names[arg]
        if not names:  # `import a.b` binds `a`
            module = module.partition(".")[0]
        if not isinstance(level, int):
            return None
        self._imported = Chain(Base.IMPORT, "." * level + module)
        return self._imported
