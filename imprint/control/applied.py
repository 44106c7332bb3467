"""The rules of an equation that does nothing but apply the jaxpr that it holds.

How such equations are differentiated, batched and narrowed is what tells them apart.
"""

from typing import Any

from imprint.control.interpret import interpret
from imprint.core.aval import ShapedArray
from imprint.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint.core.primitive import Avals, Values
from imprint.stablehlo import Builder, Value
from imprint.transforms.lowering import lower_inline


def applied_aval(*avals: ShapedArray, jaxpr: ClosedJaxpr, **_: Any) -> Avals:
    """Return the avals of the results."""
    return jaxpr.out_avals


def applied_reference(*arrays: Any, jaxpr: ClosedJaxpr, **_: Any) -> Values:
    """Return the results, by the references of what is inside."""
    return interpret(jaxpr.jaxpr, arrays)


def applied_eager(*operands: Any, jaxpr: ClosedJaxpr, **_: Any) -> Values:
    """Return the results, each equation evaluated by itself."""
    return tuple(eval_jaxpr(jaxpr.jaxpr, (), *operands))


def lower_applied(
    b: Builder, *values: Value, jaxpr: ClosedJaxpr, **_: Any
) -> tuple[Value, ...]:
    """Write what is inside, in the place of the equation."""
    return tuple(lower_inline(b, jaxpr.jaxpr, values))
