"""The operations that programs are drawn from, and how their parameters are drawn.

An operation is a name in `numpy` or, after `lax.`, in `lax`, the number of its operands,
and a function that draws keywords for operands of given shapes. Most draws fit; those that
do not are compared too: both libraries must refuse. `SMOOTH` may follow a step that is not
exact; operations that round, compare or count come first in a program or not at all.
"""

from typing import NamedTuple


class Operation(NamedTuple):
    name: str
    arity: int
    parameters: object = lambda random, shapes: {}
    positional: tuple = ()

    def call(self, library, operands, parameters):
        """Apply the operation of `library`: a pair of modules `numpy` and `lax`."""
        if self.name in SYMBOLS:
            return SYMBOLS[self.name](*operands)
        home = library.lax if self.name.startswith("lax.") else library.numpy
        function = getattr(home, self.name.removeprefix("lax."))
        first = [parameters[key] for key in self.positional]
        rest = {k: v for k, v in parameters.items() if k not in self.positional}
        if self.name in TAKE_LISTS:
            return function(list(operands), *first, **rest)
        return function(*operands, *first, **rest)


SYMBOLS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "x // y": lambda x, y: x // y,
    "x % y": lambda x, y: x % y,
    "x ** y": lambda x, y: x**y,
    "x @ y": lambda x, y: x @ y,
    "x < y": lambda x, y: x < y,
    "x == y": lambda x, y: x == y,
    "x & y": lambda x, y: x & y,
    "x << y": lambda x, y: x << y,
    "x ** 2": lambda x: x**2,
    "x ** -1": lambda x: x**-1,
    "2 / x": lambda x: 2 / x,
    "7 // x": lambda x: 7 // x,
    "x % 3": lambda x: x % 3,
    "1.5 * x": lambda x: 1.5 * x,
    "x + 1j": lambda x: x + 1j,
    "-x": lambda x: -x,
    "abs(x)": abs,
    "~x": lambda x: ~x,
    "x[...]": lambda x: x[...],
    "x[None]": lambda x: x[None],
    "x[0]": lambda x: x[0],
    "x[-1:]": lambda x: x[-1:],
    "x[::-1]": lambda x: x[::-1],
    "x[..., ::2]": lambda x: x[..., ::2],
    "x.T": lambda x: x.T,
    "x.flatten()": lambda x: x.flatten(),
    "x.astype(int)": lambda x: x.astype(int),
    "x.astype(float)": lambda x: x.astype(float),
    "x.astype('int8')": lambda x: x.astype("int8"),
    "x.astype(bool)": lambda x: x.astype(bool),
    "x.astype('bfloat16')": lambda x: x.astype("bfloat16"),
}
TAKE_LISTS = ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack")


# ---- parameters ----


def axis_of(random, shapes):
    """Draw an axis of the first operand; now and then one that it has not."""
    rank = len(shapes[0])
    return random.randint(-rank, rank - 1) if rank else random.choice([0, -1])


def axis(random, shapes):
    return {"axis": axis_of(random, shapes)}


def reduction(random, shapes):
    choice = random.randrange(4)
    given = {}
    if choice == 1:
        given["axis"] = axis_of(random, shapes)
    if choice == 2:
        rank = len(shapes[0])
        given["axis"] = tuple(random.sample(range(rank), random.randint(0, rank)))
    if random.random() < 0.3:
        given["keepdims"] = True
    return given


def one_axis(random, shapes):
    given = axis(random, shapes) if random.random() < 0.7 else {}
    return given | ({"keepdims": True} if random.random() < 0.3 else {})


def moments(random, shapes):
    given = reduction(random, shapes)
    return given | ({"ddof": 1} if random.random() < 0.4 else {})


def typed(dtypes):
    def draw(random, shapes):
        given = reduction(random, shapes)
        return given | (
            {"dtype": random.choice(dtypes)} if random.random() < 0.4 else {}
        )

    return draw


