"""The first difference between the disk and a call, in words.

The key of a manifest is one digest, so a manifest also keeps the components of its key:
each with a name, a digest, and a text if it is a number or a shape. Other texts are not
kept: they may be secrets.

1. If there are traces under the key of the call, the first location that differs is named.
2. Else the components of the manifests of the same function are compared.
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
from imprint._src.jit.manifest.environment import environment_key
from imprint._src.jit.manifest.locations import Mismatch
from imprint._src.jit.manifest.not_cacheable import NotCacheable
from imprint._src.jit.manifest.stable_hash import StableHash, digest_of
from imprint._src.jit.manifest.trace_manifest import (
    TRACE,
    KeyInputs,
    ManifestKey,
    Plain,
    parse_manifest,
    traces_of,
    verify,
)
from imprint._src.tree.internal import structure

Component = list[str]
"""A digest and a text, which is "" if it says nothing or too much."""
Components = dict[str, Component]


def difference(store: Store, inputs: KeyInputs, key: ManifestKey) -> str:
    """Return the first difference between the manifests of a function and a call.

    Returns:
        A text such as "global RATE in model was 0.1, is 0.2"; "" if there is no manifest.
    """
    for plain in traces_of(store, key):
        return _trace_difference(key, plain)
    now = components(inputs)
    stored = _stored_components(store, source_of(inputs.fun))
    found = [[*_component_differences(before, now)] for before in stored]
    if not found:
        return ""
    nearest = min(found, key=len)
    return nearest[0] if nearest else "what it captures changed"


def _trace_difference(key: ManifestKey, plain: Plain) -> str:
    try:
        found = verify(key, plain)
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
    return _changed(name, found.was, printed(now))


def _stored_components(store: Store, source: str) -> Iterator[Components]:
    """Yield the components of the manifests of a function, the last used first."""
    listed = [(each, entry) for each in store.chain() for entry in entries(each.folder)]
    count = 0
    for each, entry in sorted(listed, key=lambda pair: -pair[1].used):
        with suppress(ReadError, OSError):
            head = each.look(entry.path, whole=False)
            note: Any = {} if head is None else head.note
            if note.get("kind") != TRACE or note.get("of") != source:
                continue
            whole = each.look(entry.path, whole=True)
            body = parse_manifest(None if whole is None else whole.body)
            before = body.get("components")
            if type(before) is dict:
                yield before
                count += 1
                if count == _MANY:
                    return


_MANY: Final = 64
"""Manifests that are read."""


def _component_differences(before: Components, now: Components) -> Iterator[str]:
    for name, (digest, text) in now.items():
        if name not in before:
            yield f"{name} is new"
        elif before[name][0] != digest and name.startswith("`"):
            yield f"{name} at {text} changed"
        elif before[name][0] != digest:
            yield _changed(name, before[name][1], text)
    yield from (f"{n} is not there any more" for n in before if n not in now)


def _changed(name: str, was: str, text: str) -> str:
    is_known = was and text and was != text
    return f"{name} was {was}, is {text}" if is_known else f"{name} changed"


# ---- components ----


def source_of(fun: Any) -> str:
    """Return the file and name of a function, which all its edits share."""
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


def components(inputs: KeyInputs) -> Components:
    """Return the components of the key of a call."""
    options, call = inputs.options, inputs.call
    found = dict(_of_callable(inputs.fun, _DEPTH))
    for name, value in zip(call.spec.static_names, call.static, strict=True):
        found[f"static {name}"] = component(value)
    leaves = call.spec.leaf_names(structure(call.dynamic))
    for name, aval in zip(leaves, inputs.avals, strict=True):
        found[name] = _of_text(str(aval))
    compiler_options = repr(dict(options.compile.compiler_options))
    found["option keep_unused"] = _of_text(repr(options.keep_unused))
    found["option compiler_options"] = _of_text(compiler_options)
    for name in Settings.__slots__:
        found[f"flag {name}"] = _of_text(repr(getattr(inputs.settings, name)))
    return {**found, **dict(_of_environment(inputs))}


def _of_environment(inputs: KeyInputs) -> Iterator[tuple[str, Component]]:
    _, version, optimize, numpy, *sources = environment_key()
    yield "Python", _of_text(version.partition(" ")[0])
    yield "python -O", _of_text(optimize)
    yield "numpy", _of_text(numpy.partition(" ")[2])
    yield "imprint", [digest_of(sources).hex(), ""]
    yield "devices", _of_text(str(len(runtime.devices())))
    device = runtime.default_device()
    engine, *rest = runtime.identity("", inputs.options.compile, device)
    yield engine.partition(" ")[0], _of_text(engine.partition(" ")[2])
    for text in rest:
        name, mark, value = text.partition("=" if text.startswith("XLA") else ": ")
        component = _of_text(value if mark else text)
        is_shown = mark and name in _SHORT
        yield (
            _WORDS.get(name, name) if mark else "the engine",
            component if is_shown else [component[0], ""],
        )


_SHORT: Final = ("processors", "model name", "XLA_FLAGS")
_WORDS: Final = {
    "flags": "the features of the CPU",
    "Features": "the features of the CPU",
    "model name": "the CPU",
    "library": "the engine's library",
}


def _of_callable(x: Any, depth: int) -> Iterator[tuple[str, Component]]:
    """Yield the code of a callable, and the values it carries."""
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
    """Return the digest of a value and its text; empty if it has no digest."""
    try:
        return [StableHash(of_roots=True).digest(value).hex(), printed(value)]
    except NotCacheable:
        return ["", ""]


def printed(value: Any) -> str:
    """Return the text of a number, or of a sequence of numbers; else ""."""
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
    return [digest_of(text).hex(), text if len(text) <= _LONGEST else ""]
