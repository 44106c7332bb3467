"""`jax.extend.core.Primitive`: primitives whose rules a library registers one by one.

A rule of JAX's form is looked up when it is needed, and adapted to imprint's form: one
result stands alone unless `multiple_results`, and cotangents of one result likewise.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn, final

import numpy as np

from imprint._src.as_jax import jaxpr_functions
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import Absent, Avals, Primitive, Rule, Values
from imprint._src.core.tangents import UndefinedPrimal, Zero, zero_of
from imprint._src.core.trace import current_trace
from imprint._src.core.user_code import is_own_file
from imprint._src.interpreters.lowering import lower_call
from imprint._src.interpreters.trace_to_jaxpr import hoist_consts

PRIMITIVE_JVPS: Final[dict[Primitive, Rule]] = {}
PRIMITIVE_TRANSPOSES: Final[dict[Primitive, Rule]] = {}
PRIMITIVE_BATCHERS: Final[dict[Primitive, Rule]] = {}
AXIS_PRIMITIVE_BATCHERS: Final[dict[Primitive, Rule]] = {}
FANCY_PRIMITIVE_BATCHERS: Final[dict[Primitive, Rule]] = {}
LOWERINGS: Final[dict[Primitive, Rule]] = {}


class LibraryPrimitive(Primitive):
    """A primitive of a library; JAX's class of this name takes the rules by decorators."""

    map_primitive: bool = False
    ref_primitive: bool = False

    def __init__(self, name: str) -> None:
        self.impl: Rule = Absent(f"{name} has no impl: call {name}_p.def_impl(...)")
        self._abstract_eval: Rule | None = None
        super().__init__(
            name=name,
            aval=self._aval,
            reference=self._reference,
            lower=self._lower,
            fusion=UNFUSED,
            makes_nan=True,
            jvp=self._jvp,
            transpose=self._transpose,
            batch=self._batch,
            pad=PerSize(f"{name} is a primitive of a library"),
            samples=Absent("it is a library's"),
        )

    def def_impl(self, impl: Rule) -> Rule:
        """Set the function that computes it; a decorator."""
        self.impl = impl
        return impl

    def def_abstract_eval(self, rule: Rule) -> Rule:
        """Set the rule `(*avals, **params) -> avals`; a decorator."""
        self._abstract_eval = rule
        return rule

    def def_effectful_abstract_eval(self, rule: Rule) -> Rule:
        """Set the rule `(*avals, **params) -> (avals, effects)`; a decorator."""

        def pure(*avals: ShapedArray, **params: Any) -> Any:
            return rule(*avals, **params)[0]

        self._abstract_eval = pure
        return rule

    def bind(self, *operands: Any, **params: Any) -> Any:
        """Apply the primitive; return its result, or all if `multiple_results`."""
        if current_trace() is None:
            return self.impl(*operands, **params)
        return super().bind(*operands, **params)

    def out_avals(self, avals: Avals, params: Mapping[str, Any]) -> Avals:
        """Return the avals of the results; params need not be hashable."""
        return self._new_avals(avals, params)

    # ---- the rules, in imprint's form ----

    def _all(self, results: Any) -> tuple[Any, ...]:
        return tuple(results) if self.multiple_results else (results,)

    def _aval(self, *avals: ShapedArray, **params: Any) -> Avals:
        if self._abstract_eval is None:
            self._lacks("an abstract evaluation", "def_abstract_eval(...)")
        return self._all(self._abstract_eval(*avals, **params))

    def _reference(self, *operands: Any, **params: Any) -> Values:
        return tuple(map(np.asarray, self._all(self.impl(*operands, **params))))

    def _lower(self, b: Any, *values: Any, **params: Any) -> Values:
        rule = LOWERINGS.get(self)
        if rule is None:
            self._lacks("a lowering", "mlir.register_lowering(..., mlir.lower_fun(f))")
        if not isinstance(rule, LoweredFunction):  # it writes MLIR
            rule = LoweredFunction(self.impl, self.multiple_results)
        avals = [ShapedArray(v.shape, v.dtype) for v in values]
        closed = jaxpr_functions.staged(rule, avals, params, self.name)
        consts = [b.constant(np.asarray(c)) for c in closed.consts]
        hoisted = hoist_consts(closed)
        return lower_call(b, hoisted, [*consts, *values], self.name)

    def _jvp(
        self, primals: Values, tangents: Values, **params: Any
    ) -> tuple[Values, Values]:
        rule = PRIMITIVE_JVPS.get(self)
        if rule is None:
            self._lacks("a derivative", "ad.primitive_jvps[...]")
        outs, out_tangents = rule(list(primals), list(tangents), **params)
        return self._all(outs), tuple(
            map(_instance, self._all(out_tangents), self._all(outs))
        )

    def _transpose(self, cts: Values, operands: Values, **params: Any) -> Values:
        rule = PRIMITIVE_TRANSPOSES.get(self)
        if rule is None:
            self._lacks("a transpose", "ad.primitive_transposes[...]")
        given = list(cts) if self.multiple_results else cts[0]
        found = rule(given, *operands, **params)
        return tuple(map(_cotangent, found))

    def _batch(self, args: Values, dims: Any, **params: Any) -> tuple[Values, Any]:
        if rule := PRIMITIVE_BATCHERS.get(self):
            outs, out_dims = rule(args, dims, **params)
        elif rule := FANCY_PRIMITIVE_BATCHERS.get(self):
            axis = jaxpr_functions.axis_data(args, dims)
            outs, out_dims = rule(axis, args, dims, **params)
        elif rule := AXIS_PRIMITIVE_BATCHERS.get(self):
            axis = jaxpr_functions.axis_data(args, dims)
            outs, out_dims = rule(axis.size, axis.name, None, args, dims, **params)
        else:
            self._lacks("a batching rule", "batching.primitive_batchers[...]")
        return self._all(outs), self._all(out_dims)

    def _lacks(self, what: str, how: str) -> NoReturn:
        raise NotImplementedError(
            f"expected {what} of the primitive {self.name}, which its library did not "
            f"register. Register one: {how}."
        )


