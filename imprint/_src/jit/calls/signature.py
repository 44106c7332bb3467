"""The parameters of a jitted function, and the canonical form of its calls.

1. A `CallForm` is the number of positional arguments and the names of the keywords. It is
   computed once: which value is which parameter, and which are static.
2. Keywords for positional parameters move to their position, the others are sorted, and
   omitted static parameters take their defaults.
3. An argument that equals its default exactly, in type and bits, is omitted: the function
   sees the default as a constant. So `f(x)`, `f(x, 1)` and `f(x, k=1)` are one call.
The result is a `CallSpec`, which all forms of the call share, and the values. A wrapper is
called by its own parameters, or by those of its function if it takes `(*args, **kwargs)`.
"""

import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import Enum
from operator import index, itemgetter
from types import FunctionType
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, cast, final

from imprint._src.core.functions import name_of
from imprint._src.errors import ArgumentError, did_you_mean
from imprint._src.jit.calls.native_trees import match_of
from imprint._src.jit.fingerprint.static_values import is_plain_value, same_value
from imprint._src.tree import internal as tree

_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
Slot = int | str
"""A parameter: its position, or the name of one that only a keyword can name."""


class CallSpec:
    """The dynamic and static parameters of a call. Compared by identity.

    `treedef` is the tree of all values if one value may have traced and static leaves.
    """

    __slots__ = (
        *("donated", "dynamic", "names", "omitted", "plain", "roots", "static"),
        *("static_names", "treedef"),
    )

    def __init__(
        self,
        dynamic: tuple[Slot, ...],
        static: tuple[Slot, ...],
        signature: "Signature",
    ) -> None:
        self.dynamic = dynamic
        self.static = static
        self.names: tuple[str, ...] = tuple(map(signature.slot_name, dynamic))
        self.static_names: tuple[str, ...] = tuple(map(signature.slot_name, static))
        self.donated: tuple[bool, ...] = tuple(
            signature.donates(slot) for slot in dynamic
        )
        self.plain: bool = not static and dynamic == tuple(range(len(dynamic)))
        self.treedef: tree.TreeDef | None = None
        self.roots: tuple[str, ...] = self.names
        self.omitted: dict[str, Any] = signature.defaults_of_others(
            {*self.names, *self.static_names}
        )

    def leaf_names(self, treedef: tree.TreeDef) -> list[str]:
        """Return the names of the leaves of the dynamic values: `batch['mask']`."""
        return [
            self.names[getattr(path[0], "idx", 0)] + tree.keystr(path[1:])
            for path in treedef.paths()
        ]

    def call_of(self, leaves: Iterable[Any], treedef: tree.TreeDef) -> "Call":
        """Return the call with these traced leaves.

        Args:
            leaves: the values for them.
            treedef: the tree of the dynamic values, a tuple.
        """
        return Call(self, treedef.unflatten(leaves), ())

    def whole_of(
        self, call: "Call"
    ) -> tuple["CallSpec", tuple[Any, ...], frozenset[int]]:
        """Return which parameters have which values, and which leaves are not traced."""
        return self, call.dynamic, frozenset()


Recalled: TypeAlias = tuple[Callable[[Any], Any] | None, CallSpec, tree.TreeDef | None]
"""How the warm path splits the values of a call; see `CallForm`."""


class Call(NamedTuple):
    """A call in canonical form."""

    spec: CallSpec
    dynamic: tuple[Any, ...]
    static: tuple[Any, ...]


