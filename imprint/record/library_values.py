"""What libraries read of themselves: plain values, which a program may have set.

`lib.config.rate = 3.0`, as the first lines of a program have it, stands in no function.
While a process runs nobody watches it, as what a library holds is taken to stay as it is.
Another process must find the same, so it is noted for the disk: numbers, texts and small
containers of these, behind the names that a library's code mentions when it first starts.
What is another one when the trace is over, is a memo or a count, and no input (rule E).
"""

import marshal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, Final, final

from imprint.core.libraries import (
    entry,
    holds,
    is_module,
    is_user_class,
    is_user_namespace,
    module_namespace,
)
from imprint.definition.layout import instance_dict
from imprint.record.mentions import Mentions, mentions_of
from imprint.watch.classes import (
    MISSING,
    bases_of,
    class_namespace,
    class_of,
)

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
        words = sorted({w for each in _all(code) for w in mentions_of(each).names})
        for name in mentions.globals:
            if holds(names, name):
                self._note(module, name, names[name], words, _DEEP)

    def _note(
        self, module: str, path: str, value: Any, words: list[str], depth: int
    ) -> None:
        if (module, path) in self._found or len(self._found) == _MOST:
            return
        content = plain_content(value)
        if content is not None:
            self._found[module, path] = content
            return
        kind = class_of(value)
        is_seen = not depth or id(value) in self._met or kind in _FUNCTIONS
        if is_seen or is_user_class(kind):
            return
        self._met.add(id(value))
        if is_module(value):
            module, path = _module_of(module_namespace(value)), ""
        if not module:
            return
        for word, inner in _attributes(value, words):
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
        held = next((value for _, value in _attributes(held, (name,))), MISSING)
    return plain_content(held)


_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType, MethodType, property)


def _attributes(owner: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield what a module, a class or an object has by names, asking no code."""
    held = _namespaces(owner)
    for name in names:
        for namespace in held:
            value = namespace.get(name, MISSING)
            if value is not MISSING:
                yield name, value
                break


def _namespaces(owner: Any) -> Sequence[Mapping[str, Any]]:
    """Return where names of a module, a class or an object are looked up, in order."""
    if is_module(owner):
        return [module_namespace(owner)]
    kind = class_of(owner)
    if issubclass(kind, type):
        return [class_namespace(base) for base in bases_of(owner)]
    own = instance_dict(owner)
    of_class = [class_namespace(base) for base in bases_of(kind)]
    return [own, *of_class] if class_of(own) is dict else of_class


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
