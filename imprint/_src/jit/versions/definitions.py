"""Definitions: the versions of each jitted function, and which functions share them.

A `Definition` is one function object with its options: its signature, its versions, its
traces. Functions with one fingerprint are `Kin`: a function that was re-created finds the
versions of the one before, if what they depend on is as it was for itself. Kin outlives
its functions, until the table is full or the byte budget drops what it holds. A `Family`
is the definitions of one place in the program, such as a lambda in a loop whose captures
differ: a miss of a new definition is explained against the one before.
"""

import os
import re
import sys
import threading
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any, Final, NamedTuple, final

from imprint._src.core.functions import name_of
from imprint._src.core.identity import Identity, Inner, Standin, identity
from imprint._src.diagnostics.source import is_library, warn
from imprint._src.errors import RecompileWarning
from imprint._src.jit.calls.key import PackedKey
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import Signature
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.explain.explanation import Difference, Explanation
from imprint._src.jit.fingerprint.callables import definition_token, fingerprint
from imprint._src.jit.fingerprint.code import Code, code_of
from imprint._src.jit.fingerprint.raw_access import ATOMS, class_of
from imprint._src.jit.fingerprint.token import Token
from imprint._src.jit.guards.guard import Guard
from imprint._src.jit.guards.locations import Key
from imprint._src.jit.versions.budget import BUDGET
from imprint._src.jit.versions.table import Table
from imprint._src.jit.versions.version import Version

_LIMIT: Final = 4096  # fingerprints
_WRAPPERS: Final = 8  # partials of partials of methods
_MANY: Final = 8  # versions of one family, at which it warns


@final
class Kin:
    """What functions of one fingerprint compiled and traced, detached from each of them.

    Args:
        token: the fingerprint.
    """

    __slots__ = (
        *("__weakref__", "_own", "_signature", "last_miss", "token", "traced"),
        "versions",
    )

    def __init__(self, token: Token) -> None:
        self.token = token
        self.versions: Table[Version] = Table()
        self.traced: Table[TracedCall] = Table()
        self.last_miss: Explanation | None = None
        self._signature: Signature | None = None
        self._own: tuple[weakref.ref[Any], Definition] | None = None

    def own(self, fun: Callable[..., Any]) -> "Definition | None":
        """Return the definition of the very function, if it captures nothing."""
        own = self._own
        return own[1] if own is not None and own[0]() is fun else None

    def keep(self, fun: FunctionType, definition: "Definition") -> None:
        """Keep the definition of a function that captures nothing, as long as it lives."""
        reference = weakref.ref(self)

        def end(dead: object) -> None:
            kin = reference()
            if kin is not None and kin._own is not None and kin._own[0] is dead:
                kin._own = None

        self._own = weakref.ref(fun, end), definition

    def clear(self) -> None:
        """Forget what was compiled."""
        self.versions.clear()
        self.traced.clear()

    def signature(
        self, fun: Callable[..., Any], make: Callable[[], Signature]
    ) -> Signature:
        """Return the parameters of a function; alike ones are one object.

        Args:
            fun: it.
            make: reads them.
        """
        known = self._signature
        if (
            known is not None
            and known.function_name == name_of(fun)
            and _is_steady(fun)
        ):
            return known
        made = make()
        if known is not None and known.is_like(made):
            return known
        if made.is_steady:
            self._signature = made
        return made

    def drop(self, traced: TracedCall) -> None:
        """Forget a trace."""
        for each in self.traced:
            if each.closed.jaxpr is traced.closed.jaxpr:
                self.traced.drop(each)

    def version(
        self, key: Hashable, roots: Iterable[Any], name: str = ""
    ) -> Version | None:
        """Return the version of another function that answers a call of this one.

        Args:
            key: of the call.
            roots: the function and its static values.
            name: the function's.
        """
        given = tuple(roots)
        for version in self.versions.all_of(key)[:_TRIED]:
            if version.fits(given):
                return version.lent(given, name)
        return None

    def trace(self, key: Hashable, roots: Iterable[Any]) -> TracedCall | None:
        """Return the trace of another function that is one of this one, too."""
        given = tuple(roots)
        for traced in self.traced.all_of(key)[:_TRIED]:
            found = traced.dependencies.rebound(given)
            if found is not None:
                return traced.rebound(found)
            if traced.dependencies.is_lost():
                self.traced.drop(traced)
        return None

    def keep_version(self, version: Version, key: PackedKey) -> None:
        """Let functions that are re-created find a version; the byte budget counts it."""
        kept = version.detached()
        BUDGET.add(self.versions, kept, version.nbytes)
        kept.stand_in(self.versions, key)
        kept.ends = _ends(version.traced, self.versions, kept)

    def keep_trace(
        self, traced: TracedCall, key: Hashable, table: Table[TracedCall]
    ) -> None:
        """Let functions that are re-created find a trace, which stands in a table."""
        kept = traced.detached()
        BUDGET.add(self.traced, kept, kept.nbytes, copy=(table, traced))
        self.traced.put(key, kept)
        kept.ends = _ends(traced, self.traced, kept)


