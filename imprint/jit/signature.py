"""A jitted function's own signature: how a call is spelled, split and named.

1. Keywords that name positional parameters move to their place, so that `f(x, n=3)` and
   `f(x, 3)` are one call; the other keywords are sorted by name.
2. Static arguments are taken out; where the call omits them, their defaults count.
3. What is left is flattened. `leaf_name` gives a leaf back its name for messages.
A callable without a signature (some builtins) is called as it was spelled.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, final

from imprint import tree
from imprint.core.functions import name_of
from imprint.errors import ArgumentError, did_you_mean

_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
_ABSENT = object()


class Split(NamedTuple):
    """A call in canonical spelling.

    Args:
        args: the dynamic positional arguments, in order.
        kwargs: the dynamic keyword arguments, sorted by name.
        positions: where each of `args` stands in the call.
        statics: position or name, and value, of each static argument.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    positions: tuple[int, ...]
    statics: tuple[tuple[int | str, Any], ...]


@final
class Signature:
    """The parameters of a function and which of them are static."""

    __slots__ = (
        "_defaults",
        "_keyword_only",
        "_names",
        "_signature",
        "_variadic",
        "function_name",
        "static_names",
        "static_nums",
    )

    def __init__(
        self,
        fun: Callable[..., Any],
        static_argnums: int | Iterable[int] | None = None,
        static_argnames: str | Iterable[str] | None = None,
    ) -> None:
        self.function_name = name_of(fun)
        try:
            self._signature = inspect.signature(fun)
        except (TypeError, ValueError):
            self._signature = None
        given = self._signature.parameters.values() if self._signature else ()
        self._names = tuple(p.name for p in given if p.kind in _POSITIONAL)
        self._keyword_only = {p.name for p in given if p.kind is p.KEYWORD_ONLY}
        self._variadic = {p.kind: p.name for p in given if p.kind in (2, 4)}
        self._defaults = {p.name: p.default for p in given if p.default is not p.empty}
        nums = self._check_nums(_tuple_of(static_argnums, int, "static_argnums"))
        names = self._check_names(_tuple_of(static_argnames, str, "static_argnames"))
        if static_argnames is None:
            names = tuple(self._names[i] for i in nums if i < len(self._names))
        if static_argnums is None:
            nums = tuple(self._names.index(n) for n in names if n in self._names)
        self.static_nums = frozenset(nums)
        self.static_names = frozenset(names)

    @property
    def has_statics(self) -> bool:
        """Whether any argument is static."""
        return bool(self.static_nums or self.static_names)

    # ---- a call ----

    def split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Split:
        """Return a call in canonical spelling, static arguments apart."""
        if kwargs:
            args, kwargs = self._positional(args, kwargs)
        nums, names = self.static_nums, self.static_names
        positions = tuple(i for i in range(len(args)) if i not in nums)
        statics: list[tuple[int | str, Any]] = [
            (i, args[i]) for i in range(len(args)) if i in nums
        ]
        statics += [(k, kwargs[k]) for k in sorted(kwargs) if k in names]
        statics += self._default_statics(len(args), kwargs)
        dynamic = {k: kwargs[k] for k in sorted(kwargs) if k not in names}
        return Split(
            tuple(args[i] for i in positions), dynamic, positions, tuple(statics)
        )

    def join(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], split: Split
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Put the static arguments of `split` back among dynamic ones."""
        by_position = dict(zip(split.positions, args, strict=True))
        whole = dict(kwargs)
        for key, value in split.statics:
            if isinstance(key, int):
                by_position[key] = value
            else:
                whole[key] = value
        return tuple(by_position[i] for i in sorted(by_position)), whole

    def _positional(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        rest = dict(kwargs)
        moved = list(args)
        for name in self._names[len(args) :]:
            value = rest.pop(name, _ABSENT)
            if value is _ABSENT:
                break
            moved.append(value)
        return tuple(moved), rest

    def _default_statics(
        self, count: int, kwargs: dict[str, Any]
    ) -> list[tuple[int | str, Any]]:
        defaults: list[tuple[int | str, Any]] = []
        for i, name in enumerate(self._names[count:], count):
            static = i in self.static_nums or name in self.static_names
            if static and name in self._defaults and name not in kwargs:
                defaults.append((name, self._defaults[name]))
        defaults += [
            (name, self._defaults[name])
            for name in sorted(self._keyword_only & self.static_names)
            if name in self._defaults and name not in kwargs
        ]
        return defaults

    def check_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise ArgumentError unless the function can be called like this."""
        if self._signature is None:
            return
        try:
            self._signature.bind(*args, **kwargs)
        except TypeError as err:
            given = [f"{len(args)} positional", *(f"{k}=…" for k in kwargs)]
            raise ArgumentError(
                f"{self.function_name}: expected arguments {self._signature}, got "
                f"{', '.join(given)}: {err}."
            ) from None

    # ---- names ----

    def argument_name(self, position: int) -> str:
        """Return the name of a positional argument."""
        if position < len(self._names):
            return self._names[position]
        rest = self._variadic.get(inspect.Parameter.VAR_POSITIONAL, "args")
        return f"{rest}[{position - len(self._names)}]"

    def leaf_names(self, split: Split) -> list[str]:
        """Return the names of the leaves of a call: `batch['mask']`."""
        names: list[str] = []
        for position, arg in zip(split.positions, split.args, strict=True):
            names += _leaf_names(self.argument_name(position), arg)
        for name, arg in split.kwargs.items():
            names += _leaf_names(name, arg)
        return names

    # ---- what `jit` was given ----

    def _check_nums(self, nums: tuple[int, ...]) -> tuple[int, ...]:
        count = len(self._names)
        open_ended = (
            self._signature is None
            or inspect.Parameter.VAR_POSITIONAL in self._variadic
        )
        for num in nums:
            if not open_ended and not -count <= num < count:
                raise ArgumentError(
                    f"jit({self.function_name}): expected static_argnums in "
                    f"[{-count}, {count}), got {num}. The function takes "
                    f"{count} positional arguments: {', '.join(self._names)}."
                )
        return tuple(n + count if n < 0 else n for n in nums)

    def _check_names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        known = {*self._names, *self._keyword_only}
        any_name = (
            self._signature is None or inspect.Parameter.VAR_KEYWORD in self._variadic
        )
        for name in names:
            if name not in known and not any_name:
                raise ArgumentError(
                    f"jit({self.function_name}): expected static_argnames among "
                    f"{sorted(known)}, got {name!r}.{did_you_mean(name, known)}"
                )
        return names


def _leaf_names(base: str, arg: Any) -> list[str]:
    return [base + tree.keystr(path) for path in tree.structure(arg).paths()]


def _tuple_of(given: Any, kind: type[Any], option: str) -> tuple[Any, ...]:
    if given is None:
        return ()
    values = (given,) if isinstance(given, kind) else tuple(given)
    for value in values:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ArgumentError(
                f"{option}: expected {kind.__name__} or a sequence of them, "
                f"got {value!r} of type {type(value).__name__}."
            )
    return values
