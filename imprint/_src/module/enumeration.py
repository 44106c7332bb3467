"""Enums whose items go through compiled programs, as in Equinox.

An item is a module that holds its number, so it can be traced, mapped and selected; its
enumeration is static and has the messages. The class supports indexing, `len` and
`isinstance`, and has its items as attributes, so it needs a metaclass: programs write
`class RESULTS(Enumeration): success = "text"`.
"""

import warnings
from typing import Any, ClassVar, Final, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import NumberArray
from imprint._src.core.aval import get_aval
from imprint._src.core.trace import Tracer, ensure_compile_time_eval
from imprint._src.errors import ArgumentError
from imprint._src.module.checks import branched_error_if
from imprint._src.module.fields import field
from imprint._src.module.module import Module
from imprint.numpy import asarray, where

_RESERVED: Final = ("promote", "where")


class _EnumerationMeta(type):
    _name_to_item: "dict[str, EnumerationItem]"
    _index_to_message: list[str]
    _base_offsets: dict[type, np.ndarray[Any, Any]]

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
    ) -> Any:
        is_first = not bases
        for word in _RESERVED:
            if word in namespace and not is_first:
                raise ArgumentError(
                    f"Enumeration: expected other items than {word!r} in {name}, which "
                    "is a method of the class. Rename it."
                )
        kept = {k: v for k, v in namespace.items() if is_first or _is_magic(k)}
        made: Any = super().__new__(
            cls,
            name,
            bases,
            {**kept, "_name_to_item": {}, "_index_to_message": [], "_base_offsets": {}},
        )
        if is_first:
            return made
        for base in dict.fromkeys(b for own in bases for b in own.__mro__[:-2]):
            made._inherit(base)
        for word, message in namespace.items():
            if not _is_magic(word):
                made._store(word, message)
        if "__doc__" not in namespace:
            made.__doc__ = made._description()
        return made

    def _inherit(cls, base: Any) -> None:
        """Take the items of another enumeration."""
        if type(base) is not _EnumerationMeta:
            raise ArgumentError(
                f"Enumeration: expected enumerations as bases of {cls.__name__}, got "
                f"{base.__name__}. Leave it out."
            )
        offsets = np.zeros(len(base), np.int32)
        for name, item in base._name_to_item.items():
            index = int(item._value)  # pyright: ignore[reportPrivateUsage] - a part of it
            offsets[index] = cls._store(name, base._index_to_message[index])
        cls._base_offsets[base] = offsets

    def _store(cls, name: str, message: str) -> int:
        """Note an item; return its number."""
        known = cls._name_to_item.get(name)
        if known is None:
            index = len(cls._index_to_message)
            cls._name_to_item[name] = EnumerationItem(np.array(index, np.int32), cls)
            cls._index_to_message.append(message)
            return index
        index = int(known._value)  # pyright: ignore[reportPrivateUsage] - a part of it
        if message != cls._index_to_message[index]:
            warnings.warn(
                f"Enumeration: {cls.__name__} has two messages for {name}, and takes "
                f"the last: {message!r}.",
                stacklevel=4,
            )
        cls._index_to_message[index] = message
        return index

    def _description(cls) -> str:
        lines = [
            f"- `{name}`: {message}" if message else f"- `{name}`"
            for name, message in zip(
                cls._name_to_item, cls._index_to_message, strict=True
            )
        ]
        return "\n\n".join(["An enumeration with the following entries:\n", *lines])

    def __getattr__(cls, name: str) -> Any:
        found = cls.__dict__.get("_name_to_item", {}).get(name)
        if found is None:
            raise AttributeError(f"{cls.__name__} has no item {name!r}", name=name)
        return found

    def __getitem__(cls, item: Any) -> str:
        if not isinstance(item, EnumerationItem) or item._enumeration is not cls:  # pyright: ignore[reportPrivateUsage] - a part of it
            raise ArgumentError(
                f"{cls.__name__}[...]: expected an item of {cls.__name__}, got {item!r}."
            )
        value: Any = item._value  # pyright: ignore[reportPrivateUsage] - a part of it
        if isinstance(value, Tracer):
            return "traced"
        if not isinstance(value, np.ndarray | np.generic | NumberArray):
            return "unknown"  # a tree may hold anything in the place of a leaf
        message: Any = np.vectorize(cls._index_to_message.__getitem__, otypes=[object])
        return str(message(np.asarray(value)))

    def __len__(cls) -> int:
        return len(cls._name_to_item)

    def __bool__(cls) -> bool:
        return True

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            type(instance) is EnumerationItem and instance._enumeration is cls  # pyright: ignore[reportPrivateUsage] - a part of it
        )