@final
class LoweredFunction:
    """A lowering rule: the program of a function, which is traced for each use."""

    __slots__ = ("fun", "multiple_results")

    def __init__(self, fun: Callable[..., Any], multiple_results: bool) -> None:
        self.fun: Callable[..., Any] = fun
        self.multiple_results: bool = multiple_results

    def __call__(self, *args: Any, **params: Any) -> tuple[Any, ...]:
        """Return the results as a tuple."""
        found = self.fun(*args, **params)
        return tuple(found) if self.multiple_results else (found,)


def lower_fun(
    fun: Callable[..., Any], multiple_results: bool = True
) -> LoweredFunction:
    """Return a lowering rule: the program of `fun`."""
    return LoweredFunction(fun, multiple_results)


def register_lowering(
    primitive: Primitive, rule: Rule, platform: str | None = None, **_: Any
) -> Rule:
    """Register the lowering of a primitive; a rule that `lower_fun` returned.

    In the place of a rule that writes MLIR, the primitive's impl is traced.
    """
    if platform in (None, "cpu") or primitive not in LOWERINGS:
        LOWERINGS[primitive] = rule
    return rule


def _instance(tangent: Any, primal: Any) -> Any:
    return zero_of(get_aval(primal)) if tangent is None else tangent


def _cotangent(ct: Any) -> Any:
    return None if ct is Zero else ct  # libraries return the class, too


def _same(x: Any) -> Any:
    return x


NOT_MAPPED: Final = None
ABSENT: Final = LibraryPrimitive("absent")
"""A primitive of JAX that no jaxpr of imprint has."""
UNUSED_TABLE: Final = defaultdict[Any, Any](lambda: _same)
"""A table that libraries fill and imprint does not read: their arrays are converted."""


class LibraryEffect:
    """The base class of effects that a library defines."""


class Never:
    """A class of JAX without instances here."""


def is_undefined_primal(x: Any) -> bool:
    """Return whether an operand is one whose cotangent is wanted."""
    return type(x) is UndefinedPrimal


def api_boundary(fun: Any = None, **_: Any) -> Any:
    """Return the function: imprint folds its own frames by their files."""
    return fun if fun is not None else api_boundary


def register_exclusion(file: str) -> None:
    """Do nothing: frames of libraries stay in tracebacks."""


def include_frame(frame: Any) -> bool:
    """Return whether a frame is not imprint's own."""
    return not is_own_file(frame.f_code.co_filename)
