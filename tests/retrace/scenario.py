"""Run a scenario: a program, warm calls, an edit, then hits compared with plain calls.

A scenario is a generator function: it defines `f`, and yields where `f` is called, first
and after each edit. It runs with a module of its own as its globals. `HEAD` precedes it there and defines the
classes `K` and `L` with an attribute, `O` of `K`, and the modules `cfg`, `other` and
`stale_pkg.sub`. If it defines `compiled`, that is called instead of `jit(f)`; `S` is a
static argument.

Each edit must change the result of the plain function, or the scenario would test nothing.
"""

import contextlib
import re
import sys
import types

import imprint
from imprint._src.jit.compilation.counters import COUNTERS
from tests.retrace.stale import given, kept
from tests.units.modules import fill, make_library, make_module

HEAD = """\
import abc, collections, collections.abc, contextlib, contextvars, dataclasses, enum, functools
import importlib, itertools, math, operator, sys, types, typing
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import imprint, imprint.numpy as inp
from imprint import filter_jit, grad, jit, vmap
from imprint.module import Module, field
import stale_cfg as cfg, stale_other as other, stale_pkg
class K:
    rate = 1.0
class L:
    rate = 2.0
O = K()
"""
MODULES = {
    "stale_cfg": "W = 1.0",
    "stale_other": "W = 2.0",
    "stale_pkg": "__path__ = []; V = 1.0",
    "stale_pkg.sub": "W = 1.0",
    "stale_pkg.new": "W = 2.0",
}
LIBRARIES = {
    "stale_lib": given.LIBRARY,
    "stale_settings": kept.LIBRARY + kept.PUBLISHED,
}


@contextlib.contextmanager
def user_modules():
    """Keep the modules that scenarios import while one runs."""
    before = dict(sys.modules)
    try:
        for name, text in MODULES.items():
            module = make_module(name, text)
            parent, _, own = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], own, module)
        for name, text in LIBRARIES.items():
            make_library(name, text)
        yield
    finally:
        for name in set(sys.modules) - set(before):
            if name.startswith("stale"):
                del sys.modules[name]


class Scene:
    """A running scenario: its module, and what is called in it."""

    def __init__(self):
        self.module = make_module("stale", HEAD)
        self.names = vars(self.module)

    def steps(self, scenario, kind):
        """Return an iterator that runs the program of a scenario, then each edit."""
        if isinstance(scenario, str):
            return self.parts(scenario)
        args = [getattr(sys.modules["stale_settings"], kind)] if kind else []
        return types.FunctionType(scenario.__code__, self.names)(*args)

    def parts(self, text):
        for part in re.split(r"\n--- ", text):
            fill(self.module, part)
            yield

    def begin(self):
        """Choose what is called, once the program has run."""
        self.fun = self.names["f"]
        options = {"static_argnums": 1} if "S" in self.names else {}
        self.compiled = self.names.get("compiled") or imprint.jit(self.fun, **options)

    def outcome(self, fun):
        static = [self.names["S"]] if "S" in self.names else []
        try:
            return float(fun(1.0, *static))
        except Exception as err:
            return f"{type(err).__name__}: {err}"

    def plain(self):
        """Return the present result of the program without compiled functions."""
        with imprint.disable_jit():
            return self.outcome(self.fun)

    def check(self, found=None):
        """Call the compiled function: right each time, and without a trace in the end."""
        expected = self.plain()
        assert found in {None, expected}, f"{found} before the plain one: {expected}"
        for _ in range(3):
            before = COUNTERS.traces
            found = self.outcome(self.compiled)
            assert found == expected, (
                f"{found}, and the plain function gives {expected}"
            )
            traced = COUNTERS.traces > before
        assert not traced or isinstance(expected, str), "it is traced at each call"


def play(scenario, kind=None):
    """Run a scenario: three calls, then an edit and three calls, for each edit.

    Args:
      scenario: A generator function, or a text with its edits after `---` at the start of
        a line.
      kind: The name of a class of `kept`, which the scenario gets.
    """
    with user_modules():
        scene = Scene()
        steps = scene.steps(scenario, kind)
        next(steps)
        scene.begin()
        # The trace is the first to fill a memo.
        scene.check(scene.outcome(scene.compiled))
        before = scene.plain()
        for number, _ in enumerate(steps):
            assert scene.plain() != before, f"edit {number} changes nothing"
            scene.check()
            before = scene.plain()