@final
class CallForm:
    """How the values of a call, positional before keyword, map to parameters.

    Args:
        spec: the parameters of the call.
        dynamic: indices of the dynamic values, in the order of the form.
        static: index, default and name of the static values; index -1 for the
            default.
        defaults: indices of values whose parameter has a default, and that default.
        count: how many values the call has.

    Attributes:
        pick: returns the dynamic values of a call; None if all are dynamic, in order.
        arrays_only: whether every leaf of the last call was an array on the device.
        recalled: for the warm path, how to split the values of the last call: a match,
            None if all were leaves; the form of the key; its treedef, None if it has
            none. One tuple, so that a thread never sees two halves of two calls.
    """

    __slots__ = (
        *("arrays_only", "defaults", "dynamic", "spec", "pick"),
        *("recalled", "static", "_treedef"),
    )

    def __init__(
        self,
        spec: CallSpec,
        dynamic: tuple[int, ...],
        static: tuple[tuple[int, Any, str], ...],
        defaults: tuple[tuple[int, Any], ...],
        count: int,
    ) -> None:
        self.spec = spec
        self.dynamic = dynamic
        self.static = static
        self.defaults = defaults
        in_order = dynamic == tuple(range(count))
        self.pick: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = (
            None if in_order else _picker(dynamic)
        )
        self.arrays_only: bool = False
        self.recalled: Recalled = None, spec, None
        self._treedef: tree.TreeDef | None = None

    def picked(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the dynamic values among those of a call."""
        return values if self.pick is None else self.pick(values)

    def static_values(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the static values among those of a call."""
        return tuple([default if i < 0 else values[i] for i, default, _ in self.static])

    def remember(
        self,
        values: tuple[Any, ...],
        treedef: tree.TreeDef | None,
        *,
        arrays_only: bool,
    ) -> None:
        """Note how to split a call, for the next one.

        Args:
            values: the call's dynamic values.
            treedef: their tree; None if all are leaves.
            arrays_only: whether every leaf was an array on the device.
        """
        if treedef is None or self._treedef is not treedef:  # a match the second time
            self.recalled, self._treedef = (None, self.spec, None), treedef
            arrays_only = arrays_only and treedef is None
        elif self.recalled[0] is None:
            try:
                self.recalled = match_of(values), self.spec, treedef
            except KeyError:
                self.recalled = no_match, self.spec, treedef
        self.arrays_only = arrays_only and self.recalled[0] is not no_match


def no_match(_values: tuple[Any, ...]) -> NoReturn:
    """Stand for the match of a tree that has none."""
    raise KeyError


def _picker(places: tuple[int, ...]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a getter of the values at some places; a slice takes 40 ns, a loop 200."""
    if len(places) > 1 and places != tuple(range(places[0], places[-1] + 1)):
        return itemgetter(*places)
    start = places[0] if places else 0
    return itemgetter(slice(start, start + len(places)))


class Signature:
    """The parameters of a function, and which of them are static or donated."""

    __slots__ = (
        *(
            "_defaults",
            "_forwards",
            "_specs",
            "_keyword_only",
            "_names",
            "_option_names",
            "_signature",
            "_variadic",
        ),
        *("donate_names", "donate_nums", "function_name", "has_static", "forms"),
        *("static_names", "static_nums"),
    )

    def __init__(
        self,
        fun: Callable[..., Any],
        static: tuple[Any, Any] = (None, None),
        donate: tuple[Any, Any] = (None, None),
    ) -> None:
        self.function_name: str = name_of(fun)
        self._signature = _signature_of(fun, follow_wrapped=False)
        wrapped = _signature_of(fun, follow_wrapped=True)
        # Signatures are not compared: their defaults may be arrays.
        self._forwards = hasattr(fun, "__wrapped__") and _forwards(self._signature)
        if self._forwards:
            self._signature = wrapped
        given = list(self._signature.parameters.values()) if self._signature else []
        self._names = tuple(p.name for p in given if p.kind in _POSITIONAL)
        self._keyword_only = {p.name for p in given if p.kind is p.KEYWORD_ONLY}
        self._variadic = {
            p.kind: p.name for p in given if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        }
        self._defaults = {p.name: p.default for p in given if p.default is not p.empty}
        self._option_names: tuple[str, ...] = self._names
        if inspect.Parameter.VAR_POSITIONAL in self._variadic:
            every = wrapped.parameters.values() if wrapped else ()
            rest = [p.name for p in every if p.kind in _POSITIONAL]
            self._option_names += tuple(rest[len(self._names) :])
        self.static_nums: frozenset[int]
        self.static_names: frozenset[str]
        self.donate_nums: frozenset[int]
        self.donate_names: frozenset[str]
        self.static_nums, self.static_names = self._chosen("static", *static)
        self.donate_nums, self.donate_names = self._chosen("donate", *donate)
        self._check_disjoint()
        self.has_static: bool = bool(self.static_nums or self.static_names)
        self.forms: dict[Hashable, CallForm] = {}
        self._specs: dict[Hashable, CallSpec] = {}

    # ---- functions that are re-created ----

    @property
    def is_steady(self) -> bool:
        """Whether all defaults are immutable and small."""
        return all(_is_steady(x) for x in self._defaults.values())

    def is_like(self, other: "Signature") -> bool:
        """Return whether it takes calls as another does, which has the same options."""
        return (
            self.function_name == other.function_name
            and self._names == other._names
            and self._keyword_only == other._keyword_only
            and self._variadic == other._variadic
            and self._defaults.keys() == other._defaults.keys()
            and all(
                x is other._defaults[name] or same_value(x, other._defaults[name])
                for name, x in self._defaults.items()
            )
        )

    # ---- calls ----

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """Return a call in canonical form.

        Raises:
            ArgumentError: the function cannot be called like this.
        """
        form = self.form(args, kwargs)
        values = (*args, *kwargs.values()) if kwargs else args
        if form.defaults:
            form = self.without_defaults(form, values, len(args), kwargs)
        return Call(form.spec, form.picked(values), form.static_values(values))

    def form(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallForm:
        """Return the form of a call; each form is checked once."""
        key = (len(args), *kwargs) if kwargs else len(args)
        found = self.forms.get(key)
        if found is None:
            if self._fits(args, kwargs):
                slots = self._slots(len(args), kwargs)
                found = self._spell(slots, len(args))
            else:
                slots = (*range(len(args)), *kwargs)
                found = self._spell(slots, len(args), as_given=True)
            self.forms[key] = found
        return found

    def arguments(self, call: Call) -> tuple[list[Any], dict[str, Any]]:
        """Return positional and keyword arguments with which to call the function."""
        by_slot = dict(zip(call.spec.dynamic, call.dynamic, strict=True))
        by_slot.update(zip(call.spec.static, call.static, strict=True))
        last = max((s for s in by_slot if isinstance(s, int)), default=-1)
        positional = [
            by_slot[i] if i in by_slot else self._defaults[self._names[i]]
            for i in range(last + 1)
        ]
        return positional, {s: v for s, v in by_slot.items() if isinstance(s, str)}

    def _slots(self, count: int, names: Iterable[str]) -> tuple[Slot, ...]:
        places = {name: i for i, name in enumerate(self._names)}
        return (*range(count), *(places.get(name, name) for name in names))

    def _spell(
        self,
        slots: Sequence[Slot],
        positional: int,
        skip: tuple[int, ...] = (),
        *,
        as_given: bool = False,
    ) -> CallForm:
        known_defaults = [] if as_given else self._default_slots()
        by_slot = {slot: i for i, slot in enumerate(slots) if i not in skip}
        order = sorted(by_slot, key=_slot_order)
        last = {num + positional for num in self.static_nums if num < 0}
        static: dict[Slot, tuple[int, Any]] = {
            slot: (by_slot[slot], None)
            for slot in order
            if slot in last
            or self._is_spelled_static(slot, by_slot[slot] >= positional)
        }
        for slot, default in known_defaults:
            if self.is_static(slot) and slot not in by_slot:
                static[slot] = -1, default
        static = {slot: static[slot] for slot in sorted(static, key=_slot_order)}
        dynamic = {slot: by_slot[slot] for slot in order if slot not in static}
        defaults = tuple(
            (by_slot[slot], default)
            for slot, default in known_defaults
            if slot in dynamic and self.is_known_default(default)
        )
        spec = self._spec(tuple(dynamic), tuple(static))
        sources = zip(static.values(), spec.static_names, strict=True)
        triples = tuple([(i, default, name) for (i, default), name in sources])
        dynamics = tuple(dynamic.values())
        return CallForm(spec, dynamics, triples, defaults, len(slots))

    def without_defaults(
        self,
        form: CallForm,
        values: Sequence[Any],
        count: int,
        names: Iterable[str],
    ) -> CallForm:
        """Return the form without the values that equal their defaults.

        Args:
            form: of the call.
            values: of the call, positional before keyword.
            count: how many are positional.
            names: the keywords.
        """
        omitted = tuple(
            [i for i, default in form.defaults if is_default(values[i], default)]
        )
        if not omitted:
            return form
        key = (form.spec, count, *names, omitted)
        found = self.forms.get(key)
        if found is None:
            found = self._spell(self._slots(count, names), count, omitted)
            self.forms[key] = found
        return found

    def _spec(self, dynamic: tuple[Slot, ...], static: tuple[Slot, ...]) -> CallSpec:
        key = dynamic, static
        if key not in self._specs:
            self._specs.setdefault(key, CallSpec(dynamic, static, self))
        return self._specs[key]

    def _default_slots(self) -> list[tuple[Slot, Any]]:
        places: dict[str, Slot] = {name: i for i, name in enumerate(self._names)}
        return [(places.get(n, n), default) for n, default in self._defaults.items()]

    def defaults_of_others(self, given: set[str]) -> dict[str, Any]:
        """Return the defaults of the parameters that a call omits."""
        return {n: value for n, value in self._defaults.items() if n not in given}

    def _is_spelled_static(self, slot: Slot, is_keyword: bool) -> bool:  # noqa: FBT001 - one caller
        """Return whether a value is static: keywords by name, others by position."""
        if not is_keyword:
            return slot in self.static_nums
        name = slot if isinstance(slot, str) else self._names[slot]
        return name in self.static_names

    def is_static(self, slot: Slot) -> bool:
        """Return whether a parameter is static."""
        if isinstance(slot, int):
            return slot in self.static_nums or self.slot_name(slot) in self.static_names
        return slot in self.static_names

    def donates(self, slot: Slot) -> bool:
        """Return whether the argument of a parameter is donated."""
        if isinstance(slot, int):
            return slot in self.donate_nums or self.slot_name(slot) in self.donate_names
        return slot in self.donate_names

    def is_known_default(self, default: object) -> bool:
        """Return whether an argument can be compared with the default of its parameter."""
        return is_plain_value(default)

    def is_static_result(self, out: object) -> bool:
        """Return whether a leaf of a result is returned as it was while tracing."""
        del out
        return False

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return (*self._names, *sorted(self._keyword_only))

    def slot_of(self, key: Any) -> Slot | None:
        """Return the parameter at a position or of a name; None if there is none."""
        if isinstance(key, str):
            if key in self._names:
                return self._names.index(key)
            known = key in self._keyword_only
            more = inspect.Parameter.VAR_KEYWORD
        else:
            known = 0 <= key < len(self._names)
            more = inspect.Parameter.VAR_POSITIONAL
        return key if known or more in self._variadic or not self._signature else None

    def slot_name(self, slot: Slot) -> str:
        """Return the name of a parameter; `args[0]` for one of `*args`."""
        if isinstance(slot, str):
            return slot
        if slot < len(self._option_names):
            return self._option_names[slot]
        rest = self._variadic.get(inspect.Parameter.VAR_POSITIONAL, "args")
        return f"{rest}[{slot - len(self._names)}]"

    def _fits(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether a call fits the parameters; False only for a forwarder.

        Raises:
            ArgumentError: the function cannot be called like this.
        """
        if self._signature is None:
            return True
        try:
            self._signature.bind(*args, **kwargs)
        except TypeError as err:
            if self._forwards:  # it may rearrange its arguments
                return False
            given = [f"{len(args)} positional", *(f"{k}=…" for k in kwargs)]
            raise ArgumentError(
                f"{self.function_name}: expected arguments {self._signature}, got "
                f"{', '.join(given)}: {err}.{_nearest(kwargs, self._signature)}"
            ) from None
        return True

    # ---- options ----

    def _chosen(
        self, what: str, argnums: Any, argnames: Any
    ) -> tuple[frozenset[int], frozenset[str]]:
        known = self._option_names
        nums = self._check_nums(what, as_tuple(argnums, int, f"{what}_argnums"))
        names = self._check_names(what, as_tuple(argnames, str, f"{what}_argnames"))
        if argnames is None:
            names = tuple(known[i] for i in nums if 0 <= i < len(known))
        if argnums is None:
            nums = tuple(known.index(n) for n in names if n in known)
        return frozenset(nums), frozenset(names)

    def _check_nums(self, what: str, nums: tuple[int, ...]) -> tuple[int, ...]:
        count = len(self._names)
        endless = inspect.Parameter.VAR_POSITIONAL in self._variadic
        for num in nums:
            known = self._signature is None or endless
            if known and (num >= 0 or what == "static"):
                continue
            if known or not -count <= num < count:
                raise ArgumentError(
                    f"jit({self.function_name}): expected {what}_argnums in "
                    f"[{-count}, {count}), got {num}. The function takes {count} "
                    f"positional arguments: {', '.join(self._names) or 'none'}."
                )
        if endless or self._signature is None:  # from the end of each call
            return nums
        return tuple(n + count if n < 0 else n for n in nums)

    def _check_names(self, what: str, names: tuple[str, ...]) -> tuple[str, ...]:
        known = {*self._option_names, *self._keyword_only}
        endless = inspect.Parameter.VAR_KEYWORD in self._variadic
        for name in names:
            if name not in known and self._signature is not None and not endless:
                raise ArgumentError(
                    f"jit({self.function_name}): expected {what}_argnames among "
                    f"{sorted(known)}, got {name!r}.{did_you_mean(name, known)}"
                )
        return names

    def _check_disjoint(self) -> None:
        both = {self.slot_name(i) for i in self.static_nums & self.donate_nums}
        both |= self.static_names & self.donate_names
        if both:
            raise ArgumentError(
                f"jit({self.function_name}): expected an argument to be static or "
                f"donated, got both for {', '.join(sorted(both))}. A static argument "
                "is no array; take it out of donate_argnums and donate_argnames."
            )


def _signature_of(
    fun: Callable[..., Any], *, follow_wrapped: bool
) -> inspect.Signature | None:
    """Return the signature of a function itself, or of the one that it wraps."""
    try:
        return inspect.signature(fun, follow_wrapped=follow_wrapped)
    except (TypeError, ValueError):  # some builtins: calls keep their form
        return None


def _forwards(signature: inspect.Signature | None) -> bool:
    """Return whether a function takes any arguments, and nothing else."""
    given = signature.parameters.values() if signature else ()
    kinds = [p.kind for p in given]
    return kinds == [
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    ]


def _nearest(given: Iterable[str], signature: inspect.Signature) -> str:
    """Return which parameter may have been meant by a keyword that there is not."""
    unknown = [name for name in given if name not in signature.parameters]
    return did_you_mean(unknown[0], signature.parameters) if unknown else ""


def _is_steady(default: Any) -> bool:
    if isinstance(default, FunctionType):
        return default.__closure__ is None
    return is_plain_value(default) or isinstance(default, type | Enum)


def is_default(value: Any, default: Any) -> bool:
    """Return whether an argument is exactly the default of its parameter."""
    return value is default or same_value(value, default)


def _slot_order(slot: Slot) -> tuple[bool, Any]:
    return isinstance(slot, str), slot


_WORDS: Final[dict[type, str]] = {int: "an integer", str: "a name"}


def as_tuple(given: Any, kind: type[Any], option: str) -> tuple[Any, ...]:
    """Return the positions or names of an option of `jit`, as plain values.

    Args:
        given: one, several, or None.
        kind: `int` or `str`.
        option: the option, for errors.

    Raises:
        ArgumentError: one of them is neither.
    """
    if given is None:
        return ()
    one = _as_plain(given, kind)
    if one is not None:
        return (one,)
    values = cast("Iterable[Any]", given)
    if isinstance(given, str) or not isinstance(given, Iterable):
        values = (given,)
    found: list[Any] = []
    for value in values:
        found.append(_as_plain(value, kind))
        if found[-1] is None:
            raise ArgumentError(
                f"{option}: expected {_WORDS[kind]} or a sequence of them, got "
                f"{value!r} of type {type(value).__name__}."
            )
    return tuple(found)


def _as_plain(value: Any, kind: type[Any]) -> Any:
    """Return a position or a name as an `int` or `str`; None if it is neither."""
    if kind is str:
        return str.__str__(value) if isinstance(value, str) else None
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None
