"""Primitives: one object holds every rule of one operation.

No rule has a default, so a primitive with a forgotten rule cannot be declared; a rule
that cannot exist is `Absent("why")`, and the reason is shown to the user. Rules
take and return tuples; operands are positional, params are keywords, hashable and
static. `bind` hands the operands to the current trace. Shape rules are remembered by
(avals, params), which makes staging and eager evaluation cheap. A primitive that holds
jaxprs has more rules: `control`. All primitives are pure but the `EffectfulPrimitive`s.
A `CollectivePrimitive` works along an axis that `vmap` hides, and knows it by its name.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Final, NamedTuple, NoReturn

from imprint._src.bootstrap import hooks
from imprint._src.core.aval import NO_AXES, Shape, ShapedArray
from imprint._src.core.fusion import UNFUSED, Fusion
from imprint._src.core.trace import current_trace
from imprint._src.errors import AbsentRuleError
from imprint._src.sharding.single import common


@dataclass(frozen=True)
class Case:
    """One call: operand shapes, params, and dtypes if they differ from the samples'.

    In `dtypes`, None stands for each dtype of the samples in turn.
    """

    shapes: tuple[Shape, ...]
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    dtypes: tuple[str | None, ...] | None = None


@dataclass(frozen=True)
class Samples:
    """The operands and params with which the laws test a primitive.

    Args:
        dtypes: names of the dtypes that the primitive takes (all operands alike).
        arity: number of operands when `cases` is empty: the laws draw their shapes,
            equal or rank 0, for elementwise primitives.
        domain: open interval from which smooth values are drawn.
        edges: values that every run includes (laws 1 to 3 and 7, not the derivatives).
        cases: whole calls, for primitives whose operands depend on each other.
        operand_domains: the interval per operand, where they differ.
        differentiable: False for primitives with no derivative (results discrete).
        conventional: True where the derivative is a convention that differences do not
            show: it is compared with JAX, and laws 5 and 6 are skipped.
        finite: True where results for infinities are undefined: XLA programs differ in
            whether they multiply them by the zeros of padding.
        ulps: how far XLA may lie from NumPy, in units in the last place.
        fit: `(*arrays, **params) -> arrays`: makes drawn operands ones that the
            primitive means, such as matrices that have an inverse; also of a stack.
    """

    dtypes: tuple[str, ...]
    arity: int = 0
    domain: tuple[float, float] = (-4.0, 4.0)
    edges: tuple[Any, ...] = ()
    cases: tuple[Case, ...] = ()
    operand_domains: tuple[tuple[float, float], ...] = ()
    differentiable: bool = True
    conventional: bool = False
    finite: bool = False
    ulps: float = 4.0
    fit: Callable[..., tuple[Any, ...]] | None = None


class Effect(NamedTuple):
    """One kind of effect.

    Args:
        name: its name in messages, which identifies it.
        ordered: whether effects of this name keep the order of the program.
    """

    name: str
    ordered: bool


Effects = frozenset[Effect]

PURE: Final[Effects] = frozenset()


Avals = tuple[ShapedArray, ...]
Params = dict[str, Any]
Dims = tuple[int | None, ...]
Values = tuple[Any, ...]
Rule = Callable[..., Any]

AxisNames = frozenset[Hashable]

NO_NAMES: Final[AxisNames] = frozenset()
_MEMO_LIMIT: Final = 4096


class Absent:
    """A rule that cannot exist; calling it raises the reason."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason: str = reason

    def __call__(self, *_args: Any, **_params: Any) -> NoReturn:
        """Raise AbsentRuleError with the reason."""
        raise AbsentRuleError(self.reason)


