"""What libraries read of themselves: plain values, which a program may have set.

`lib.config.rate = 3.0`, as the first lines of a program have it, stands in no function.
While a process runs nobody watches it, as what a library holds is taken to stay as it is.
Another process must find the same, so it is noted for the disk: numbers, texts and small
containers of these, behind the names that a library's code mentions when it first starts.
What is another one when the trace is over, is a memo or a count, and no input (rule E).
"""

import marshal
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, Final, cast, final

from imprint.core.libraries import (
    entry,
    holds,
    is_module,
    is_user_class,
    is_user_namespace,
    module_namespace,
)
from imprint.record.mentions import Mentions, mentions_of
from imprint.watch.places import MISSING, bases_of, class_namespace, class_of

Value = tuple[str, str, bytes]
"""A module, the names that lead to a value in it, and what the value is."""


@final
class LibraryValues:
    """What the code of libraries that ran has read of plain values."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], bytes] = {}
        self._met: set[int] = set()  # on the way through what one code mentions

    def add(self, code: CodeType, names: dict[str, Any], mentions: Mentions) -> None:
        """Note what code reads that starts for the first time."""
        module = _module_of(names)
        if not module:
            return
        self._met.clear()
        words = {word for each in _all(code) for word in mentions_of(each).names}
        for name in mentions.globals:
            if holds(names, name):
                self._note(module, name, names[name], words, _DEEP)

    def _note(
        self, module: str, path: str, value: Any, words: set[str], depth: int
    ) -> None:
        if (module, path) in self._found or len(self._found) == _MOST:
            return
        content = plain_content(value)
        if content is not None:
            self._found[module, path] = content
            return
        kind = class_of(value)
        is_seen = id(value) in self._met or kind in _FUNCTIONS or is_user_class(kind)
        if not depth or is_seen:
            return
        self._met.add(id(value))
        if is_module(value):
            module, path = _module_of(module_namespace(value)), ""
        for word in sorted(words) if module else ():
            inner = _attribute(value, word)
            if inner is not MISSING:
                inner_path = f"{path}.{word}" if path else word
                self._note(module, inner_path, inner, words, depth - 1)

    def values(self) -> Iterator[Value]:
        """Yield what is as it was, so that the trace only read it."""
        for (module, path), content in self._found.items():
            if content_at(sys.modules.get(module), path) == content:
                yield module, path, content


_DEEP: Final = 3
_MOST: Final = 4096
_LONGEST: Final = 256


def plain_content(value: Any) -> bytes | None:
    """Return numbers, texts and small containers of them as bytes; None for the rest."""
    kind = class_of(value)
    if kind not in _PLAIN or (kind in _CONTAINERS and len(value) > _LONGEST):
        return None
    try:
        return marshal.dumps(value, 2)
    except ValueError:
        return None


_CONTAINERS: Final = (tuple, list, dict)
_PLAIN: Final = (*_CONTAINERS, int, float, bool, complex, str, bytes, type(None))


def content_at(module: Any, path: str) -> bytes | None:
    """Return what the value is to which names lead; None if there is no plain one."""
    held = module
    for name in path.split("."):
        held = _attribute(held, name)
    return plain_content(held)


_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType, MethodType, property)


def _attribute(owner: Any, name: str) -> Any:
    """Return what a module, a class or an object has by a name, asking no code."""
    if is_module(owner):
        return module_namespace(owner).get(name, MISSING)
    cls = owner if issubclass(class_of(owner), type) else class_of(owner)
    if cls is not owner:
        own: Any = {}
        with suppress(AttributeError):
            own = object.__getattribute__(owner, "__dict__")
        if type(own) is dict and name in own:
            return cast("Any", own)[name]
    for base in bases_of(cls):
        if name in class_namespace(base):
            return class_namespace(base)[name]
    return MISSING


def _module_of(names: Any) -> str:
    """Return the name of a library's module whose values a program may set, or ""."""
    name = entry(names, "__name__")
    if type(name) is not str:
        return ""
    root = name.partition(".")[0]
    if root in ENGINE or root in sys.stdlib_module_names:  # most of what runs
        return ""
    held: Any = sys.modules.get(name)
    if held is None or module_namespace(held) is not names:
        return ""
    return "" if is_user_namespace(names) else name


ENGINE: Final = ("imprint", "numpy", "jaxlib", "optree", "ml_dtypes")
"""What is a part of each key by its release, and holds nothing that a program sets."""


def _all(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if type(const) is CodeType:
            yield from _all(const)
