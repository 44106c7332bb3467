"""Digests of code objects, independent of file and line.

Equal digests mean equal behaviour for equal globals, defaults and cells. A digest covers
name, counts, flags, bytecode, names, exception table, exact constants and nested code. It
excludes file, line numbers, and a docstring that the code does not load. A digest costs
3 µs and is remembered while the code object lives; equal digests share one `Code`, so
tokens compare it by identity.
"""

import marshal
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections.abc import Callable, Iterable
from opcode import hasconst, opmap
from types import CodeType
from typing import Any, Final, TypeAlias, cast, final
from weakref import WeakValueDictionary, ref

_DIGEST_BYTES: Final = 16
_FORMAT: Final = 2  # of marshal: the last one whose bytes no reference count changes
_Items: TypeAlias = Iterable[object]
_LOADS: Final = frozenset(hasconst)
_EXTENDS: Final = opmap["EXTENDED_ARG"]
_STORES: Final = opmap["STORE_DEREF"], opmap["DELETE_DEREF"]


@final
class Code:
    """The behaviour of code. Compared by identity.

    Args:
        code: the first code object with the digest; it is not kept.
        constants: its constants, nested code as `Code`, without an unused docstring.
        digest: the digest.

    Attributes:
        written: the closure variables that it binds, or code within it.
    """

    __slots__ = (
        *("__weakref__", "arguments", "bytecode", "constants", "digest", "file"),
        *("free", "keyword_only", "line", "name", "names", "written"),
    )

    def __init__(
        self, code: CodeType, constants: tuple[Any, ...], digest: bytes
    ) -> None:
        self.digest = digest
        self.constants = constants
        self.name: str = code.co_name
        self.file: str = code.co_filename
        self.line: int = code.co_firstlineno
        self.names: tuple[str, ...] = code.co_names
        self.free: tuple[str, ...] = code.co_freevars
        self.written: frozenset[str] = _written(code, constants)
        self.bytecode: int = hash(code.co_code)
        count = code.co_argcount
        self.arguments: tuple[str, ...] = code.co_varnames[:count]
        self.keyword_only: tuple[str, ...] = code.co_varnames[
            count : count + code.co_kwonlyargcount
        ]

    def __repr__(self) -> str:
        return f"<code of {self.name}>"


def code_of(code: CodeType) -> Code:
    """Return the one `Code` of a code object's digest."""
    found = codes.get(id(code))
    return _new(code) if found is None or found[1]() is not code else found[0]


def code_digest(code: CodeType) -> bytes:
    """Return the digest of a code object: 16 bytes, the same in every process."""
    return code_of(code).digest


codes: Final[dict[int, tuple[Code, ref[CodeType]]]] = {}
"""By the `id` of a code object; an entry goes with its object, or a lookup finds it stale.
Hot."""
_by_digest: Final[WeakValueDictionary[bytes, Code]] = WeakValueDictionary()


def _new(code: CodeType) -> Code:
    constants = list(map(_constant, code.co_consts))
    if constants and type(constants[0]) is str and not _loads_first(code.co_code):
        constants[0] = None  # a docstring
    digest = _digest(code, constants)
    found = _by_digest.setdefault(digest, Code(code, tuple(constants), digest))
    codes[id(code)] = found, ref(code, _forgetter(id(code)))
    return found


def _forgetter(key: int) -> Callable[[object], None]:
    def forget(
        _: object,
        table: dict[int, tuple[Code, ref[CodeType]]] = codes,  # also at exit
    ) -> None:
        table.pop(key, None)

    return forget


def _written(code: CodeType, constants: Iterable[Any]) -> frozenset[str]:
    if not code.co_freevars:
        return frozenset()
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    variables = (*code.co_varnames, *cells, *code.co_freevars)
    found = {name for each in constants if type(each) is Code for name in each.written}
    wider = 0
    pairs = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    for op, arg in pairs:
        at, wider = wider << 8 | arg, 0
        if op == _EXTENDS:
            wider = at
        elif op in _STORES:
            found.add(variables[at])
    return frozenset(found.intersection(code.co_freevars))


def _constant(value: Any) -> Any:
    return code_of(value) if type(value) is CodeType else value


def _loads_first(bytecode: bytes) -> bool:
    pairs = zip(bytecode[::2], bytecode[1::2], strict=True)
    return any(arg == 0 and op in _LOADS for op, arg in pairs)


def _digest(code: CodeType, constants: list[Any]) -> bytes:
    nested = [(i, c.digest) for i, c in enumerate(constants) if type(c) is Code]
    plain = [None if type(c) is Code else _sortable(c) for c in constants]
    parts = (
        code.co_name,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        (code.co_flags, code.co_stacksize),
        code.co_code,
        (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        code.co_exceptiontable,
        plain,
        nested,
    )
    return blake2b(marshal.dumps(parts, _FORMAT), digest_size=_DIGEST_BYTES).digest()


def _sortable(value: object) -> Any:
    """Give sets an order: equal ones may iterate in different orders."""
    kind = type(value)
    if kind is frozenset:
        items = [marshal.dumps(_sortable(v), _FORMAT) for v in cast(_Items, value)]
        return "frozenset", len(items), sorted(items)
    if kind is tuple:
        return tuple([_sortable(v) for v in cast(_Items, value)])
    return value