def running(random, shapes):
    return axis(random, shapes) if random.random() < 0.8 else {}


def cut_in_two(random, shapes):
    size = 1
    for length in shapes[0]:
        size *= length
    return {"shape": random.choice([(-1,), (size,), (1, size), (2, -1), (size, 1)])}


def permutation(random, shapes):
    axes = list(range(len(shapes[0])))
    random.shuffle(axes)
    return {"axes": random.choice([tuple(axes), axes])}


def two_axes(random, shapes):
    return {"axis1": axis_of(random, shapes), "axis2": axis_of(random, shapes)}


def moved(random, shapes):
    return {
        "source": axis_of(random, shapes),
        "destination": axis_of(random, shapes),
    }


def rolled(random, shapes):
    return {"shift": random.randint(-4, 4), **running(random, shapes)}


def repeated(random, shapes):
    return {"repeats": random.randint(0, 3), **running(random, shapes)}


def tiled(random, shapes):
    return {"reps": random.choice([0, 1, 2, (2,), (2, 1), (1, 2, 1)])}


def padded(random, shapes):
    width = random.choice([0, 1, 2, (1, 2), ((1, 0),)])
    mode = random.choice(["constant", "edge", "reflect", "symmetric", "wrap"])
    return {"pad_width": width, "mode": mode}


def broadcasted(random, shapes):
    grown = tuple(n if n != 1 else random.randint(0, 3) for n in shapes[0])
    return {"shape": random.choice([grown, (2, *grown), (3,)])}


def clipped(random, shapes):
    return random.choice([{"min": -1}, {"max": 2}, {"min": -0.5, "max": 1.5}])


def differenced(random, shapes):
    return {"n": random.randint(0, 3), **axis(random, shapes)}


def rounded(random, shapes):
    return {"decimals": random.randint(-1, 2)}


def offset(random, shapes):
    return {"k": random.randint(-2, 2)}


def viewed(random, shapes):
    return {"offset": random.randint(-1, 1)}


def filled(random, shapes):
    return {"fill_value": random.choice([0, 1.5, -3, True])}


def contracted(random, shapes):
    return {"axes": random.randint(0, 2)}


def weighted(random, shapes):
    return axis(random, shapes) if random.random() < 0.7 else {}


def lax_axes(random, shapes):
    rank = len(shapes[0])
    return {"axes": tuple(random.sample(range(rank), random.randint(0, rank)))}


def lax_dimensions(random, shapes):
    return {"dimensions": lax_axes(random, shapes)["axes"]}


def lax_permutation(random, shapes):
    return {"permutation": permutation(random, shapes)["axes"]}


def lax_axis(random, shapes):
    return {"axis": random.randrange(max(len(shapes[0]), 1))}


def lax_slice(random, shapes):
    limits = shapes[0]
    starts = tuple(random.randint(0, n) for n in limits)
    return {"start_indices": starts, "limit_indices": limits}


def lax_dtype(random, shapes):
    return {"new_dtype": random.choice(["float32", "int32", "bfloat16", "int8"])}


# ---- the operations ----


def _each(names, arity, *rest):
    return [Operation(name, arity, *rest) for name in names.split()]


SMOOTH = [
    *_each("sin cos tanh arctan sinh exp square negative cbrt expm1", 1),
    *(Operation(name, 1) for name in ("x ** 2", "1.5 * x", "-x", "x + 1j", "x[None]")),
    *_each("sum mean", 1, reduction),
    *_each("ravel real imag conj", 1),
    Operation("x.T", 1),
    Operation("flip", 1, running),
    Operation("cumsum", 1, running),
]
"""Operations that may follow another step: small errors stay small."""

