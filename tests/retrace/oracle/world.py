"""Run a program: each compiled function must give the result of the plain one.

Each call of each compiled function that is still alive must give the same bits as the plain
function at that moment, or raise the same error. An equal call right after it must not
trace again, so a cache that never hits would fail.

Of three functions one is compiled for its shapes, one names its rows. The third is left to
name them by itself: each check calls it with another number of rows, so it goes through
trials.

On a disk (`WorldOnDisk`) memory is empty before each call, as in a new process. The entries
of earlier calls are hits on the disk unless a value that they read has changed.
"""

import collections
import contextlib
import sys
from types import ModuleType

import numpy as np

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from tests.retrace.stale.kept import LIBRARY
from tests.units.modules import make_library

MODULES = ("oracle_program", "oracle_cfg", "oracle_other", "oracle_sub")
INSTALLED = "oracle_settings"


def run(program, *, strict, folder=None):
    """Run a program through its steps, and check it wherever it is called.

    Args:
        program: it.
        strict: how it is compiled.
        folder: an empty one for its files, where a disk answers; None where memory does.
    """
    try:
        if folder is None:
            world = World(program, strict=strict)
        else:
            world = WorldOnDisk(program, folder, strict=strict)
        world.settles = "pure_callback" not in program.text
        world.check()
        for step in program.steps:
            world.step(step.statement)
            if step.called:
                world.check()
    finally:
        for name in (*MODULES, INSTALLED):
            sys.modules.pop(name, None)


class World:
    """A running program, with the functions that were compiled so far."""

    def __init__(self, program, folder="/a_project", *, strict):
        self.program = program
        self.folder = folder
        self.strict = strict
        self.pairs = []
        self.made = program.first
        self.generalised = None
        """The compiled function that is called with `generalise` at "auto"."""
        self.checks = 0
        self.settles = True
        """Whether calls trace no more in the end: a callback may write where it is watched."""
        self.place = None
        for name in MODULES:
            sys.modules[name] = ModuleType(name)
            sys.modules[name].__file__ = f"{folder}/{name}.py"
        sys.modules["oracle_cfg"].sub = sys.modules["oracle_sub"]
        make_library(INSTALLED, LIBRARY)
        self.names = vars(sys.modules["oracle_program"])
        self.run(program.text)
        self.make()

    def run(self, text):
        file = self.names["__file__"]
        exec(compile(text, file, "exec"), self.names)

    def make(self):
        """Re-create the function, and compile it; keep the two before."""
        self.run(f"ROOT = {self.program.make}")
        is_static = self.program.static and not self.program.is_node
        options = {"static_argnums": 1} if is_static else {}
        fun = self.names["ROOT"]
        kind = self.made % 3
        self.made += 1
        if self.program.is_node and not self.strict and self.made % 2:
            compiled = imprint.filter_jit(fun)
        else:
            if kind == 1:  # for all numbers of rows, in buckets
                options["abstracted_axes"] = ({0: "n"},)
            compiled = imprint.jit(fun, strict=self.strict, **options)
            if kind == 2:
                self.generalised = compiled
                for more in (1, 2):  # so that the next size is the third
                    self.outcome(compiled, more)
        self.pairs = [*self.pairs[-2:], (fun, compiled)]

    def step(self, statement):
        """Edit the program. An edit that fails half-way is an edit too."""
        with contextlib.suppress(Exception):
            if statement is None:
                self.make()
            else:
                self.run(statement)

    def check(self):
        """Call every compiled function, and compare it with its plain one.

        The second call may trace once more: writes of the first trace are ignored from then
        on, and an older function that is now equal is stale. The argument is committed to its
        device every other time. Every other time the plain function comes second, so that the
        trace fills the memos.
        """
        self.place = imprint.devices()[0] if self.place is None else None
        self.checks += 1
        for fun, compiled in self.pairs:
            more = 3 + self.checks % 3 if compiled is self.generalised else 0
            first = self.outcome(compiled, more) if self.checks % 2 else None
            with imprint.disable_jit():
                expected = self.outcome(fun, more)
            assert first is None or self.is_right(first, expected)
            traced = []
            for _ in range(3):
                before = COUNTERS.traces
                assert self.is_right(self.outcome(compiled, more), expected)
                traced.append(COUNTERS.traces > before)
                if traced[1:] == [False]:
                    break
            assert traced[2:] != [True] or expected[0] == "error" or not self.settles

    def is_right(self, outcome, expected):
        """Return whether a call gave the result of the plain function.

        A callback that fails runs after the trace, where the code after it has failed.
        """
        both = outcome[0] == expected[0] == "error" and "callback" in self.program.text
        return both or outcome == expected

    def outcome(self, fun, more=0):
        static = [self.names[self.program.static]] if self.program.static else []
        shape = 1 + more, 2
        x = inp.asarray(np.ones(shape, np.int32), device=self.place)
        try:
            with imprint.generalise("auto" if fun is self.generalised else "ask"):
                found = fun(x, *static)
        except Exception as err:
            return "error", type(err).__name__, str(err)
        place = found.sharding if found.committed else None
        return "value", str(found.dtype), place, np.asarray(found).tobytes()


class WorldOnDisk(World):
    """A running program whose caches in memory are empty at each call.

    The functions that an edit defines are in no file, so no program that reads them is on
    the disk. Edits of values have to be seen.
    """

    def __init__(self, program, folder, *, strict):
        texts = dict.fromkeys(MODULES, "") | {"oracle_program": program.text}
        for name, text in texts.items():
            (folder / f"{name}.py").write_text(text)
        super().__init__(program, folder, strict=strict)

    def check(self):
        """Call every function that is compiled twice, and compare it with its plain one."""
        for fun, compiled in self.pairs:
            with imprint.disable_jit():
                expected = self.outcome(fun)
            for _ in range(2):
                imprint.clear_caches()
                before = COUNTERS.traces
                outcome = self.outcome(compiled)
                assert self.is_right(outcome, expected)
                is_value = outcome[0] == "value"
                STARTED[is_value and COUNTERS.traces == before] += 1


STARTED = collections.Counter()
"""How many calls on a disk were traced (False), and how many were not (True)."""