def _is_magic(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class EnumerationItem(Module):
    """An item of an `Enumeration`: a number that knows its messages."""

    _value: Any
    _enumeration: Any = field(static=True)

    def __eq__(self, other: object) -> Any:
        mine, theirs = self._numbers_of(other)
        with ensure_compile_time_eval():
            return asarray(mine == theirs)

    def __ne__(self, other: object) -> Any:
        mine, theirs = self._numbers_of(other)
        with ensure_compile_time_eval():
            return asarray(mine != theirs)

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride] - equality may be traced

    def __repr__(self) -> str:
        home = self._enumeration
        return f"{home.__module__}.{home.__qualname__}<{home[self]}>"

    def error_if(self, token: Any, pred: Any) -> Any:
        """Return the tree `token`; raise this item's message if `pred` is true.

        Args:
            token: a tree with at least one array.
            pred: a bool, or an array of them, none of which may be true.
        """
        messages = self._enumeration._index_to_message
        return branched_error_if(token, pred, self._value, messages)

    def is_traced(self) -> bool:
        """Return whether the item is known only when the program runs."""
        return isinstance(self._value, Tracer)

    def _numbers_of(self, other: Any) -> tuple[Any, Any]:
        if not isinstance(other, EnumerationItem) or (
            other._enumeration is not self._enumeration
        ):
            name = self._enumeration.__name__
            raise ArgumentError(
                f"{name}: expected to be compared with an item of {name}, got {other!r}."
                f" Items of a base are made its own by {name}.promote."
            )
        return self._value, other._value


class Enumeration(metaclass=_EnumerationMeta):
    """A class whose attributes are items with a message; a subclass has more of them.

    Items can be traced, compared with `==` and `!=`, and selected by `where`. The class
    gives the message of an item as `RESULTS[item]`.

    Example:
        >>> import imprint
        >>> class RESULTS(imprint.Enumeration):
        ...     success = "Hurrah!"
        ...     diverged = "The solver diverged"
        >>> @imprint.filter_jit
        ... def judge(x):
        ...     return RESULTS.where(x < 1, RESULTS.success, RESULTS.diverged)
        >>> RESULTS[judge(imprint.numpy.array(3.0))]
        'The solver diverged'
        >>> bool(judge(imprint.numpy.array(0.0)) == RESULTS.success)
        True
    """

    @classmethod
    def promote(cls, item: Any) -> Any:
        """Return an item of a base of this enumeration as an item of this one."""
        home: Any = getattr(item, "_enumeration", None)
        if home is None or home is cls or not issubclass(cls, home):
            raise ArgumentError(
                f"{cls.__name__}.promote: expected an item of an enumeration that "
                f"{cls.__name__} inherits from, got {item!r}."
            )
        offsets = vars(cls)["_base_offsets"][home]
        value: Any = item._value
        if isinstance(value, Tracer):
            return EnumerationItem(asarray(offsets)[value], cls)
        return EnumerationItem(asarray(offsets[np.asarray(value)]), cls)

    @classmethod
    def where(cls, pred: Any, a: Any, b: Any) -> Any:
        """Return the item `a` if `pred` is true, else `b`.

        Args:
            pred: one bool.
            a: an item of this enumeration.
            b: another.
        """
        aval = get_aval(pred)
        if aval.ndim or not dtypes.is_bool(aval.dtype):
            raise ArgumentError(
                f"{cls.__name__}.where: expected one bool, got {aval}. Map it with "
                "imprint.vmap."
            )
        if not (isinstance(a, cls) and isinstance(b, cls)):
            raise ArgumentError(
                f"{cls.__name__}.where: expected two items of {cls.__name__}, got {a!r} "
                f"and {b!r}."
            )
        first, second = (cast("Any", x)._value for x in (a, b))
        if first is second:
            return a
        with ensure_compile_time_eval():
            return EnumerationItem(where(pred, first, second), cls)
