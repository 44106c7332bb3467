"""Programs drawn from a seed: operands of any kind, one operation, and steps after it."""

import math
import random
from typing import NamedTuple

import ml_dtypes
import numpy

from tests.differential.operations import OPERATIONS, SMOOTH, SYMBOLS, Operation

DTYPES = (
    *("bool", "int8", "int32", "int64", "uint8", "uint32", "uint64", "float16"),
    *("bfloat16", "float32", "float32", "float64", "complex64", "complex128"),
)
SHAPES = (
    (),
    (0,),
    (1,),
    (3,),
    (4,),
    (3, 3),
    (2, 3),
    (3, 1),
    (1, 4),
    (2, 0, 3),
    (2, 3, 4),
)
KINDS = ("array", "array", "array", "array", "numpy", "python", "weak")
NUMBERS = (True, 0, 2, -3, 1.5, -0.25, 2.5j)
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e30, 3e-30)


class Operand(NamedTuple):
    """An array of imprint or JAX, an array of NumPy, or a number."""

    kind: str
    value: object

    def made(self, asarray):
        """Return the array for a library, given its `asarray`."""
        return self.value if self.kind == "numpy" else asarray(self.value)

    def __str__(self):
        if self.kind in ("python", "weak"):
            return f"{self.kind} {self.value!r}"
        shape = ",".join(map(str, self.value.shape))
        values = numpy.array2string(self.value.reshape(-1), separator=", ")
        return f"{self.kind} {self.value.dtype}[{shape}] of {values}"


class Step(NamedTuple):
    operation: Operation
    parameters: dict

    def __str__(self):
        given = "".join(f", {k}={v!r}" for k, v in self.parameters.items())
        return f"{self.operation.name}(…{given})"


class Program(NamedTuple):
    """`steps` one after another; only the first has more than one operand."""

    operands: tuple
    steps: tuple
    axis: int
    """Along which axis of the first operand it is mapped."""

    def __call__(self, library, *arrays):
        """Run with a library's modules on the operands that are no numbers of Python."""
        given = iter(arrays)
        operands = [
            x.value if x.kind == "python" else next(given) for x in self.operands
        ]
        first, *rest = self.steps
        out = first.operation.call(library, operands, first.parameters)
        for step in rest:
            one = out[0] if isinstance(out, tuple | list) else out
            out = step.operation.call(library, (one,), step.parameters)
        return out

    def arrays(self, asarray):
        """Return the operands that are no numbers of Python, for a library."""
        return [x.made(asarray) for x in self.operands if x.kind != "python"]

    def __str__(self):
        lines = [f"x{i}: {x}" for i, x in enumerate(self.operands)]
        return "\n".join([*lines, " then ".join(map(str, self.steps))])


def programs(seed, number, *, special=False):
    """Draw `number` programs; with `special`, of infinities, NaN and zeros too."""
    draw = random.Random(seed)
    return [program(draw, special=special) for _ in range(number)]


def program(draw, *, special):
    operation = draw.choice(OPERATIONS)
    shape = draw.choice(SHAPES)
    kinds = ("array",) if operation.name in SYMBOLS else KINDS  # Python's own otherwise
    operands = [operand(draw, shape, kinds, special=special)]
    while len(operands) < operation.arity:
        operands.append(
            operand(draw, broadcastable(draw, shape), KINDS, special=special)
        )
    if (
        operation.name in ("power", "float_power", "x ** y")
        and operands[1].kind == "weak"
    ):
        # Eagerly both libraries read its value, which is not there when compiled.
        operands[1] = operands[1]._replace(kind="python")
    shapes = [numpy.shape(x.value) for x in operands]
    steps = [Step(operation, operation.parameters(draw, shapes))]
    while draw.random() < 0.35:
        after = draw.choice(SMOOTH)
        steps.append(Step(after, {}))
    rank = len(shapes[0])
    return Program(tuple(operands), tuple(steps), draw.randrange(rank) if rank else 0)


def broadcastable(draw, shape):
    """Draw a shape that mostly broadcasts with another."""
    choice = draw.randrange(6)
    if choice == 0:
        return ()
    if choice == 1:
        return tuple(1 if draw.random() < 0.5 else n for n in shape)
    if choice == 2:
        return shape[1:]
    if choice == 3:
        return draw.choice(SHAPES)
    return shape


def operand(draw, shape, kinds, *, special):
    kind = draw.choice(kinds)
    if kind in ("python", "weak"):
        return Operand(kind, draw.choice(NUMBERS))
    return Operand(kind, values(draw, draw.choice(DTYPES), shape, special=special))


def values(draw, dtype, shape, *, special):
    """Draw an array: integers small or extreme, floats that are separate or tied."""
    dtype = numpy.dtype(dtype)
    size = math.prod(shape)
    if dtype.kind == "b":
        found = [draw.random() < 0.5 for _ in range(size)]
    elif dtype.kind in "iu":
        info = ml_dtypes.iinfo(dtype)
        small = range(0 if dtype.kind == "u" else -6, 7)
        ends = (int(info.min), int(info.max))
        found = [
            draw.choice(ends) if special and draw.random() < 0.3 else draw.choice(small)
            for _ in range(size)
        ]
    else:
        found = [number(draw, special=special) for _ in range(size)]
        if dtype.kind == "c":
            found = [complex(x, number(draw, special=special)) for x in found]
    with numpy.errstate(all="ignore"):
        return numpy.array(found, dtype).reshape(shape)


def number(draw, *, special):
    if special and draw.random() < 0.3:
        return draw.choice(SPECIAL)
    return draw.randrange(-24, 25) / 8 + draw.random() / 16 + 0.01
