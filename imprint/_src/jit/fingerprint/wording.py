"""Contents as text, for explanations.

A content prints like its value, with less detail: an object compared by identity prints
as the name of its class, and long texts are cut. The forms of contents are in `token`.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from enum import Enum
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final, cast

import numpy as np

from imprint._src.core.array import NumberArray
from imprint._src.core.identity import (
    Standin,
    StrongStandin,
    WeakStandin,
    ids_of,
    type_name,
)
from imprint._src.jit.fingerprint.code import Code, code_of
from imprint._src.jit.fingerprint.layout import ClassLayout
from imprint._src.jit.fingerprint.token import (
    ABSENT,
    ARRAY,
    BACK,
    DTYPE,
    FUNCTION,
    MANY,
    METHOD,
    ROOT,
    SPOKEN,
    STATE,
    Content,
    Mark,
    Token,
    head_of,
)

_LONGEST: Final = 60
_SIZED: Final = ids_of(tuple, list, dict, set, frozenset)
_ARRAYS: Final = ("ArrayImpl", "ndarray")


def show(content: Content) -> str:
    """Return a content as its value would print, shortened."""
    return shortened(_text(content))


def distinguish(old: str, new: str) -> tuple[str, str]:
    """Return two different texts for values that differ but may print alike."""
    return old, f"another {new}" if old == new else new


def show_both(old: Content, new: Content) -> tuple[str, str]:
    """Return two contents as their values would print; of long ones the differing part."""
    if type(old) is type(new) is str:
        was, now, print_part = old, new, repr
    else:
        was, now, print_part = _text(old), _text(new), str
        if was == now or shortened(was) != shortened(now):
            return distinguish(shortened(was), shortened(now))
    if max(len(was), len(now)) <= _LONGEST:
        return show(old), show(new)
    length = min(len(was), len(now))
    start = next((i for i in range(length) if was[i] != now[i]), length)
    start = max(0, start - _LONGEST // 3)
    return _part(was, start, print_part), _part(now, start, print_part)


def _part(text: str, start: int, print_part: Callable[[str], str]) -> str:
    end = start + 2 * _LONGEST // 3
    before, after = "…" * (start > 0), "…" * (end < len(text))
    return f"{before}{print_part(text[start:end])}{after}"


def show_constant(value: Any) -> str:
    """Return a constant of a code object as it would print, shortened."""
    return show_code(value) if type(value) is Code else shortened(repr(value))


def show_code(code: Code) -> str:
    """Return the name of code with its file and line."""
    return f"{code.name} at {Path(code.file).name}:{code.line}"


def show_function(function: FunctionType) -> str:
    """Return the name of a function with its file and line."""
    code = function.__code__
    file = Path(code.co_filename).name
    return f"function {code.co_name} at {file}:{code.co_firstlineno}"


def shortened(text: str) -> str:
    """Return a text, cut if it is long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _text(content: Content) -> str:
    if type(content) is Token:
        return _text(content.content)
    if type(content) is WeakStandin or type(content) is StrongStandin:
        return _standin(content)
    head = head_of(content)
    if head is None:
        return shortened(repr(content))
    if type(head) is ClassLayout:
        return _object(head, content[1:])
    if type(head) is Mark:
        return _marked(head, content)
    if head is bool or head is bytes:
        return shortened(repr(content[1]))
    if head is float:
        return repr(_number(content))
    if head is complex:
        return repr(complex(_number(content[1]), _number(content[2])))
    return _container(head, content[1:])


def _number(content: Content) -> float:
    value = content[1]
    return value if type(value) is float else float.fromhex(value)


def _container(kind: Any, items: Content) -> str:
    if kind is tuple:
        return f"({_joined(items)}{',' * (len(items) == 1)})"
    if kind is list:
        return f"[{_joined(items)}]"
    if kind is dict:
        return f"{{{_paired(items)}}}"
    if kind is set or kind is frozenset:
        inner = f"{{{', '.join(sorted(map(_text, items[1])))}}}"
        return inner if kind is set else f"frozenset({inner})"
    if kind is OrderedDict or kind is defaultdict:
        inner = _paired(items[kind is defaultdict :])
        return f"{type_name(kind)}({{{inner}}})"
    if kind is deque:
        return f"deque([{_joined(items[1:])}])"
    return f"{type_name(kind)}({_joined(items)})"


def _object(layout: ClassLayout, parts: Content) -> str:
    if parts == (ABSENT,):
        return f"{layout.name} object"
    if parts and parts[0] is STATE:
        items = "" if parts[2] is None else f"{_text(parts[2])}, "
        return f"{layout.name}({items}{_named(parts[3], parts[4:])})"
    if parts and parts[0] is SPOKEN:
        return f"{layout.name} of {_text(parts[1])}"
    kind: Any = layout.cls
    if kind is not None and issubclass(kind, np.generic):
        (_, dtype), data = parts
        return f"{layout.name}({np.frombuffer(data, dtype)[0]})"
    if kind is not None and issubclass(kind, partial):
        shown = [*map(_text, parts[:3]), *_named_each(parts[3], parts[4:])]
        return f"{layout.name}({', '.join(shown)})"
    if len(parts) == len(layout.fields):
        return f"{layout.name}({_named(layout.fields, parts)})"
    return f"{layout.name}({_joined(parts)})"


def _marked(mark: Mark, content: Content) -> str:
    if mark is FUNCTION:
        return f"function {show_code(content[1])}"
    if mark is METHOD:
        return f"method {_text(content[2]).removeprefix('function ')}"
    if mark is ROOT:
        return _text(content[-1])
    if mark is DTYPE:
        return f"dtype {content[1]}"
    if mark is ARRAY:
        return f"array of {content[1][1]}{[*content[2]]}"
    if mark is MANY:
        return f"{type_name(content[1])} of {content[2]:,}"
    return "..." if mark is BACK else repr(mark)


def _standin(standin: Standin) -> str:
    value: Any = standin()
    kind = cast("type[Any]", type(value))
    if kind is ModuleType:
        return f"module {value.__name__}"
    if issubclass(kind, type):
        return f"class {type_name(value)}"
    if kind is CodeType:
        return show_code(code_of(value))
    if kind is BuiltinFunctionType:
        return f"builtin function {value.__name__}"
    if issubclass(kind, Enum):
        return f"{standin.kind}.{getattr(value, '_name_', '?')}"
    if issubclass(kind, NumberArray):
        return f"array of {value.aval}"
    if kind is np.ndarray:
        return f"array of {value.dtype}{[*value.shape]}"
    if id(kind) in _SIZED:
        return f"{standin.kind} of {len(value):,}"
    return "array" if standin.kind in _ARRAYS else f"{standin.kind} object"


def _joined(items: Content) -> str:
    return ", ".join(map(_text, items))


def _named_each(names: tuple[str, ...], contents: Content) -> list[str]:
    pairs = zip(names, contents, strict=True)
    return [f"{name}={_text(content)}" for name, content in pairs]


def _named(names: tuple[str, ...], contents: Content) -> str:
    return ", ".join(_named_each(names, contents))


def _paired(flat: Content) -> str:
    pairs = zip(flat[::2], flat[1::2], strict=True)
    return ", ".join(f"{_text(k)}: {_text(v)}" for k, v in pairs)
