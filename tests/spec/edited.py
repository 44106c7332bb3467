"""A program of several files, each part of which may be edited between two processes.

Each entry of `FACTS` is one fact of the program with its possible values; a program is a
choice for each. `write` puts the files of a choice into a folder. The program prints the
result of its jitted function, the result of the same functions with NumPy, and the number
of functions traced, and of programs compiled and loaded.
"""

import random

FACTS = {
    "constant": ("0.5", "2.0", "2", "True"),
    "imported_constant": ("1.25", "-1.0"),
    "operation": ("np.sin", "np.cos", "np.tanh"),
    "closure": ("3.0", "4.0"),
    "default": ("0.1", "0.2"),
    "keyword_default": ("0.25", "0.75"),
    "attribute": ("7.0", "8.0"),
    "method": ("x * self.width", "x + self.width"),
    "table": ("[1.0, 2.0, 3.0]", "[1.0, 3.0, 2.0]", "(1.0, 2.0, 3.0)"),
    "loops": ("1", "2", "3"),
    "environment": ("1", "2"),
    # Values of modules.
    "array": ("[1, 2, 3]", "[1, 5, 3]"),
    "mapping": ("{'a': 1.0, 'b': 2.0}", "{'b': 2.0, 'a': 1.0}", "{'a': 1.5, 'b': 2.0}"),
    "nested": ("{'deep': [1.0, {'er': 2.0}]}", "{'deep': [1.0, {'er': 2.5}]}"),
    "names": ("{'sin'}", "{'sin', 'cos'}"),
    "alias": ("np.abs", "np.square"),
    "chosen": ("first", "second"),
    "defined": ("MAYBE = 1.0", "MAYBE = 2.0", "pass"),
    "shadowed": ("pass", "abs = np.exp", "abs = np.square"),
    "registry": ("[first, second]", "[second, first]"),
    "partial": ("2.0", "3.0"),
    "decorated": ("x + 1.0", "x - 1.0"),
    "nested_function": ("x * 1.5", "x * 2.5"),
    "comprehension": ("k + 1", "k + 2"),
    "jitted": ("x * 1.1", "x * 1.2"),
    "jitted_rate": ("0.3", "0.6"),
    "computed": ("sum(range(4))", "sum(range(5))"),
    "function_attribute": ("1.0", "2.0"),
    "text": ("'sine'", "'cosine'"),
    # Attributes of classes and objects.
    "base": ("Base", "OtherBase"),
    "base_rate": ("0.5", "0.75"),
    "other_rate": ("1.5", "1.75"),
    "order": ("Left, Right", "Right, Left"),
    "property": ("self.inner * 2.0", "self.inner * 3.0"),
    "static_method": ("x + 0.5", "x + 0.25"),
    "class_method": ("cls.width", "cls.width + 1.0"),
    "special": ("other * 2.0", "other * 4.0"),
    "called": ("x / 2.0", "x / 4.0"),
    "state": ("5.0", "6.0"),
    "slot": ("1.5", "2.5"),
    "field": ("0.125", "0.25"),
    "field_default": ("3.5", "4.5"),
    "member": ("10.0", "20.0"),
    "tuple_field": ("1.0", "4.0"),
    "missing": ("9.0", "11.0"),
    "length": ("2", "3"),
    "truth": ("True", "False"),
    # Actions of the process before the call.
    "patch": (
        *("pass", "helpers.wave = lambda x: x * 9.0", "Model.run = lambda self, x: -x"),
        *("helpers.SCALE = 11.0", "consts.MAPPING['a'] = 77.0", "consts.ARRAY[0] = 55"),
        *("thing.inner = 21.0", "Model.width = 31.0", "np.cos = np.exp"),
        *("consts.NESTED['deep'][1]['er'] = 0.5", "numpy.mean = numpy.max"),
        *("helpers.chosen = helpers.second", "helpers.REGISTRY.reverse()"),
        *(
            "consts.MAPPING['c'] = 4.0",
            "Base.rate = 0.875",
            "setattr(thing, 'more', 1)",
        ),
        *("helpers.first.weight = 7.0", "helpers.with_default.__defaults__ = (6.0,)"),
        *("helpers.wave.__code__ = helpers.second.__code__",),
    ),
    "given": ("2", "3", "2.0"),
    "rows": ("1", "2"),
    # Edits that change no program.
    "comment": ("", "# a comment", "# another\n\n\n"),
    "unused": ("None", "1"),
    "docstring": ("Words.", "Other words."),
}
IDLE = {"comment", "unused", "docstring"}

