"""Modules written in a test, as a user would write them in files."""

import sys
import textwrap
from types import ModuleType

from imprint.record.recorder import Recording
from imprint.watch.guard import Watch


def fill(module, text):
    """Run a text in a module, as a notebook does with a cell or `reload` with a file."""
    code = compile(textwrap.dedent(text), module.__file__, "exec")
    exec(code, module.__dict__)
    return module


def make_module(name, text):
    """Return a new module of the user's; the caller takes it out of `sys.modules`."""
    module = ModuleType(name)
    module.__file__ = f"/a_project/{name}.py"
    sys.modules[name] = module
    return fill(module, text)


def make_library(name, text):
    """Return a new module as one that is installed; the caller takes it out again."""
    module = make_module(name, "")
    module.__file__ = f"/env/lib/python3/site-packages/{name}.py"
    return fill(module, text)


def find(fun, *args, strict=False):
    """Run a function as a trace would; return what was found out."""
    with Recording(fun, strict=strict) as recording:
        fun(*args)
    return recording.findings


def run(fun, *args, strict=False):
    """Run a function as a trace would; return the watch over what it read."""
    return Watch(find(fun, *args, strict=strict).reads)


def names(watch):
    """Return what is watched, without modules; the code of functions left out."""
    places = [str(read.place) for read in watch.reads]
    return {p.removeprefix("global ") for p in places if not p.startswith("code of")}