def _ends(traced: TracedCall, table: Table[Any], item: Any) -> object:
    """Return what drops an item when an array dies of which its trace was made."""
    places = weakref.ref(table), weakref.ref(item)

    def end(_: object) -> None:
        table, item = places[0](), places[1]()
        if table is not None and item is not None:
            table.bury(item)

    return [weakref.ref(x, end) for x in traced.dependencies.arrays()]


_TRIED: Final = 16
"""Versions, the newest, that a function which was re-created is compared with."""


def _is_steady(fun: Any) -> bool:
    """Return whether the fingerprint of a function tells its parameters."""
    if type(fun) is MethodType:
        fun = fun.__func__
    if type(fun) is not FunctionType or fun.__dict__:
        return False
    given: list[Any] = [*(fun.__defaults__ or ()), *(fun.__kwdefaults__ or {}).values()]
    return all(id(class_of(x)) in ATOMS for x in given)


@final
class Definition(Inner):
    """One function with its options, and its versions.

    Args:
        kin: what functions of its fingerprint share.
        signature: its parameters.
        options: how it is compiled.
        parts: its code and defaults, when the signature was read.
    """

    __slots__ = (
        *("__weakref__", "family", "kin", "last_miss", "options", "parts"),
        *("signature", "sized", "traced", "versions", "written"),
    )

    def __init__(
        self,
        kin: Kin,
        signature: Signature,
        options: JitOptions,
        parts: tuple[Any, ...] = (),
    ) -> None:
        self.kin = kin
        self.signature = signature
        self.options = options
        self.parts = parts
        self.versions: Table[Version] = Table()
        self.traced: Table[TracedCall] = Table()
        self.written: frozenset[Key] = frozenset()
        """The locations that its traces are known to change."""
        self.last_miss: Explanation | None = None
        self.family: Family | None = None  # known from the first miss on
        self.sized: Any = None  # what `dynamic` knows of calls whose axes have names

    @property
    def token(self) -> Token:
        """The fingerprint of the function."""
        return self.kin.token

    def clear(self) -> None:
        """Forget all versions, and what the keys of the last misses hold."""
        self.versions.clear()
        self.traced.clear()
        self.kin.clear()
        self.sized = None
        if self.last_miss is not None:
            self.last_miss.settle()
        if self.family is not None:
            self.family.settle()

    def learn(self, written: frozenset[Key]) -> None:
        """Take in the locations that a trace changed.

        What an earlier trace left there is no input: each trace writes it.
        """
        if written <= self.written:
            return
        self.written |= written
        # First the versions: what they use may be in the other table.
        for version in (*self.versions, *self.kin.versions):
            guard = _without(version.traced.guard, self.written)
            if guard is not version.checks:
                version.traced.guard = guard
                version.use_guard(guard)
        for traced in (*self.traced, *self.kin.traced):
            traced.guard = _without(traced.guard, self.written)


def _without(guard: Guard, written: frozenset[Key]) -> Guard:
    left = guard.dependencies.without(written)
    return guard if left is guard.dependencies else Guard(left)


class Made(NamedTuple):
    """What a version of a family was made of.

    Args:
        token: what the function was, captures and all.
        options: how it was compiled.
        code: what ran; None if that is not Python's.
        function: the object that was called, if it takes weak references.
    """

    token: Token
    options: JitOptions
    code: Code | None
    function: Identity | None

    def is_of(self, fun: Callable[..., Any]) -> bool:
        """Tell whether it was made of the same function, or method of the same object."""
        return self.function is not None and self.function is _standin_of(fun)


