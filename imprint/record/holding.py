"""Holding: what the functions of a program hold, so that no other program is its like.

They run later, and then read and write closure variables and containers of their own.
1. From the callbacks in a jaxpr all functions are found that they may call, with these.
2. A variable that only they read counts by identity alone: what is in it, they look up
   when they run. One that traced code reads too counts by both (`Code.held`).
3. Where a trace read a container that they hold, the same object has to be there; and none
   of them may have been edited in place, as functions that were equal to it were not.
4. Of the rules in a jaxpr, by which another program is derived, each function counts as it
   is, also where the root captures it: an equal root has a rule of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from dis import get_instructions
from types import BuiltinFunctionType, CellType, CodeType, FunctionType
from typing import Any, Final, NamedTuple

from imprint.core.identity import ids_of
from imprint.core.jaxpr import Jaxpr
from imprint.core.libraries import is_user_code
from imprint.definition.code import code_of
from imprint.watch.captures import (
    captured_functions,
    contained,
    parts_of,
    places_of,
)
from imprint.watch.classes import class_of
from imprint.watch.places import WHAT_RUNS, CellPlace, FunctionPlace
from imprint.watch.seen import Findings, Read, Seen

_LIMIT: Final = 4096
_MUTABLE: Final = ids_of(list, dict, set, bytearray)
_RULES: Final = ("rule", "policy")
_READS: Final = frozenset(
    (
        *("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"),
        *("LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"),
    )
)


class Held(NamedTuple):
    """What callbacks hold; all of it is kept, so no `id` is used again.

    Args:
        functions: those that they may call.
        cells: the closure variables of these, by `id`.
        containers: what else they hold that can be written into, by `id`.
    """

    functions: dict[int, FunctionType]
    cells: dict[int, CellType]
    containers: dict[int, Any]


def hold(
    roots: Iterable[Any], jaxpr: Jaxpr, findings: Findings, codes: Iterable[CodeType]
) -> tuple[Findings, bool]:
    """Let what callbacks hold of what a trace read count by identity, and rules count.

    Args:
        roots: the function that was traced, and its static arguments.
        jaxpr: what the trace gave.
        findings: what it read.
        codes: the code that ran.

    Returns:
        What it read, and whether tokens of the roots may be others from now on.
    """
    run = {id(code): code for code in codes}
    noted = [_note_read(code, lambda c: id(c) in run) for code in run.values()]
    is_new = any(noted)
    callbacks, rules = _functions_in(jaxpr)
    if rules:
        findings = findings._replace(carried=tuple(_carried(roots, rules)))
    held = _held_by(callbacks)
    if not (held.functions or held.containers):
        return findings, is_new
    functions = {**held.functions}
    for root in roots:
        functions.update(captured_functions(root))
    for read in findings.reads:
        function: Any = getattr(read.place, "function", None)
        if class_of(function) is FunctionType:
            functions[id(function)] = function
    called = {id(f.__code__) for f in held.functions.values()} - run.keys()
    for function in functions.values():
        _note_cells(function, held, lambda c: id(c) not in called)
    return findings._replace(reads=tuple(_reads(findings, held))), True


# ---- 1. what they hold ----


def _functions_in(jaxpr: Jaxpr) -> tuple[list[Any], list[Any]]:
    """Return the callbacks in a jaxpr and in those that it holds, and the rules."""
    callbacks: list[Any] = []
    rules: list[Any] = []
    queue, seen = [jaxpr], {id(jaxpr)}
    for each in queue:  # it grows
        for eqn in each.eqns:
            params = eqn.params
            if "callback" in params:
                callbacks.append(params["callback"])
            elif "jaxpr" in params:  # of what the rule is
                rules += [params[name] for name in _RULES if name in params]
        for body in each.bodies:
            if id(body.jaxpr) not in seen:
                seen.add(id(body.jaxpr))
                queue.append(body.jaxpr)
    return callbacks, rules


def _held_by(callbacks: list[Any]) -> Held:
    held = Held({}, {}, {})
    queue, seen = [*callbacks], {*map(id, callbacks)}
    for value in queue:  # it grows
        kind = class_of(value)
        if kind is FunctionType:
            held.functions[id(value)] = value
            held.cells.update((id(cell), cell) for cell in value.__closure__ or ())
        elif id(kind) in _MUTABLE or hasattr(kind, "__setitem__"):
            held.containers[id(value)] = value
        parts = parts_of(value)
        if kind is BuiltinFunctionType:  # such as `log.append`
            parts = iter((value.__self__,))
        for part in parts:
            if id(part) not in seen and len(queue) < _LIMIT:
                seen.add(id(part))
                queue.append(part)
    return held


# ---- 2. closure variables ----


def _note_cells(
    function: FunctionType, held: Held, runs: Callable[[CodeType], bool]
) -> None:
    """Note which variables of a function callbacks hold."""
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        is_cell = id(cell) in held.cells
        if is_cell or _leads_to(_content(cell), held):
            is_read = not is_cell or _is_read(code, name, runs)
            code_of(code).hold(name, is_read=is_read)


def _note_read(code: CodeType, runs: Callable[[CodeType], bool]) -> bool:
    """Note variables that only callbacks were known to read, of code that ran."""
    known = code_of(code)
    names = [n for n, is_read in known.held.copy().items() if not is_read]
    read = [n for n in names if _is_read(code, n, runs)]
    for name in read:
        known.hold(name, is_read=True)
    return bool(read)


def _is_read(code: CodeType, name: str, runs: Callable[[CodeType], bool]) -> bool:
    """Tell whether code reads a variable, or functions do that it makes.

    Args:
        code: of a function with the variable.
        name: the variable.
        runs: whether code runs, or may run, in a trace.
    """
    if not runs(code):
        return False
    if any(i.opname in _READS and i.argval == name for i in get_instructions(code)):
        return True
    return any(
        _is_read(const, name, runs)
        for const in code.co_consts
        if type(const) is CodeType and name in const.co_freevars
    )


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


# ---- 3. containers, and what runs ----


def _leads_to(value: Any, held: Held) -> bool:
    """Tell whether a value is, or has in it, a container that callbacks hold."""
    queue, seen = [value], {id(value)}
    for each in queue:  # it grows
        if id(each) in held.containers:
            return True
        for part in contained(each):
            if id(part) not in seen and len(queue) < _LIMIT:
                seen.add(id(part))
                queue.append(part)
    return False


def _reads(findings: Findings, held: Held) -> Iterator[Read]:
    """Yield what counts of what was read."""
    for read in findings.reads:
        place, value = read.place, read.place.get()
        if isinstance(place, CellPlace):
            known = code_of(place.function.__code__).held
            if known.get(place.name) is False:
                continue
        # Functions in it may have another token by now.
        yield Read(place, read.seen.anew(value)) if read.seen.inside else read
        if _leads_to(value, held):
            yield Read(place, Seen.as_itself(value))
    known = {read.place.key for read in findings.reads}
    for function in held.functions.values():
        if is_user_code(function.__code__, function.__globals__):
            for name in WHAT_RUNS:
                place = FunctionPlace(function, name)
                if place.key not in known:
                    yield Read(place, Seen(place.get()))


# ---- 4. rules ----


def _carried(roots: Iterable[Any], rules: list[Any]) -> Iterator[Read]:
    """Yield what the functions have that rules are made of, and that roots capture."""
    captured: set[int] = set()
    for root in roots:
        captured.update(captured_functions(root))
    for key, function in captured_functions(rules).items():
        if key in captured and is_user_code(function.__code__, function.__globals__):
            yield from (Read(p, Seen(p.get())) for p in places_of(function))
