"""Modules written in a test, as a user would write them in files."""

import sys
import textwrap
from types import ModuleType


def fill(module, text):
    """Run a text in a module, as a notebook does with a cell or `reload` with a file."""
    code = compile(textwrap.dedent(text), module.__file__, "exec")
    exec(code, module.__dict__)
    return module


def make_module(name, text):
    """Return a new user module; the caller removes it from `sys.modules`."""
    module = ModuleType(name)
    module.__file__ = f"/a_project/{name}.py"
    sys.modules[name] = module
    return fill(module, text)


def make_library(name, text):
    """Return a new installed module; the caller removes it from `sys.modules`."""
    module = make_module(name, "")
    module.__file__ = f"/env/lib/python3/site-packages/{name}.py"
    return fill(module, text)
