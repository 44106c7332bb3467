"""The classes of traces and programs, for code that reads jaxprs; `jax.core`.

It has the names of `jax.core` and of `jax.extend.core` that mean the same. A primitive of
imprint declares all of its rules at once: see "Add a primitive".
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.core.aval import ShapedArray as ShapedArray
from imprint._src.core.aval import get_aval as get_aval
from imprint._src.core.jaxpr import Atom as Atom
from imprint._src.core.jaxpr import ClosedJaxpr as ClosedJaxpr
from imprint._src.core.jaxpr import Eqn as JaxprEqn
from imprint._src.core.jaxpr import Jaxpr as Jaxpr
from imprint._src.core.jaxpr import Literal as Literal
from imprint._src.core.jaxpr import Var as Var
from imprint._src.core.jaxpr import check_jaxpr as check_jaxpr
from imprint._src.core.jaxpr import eval_jaxpr as eval_jaxpr
from imprint._src.core.jaxpr import jaxpr_as_fun as jaxpr_as_fun
from imprint._src.core.primitive import Primitive as Primitive
from imprint._src.core.trace import Trace as Trace
from imprint._src.core.trace import Tracer as Tracer
from imprint._src.core.trace import ensure_compile_time_eval as ensure_compile_time_eval

__all__ = [
    "Atom",
    "ClosedJaxpr",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "Primitive",
    "ShapedArray",
    "Trace",
    "Tracer",
    "Var",
    "check_jaxpr",
    "ensure_compile_time_eval",
    "eval_jaxpr",
    "get_aval",
    "jaxpr_as_fun",
]

attribute_errors.explain_missing(__name__)