OPERATIONS = [
    *SMOOTH,
    *(Operation(name, name.count("y") + 1) for name in SYMBOLS),
    *_each(
        "absolute arccos arccosh arcsin arcsinh arctanh ceil cosh deg2rad exp2 fabs "
        "floor isfinite isinf isnan isneginf isposinf isreal log log10 log1p log2 "
        "logical_not modf nan_to_num positive reciprocal rint sign signbit sinc sqrt tan "
        "trunc angle bitwise_not bitwise_count iscomplex",
        1,
    ),
    *_each(
        "add arctan2 copysign divide equal float_power floor_divide fmax fmin fmod "
        "greater greater_equal heaviside hypot less less_equal logaddexp logaddexp2 "
        "logical_and logical_or logical_xor maximum minimum mod multiply nextafter "
        "not_equal power remainder subtract true_divide divmod isclose bitwise_and "
        "bitwise_or bitwise_xor left_shift right_shift allclose array_equal",
        2,
    ),
    *_each("max min ptp all any nanmax nanmin nanmean", 1, reduction),
    *_each("sum prod nansum nanprod mean", 1, typed(["float32", "int32", "int8"])),
    *_each("var std nanvar nanstd", 1, moments),
    *_each("argmax argmin nanargmax nanargmin", 1, one_axis),
    *_each("cumsum cumprod nancumsum cumulative_sum", 1, running),
    Operation("count_nonzero", 1, running),
    Operation("average", 1, weighted),
    Operation("reshape", 1, cut_in_two),
    Operation("transpose", 1, permutation),
    Operation("swapaxes", 1, two_axes, ("axis1", "axis2")),
    Operation("moveaxis", 1, moved),
    Operation("roll", 1, rolled),
    Operation("repeat", 1, repeated),
    Operation("tile", 1, tiled),
    Operation("pad", 1, padded),
    Operation("broadcast_to", 1, broadcasted),
    Operation("flip", 1, running),
    Operation("squeeze", 1),
    Operation("squeeze", 1, axis),
    Operation("expand_dims", 1, axis),
    *_each("atleast_1d atleast_2d atleast_3d matrix_transpose", 1),
    *_each("concatenate stack", 2, axis),
    *_each("hstack vstack dstack column_stack", 2),
    *_each("append", 2, running),
    *_each("tril triu diag", 1, offset),
    *_each("diagonal trace", 1, viewed),
    *_each("zeros_like ones_like", 1),
    Operation("full_like", 1, filled, ("fill_value",)),
    Operation("clip", 1, clipped),
    Operation("round", 1, rounded),
    Operation("diff", 1, differenced),
    *_each("dot matmul inner outer vdot kron cross vecdot", 2),
    Operation("tensordot", 2, contracted),
    Operation("where", 3),
    Operation("trapezoid", 1, axis),
    Operation("gradient", 1, axis),
    *_each(
        "lax.abs lax.neg lax.sign lax.exp lax.log lax.sin lax.sqrt lax.rsqrt lax.tanh "
        "lax.logistic lax.erf lax.lgamma lax.digamma lax.is_finite lax.floor "
        "lax.bitwise_not lax.population_count lax.clz lax.square",
        1,
    ),
    *_each(
        "lax.add lax.sub lax.mul lax.div lax.rem lax.max lax.min lax.pow lax.atan2 "
        "lax.eq lax.lt lax.bitwise_and lax.shift_left lax.nextafter lax.complex",
        2,
    ),
    *_each("lax.clamp lax.select", 3),
    *_each("lax.reduce_sum lax.reduce_max lax.reduce_prod", 1, lax_axes),
    Operation("lax.rev", 1, lax_dimensions),
    Operation("lax.squeeze", 1, lax_dimensions),
    Operation("lax.transpose", 1, lax_permutation),
    *_each("lax.cumsum lax.cummax lax.cumlogsumexp", 1, lax_axis),
    Operation("lax.slice", 1, lax_slice),
    Operation("lax.convert_element_type", 1, lax_dtype),
    Operation("lax.reshape", 1, lambda r, s: {"new_sizes": (-1,)}),
]
