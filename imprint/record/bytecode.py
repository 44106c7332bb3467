"""Bytecode: the instructions of a code object, by the numbers that this Python gives them.

It is decoded here and not by `dis`, which takes 20 times as long.
"""

import opcode
import sys
from types import CodeType
from typing import Final, TypeAlias

Instructions: TypeAlias = tuple[tuple[int, int], ...]
"""Opcode and whole argument of each instruction, without the caches."""


def number(name: str) -> int:
    """Return the opcode of a name; -1, which none has, if it is another Python's."""
    return opcode.opmap.get(name, -1)


def numbers(*names: str) -> frozenset[int]:
    """Return the opcodes of those names that this Python has."""
    return frozenset(opcode.opmap[n] for n in names if n in opcode.opmap)


_CACHE: Final = number("CACHE")
_EXTENDED_ARG: Final = number("EXTENDED_ARG")
LOAD_CONST: Final = number("LOAD_CONST")

GLOBALS: Final = {
    op: int(op == number("LOAD_GLOBAL"))
    for op in numbers("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
}
"""Instructions that load a name of the module: by how many bits its index is shifted."""
ATTRIBUTES: Final = {
    op: shift
    for name, shift in {
        "LOAD_ATTR": int(sys.version_info >= (3, 12)),  # the lowest bit: a method
        "LOAD_METHOD": 0,
        "LOAD_SUPER_ATTR": 2,
        "IMPORT_FROM": 0,
    }.items()
    for op in numbers(name)
}
"""The same of those that load an attribute."""


_NAMED: Final = {**GLOBALS, **ATTRIBUTES}
_CELLS: Final = numbers("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")


def name_loaded(
    code: CodeType, variables: tuple[str, ...], op: int, arg: int
) -> str | None:
    """Return the name of what an instruction loads, if it has one beyond the function.

    Args:
        code: of which it is an instruction.
        variables: its own, by `variables_of`.
        op: the instruction.
        arg: its argument.
    """
    shift = _NAMED.get(op)
    if shift is not None:
        return code.co_names[arg >> shift]
    return variables[arg] if op in _CELLS else None


def instructions(code: CodeType) -> Instructions:
    """Return what a code object does."""
    raw = code.co_code
    prefix = 0
    found: list[tuple[int, int]] = []
    for op, low in zip(raw[::2], raw[1::2], strict=True):
        if op == _EXTENDED_ARG:
            prefix = (prefix | low) << 8
        elif op != _CACHE:
            found.append((op, prefix | low))
            prefix = 0
    return tuple(found)


def inner_codes(code: CodeType) -> list[CodeType]:
    """Return the code of what is defined in code: functions, lambdas, comprehensions."""
    return [const for const in code.co_consts if isinstance(const, CodeType)]


def variables_of(code: CodeType) -> tuple[str, ...]:
    """Return the names of locals and closure variables, as instructions count them."""
    cells = [n for n in code.co_cellvars if n not in code.co_varnames]
    return (*code.co_varnames, *cells, *code.co_freevars)
