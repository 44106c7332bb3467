"""A program of several files, of which anything may be edited between two processes.

Each fact of it is one entry of `FACTS`, with the values that it may have; a program is a
choice for each. `write` puts the files of a choice into a folder. The program prints what
its jitted function returns, what NumPy's way through the same functions gives, and how
many programs were compiled and loaded.
"""

import random

FACTS = {
    "constant": ("0.5", "2.0", "2"),
    "imported_constant": ("1.25", "-1.0"),
    "operation": ("np.sin", "np.cos", "np.tanh"),
    "closure": ("3.0", "4.0"),
    "default": ("0.1", "0.2"),
    "attribute": ("7.0", "8.0"),
    "method": ("x * self.width", "x + self.width"),
    "table": ("[1.0, 2.0, 3.0]", "[1.0, 3.0, 2.0]"),
    "loops": ("1", "2", "3"),
    "environment": ("1", "2"),
    # What changes no program.
    "comment": ("", "# a comment", "# another\n\n\n"),
    "unused": ("None", "1"),
    "docstring": ("Words.", "Other words."),
}
IDLE = {"comment", "unused", "docstring"}

FILES = {
    "consts.py": """
{comment}
RATE = {imported_constant}
UNUSED = {unused}
TABLE = {table}
""",
    "helpers.py": """
import os
import imprint.numpy as np
from consts import RATE
import consts

SCALE = {constant}

def wave(x):
    '''{docstring}'''
    return {operation}(x) * SCALE + RATE

{comment}
def made():
    captured = {closure}
    return lambda x, extra={default}: x * captured + extra

def weigh(x):
    return x * np.asarray(consts.TABLE) * float(os.environ["WEIGHT"])
""",
    "model.py": """
class Model:
    width = {attribute}

    {comment}
    def run(self, x):
        return {method}
""",
    "main.py": """
import imprint
import numpy
from helpers import made, wave, weigh
from model import Model

def program(x):
    for _ in range({loops}):
        x = wave(x)
    return weigh(Model().run(made()(x)))

{comment}
x = numpy.array([0.1, 0.2, 0.3], numpy.float32)
before = imprint.debug.counters()
result = numpy.asarray(imprint.jit(program)(x))
after = imprint.debug.counters()
expected = numpy.asarray(program(x))
print(*map(float, result))
print(*map(float, expected))
print(after.compiles - before.compiles, after.loads - before.loads)
""",
}


def write(folder, chosen):
    """Write the files of a program, indented as their text is."""
    for name, text in FILES.items():
        facts = chosen
        if name == "model.py":  # a comment inside of a class
            facts = {**chosen, "comment": chosen["comment"].strip()}
        (folder / name).write_text(text.format(**facts), encoding="utf-8")


def edits(seed, count):
    """Give so many choices, each an edit of the one before; some come back."""
    draw = random.Random(seed)
    chosen = {name: values[0] for name, values in FACTS.items()}
    seen = [chosen]
    yield chosen
    for _ in range(count - 1):
        if draw.random() < 0.25:
            chosen = draw.choice(seen)
        else:
            name = draw.choice([*FACTS])
            chosen = {**chosen, name: draw.choice(FACTS[name])}
        seen.append(chosen)
        yield chosen


def what_counts(chosen):
    """Return the part of a choice that changes the program."""
    return tuple(value for name, value in chosen.items() if name not in IDLE)