class Primitive:
    """One operation and all its rules; see the table in the style guide.

    Attributes:
        multiple_results: whether `bind` returns a list; JAX's name.
        call_primitive: whether `bind` takes functions; JAX's name.
    """

    call_primitive: ClassVar[bool] = False

    __slots__ = (
        "_memo",
        "aval",
        "batch",
        "fusion",
        "jvp",
        "lower",
        "makes_nan",
        "multiple_results",
        "name",
        "pad",
        "reference",
        "samples",
        "transpose",
    )

    def __init__(  # noqa: PLR0913 - one parameter a rule; no rule has a default
        self,
        *,
        name: str,
        aval: Rule,
        reference: Rule,
        lower: Rule,
        fusion: Fusion | None,
        makes_nan: bool,
        jvp: Rule,
        transpose: Rule,
        batch: Rule,
        pad: Rule,
        samples: Samples | Absent,
        multiple_results: bool = False,
    ) -> None:
        """Declare a primitive.

        Args:
            name: as printed in jaxprs.
            aval: `(*avals, **params) -> avals`; the only validator of operands.
            reference: `(*arrays, **params) -> arrays`, with NumPy: what it means.
            lower: `(builder, *values, **params) -> values`: the StableHLO of it.
            fusion: how XLA:CPU fuses it, and its cost; `UNFUSED` if it does not.
            makes_nan: whether it makes a NaN of operands without one.
            jvp: `(primals, tangents, **params) -> (primals_out, tangents_out)`;
                a tangent may be a symbolic `Zero`.
            transpose: `(cts, operands, **params) -> cts`: an operand is a value, or
                `Linear(aval)` where a cotangent is wanted; None where it is not.
            batch: `(operands, dims, **params) -> (results, dims)`: None, unbatched.
            pad: `(bucket, *operands, **params) -> results`, where sizes are larger than
                they truly are; see `padding`.
            samples: how tests draw operands and params for the laws.
            multiple_results: whether it has other than one result.
        """
        self.name: str = name
        self.aval: Rule = aval
        self.reference: Rule = reference
        self.lower: Rule = lower
        self.fusion: Fusion | None = fusion
        self.makes_nan: bool = makes_nan
        self.jvp: Rule = jvp
        self.transpose: Rule = transpose
        self.batch: Rule = batch
        self.pad: Rule = pad
        self.samples: Samples | Absent = samples
        self.multiple_results: bool = multiple_results
        self._memo: dict[Any, Avals] = {}

    def bind(self, *operands: Any, **params: Any) -> Any:
        """Apply the primitive; return its result, or all if `multiple_results`."""
        found = self.bind_all(*operands, **params)
        return [*found] if self.multiple_results else found[0]

    def bind_all(self, *operands: Any, **params: Any) -> Values:
        """Apply the primitive under the current trace; return all its results."""
        trace = current_trace()
        if trace is None:
            return hooks.eager(self, operands, params)
        return trace.process(self, operands, params)

    def bind1(self, *operands: Any, **params: Any) -> Any:
        """Apply the primitive under the current trace; return its only result."""
        trace = current_trace()
        if trace is None:
            return hooks.eager(self, operands, params)[0]
        return trace.process(self, operands, params)[0]

    def out_avals(self, avals: Avals, params: Mapping[str, Any]) -> Avals:
        """Return the avals of the results; raise the errors of the shape rule."""
        key = (avals, *params.items()) if params else avals
        found = self._memo.get(key)
        if found is None:
            found = self._new_avals(avals, params)
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            self._memo[key] = found
        return found

    def _new_avals(self, avals: Avals, params: Mapping[str, Any]) -> Avals:
        """Run the shape rule without placements; results are placed like the operands."""
        if all(a.sharding is None for a in avals):
            return self.aval(*avals, **params)
        varying = NO_AXES.union(*[a.vma for a in avals])
        if varying:  # inside `shard_map`, where nothing has a placement
            came = self.aval(*[a.with_sharding(None) for a in avals], **params)
            axes = self.axes_after(varying, params)
            return tuple([out.varying(axes) for out in came])
        operands = [(f"operand {i}", a.sharding) for i, a in enumerate(avals)]
        placement = common(self.name, operands)
        plain = self.aval(*[a.unplaced() for a in avals], **params)
        return tuple([out.with_sharding(placement) for out in plain])

    def axes_after(
        self, axes: frozenset[str], params: Mapping[str, Any]
    ) -> frozenset[str]:
        """Return along which axes of a mesh results differ if operands do along `axes`."""
        return axes

    @property
    def is_call(self) -> bool:
        """Whether it does nothing but apply a jaxpr to its operands."""
        return False

    def jaxprs(self, params: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the jaxprs that the params hold: none, but for `ControlPrimitive`."""
        return ()

    def with_jaxprs(self, params: Params, jaxprs: tuple[Any, ...]) -> Params:
        """Return the params with other jaxprs in the places of those that they hold."""
        assert not jaxprs, f"{self} holds no jaxprs"
        return params

    def effects_of(self, params: Mapping[str, Any]) -> Effects:
        """Return the effects of an equation with these params: none."""
        return PURE

    def axis_names_of(self, params: Mapping[str, Any]) -> AxisNames:
        """Return the named axes that an equation with these params needs: none."""
        return NO_NAMES

    def __repr__(self) -> str:
        return self.name


class ThreadedPrimitive(Primitive):
    """A primitive whose reference would start threads where operands are large.

    Such threads, of the library that NumPy has for products, wait for one another actively:
    on a busy machine they take a hundred times as long as a program.
    """

    __slots__ = ("is_large",)

    def __init__(self, *, is_large: Callable[..., bool], **rules: Any) -> None:
        """Declare one.

        Args:
            is_large: `(*arrays, **params) -> bool`: whether to run a program of it.
            **rules: the rules of every primitive.
        """
        super().__init__(**rules)
        self.is_large: Callable[..., bool] = is_large


class EffectfulPrimitive(Primitive):
    """A primitive with effects."""

    __slots__ = ("effects",)

    def __init__(self, *, effects: Callable[..., Effects], **rules: Any) -> None:
        """Declare a primitive with effects.

        Args:
            effects: `(**params) -> effects`.
            **rules: the rules of every primitive. `lower` must write an operation that
                the compiler keeps, and pass the token of each ordered effect through
                it.
        """
        super().__init__(fusion=UNFUSED, makes_nan=True, multiple_results=True, **rules)
        self.effects: Callable[..., Effects] = effects

    def out_avals(self, avals: Avals, params: Mapping[str, Any]) -> Avals:
        """Return the avals of the results; a memo would keep user callbacks alive."""
        return self._new_avals(avals, params)

    def effects_of(self, params: Mapping[str, Any]) -> Effects:
        """Return the effects of an equation with these params."""
        return self.effects(**params)


class Across(Enum):
    """How the result of a collective varies along its axis, if that is a mesh axis."""

    SAME = "the same in each place"
    KEPT = "different where the operand is"
    DIFFERENT = "different, as far as gradients are concerned"


class CollectivePrimitive(Primitive):
    """A primitive that works along the named axis in its param `axis_name`."""

    __slots__ = ("across", "collect")

    def __init__(
        self, *, collect: Rule, across: Across = Across.KEPT, **rules: Any
    ) -> None:
        """Declare one.

        Args:
            collect: `(size, operands, dims, **params) -> (results, dims)`: the results
                if the axis, of `size`, is at hand; an operand without it is the same at
                each index. `batch` is for all other axes.
            across: how its result varies along the axis.
            **rules: the rules of every primitive; they never use the size of the axis,
                so a jaxpr derived from an equation is right in any context.
        """
        super().__init__(fusion=UNFUSED, **rules)
        self.collect: Rule = collect
        self.across: Across = across

    def axes_after(
        self, axes: frozenset[str], params: Mapping[str, Any]
    ) -> frozenset[str]:
        """Return along which axes of a mesh its results differ."""
        if self.across is Across.KEPT or "axis_index_groups" in params:
            return axes  # groups differ from one another
        axis = {params["axis_name"]}
        return axes - axis if self.across is Across.SAME else axes | axis

    def axis_names_of(self, params: Mapping[str, Any]) -> AxisNames:
        """Return the one named axis that it needs."""
        return frozenset((params["axis_name"],))
