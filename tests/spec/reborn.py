"""Cheap processes: re-created modules and empty caches in memory.

A program is a text for each of its modules, which are made in their order; the last one
has the function. Each life has new functions, classes and dictionaries, as in another
process; programs of an earlier life are on the disk alone.
"""

import sys
from types import ModuleType

import imprint


class Life:
    """The results of one life.

    Attributes:
        modules: the modules, by name.
        fun: the result of `run`, a jitted function.
    """

    def __init__(self, texts, folder):
        imprint.clear_caches()
        for name in texts:
            sys.modules.pop(name, None)
        self.modules = {}
        for name, text in texts.items():
            module = sys.modules[name] = ModuleType(name)
            module.__file__ = str(folder / f"{name}.py")
            self.modules[name] = module
            exec(compile(text, module.__file__, "exec"), vars(module))

    def __getattr__(self, name):
        return self.modules[name]


def begin(texts, folder):
    """Begin a life."""
    return Life(texts, folder)


def traces(fun, *args):
    """Call a function; return its result, and how often something was traced."""
    before = imprint.debug.counters().traces
    result = fun(*args)
    return result, imprint.debug.counters().traces - before
