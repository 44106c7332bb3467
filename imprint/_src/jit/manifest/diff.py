"""The first difference between the disk and a call, in words.

The key of a manifest is one digest, so a manifest keeps the components of its key, too:
each with a name, a digest, and what it prints as if it is a number or a shape. Texts are
not kept: they may be secrets.

1. Under the key of the call are results: the first location that differs is named.
2. Else the components of the manifests of the same function are compared.
It reads a store and changes nothing; no call needs it.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from imprint._src import runtime
from imprint._src.config import Settings
from imprint._src.core.identity import module_name
from imprint._src.core.user_code import is_user_class
from imprint._src.jit.disk_cache.eviction import entries
from imprint._src.jit.disk_cache.files import ReadError
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.fingerprint.code import code_digest
from imprint._src.jit.fingerprint.raw_access import MISSING, class_attribute, class_of
from imprint._src.jit.manifest.environment_key import environment_key
from imprint._src.jit.manifest.locations import Mismatch
from imprint._src.jit.manifest.not_cacheable import Refused
from imprint._src.jit.manifest.stable_hash import StableHash, digest_of
from imprint._src.jit.manifest.trace_manifest import (
    TRACE,
    Asked,
    Plain,
    Question,
    body_of,
    results_of,
    verified,
)
from imprint.tree import structure

Component = list[str]
"""A digest, and what it prints as: "" if that says nothing, or too much."""
Components = dict[str, Component]


def difference(store: Store, question: Question, asked: Asked) -> str:
    """Return the first difference between what was kept for a call and now.

    Returns:
        A text such as "global RATE in model was 0.1, is 0.2"; "" if nothing of the
        function was kept.
    """
    for plain in results_of(store, asked):
        return _of_result(asked, plain)
    now = components(question)
    home = home_of(question.fun)
    found = [[*_differing(before, now)] for before in _kept_of(store, home)]
    if not found:
        return ""
    nearest = min(found, key=len)
    return nearest[0] if nearest else "what it captures changed"


def _of_result(asked: Asked, plain: Plain) -> str:
    try:
        found = verified(asked, plain)
    except Exception:
        return "what it reads is not there any more, or is of another kind"
    if not isinstance(found, Mismatch):
        is_sized = plain.get("bucket") is not None
        return (
            "its sizes have other answers to what it asks"
            if is_sized
            else "its program is not there any more"
        )
    at, now = found.what, found.now
    if isinstance(at, str):
        return _changed(at, found.was, "" if now is MISSING else now)
    if type(now) is FunctionType:
        return f"helper `{now.__qualname__}` at {_line_of(now.__code__)} changed"
    if issubclass(type(now), type) and is_user_class(now):
        return f"class `{now.__qualname__}` of {module_name(now)} changed"
    name = f"{at} in {at.module}" if at.kind == "global" else str(at)
    if now is MISSING:
        return f"{name} is not defined any more"
    return _changed(name, found.was, shown(now))


def _kept_of(store: Store, home: str) -> Iterator[Components]:
    """Yield the components of the manifests of a function, what was used last first."""
    listed = [(each, entry) for each in store.chain() for entry in entries(each.folder)]
    count = 0
    for each, entry in sorted(listed, key=lambda pair: -pair[1].used):
        with suppress(ReadError, OSError):
            head = each.look(entry.path, whole=False)
            note: Any = {} if head is None else head.note
            if note.get("kind") != TRACE or note.get("of") != home:
                continue
            whole = each.look(entry.path, whole=True)
            before = body_of(None if whole is None else whole.body).get("facts")
            if type(before) is dict:
                yield before
                count += 1
                if count == _MANY:
                    return


_MANY: Final = 64
"""Manifests that are read."""


def _differing(before: Components, now: Components) -> Iterator[str]:
    for name, (digest, text) in now.items():
        if name not in before:
            yield f"{name} is new"
        elif before[name][0] != digest:
            is_code = name.startswith("`")
            yield (
                f"{name} at {text} changed"
                if is_code
                else (_changed(name, before[name][1], text))
            )
    yield from (f"{n} is not there any more" for n in before if n not in now)


def _changed(name: str, was: str, text: str) -> str:
    is_known = was and text and was != text
    return f"{name} was {was}, is {text}" if is_known else f"{name} changed"


# ---- components ----


def home_of(fun: Any) -> str:
    """Return the file and name of a function, which its edits have in common."""
    function: Any = fun
    for _ in range(_DEPTH):
        if class_of(function) is FunctionType:
            file = Path(function.__code__.co_filename).name
            return f"{file}:{function.__qualname__}"
        if type(function) is partial:
            function = function.func
        elif type(function) is MethodType:
            function = function.__func__
        else:
            function = class_attribute(class_of(function), "__call__")
    return f"{module_name(class_of(fun))}:{class_of(fun).__qualname__}"


_DEPTH: Final = 8


def components(question: Question) -> Components:
    """Return the components of the key of a call."""
    options, call = question.options, question.call
    found = dict(_of_callable(question.fun, _DEPTH))
    for name, value in zip(call.form.static_names, call.static, strict=True):
        found[f"static {name}"] = component(value)
    leaves = call.form.leaf_names(structure(call.dynamic))
    for name, aval in zip(leaves, question.avals, strict=True):
        found[name] = _of_text(str(aval))
    compiler_options = repr(dict(options.compile.compiler_options))
    found["option keep_unused"] = _of_text(repr(options.keep_unused))
    found["option compiler_options"] = _of_text(compiler_options)
    for name in Settings.__slots__:
        found[f"flag {name}"] = _of_text(repr(getattr(question.flags, name)))
    return {**found, **dict(_of_environment(question))}


def _of_environment(question: Question) -> Iterator[tuple[str, Component]]:
    _, version, optimize, numpy, *sources = environment_key()
    yield "Python", _of_text(version.partition(" ")[0])
    yield "python -O", _of_text(optimize)
    yield "numpy", _of_text(numpy.partition(" ")[2])
    yield "imprint", [_digest(sources), ""]
    yield "devices", _of_text(str(len(runtime.devices())))
    device = runtime.default_device()
    engine, *rest = runtime.identity("", question.options.compile, device)
    yield engine.partition(" ")[0], _of_text(engine.partition(" ")[2])
    for text in rest:
        name, mark, value = text.partition("=" if text.startswith("XLA") else ": ")
        if mark:
            printed = _of_text(value) if name in _SHORT else [_digest(value), ""]
            yield _WORDS.get(name, name), printed
        else:
            yield "the engine", [_digest(text), ""]


_SHORT: Final = ("processors", "model name", "XLA_FLAGS")
_WORDS: Final = {
    "flags": "the features of the CPU",
    "Features": "the features of the CPU",
    "model name": "the CPU",
    "library": "the engine's library",
}


def _of_callable(x: Any, depth: int) -> Iterator[tuple[str, Component]]:
    """Yield the code of a callable, and what it carries."""
    if type(x) is FunctionType and depth:
        yield from _of_function(x, depth - 1)
    elif type(x) is partial:
        yield from _of_callable(x.func, depth - 1)
        yield "arguments of a partial", component((x.args, x.keywords))
    elif type(x) is MethodType:
        yield from _of_callable(x.__func__, depth - 1)
        yield "the object of a method", component(x.__self__)
    else:
        yield f"an object of class {type(x).__qualname__}", component(x)


def _of_function(x: FunctionType, depth: int) -> Iterator[tuple[str, Component]]:
    name, code = x.__qualname__, x.__code__
    yield f"`{name}`", [code_digest(code).hex(), _line_of(code)]
    defaults = x.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount][-len(defaults) or code.co_argcount :]
    named = zip(names, defaults[len(defaults) - len(names) :], strict=True)
    for parameter, value in (*named, *(x.__kwdefaults__ or {}).items()):
        yield f"default {parameter} of {name}", component(value)
    for free, cell in zip(code.co_freevars, x.__closure__ or (), strict=True):
        with suppress(ValueError):
            value = cell.cell_contents
            if type(value) is FunctionType and depth and value is not x:
                yield from _of_function(value, depth - 1)
            else:
                yield f"closure variable {free} of {name}", component(value)


def _line_of(code: CodeType) -> str:
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def component(value: Any) -> Component:
    """Return the digest of a value, and what it prints as."""
    try:
        return [StableHash().digest(value).hex(), shown(value)]
    except Refused:
        return ["", ""]


def shown(value: Any) -> str:
    """Return numbers as they print, and what has nothing but them; else nothing."""
    text = repr(value) if _is_of_numbers(value, _DEPTH) else ""
    return text if len(text) <= _LONGEST else ""


_LONGEST: Final = 60


def _is_of_numbers(x: Any, depth: int) -> bool:
    kind = class_of(x)
    if kind in (bool, int, float, complex, type(None)):
        return not (kind is int and x.bit_length() > 64)
    if kind not in (tuple, list) or not depth or len(x) > _LONGEST:
        return False
    return all(_is_of_numbers(item, depth - 1) for item in x)


def _of_text(text: str) -> Component:
    return [_digest(text), text if len(text) <= _LONGEST else ""]


def _digest(content: Any) -> str:
    return digest_of(content).hex()
