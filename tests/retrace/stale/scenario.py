"""Run a scenario: a program, warm calls, an edit, then hits compared with plain calls.

A scenario is one text: a module with `f`, then edits, each after `---`. `HEAD` precedes it
and defines the classes `K` and `L` with an attribute, `O` of `K`, and the modules `cfg`,
`other` and `stale_pkg.sub`. If the text defines `compiled`, it is called instead of
`jit(f)`; `S` is a static argument.

Each edit must change the result of the plain function, or the scenario would test nothing.
"""

import contextlib
import re
import sys
import textwrap

import imprint
from imprint._src.jit.compilation.counters import COUNTERS
from tests.units.modules import make_module

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
        yield
    finally:
        for name in set(sys.modules) - set(before):
            if name.startswith("stale"):
                del sys.modules[name]


class Scene:
    """A running scenario."""

    def __init__(self, text):
        head, *self.edits = re.split(r"\s+---\s", textwrap.dedent(text).strip())
        self.module = make_module("stale", "")
        self.names = vars(self.module)
        self.run(HEAD + head)
        self.fun = self.names["f"]
        options = {"static_argnums": 1} if "S" in self.names else {}
        self.compiled = self.names.get("compiled") or imprint.jit(self.fun, **options)

    def run(self, text):
        exec(compile(text, self.module.__file__, "exec"), self.names)

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


def play(text):
    """Run a scenario: three calls, then an edit and three calls, for each edit."""
    with user_modules():
        scene = Scene(text)
        # The trace is the first to fill a memo.
        scene.check(scene.outcome(scene.compiled))
        for edit in scene.edits:
            before = scene.plain()
            scene.run(edit)
            assert scene.plain() != before, f"this changes nothing: {edit}"
            scene.check()
