"""Fields: what a class of modules declares, and the words it declares them with.

A field is an annotated name, as in dataclasses. `field` adds two things to it: `static`
takes it out of the tree and into the structure, `converter` is applied to what `__init__`
left there. `AbstractVar` and `AbstractClassVar` leave a name to the subclasses. What a
class says with them is read in `declare`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from imprint._src.errors import ArgumentError

T = TypeVar("T")


def field(
    *,
    static: bool = False,
    converter: Callable[[Any], Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Declare a field of a `Module`, with more to say than its annotation.

    Args:
        static: the value is part of the structure and no leaf: transforms do not see it,
            and `jit` compiles for each value anew. Arrays cannot be static.
        converter: called with the value when `__init__` is done; the field becomes what
            it returns. It sees defaults too.
        **kwargs: what `dataclasses.field` takes: `default`, `default_factory`, `init`,
            `kw_only`, `repr`, `compare`, `metadata`.

    Example:
        >>> from imprint import tree
        >>> from imprint.module import Module, field
        >>> class Scale(Module):
        ...     factor: float = field(converter=float)
        ...     axis: int = field(static=True, default=0)
        >>> tree.leaves(Scale(2))
        [2.0]
    """
    metadata = dict(kwargs.pop("metadata", None) or {})
    for name, given in (("static", static), ("converter", converter)):
        if name in metadata:
            raise ArgumentError(
                f"field: expected metadata without the key {name!r}, which is field's "
                f"own, got {metadata}. Write field({name}=...)."
            )
        if given:
            metadata[name] = given
    return dataclasses.field(metadata=metadata, **kwargs)


class AbstractVar(Generic[T]):
    """An annotation: subclasses must have this attribute, as a field or a property.

    Example:
        >>> from imprint.module import AbstractVar, Module
        >>> class Layer(Module):
        ...     width: AbstractVar[int]
        >>> class Dense(Layer):
        ...     width: int
        >>> Dense(3).width
        3
    """


class AbstractClassVar(Generic[T]):
    """An annotation: subclasses must have this class attribute.

    Example:
        >>> from typing import ClassVar
        >>> from imprint.module import AbstractClassVar, Module
        >>> class Layer(Module):
        ...     kind: AbstractClassVar[str]
        >>> class Dense(Layer):
        ...     kind: ClassVar[str] = "dense"
        >>> Dense.kind
        'dense'
    """