def _made_of(fun: Callable[..., Any], definition: Definition) -> Made:
    function = _function_of(fun)
    code = None if function is None else code_of(function.__code__)
    token = definition_token(fun)
    return Made(token, definition.options, code, _standin_of(fun))


def _standin_of(fun: Any) -> Identity | None:
    standin = identity(fun.__self__ if type(fun) is MethodType else fun)
    return standin if isinstance(standin, Identity) else None  # else it holds it


@final
class Family:
    """The definitions that one place in the program made.

    Args:
        defined: the place, as `/path/file.py:12`; empty if it has no Python code.
    """

    __slots__ = (*("_made", "_misses", "captured", "defined", "made"),)

    def __init__(self, defined: str) -> None:
        self.defined = defined
        self.made: int = 0
        """How many versions were compiled since the function was edited."""
        self.captured: set[object] = set()
        """Large captured arrays that were warned about."""
        self._made: deque[Made] = deque(maxlen=4)
        self._misses: list[Explanation] = []

    def before(self, fun: Callable[..., Any], definition: Definition) -> list[Made]:
        """Return what was compiled last, the last one first.

        If the same function was compiled, as it was before it was changed, that is all.
        A function of other code that lives beside this one is another function, not what
        this one was before it was edited.
        """
        now = _made_of(fun, definition)
        found = [
            x
            for x in reversed(self._made)
            if not (x.token is now.token and x.options is now.options)
        ]
        own = [x for x in found if x.is_of(fun)]
        if own:
            return own[:1]
        return [
            x
            for x in found
            if x.code is now.code
            or not (x.code and now.code and x.function and x.function())
            or x.code.file != now.code.file
        ]

    def knows(self, fun: Callable[..., Any]) -> bool:
        """Return whether a version was made of the very function or object."""
        return any(made.is_of(fun) for made in self._made)

    def note(
        self, fun: Callable[..., Any], definition: Definition, miss: Explanation
    ) -> None:
        """Count a compilation; warn at the eighth, of the slot that keeps changing.

        Only then the misses are read, and what differed is worked out. What was edited
        is counted anew.
        """
        now, options = _made_of(fun, definition), definition.options
        if all(
            x.token is not now.token or x.options is not options for x in self._made
        ):
            self._made.append(now)
        if miss.is_edit:
            self.made = 0
            self._misses.clear()
        self.made += 1
        if options.max_versions is not None:
            return
        if self.made > _MANY or is_library(self.defined):
            return
        self._misses.append(miss)
        if self.made == _MANY:
            misses, self._misses = self._misses, []
            self._warn(misses)

    def settle(self) -> None:
        """Work out what differed in the misses so far; then they hold no keys."""
        for miss in self._misses:
            miss.settle()

    def _warn(self, misses: list[Explanation]) -> None:
        reasons: Counter[str] = Counter()
        for miss in misses:
            counted = [d for d in miss.differences if d.kind != "cleared"]
            reasons.update([*dict.fromkeys(map(_cause, counted))])
        last = {_cause(d): d for d in reversed(misses[-1].differences)}
        # What was cleared on purpose is no cause.
        most = next((c for c, _ in reasons.most_common() if c in last), None)
        if most is None:
            return
        change = last[most]
        where = f" ({self.defined})" if self.defined else ""
        shown = str(change)
        if change.slot == most:
            shown = f"{change.old} → {change.new}"
        warn(
            f"{misses[-1].function}{where} was compiled {self.made} times, "
            f"{reasons[most]} of them because of {most}, the last time {shown}. "
            f"{change.remedy}",
            RecompileWarning,
        )


def _cause(change: Difference) -> str:
    """Return what keeps changing: for a list that grows the argument, not its item."""
    if change.kind == "evicted":
        return "versions that were dropped"
    if change.kind != "structure":
        return change.slot
    return f"the structure of {re.split(r'[.[]', change.slot)[0]}"


