"""Facts: what a call is made of that has a manifest, each with a name for people.

The key of a manifest is one digest of all of it, so that from a key that is not there
nobody can tell why. A manifest therefore keeps these facts, each with a digest and, of
numbers and shapes, what it prints as: what has another digest by now is the difference.
Texts are not kept as they are: they may be secrets. Nothing is decided by a fact.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from imprint import runtime
from imprint.calls.options import JitOptions
from imprint.calls.signature import Call, Form
from imprint.config import Settings
from imprint.core.identity import module_name
from imprint.manifest.reader import Reader, digest_of
from imprint.manifest.refused import Refused
from imprint.manifest.surroundings import surroundings
from imprint.tree import structure
from imprint.watch.classes import class_attribute, class_of

Fact = list[str]
"""A digest, and what it prints as: "" if that would say nothing, or too much."""
Facts = dict[str, Fact]


def home_of(fun: Any) -> str:
    """Return what tells functions apart of which others may be edits: file and name."""
    function = _innermost(fun)
    if function is None:
        return f"{module_name(class_of(fun))}:{class_of(fun).__qualname__}"
    file = Path(function.__code__.co_filename).name
    return f"{file}:{function.__qualname__}"


def _innermost(fun: Any) -> FunctionType | None:
    for _ in range(_DEPTH):
        if type(fun) is FunctionType:
            return fun
        if type(fun) is partial:
            fun = fun.func
        elif type(fun) is MethodType:
            fun = fun.__func__
        else:
            call = class_attribute(class_of(fun), "__call__")
            return call if type(call) is FunctionType else None
    return None


_DEPTH: Final = 8


def facts_of(
    fun: Any, call: Call, avals: tuple[Any, ...], asked: tuple[JitOptions, Settings]
) -> Facts:
    """Return what a call is made of.

    Args:
        fun: the function.
        call: its arguments.
        avals: those of its leaves.
        asked: the options of `jit`, and the flags.
    """
    options, flags = asked
    found = dict(_of_callable(fun, _DEPTH))
    form: Form = call.form
    for name, value in zip(form.static_names, call.static, strict=True):
        found[f"static {name}"] = fact(value)
    leaves = form.leaf_names(structure(call.dynamic))
    for name, aval in zip(leaves, avals, strict=True):
        found[name] = _told(str(aval))
    given: dict[str, Any] = {
        "keep_unused": options.keep_unused,
        "compiler_options": dict(options.compile.compiler_options),
    }
    found |= {f"option {n}": _told(repr(v)) for n, v in given.items()}
    for name in Settings.__slots__:
        found[f"flag {name}"] = _told(repr(getattr(flags, name)))
    return {**found, **dict(_around(options))}


def _around(options: JitOptions) -> Iterator[tuple[str, Fact]]:
    """Yield what is around a program, as `surroundings` and the engine tell it."""
    _, version, optimize, numpy, *sources = surroundings()
    yield "Python", _told(version.partition(" ")[0])
    yield "python -O", _told(optimize)
    yield "numpy", _told(numpy.partition(" ")[2])
    yield "imprint", [_digest(sources), ""]
    yield "devices", _told(str(len(runtime.devices())))
    engine, *rest = runtime.identity("", options.compile, runtime.default_device())
    yield engine.partition(" ")[0], _told(engine.partition(" ")[2])
    for text in rest:
        name, mark, value = text.partition("=" if text.startswith("XLA") else ": ")
        if mark:
            known = _WORDS.get(name, name)
            yield known, _told(value) if name in _SHORT else [_digest(value), ""]
        else:
            yield "the engine", [_digest(text), ""]


_SHORT: Final = ("processors", "model name", "XLA_FLAGS")
_WORDS: Final = {
    "flags": "the features of the CPU",
    "Features": "the features of the CPU",
    "model name": "the CPU",
    "library": "the engine's library",
}


# ---- functions ----


def _of_callable(x: Any, depth: int) -> Iterator[tuple[str, Fact]]:
    """Yield what a callable computes, and what it carries along."""
    if type(x) is FunctionType and depth:
        yield from _of_function(x, depth - 1)
    elif type(x) is partial:
        yield from _of_callable(x.func, depth - 1)
        yield "arguments of a partial", fact((x.args, x.keywords))
    elif type(x) is MethodType:
        yield from _of_callable(x.__func__, depth - 1)
        yield "the object of a method", fact(x.__self__)
    else:
        yield f"an object of class {type(x).__qualname__}", fact(x)


def _of_function(x: FunctionType, depth: int) -> Iterator[tuple[str, Fact]]:
    name = x.__qualname__
    code = x.__code__
    yield f"`{name}`", [Reader().code(code).hex(), place_of(code)]
    defaults = x.__defaults__ or ()
    first = max(0, code.co_argcount - len(defaults))
    names = code.co_varnames[first : code.co_argcount]
    named = zip(names, defaults[len(defaults) - len(names) :], strict=True)
    for parameter, value in (*named, *(x.__kwdefaults__ or {}).items()):
        yield f"default {parameter} of {name}", fact(value)
    for free, cell in zip(code.co_freevars, x.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if type(value) is FunctionType and depth and value is not x:
            yield from _of_function(value, depth - 1)
        else:
            yield f"closure variable {free} of {name}", fact(value)


def place_of(code: CodeType) -> str:
    """Return where code is."""
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


# ---- one fact ----


def fact(value: Any) -> Fact:
    """Return a value as a fact."""
    try:
        return [Reader().digest(value).hex(), shown(value)]
    except Refused:
        return ["", ""]


def shown(value: Any) -> str:
    """Return numbers as they print, and what has nothing but them; else nothing."""
    if not _is_of_numbers(value, _DEPTH):
        return ""
    text = repr(value)
    return text if len(text) <= _LONGEST else ""


_LONGEST: Final = 60


def _is_of_numbers(x: Any, depth: int) -> bool:
    kind = class_of(x)
    if kind in (bool, int, float, complex, type(None)):
        return not (kind is int and x.bit_length() > 64)
    if kind not in (tuple, list) or not depth or len(x) > _LONGEST:
        return False
    return all(_is_of_numbers(item, depth - 1) for item in x)


def _told(text: str) -> Fact:
    return [_digest(text), text if len(text) <= _LONGEST else ""]


def _digest(content: Any) -> str:
    return digest_of(content).hex()
