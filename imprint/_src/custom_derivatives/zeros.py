"""Symbolic zeros in rules with `symbolic_zeros`, and which arguments are perturbed.

A rule without them takes arrays of zeros, which cost memory, and cannot detect whether a
derivative is needed.
"""

from dataclasses import dataclass
from typing import Any, final

from imprint._src.core.array import Array
from imprint._src.core.aval import Shape, ShapedArray, get_aval
from imprint._src.core.tangents import Zero, is_float0, is_zero, no_values, tangent_aval
from imprint._src.dtypes import DType
from imprint._src.primitives.core_ops import instantiate
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.tree import internal as tree


@final
class SymbolicZero:
    """A tangent or cotangent that is known to be zero, of aval `aval`.

    Example:
        >>> from imprint.custom_derivatives import zero_from_primal
        >>> zero_from_primal(2.0)
        SymbolicZero(f32[])
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval: ShapedArray = aval

    @property
    def shape(self) -> Shape:
        """The shape of the zeros."""
        return self.aval.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the zeros."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of axes of the zeros."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of zeros."""
        return self.aval.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicZero) and self.aval == other.aval

    def __hash__(self) -> int:
        return hash(self.aval)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.short()})"


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:  # noqa: FBT001, FBT002 - JAX's signature
    """Return the zero tangent of a value.

    Args:
        val: the value.
        symbolic_zeros: accepted as JAX does.

    Returns:
        A `SymbolicZero` of the tangent's shape and dtype, `float0` for integers.

    Example:
        >>> from imprint.custom_derivatives import zero_from_primal
        >>> zero_from_primal(3).dtype
        dtype([('float0', 'V')])
    """
    return SymbolicZero(tangent_aval(get_aval(val)))


@dataclass(slots=True)
class CustomVJPPrimal:
    """An argument of a forward function with `symbolic_zeros`.

    Args:
        value: the argument.
        perturbed: whether a derivative by it is needed.
    """

    value: Any
    perturbed: bool


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """Return a tree of `CustomVJPPrimal` with each replaced by its value.

    Args:
        tree: an argument of a forward function with `symbolic_zeros`.

    Returns:
        The tree of values.

    Example:
        >>> from imprint.custom_derivatives import CustomVJPPrimal
        >>> from imprint.custom_derivatives import custom_vjp_primal_tree_values
        >>> custom_vjp_primal_tree_values([CustomVJPPrimal(2.0, True)])
        [2.0]
    """
    return _map(_value, tree)


_map = tree.map  # the parameter's name is JAX's, and hides the module


def _value(leaf: Any) -> Any:
    if type(leaf) is not CustomVJPPrimal:
        raise TypeError(
            "custom_vjp_primal_tree_values: expected a CustomVJPPrimal at each leaf, got "
            f"{type(leaf).__name__}. Pass what a forward function with symbolic_zeros=True "
            "was given."
        )
    return leaf.value


def to_rule(tangent: Any, *, symbolic: bool) -> Any:
    """Return a tangent or cotangent in the form that rules take: an array.

    Args:
        tangent: it may be `Zero`.
        symbolic: whether the rule takes symbolic zeros.
    """
    if not is_zero(tangent):
        return tangent if isinstance(tangent, Array) else _as_array(tangent)
    if symbolic:
        return SymbolicZero(tangent.aval)
    if is_float0(tangent.aval):
        return no_values(tangent.aval.shape)
    return instantiate(tangent)


def _as_array(number: Any) -> Any:
    aval = get_aval(number)
    return convert_element_type(number, aval.dtype, weak_type=aval.weak_type)


def from_rule(tangent: Any) -> Any:
    """Return a rule's tangent or cotangent, `Zero` if it has no values."""
    if type(tangent) is SymbolicZero or is_float0(tangent):
        return Zero(get_aval(tangent) if is_float0(tangent) else tangent.aval)
    return tangent
