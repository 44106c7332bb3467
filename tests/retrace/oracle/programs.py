"""Programs put together from pieces, and the edits of one between its calls.

`programs()` draws a `Program`: its text, and a script of steps that edit it. Everything
is drawn as text, so that a failing program can be read and run by hand.
"""

import re
from typing import NamedTuple

from hypothesis import strategies as st

from tests.retrace.oracle.callbacks import CALLBACKS
from tests.retrace.oracle.carriers import CARRIERS
from tests.retrace.oracle.containers import CONTAINERS
from tests.retrace.oracle.grown import GROWN
from tests.retrace.oracle.holders import HASHED, HOLDERS
from tests.retrace.oracle.indices import INDEXED
from tests.retrace.oracle.kinds import KINDS, STATIC_KINDS
from tests.retrace.oracle.names import NAMES
from tests.retrace.oracle.pieces import CONSTANTS, INDICES, Piece
from tests.retrace.oracle.roots import NESTED, ROOTS
from tests.retrace.oracle.rules import RULES
from tests.retrace.oracle.sources import SOURCES
from tests.retrace.oracle.statics import (
    NODE_HOLDERS,
    NODES,
    ROOT_WITH_STATIC,
    STATIC_HOLDERS,
    STATICS,
)
from tests.retrace.oracle.ways import KEEPERS, WAYS

PLAIN = {**SOURCES, **CONTAINERS}
VALUES = {**SOURCES, **CONTAINERS, **GROWN, **KINDS, **NAMES}
UNHASHABLE = "[", "(slice", "slice", "np.array"  # slices are so before 3.12
HEAD = """\
import array, collections, contextlib, contextvars, copy, dataclasses, enum, functools
import importlib, itertools, operator, sys, threading, types, weakref
from dataclasses import dataclass
import numpy as np
import imprint, imprint.lax, imprint.numpy as inp
from imprint import tree
from imprint.module import Module, field
import oracle_cfg as cfg, oracle_other as other
from tests.retrace.oracle.emit import emit, indexed, parity
"""


class Step(NamedTuple):
    """One edit: a statement is run, or (None) the function is re-created."""

    statement: str | None
    called: bool
    """Whether the program is called before the next step."""


class Program(NamedTuple):
    text: str
    make: str
    static: str | None
    is_node: bool
    """Whether the static argument is passed as a tree: then its settings are static."""
    steps: tuple[Step, ...]
    first: int = 1
    """How the function is compiled first: 0 for its shapes, 1 and 2 for any; see `World`."""

    def __str__(self):
        lines = [self.text, f"ROOT = {self.make}", f"# static: {self.static}"]
        lines.append(f"# first: {self.first}")
        for step in self.steps:
            lines.append(step.statement or f"ROOT = {self.make}; f = jit(ROOT)")
            lines += ["f(x)"] * step.called
        return "\n".join(lines)


def filled(text, number, constants, inner="", every=CONSTANTS):
    """Return the text of a piece with its number, its constants and its inner expression.

    Its constants are out of `every`, from number `constants` on.
    """
    names = iter(range(1_000_000))
    hashable = [c for c in every if not c.startswith(UNHASHABLE)]

    def constant(match):
        pool = hashable if match[0] == "?!" else every
        return pool[(constants + 5 * next(names)) % len(pool)]

    text = re.sub(r"\?!?", constant, text.replace("#", str(number)))
    return text.replace("<>", inner)


class _Maker:
    """Puts a program together from draws."""

    def __init__(self, draw, *, strict, is_wide):
        self._draw = draw
        self._strict = strict
        self.is_wide = is_wide
        self._count = 0
        self.lines = []
        self.edits = []  # text, number, carried expression, constants: which, and of which
        self.pool = CONSTANTS

    def constants(self):
        return self._draw(st.integers(0, len(self.pool) - 1))

    def add(self, piece: Piece, inner=""):
        """Add a piece; return its expression."""
        number = self._count
        self._count += 1
        pool, first = self.pool, self.constants()
        self.lines.append(filled(piece.define, number, first, inner, pool))
        edits = (*piece.edits, *(piece.holes if self._strict else ()), piece.define)
        self.edits += [(text, number, inner, first, pool) for text in edits if text]
        return filled(piece.read, number, self.constants(), inner, pool)

    def choose(self, pieces):
        return pieces[self._draw(st.sampled_from(sorted(pieces)))]

    def value(self):
        """Add a source, or an object whose attribute is read, inside carriers."""
        if not self.is_wide or self._draw(st.booleans()):
            expression = self.add(self.choose(VALUES if self.is_wide else PLAIN))
        else:
            expression = self.add(self.choose(HOLDERS))
            for _ in range(self._draw(st.sampled_from((0, 0, 1, 2)))):
                expression = self.add(self.choose(KEEPERS), expression)
            expression = self.add(self.choose(WAYS), expression)
        for _ in range(self._draw(st.integers(0, 2))):
            expression = self.add(self.choose(CARRIERS), expression)
        return expression

    def nested(self):
        return self.add(self.choose({**NESTED, **CALLBACKS, **RULES}), self.value())

    def index(self):
        """Add a value whose constants are indices, and its use as one."""
        self.pool = INDICES
        expression = self.add(self.choose(INDEXED), self.value())
        self.pool = CONSTANTS
        return expression

    def static(self):
        """Add the value of a static argument `n`; return whether it is a node."""
        if not self.is_wide or self._draw(st.booleans()):
            kinds = STATIC_KINDS if self.is_wide else {}
            piece = self.choose({**STATICS, **kinds, **NODES})
            return self.add(piece), piece in NODES.values()
        held = self.add(self.choose(HASHED))
        piece = self.choose({**STATIC_HOLDERS, **NODE_HOLDERS})
        expression = self.add(self.choose(WAYS), self.add(piece, held))
        return expression, piece in NODE_HOLDERS.values()

    def step(self):
        called = self._draw(st.sampled_from((True, True, False)))
        if self._draw(st.integers(0, 4)) == 0:
            return Step(None, called)
        text, number, inner, first, pool = self._draw(st.sampled_from(self.edits))
        # A piece is often defined again as it was, as when a cell of a notebook is.
        constants = first if self._draw(st.booleans()) else self.constants()
        return Step(filled(text, number, constants, inner, pool), called)


@st.composite
def programs(draw, *, strict, is_wide, is_flat=False):
    """Draw a program.

    Args:
        strict: with edits that only `strict=True` sees.
        is_wide: of all pieces; else without the ways to read holders.
        is_flat: without nested jits, derivatives and callbacks.
    """
    maker = _Maker(draw, strict=strict, is_wide=is_wide)
    static, is_node = None, False
    terms = [maker.value() for _ in range(draw(st.integers(1, 3)))]
    nested = 0 if is_flat else draw(st.sampled_from((0, 0, 1, 2)))
    terms += [maker.nested() for _ in range(nested)]
    terms += [maker.index() for _ in range(draw(st.sampled_from((0, 0, 1))))]
    root = ROOTS[draw(st.sampled_from(sorted(ROOTS)))]
    if draw(st.integers(0, 3)) == 0:
        root = ROOT_WITH_STATIC
        static = "S"
        term, is_node = maker.static()
        terms.append(term)
    make = maker.add(root, ", ".join(terms))
    steps = tuple(maker.step() for _ in range(draw(st.integers(1, 6))))
    first = draw(st.sampled_from((0, 0, 1, 2)))
    return Program(HEAD + "\n".join(maker.lines), make, static, is_node, steps, first)