FILES = {
    "consts.py": """
import os
import numpy
{comment}
RATE = {imported_constant}
WEIGHT = float(os.environ["WEIGHT"])
UNUSED = {unused}
TABLE = {table}
ARRAY = numpy.array({array}, 'float32')
MAPPING = {mapping}
NESTED = {nested}
NAMES = {names}
COMPUTED = {computed}
TEXT = {text}
{defined}
""",
    "helpers.py": """
import functools
import numpy
import imprint
import imprint.numpy as np
from consts import RATE
import consts

SCALE = {constant}
{shadowed}

def wave(x):
    '''{docstring}'''
    return {operation}(x) * SCALE + RATE

{comment}
def made():
    captured = {closure}
    return lambda x, extra={default}: x * captured + extra

def with_default(x, rate={default}, *, more={keyword_default}):
    return x * rate + more

def weigh(x):
    return x * np.asarray(consts.TABLE) * consts.WEIGHT

def first(x):
    return x + first.weight

def second(x):
    return x * 1.25

first.weight = {function_attribute}
REGISTRY = {registry}
chosen = {chosen}
alias = {alias}
scaled = functools.partial(with_default, rate={partial})

def decorate(fun):
    @functools.wraps(fun)
    def wrapped(x):
        return fun(x) * 1.5
    return wrapped

@decorate
def decorated(x):
    return {decorated}

INNER_RATE = {jitted_rate}

@imprint.jit
def inner(x):
    return {jitted} + INNER_RATE

def tables(x):
    def scale(x):
        return {nested_function}
    for key, value in consts.MAPPING.items():
        x = x * value if key == 'a' else x + value
    x = x + consts.NESTED['deep'][1]['er']
    x = x + sum([{comprehension} for k in range(3)]) + len(consts.NAMES)
    x = x + consts.ARRAY + consts.COMPUTED + numpy.mean(consts.ARRAY)
    x = np.sin(x) if consts.TEXT == 'sine' else np.cos(x)
    if hasattr(consts, 'MAYBE'):
        x = x + consts.MAYBE
    return abs(scale(x))

def several(x):
    x = with_default(scaled(decorated(inner(alias(x)))))
    for fun in REGISTRY:
        x = fun(x) * 0.5
    return np.tanh(chosen(x))
""",
    "model.py": """
import dataclasses
import enum
import typing

class Base:
    rate = {base_rate}
    def weigh(self, x):
        return x * self.rate

class OtherBase:
    rate = {other_rate}
    def weigh(self, x):
        return x - self.rate

class Left:
    def side(self, x):
        return x + 0.5

class Right:
    def side(self, x):
        return x * 0.5

class Sided({order}):
    pass

class Model({base}):
    width = {attribute}

    {comment}
    def run(self, x):
        return {method}

    @staticmethod
    def fixed(x):
        return {static_method}

    @classmethod
    def of_class(cls, x):
        return x * {class_method}

class Thing:
    def __init__(self):
        self.inner = {state}

    @property
    def shown(self):
        return {property}

    def __radd__(self, other):
        return {special}

    def __call__(self, x):
        return {called}

    def __getattr__(self, name):
        if name == 'missing':
            return {missing}
        raise AttributeError(name)

    def __len__(self):
        return {length}

    def __bool__(self):
        return {truth}

class Slotted:
    __slots__ = ('held',)
    def __init__(self):
        self.held = {slot}

@dataclasses.dataclass(frozen=True)
class Settings:
    shift: float
    gain: float = {field_default}

class Kind(enum.Enum):
    LARGE = {member}

class Pair(typing.NamedTuple):
    left: float
    right: float = {tuple_field}

thing = Thing()
slotted = Slotted()
settings = Settings({field})
kind = Kind.LARGE
pair = Pair(0.5)

def objects(x):
    x = Sided().side(Model().weigh(x)) + thing.shown * 0.125
    x = Model.fixed(x) + Model.of_class(x) * 0.125
    x = thing(x + thing) + thing.missing + len(thing) + slotted.held
    x = x * settings.gain + settings.shift if thing else x
    return (x + kind.value * pair.left + pair.right) * 0.01
""",
    "main.py": """
import imprint
import imprint.numpy as np
import numpy
import consts
import helpers
from helpers import made, weigh
import model
from model import Base, Model, objects, thing

def program(x, count):
    for _ in range({loops}):
        x = helpers.wave(x)
    x = weigh(Model().run(made()(x))) * count
    return objects(helpers.several(helpers.tables(x)))

{comment}
{patch}
x = numpy.array([[0.1, 0.2, 0.3]] * {rows}, numpy.float32)
before = imprint.debug.counters()
result = numpy.asarray(imprint.jit(program, static_argnums=1)(x, {given}))
after = imprint.debug.counters()
expected = numpy.asarray(program(x, {given}))
print(*map(float, result.ravel()))
print(*map(float, expected.ravel()))
print(*(getattr(after, n) - getattr(before, n) for n in ("traces", "compiles", "loads")))
""",
}


class _Chosen(dict):
    """Leave text that names no fact as it is written."""

    def __missing__(self, key):
        return "{" + key + "}"


def texts(chosen):
    """Return the text of each module of a program, indented as it is."""
    found = {}
    for name, text in FILES.items():
        facts = chosen
        if name == "model.py":  # a comment inside of a class
            facts = {**chosen, "comment": chosen["comment"].strip()}
        found[name.removesuffix(".py")] = text.format_map(_Chosen(facts))
    return found


def write(folder, chosen):
    """Write the files of a program."""
    for name, text in texts(chosen).items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


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


def program_part(chosen):
    """Return the part of a choice that changes the program."""
    return tuple(value for name, value in chosen.items() if name not in IDLE)
