"""From `Samples` to Hypothesis: the calls that the laws make, and their values.

A `Call` is a primitive with operand avals and params. `calls` lists those of a primitive:
every dtype on its first shapes, every shape on some dtypes. Operands come in three ways:
`pinned_operands` (the edges, the same in every run), `operands` (drawn, edges among them)
and `smooth_operands` (drawn from the domain where the primitive is differentiable, no two
numbers of a draw equal). A draw is one block of bytes, each of which chooses an element
from a table: that is a hundred times faster than a draw for each element, and shrinks.
"""

import enum
import itertools
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from imprint import dtypes as dt
from imprint._src.core.aval import ShapedArray
from imprint._src.core.primitive import Case, Primitive
from imprint._src.core.tangents import tangent_aval
from imprint.errors import DTypeError, ShapeError

SHAPES = {1: [((2, 3),), ((),), ((0, 2),)]}
"""Operand shapes of elementwise primitives besides the vectors of their edges."""
for _arity in (2, 3):
    _mixed = itertools.product([(), (2, 3)], repeat=_arity)
    SHAPES[_arity] = [((0, 2),) * _arity, *_mixed]

FLOAT_EDGES = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf]
COMPLEX_EDGES = [0, 1, -1, 1j, -1j, complex(-0.0, 1), complex(-1, -0.0), 1 - 1j]
WIDE = {"float32": "float64", "float16": "float64", "bfloat16": "float64"}
WIDE |= {"complex64": "complex128"}
DTYPES_OF_A_LATER_CASE = 4
QUICK_DTYPES_OF_A_LATER_CASE = 2
SMALL = 128
BYTES_OF_A_DRAW = 1000  # beyond 4 kB Hypothesis says that it cannot shrink well
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a primitive, but for the values of its operands."""

    primitive: Primitive
    avals: tuple[ShapedArray, ...]
    params: dict[str, Any]

    def bind(self, *operands):
        return self.primitive.bind_all(*operands, **self.params)

    def reference(self, *operands):
        with np.errstate(all="ignore"):
            outs = self.primitive.reference(*operands, **self.params)
        assert isinstance(outs, tuple), f"{self}: a reference returns a tuple"
        return tuple(map(np.asarray, outs))

    @property
    def out_avals(self):
        return self.primitive.aval(*self.avals, **self.params)

    def __str__(self):
        params = " ".join(f"{k}={v}" for k, v in self.params.items())
        return f"{self.primitive}[{params}] {' '.join(map(str, self.avals))}"


# ---- calls ----


class Share(enum.Enum):
    """Which dtypes of each case after the first: laws that compile part them in lanes."""

    ALL = slice(None)
    QUICK = slice(QUICK_DTYPES_OF_A_LATER_CASE)
    FURTHER = slice(QUICK_DTYPES_OF_A_LATER_CASE, None)


def calls(primitive, share=Share.ALL):
    """Return the calls that show everything about a primitive but its derivatives.

    FURTHER are those that are not QUICK.
    """
    samples = primitive.samples
    if not samples.cases:
        if share is Share.FURTHER:
            return ()
        (vectors,) = _shapes_of_edges(samples)
        plain = "float32" if "float32" in samples.dtypes else samples.dtypes[0]
        every = [(vectors, dtype) for dtype in samples.dtypes]
        every += [(shapes, plain) for shapes in SHAPES[samples.arity]]
        return tuple(_call(primitive, Case(shapes), dtype) for shapes, dtype in every)
    found = []
    for i, case in enumerate(samples.cases):
        listed = samples.dtypes
        if case.dtypes is not None and None not in case.dtypes:
            listed = () if share is Share.FURTHER else listed[:1]
        elif i == 0:
            listed = () if share is Share.FURTHER else listed
        else:
            start = DTYPES_OF_A_LATER_CASE * i
            ring = itertools.islice(itertools.cycle(listed), start, None)
            few = dict.fromkeys(itertools.islice(ring, DTYPES_OF_A_LATER_CASE))
            listed = list(few)[share.value]
        found += [_call(primitive, case, dtype) for dtype in listed]
    return tuple(found)


def calls_of_each_shape(primitive):
    """Return one call, of any dtype, for each set of small shapes and params."""
    seen = {}
    for call in calls(primitive):
        if all(a.size <= SMALL for a in call.avals):
            shapes = tuple(a.shape for a in call.avals)
            seen.setdefault((shapes, str(call.params)), call)
    return tuple(seen.values())


def smooth_calls(primitive):
    """Return the calls, in 64 bits, on which derivatives can be compared in numbers."""
    shapes = SHAPES.get(primitive.samples.arity, ())
    return _wide_calls(primitive, shapes, ("float64", "complex128"))


def calls_at_edges(primitive):
    """Return the calls, in float64, whose pinned operands show kinks, ties and zeros."""
    return _wide_calls(primitive, _shapes_of_edges(primitive.samples), ("float64",))


def _wide_calls(primitive, shapes, wide):
    samples = primitive.samples
    listed = [dtype for dtype in wide if dtype in samples.dtypes]
    found = []
    for case in samples.cases or map(Case, shapes):
        fixed = case.dtypes is not None and None not in case.dtypes
        for dtype in wide[:1] if fixed else listed:
            given = case.dtypes or (None,) * len(case.shapes)
            names = tuple(WIDE.get(d, d) or dtype for d in given)
            call = _call(primitive, Case(case.shapes, case.params, names), dtype)
            if _is_smooth(call):
                found.append(call)
    return tuple(found)


def _is_smooth(call):
    try:
        outs = call.out_avals
    except (DTypeError, ShapeError):  # the params name a dtype that 64 bits do not fit
        return False
    inexact = [a.dtype for a in outs if dt.is_inexact(a.dtype)]
    exact = all(d.name in ("float64", "complex128") for d in inexact)
    # The maximum of nothing has no derivative.
    made_of_nothing = not all(a.size for a in call.avals) and any(a.size for a in outs)
    moves = any(dt.is_inexact(a.dtype) for a in call.avals)
    return bool(inexact) and exact and moves and not made_of_nothing


def _shapes_of_edges(samples):
    """Return the shapes of operands that hold all tuples of edges, of any dtype."""
    if samples.cases:
        return []
    edges = max(len(_edges(np.dtype(name), samples)) for name in samples.dtypes)
    return [((max(edges**samples.arity, 8),),) * samples.arity]


def _call(primitive, case, dtype):
    names = [name or dtype for name in case.dtypes or [dtype] * len(case.shapes)]
    avals = (
        ShapedArray(shape, np.dtype(name))
        for shape, name in zip(case.shapes, names, strict=True)
    )
    return Call(primitive, tuple(avals), case.params)


# ---- operands ----


def operands(calls):
    """Return the strategy of operands for each of `calls`, edges among their values."""
    tables = [
        (aval, _table(call.primitive, aval.dtype, i))
        for call in calls
        for i, aval in enumerate(call.avals)
    ]

    def build(block):
        drawn = _split(calls, [np.asarray(t[block(aval)]) for aval, t in tables])
        return [_fitted(*pair) for pair in zip(calls, drawn, strict=True)]

    return _blocks([aval for aval, _ in tables]).map(build)


def numbered_operands(call, number):
    """Return operands for a call, edges among their values: the same in every run."""
    rng = np.random.default_rng(number)
    drawn = tuple(
        np.asarray(
            _table(call.primitive, aval.dtype, i)[rng.integers(256, size=aval.shape)]
        )
        for i, aval in enumerate(call.avals)
    )
    return _fitted(call, drawn)


def smooth_operands(call):
    """Return the strategy of operands where `call` is differentiable."""
    return _blocks(call.avals).map(lambda block: _smooth(call, block))


def numbered_smooth_operands(call, number):
    """Return such operands, and a direction of the results: the same in every run."""
    rng = np.random.default_rng(number)

    def block(aval):
        return rng.integers(256, size=aval.shape)

    return _smooth(call, block), _directions(call.out_avals, block)


def _smooth(call, block):
    samples = call.primitive.samples
    drawn = tuple(
        np.asarray(_points(aval.dtype, _domain(samples, i), numbers))
        for i, (aval, numbers) in enumerate(_numbered(call.avals, block))
    )
    return _fitted(call, drawn)


def directions(avals):
    """Return the strategy of tangents (or cotangents) of values, none of them zero."""
    tangents = tuple(map(tangent_aval, avals))
    return _blocks(tangents).map(lambda block: _directions(avals, block))


def _directions(avals, block):
    tangents = tuple(map(tangent_aval, avals))
    return tuple(
        np.asarray(_direction(aval.dtype, numbers))
        if dt.is_inexact(aval.dtype)
        else np.zeros(aval.shape, dt.float0)
        for aval, numbers in _numbered(tangents, block)
    )


def _direction(dtype, numbers):
    return _points(dtype, (0.5, 1.5), numbers) * np.where(numbers % 2, -1.0, 1.0)


def _numbered(avals, block):
    """Give each element a number of its own: no two of a draw are equal."""
    start = 0
    for aval in avals:
        place = np.arange(start, start + aval.size).reshape(aval.shape)
        start += aval.size
        yield aval, place * 256 + block(aval)


def pinned_operands(calls):
    """Return rounds of operands for `calls` that show the edges: the same in every run.

    Elementwise primitives get every tuple of edges in each round; the others get the
    edges in a row, which continues where the round before ended.
    """
    rounds = max(map(_rounds, calls), default=0)
    return [[_pinned(call, i) for call in calls] for i in range(rounds)]


def _rounds(call):
    if not call.primitive.samples.cases:
        return 1
    rows = zip(_rows(call), call.avals, strict=True)
    return max((-(-row.size // max(aval.size, 1)) for row, aval in rows), default=1)


def _pinned(call, number):
    pinned = tuple(
        np.resize(np.roll(row, -number * aval.size), aval.shape)
        for row, aval in zip(_rows(call), call.avals, strict=True)
    )
    return _fitted(call, pinned)


def _fitted(call, arrays):
    """Return operands as the primitive means them."""
    fit = call.primitive.samples.fit
    return arrays if fit is None else fit(*arrays, **call.params)


def _rows(call):
    """Return the edges of each operand in a row, of which its elements are taken."""
    samples = call.primitive.samples
    edges = [_edges(aval.dtype, samples) for aval in call.avals]
    if samples.cases:
        return [np.roll(row, -i) for i, row in enumerate(edges)]
    return [column.ravel() for column in np.meshgrid(*edges, indexing="ij")]


def _blocks(avals):
    """Return the strategy of functions that cut bytes of an aval's shape off a block."""
    size = min(sum(aval.size for aval in avals), BYTES_OF_A_DRAW)

    def cutter(data):
        block = itertools.cycle(data) if data else iter(())

        def cut(aval):
            few = itertools.islice(block, aval.size)
            return np.fromiter(few, np.uint8, aval.size).reshape(aval.shape)

        return cut

    return st.binary(min_size=size, max_size=size).map(cutter)