@final
class Definitions:
    """The definitions of a process.

    Args:
        limit: how many fingerprints there may be; the byte budget bounds what they hold.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._kin: OrderedDict[Hashable, Kin] = OrderedDict()
        self._known: weakref.WeakValueDictionary[Hashable, Definition] = (
            weakref.WeakValueDictionary()
        )
        self._families: OrderedDict[Hashable, Family] = OrderedDict()
        self._lock = threading.RLock()  # a weak reference may die inside

    def of(
        self,
        fun: Callable[..., Any],
        options: JitOptions,
        signature: Callable[[], Signature],
    ) -> Definition:
        """Return the definition of a function, made if there is none.

        Args:
            fun: the function.
            options: how it is compiled.
            signature: reads its parameters.
        """
        token = fingerprint(fun)
        kin = self._kin_of(token, options)
        parts = parts_of(fun)
        own = kin.own(fun)
        if own is not None and own.parts == parts:
            return own
        key = (*_standing(fun), token, options)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known.parts == parts:
                return known
        made = Definition(kin, kin.signature(fun, signature), options, parts)
        with self._lock:
            self._known[key] = made
        if type(fun) is FunctionType and fun.__closure__ is None and _is_steady(fun):
            kin.keep(fun, made)
        return made

    def _kin_of(self, token: Token, options: JitOptions) -> Kin:
        key = token, options
        with self._lock:
            found = self._kin.get(key)
            if found is None:
                found = self._kin[key] = Kin(token)
                while len(self._kin) > self._limit:
                    self._kin.popitem(last=False)
            else:
                self._kin.move_to_end(key)
            return found

    def clear(self) -> None:
        """Forget all that is compiled."""
        for definition in self:
            definition.clear()
        with self._lock:
            for kin in self._kin.values():
                kin.clear()
            self._kin.clear()

    def family_of(self, fun: Callable[..., Any], definition: Definition) -> Family:
        """Return the family of a definition of a function."""
        with self._lock:
            if definition.family is None:
                function = _function_of(fun)
                if function is None:
                    definition.family = Family("")
                else:
                    code = function.__code__
                    new = Family(f"{code.co_filename}:{code.co_firstlineno}")
                    place = _place_of(function)
                    definition.family = self._families.setdefault(place, new)
                    self._families.move_to_end(place)
                    while len(self._families) > self._limit:
                        self._families.popitem(last=False)
            return definition.family

    def orphans(self) -> Iterator[Version]:
        """Yield the versions whose functions are gone."""
        with self._lock:
            every = [*self._kin.values()]
        for kin in every:
            yield from (v for v in kin.versions if not v.users)

    def __iter__(self) -> Iterator[Definition]:
        with self._lock:
            return iter([*self._known.values()])


def parts_of(fun: Any) -> tuple[Any, ...]:
    """Return what the parameters of a function are read from."""
    if type(fun) is not FunctionType:
        return ()
    return id(fun.__code__), id(fun.__defaults__), id(fun.__kwdefaults__)


def _standing(fun: Any) -> tuple[Standin, ...]:
    """Return what stands for a function; a method is another object each time."""
    if type(fun) is MethodType:
        return identity(fun.__func__), identity(fun.__self__)
    return (identity(fun),)


def _place_of(function: Any) -> Hashable:
    """Return what stays when a function is made anew, or edited and defined again.

    A module has one function of a name, whose code is edited: in a notebook each time in
    another file, which is none. Else functions of other code are other functions, as are
    those of a list of lambdas.
    """
    code, names = function.__code__, getattr(function, "__globals__", None)
    qualname = getattr(function, "__qualname__", code.co_qualname)
    if "<" not in qualname and names is not None:
        module = str(names.get("__name__"))
        if getattr(sys.modules.get(module), "__dict__", None) is names:
            has_file = os.path.exists(code.co_filename)  # any text: `Path` may raise
            return code.co_filename if has_file else "", module, qualname
    return code.co_filename, qualname, code.co_firstlineno, code_of(code)


def _function_of(fun: Any) -> Any:
    """Return what has the code that runs when a callable is called, if it is Python's."""
    for _ in range(_WRAPPERS):
        if type(fun) is FunctionType and "__wrapped__" in fun.__dict__:
            fun = fun.__dict__["__wrapped__"]  # by a decorator, or by `grad`
            continue
        if isinstance(getattr(fun, "__code__", None), CodeType):
            return fun
        inner = getattr(fun, "func", None) or getattr(fun, "__func__", None)
        fun = type(fun).__call__ if inner is None else inner
    return None


DEFINITIONS: Final = Definitions()
"""The definitions of this process."""
