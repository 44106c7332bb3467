"""Random bits by the engine's own generators: rng_bit_generator, rng_uniform.

The state of a generator is two words of 64 bits, a key and a counter, given as these or as
four of 32. Philox-4x32 hashes the counter, over the key, to four words; Threefry-2x32 to
two, which are the two halves of the result along one axis. The host computes the same bits.
Of a batch of states the first one makes all bits, as in JAX: it is a loop no more.
`rng_uniform` has no key, so no two draws of it need agree.
"""

import enum
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import AS_IS, PerSize
from imprint._src.core.primitive import Absent, Avals, Dims, Primitive, Values
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.primitives.axes import int_tuple
from imprint._src.primitives.core_ops import moveaxis, not_differentiable
from imprint._src.primitives.hashing import MASK, threefry2x32
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.shape import expand_dims, squeeze
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.types import signature, tensor

NDArray = np.ndarray[Any, Any]


class RandomAlgorithm(enum.IntEnum):
    """Which generator makes the bits; on the CPU the default is Philox."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


_NAMES: Final = ("DEFAULT", "THREE_FRY", "PHILOX")
_UINTS: Final = (dt.uint8, dt.uint16, dt.uint32, dt.uint64)

# ---- rng_bit_generator ----


def _bits_aval(
    key: ShapedArray, *, shape: Shape, dtype: DType, algorithm: RandomAlgorithm
) -> Avals:
    words = {dt.uint32: 4, dt.uint64: 2}.get(key.dtype)
    if words is None or not dims.is_same_shape(key.shape, (words,)):
        raise ShapeError(
            f"rng_bit_generator: expected a state uint32[4] or uint64[2], got {key}. "
            "Of a key take imprint.random.bits."
        )
    return key, ShapedArray(shape, dtype)


def _bits_reference(
    key: NDArray, *, shape: Shape, dtype: DType, algorithm: RandomAlgorithm
) -> Values:
    state = np.ascontiguousarray(key).view(np.uint64)
    generate = _threefry if algorithm is RandomAlgorithm.RNG_THREE_FRY else _philox
    bits, blocks = generate(state, shape, dtype)
    after = np.array([state[0], (int(state[1]) + blocks) % 2**64], np.uint64)
    return after.view(key.dtype), bits


def _counters(state: NDArray, blocks: int) -> NDArray:
    with np.errstate(over="ignore"):
        return state[1] + np.arange(blocks, dtype=np.uint64)


_MASK64: Final = np.uint64(MASK)
_HALF: Final = np.uint64(32)
_MULTIPLIERS: Final = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL: Final = 0x9E3779B9, 0xBB67AE85


def _philox(state: NDArray, shape: Shape, dtype: DType) -> tuple[NDArray, int]:
    """Hash counters of 128 bits, whose upper half is the key, in ten rounds."""
    size = math.prod(shape)
    blocks = -(-size * max(dtype.itemsize, 4) // 16)
    low = _counters(state, blocks)
    with np.errstate(over="ignore"):
        high = state[0] + (low < state[1])
    words = [low & _MASK64, low >> _HALF, high & _MASK64, high >> _HALF]
    key = [int(state[0]) & MASK, int(state[0]) >> 32]
    for _ in range(10):
        first, second = words[0] * _MULTIPLIERS[0], words[2] * _MULTIPLIERS[1]
        words = [
            (second >> _HALF) ^ words[1] ^ np.uint64(key[0]),
            second & _MASK64,
            (first >> _HALF) ^ words[3] ^ np.uint64(key[1]),
            first & _MASK64,
        ]
        key = [(k + by) & MASK for k, by in zip(key, _WEYL, strict=True)]
    flat = np.stack(words, axis=-1).astype(np.uint32).reshape(-1)
    if dtype.itemsize == 8:
        flat = flat.view(np.uint64)
    return flat[:size].astype(dtype).reshape(shape), blocks


def _threefry(state: NDArray, shape: Shape, dtype: DType) -> tuple[NDArray, int]:
    key = int(state[0]) & MASK, int(state[0]) >> 32
    if dtype.itemsize == 8:
        blocks = math.prod(shape)
        counters = _counters(state, blocks)
        low, high = threefry2x32(*key, counters & _MASK64, counters >> _HALF)
        return (low | high << _HALF).reshape(shape), blocks
    given = shape or (1,)
    axis = _halved_axis(given)
    half = (*given[:axis], -(-given[axis] // 2), *given[axis + 1 :])
    blocks = math.prod(half)
    counters = _counters(state, blocks)
    pair = threefry2x32(*key, counters & _MASK64, counters >> _HALF)
    both = np.stack([x.reshape(half) for x in pair], axis=axis + 1)
    whole = both.reshape(*half[:axis], -1, *half[axis + 1 :])
    return whole.take(range(given[axis]), axis).astype(dtype).reshape(shape), blocks


def _halved_axis(shape: Shape) -> int:
    """Return the first axis of even length, or else the longest."""
    even = [i for i, n in enumerate(shape) if n % 2 == 0]
    return even[0] if even else shape.index(max(shape))


def _bits_lower(
    b: Builder, key: Value, *, shape: Shape, dtype: DType, algorithm: RandomAlgorithm
) -> tuple[Value, ...]:
    is_wide = key.dtype == dt.uint64
    state = key if is_wide else b.bitcast_convert(b.reshape(key, (2, 2)), (2,), "u8")
    outs = state.type, tensor(shape, dtype)
    name = _NAMES[algorithm]
    after, bits = b.ops(
        f"stablehlo.rng_bit_generator {state.name}, algorithm = {name}",
        outs,
        f"({state.type}) -> ({outs[0]}, {outs[1]})",
    )
    if not is_wide:
        after = b.reshape(b.bitcast_convert(after, (2, 2), dt.uint32), (4,))
    return after, bits


def _bits_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    return not_differentiable(rng_bit_generator_p, primals, **params)


def _bits_batch(args: Values, at: Dims, *, shape: Shape, **params: Any) -> Any:
    (keys,), (b,) = args, at
    assert b is not None
    keys = moveaxis(keys, b, 0)
    count = get_aval(keys).shape[0]
    first = squeeze(slice_in_dim(keys, 0, 1), (0,))
    after, bits = rng_bit_generator_p.bind_all(first, shape=(count, *shape), **params)
    rest = slice_in_dim(keys, 1, count)
    return (concatenate([expand_dims(after, (0,)), rest], 0), bits), (0, 0)


rng_bit_generator_p: Final = Primitive(
    name="rng_bit_generator",
    multiple_results=True,
    aval=_bits_aval,
    reference=_bits_reference,
    lower=_bits_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_bits_jvp,
    transpose=Absent("rng_bit_generator: expected no cotangent: bits have none"),
    batch=_bits_batch,
    pad=PerSize("the state after it depends on how many bits it makes"),
    samples=Absent("a batch has other bits than its examples: tests do it by hand"),
)


def rng_bit_generator(
    key: Any,
    shape: Sequence[int],
    dtype: DTypeLike = dt.uint32,
    algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT,
) -> tuple[Any, Any]:
    """Return the next state of the engine's generator, and random bits.

    Args:
        key: the state, `uint32[4]`.
        shape: the shape of the bits.
        dtype: an unsigned integer dtype.
        algorithm: which generator.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> state = np.asarray([1, 2, 3, 4], dtype="uint32")
        >>> imprint.lax.rng_bit_generator(state, (2,))[1]
        Array([ 512747620, 1298009047], dtype=uint32)
    """
    out = dt.requested(dtype, "rng_bit_generator")
    if out not in _UINTS:
        raise DTypeError(
            f"rng_bit_generator: expected uint8, uint16, uint32 or uint64, got {out}. "
            "For floats call imprint.random.uniform."
        )
    return rng_bit_generator_p.bind_all(
        key, shape=_sizes(shape), dtype=out, algorithm=RandomAlgorithm(algorithm)
    )


def _sizes(shape: Sequence[int]) -> Shape:
    if any(map(dims.is_symbolic, shape)):
        return tuple(shape)
    return int_tuple(shape)


# ---- rng_uniform ----


def _uniform_aval(low: ShapedArray, high: ShapedArray, *, shape: Shape) -> Avals:
    if low.dtype != high.dtype or low.ndim or high.ndim:
        raise ArgumentError(
            f"rng_uniform: expected two numbers of one dtype, got {low} and {high}. "
            "For arrays of bounds call imprint.random.uniform."
        )
    weak = low.weak_type and high.weak_type
    return (ShapedArray(shape, low.dtype, weak),)


def _uniform_reference(low: NDArray, high: NDArray, *, shape: Shape) -> Values:
    draw = np.random.default_rng()
    if dt.is_integer(low.dtype):
        return (draw.integers(low, high, shape).astype(low.dtype),)
    return (draw.uniform(low, high, shape).astype(low.dtype),)


def _uniform_lower(
    b: Builder, low: Value, high: Value, *, shape: Shape
) -> tuple[Value, ...]:
    sizes, out = b.constant(np.array(shape, np.int64)), tensor(shape, low.dtype)
    operands = low, high, sizes
    listed = ", ".join(x.name for x in operands)
    text = f"stablehlo.rng {listed}, distribution = UNIFORM"
    return (b.op(text, out, signature(operands, (out,))),)


rng_uniform_p: Final = Primitive(
    name="rng_uniform",
    aval=_uniform_aval,
    reference=_uniform_reference,
    lower=_uniform_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=Absent("rng_uniform: expected no derivative: a draw has none by its bounds"),
    transpose=Absent("rng_uniform: expected no cotangent: a draw has none"),
    batch=Absent("rng_uniform: expected bounds that are not mapped: draw before vmap"),
    pad=AS_IS,
    samples=Absent("no two draws agree"),
)


def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Any:
    """Return uniform numbers, from a generator with unknown state.

    Args:
        a: the lower bound.
        b: the upper bound.
        shape: the shape of the result.

    Returns:
        Numbers in [`a`, `b`), of the dtype of the bounds.

    References:
        StableHLO, `rng` (UNIFORM).

    Example:
        >>> import imprint
        >>> imprint.lax.rng_uniform(0.0, 1.0, (3,)).shape
        (3,)
    """
    return rng_uniform_p.bind1(a, b, shape=_sizes(shape))