def _split(calls, values):
    rest = iter(values)
    return [tuple(itertools.islice(rest, len(call.avals))) for call in calls]


# ---- values ----


def _domain(samples, operand):
    if samples.operand_domains:
        return samples.operand_domains[operand]
    return samples.domain


@cache
def _table(primitive, dtype, operand):
    """Return 256 values of a dtype: edges, small numbers, the domain, all bits."""
    samples = primitive.samples
    if dtype.kind == "b":
        return np.arange(256) % 3 == 0
    domain = _domain(samples, operand)
    drawn = _points(dtype, domain, np.arange(1, 257))
    edges = np.resize(_edges(dtype, samples), 32)
    small = _cast(np.resize([1, 2, 3, 0, -1, 0.5, -2], 32), dtype)
    bits = drawn[:64]
    if dt.is_integer(dtype):
        info = dt.iinfo(dtype)
        spread = np.linspace(float(info.min), float(info.max), 64)
        bits = _cast(spread * 0.999, dtype)
    return np.concatenate([small, edges, bits, drawn[:128]])


def _points(dtype, domain, numbers):
    """Return the points of a sequence that fills the domain evenly without repeating."""
    low, high = domain
    real = low + (high - low) * np.mod((numbers + 1) * GOLDEN, 1)
    if dt.is_complex(dtype):
        imag = low + (high - low) * np.mod((numbers + 1) * math.sqrt(2), 1)
        return (real + 1j * imag).astype(dtype)
    return _cast(real, dtype)


def _cast(values, dtype):
    """Convert real numbers to a dtype; integers are rounded and kept in range."""
    if dtype.kind == "b":
        return np.asarray(values) > np.median(values)
    if dt.is_integer(dtype):
        info = dt.iinfo(dtype)
        unsigned = np.abs(values) if info.min == 0 else values
        clipped = [min(max(int(v), info.min), info.max) for v in np.ravel(unsigned)]
        return np.array(clipped, dtype).reshape(np.shape(values))
    return np.asarray(values).astype(dtype)


def _edges(dtype, samples):
    """Return the edges of a dtype, and those of the samples that the dtype has."""
    if dtype.kind == "b":
        return np.array([False, True])
    real = [v for v in samples.edges if np.isreal(v)]
    if dt.is_integer(dtype):
        info = dt.iinfo(dtype)
        whole = [int(v) for v in real if math.isfinite(v) and v == int(v)]
        every = [0, 1, -1, info.min, info.max, *whole]
        inside = [v for v in dict.fromkeys(every) if info.min <= v <= info.max]
        return np.array(inside, dtype)
    if dt.is_complex(dtype):
        every = [*COMPLEX_EDGES, *(v for v in samples.edges if np.isfinite(v))]
        return np.array(every, dtype)
    numbers = [v for v in (*FLOAT_EDGES, *real) if not math.isnan(v)]
    if samples.finite:
        return np.array(list(filter(math.isfinite, numbers)), dtype)
    distinct = {(v, math.copysign(1, v)): v for v in numbers}
    with np.errstate(over="ignore"):
        return np.array([*distinct.values(), math.nan]).astype(dtype)
