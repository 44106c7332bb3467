"""Definitions of jitted functions, and the versions that equal functions share.

- `Definition`: one function object with its options: signature, versions and traces.
- `SharedVersions`: the versions of all functions with one fingerprint. A re-created
  function reuses them if their guards hold for its own captures. They outlive the
  functions, until the table is full or the byte budget drops them.
- `DefinitionSite`: the definitions of one function in the program text under the same
  transforms, such as a lambda in a loop whose captures differ. A miss is explained against
  the previous function there. Versions are counted for each place that jits it.
"""

import os
import re
import sys
import threading
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import CodeType, FunctionType, MethodType
from typing import Any, Final, NamedTuple, TypeAlias, final

from imprint._src.core.functions import name_of
from imprint._src.core.identity import InternalObject, Standin, WeakStandin, identity
from imprint._src.diagnostics.source import Source, is_library, warn
from imprint._src.errors import RecompileWarning
from imprint._src.jit.calls.key import PackedKey, Pending
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import Signature
from imprint._src.jit.calls.tracing import TracedCall, held_by
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.explain.explanation import Difference, Explanation
from imprint._src.jit.fingerprint.callables import definition_token, fingerprint
from imprint._src.jit.fingerprint.code import Code, code_of
from imprint._src.jit.fingerprint.raw_access import ATOMS, class_of
from imprint._src.jit.fingerprint.token import Token
from imprint._src.jit.guards.guard import Guard
from imprint._src.jit.guards.locations import Key
from imprint._src.jit.versions.table import BUDGET, Table
from imprint._src.jit.versions.version import Version

_LIMIT: Final = 4096  # fingerprints
_WRAPPERS: Final = 8  # partials of partials of methods
_MANY: Final = 8  # versions of one definition site, at which it warns


@final
class SharedVersions:
    """The versions and traces of functions with one fingerprint, detached from each.

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
        """Return the definition of the same function object, if it has no captures."""
        own = self._own
        return own[1] if own is not None and own[0]() is fun else None

    def keep(self, fun: FunctionType, definition: "Definition") -> None:
        """Keep the definition of a function without captures as long as it lives."""
        reference = weakref.ref(self)

        def end(dead: object) -> None:
            shared = reference()
            if (
                shared is not None
                and shared._own is not None
                and shared._own[0] is dead
            ):
                shared._own = None

        self._own = weakref.ref(fun, end), definition

    def clear(self) -> None:
        """Drop all versions and traces."""
        self.versions.clear()
        self.traced.clear()

    def signature(
        self, fun: Callable[..., Any], make: Callable[[], Signature]
    ) -> Signature:
        """Return the parameters of a function; alike ones are one object.

        Args:
            fun: the function.
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
            name: of the function.
        """
        given = tuple(roots)
        for version in self.versions.all_of(key)[:_TRIED]:
            if version.fits(given):
                return version.for_function(given, name)
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
        """Let re-created functions find a version; the byte budget counts it."""
        kept = version.detached()
        BUDGET.add(self.versions, kept, version.nbytes)
        kept.insert_into(self.versions, key)
        kept.finalizers = _drop_with_arrays(version.traced, self.versions, kept)

    def keep_trace(
        self, traced: TracedCall, key: Hashable, table: Table[TracedCall]
    ) -> None:
        """Let re-created functions find a trace; `table` has it for its own function."""
        kept = traced.detached()
        BUDGET.add(self.traced, kept, kept.nbytes, copy=(table, traced))
        self.traced.put(key, kept)
        kept.finalizers = _drop_with_arrays(traced, self.traced, kept)


def _drop_with_arrays(traced: TracedCall, table: Table[Any], item: Any) -> object:
    """Return weak references that drop an item when a captured array dies."""
    places = weakref.ref(table), weakref.ref(item)

    def end(_: object) -> None:
        table, item = places[0](), places[1]()
        if table is not None and item is not None:
            table.bury(item)

    return [weakref.ref(x, end) for x in traced.dependencies.arrays()]


_TRIED: Final = 16
"""Versions, the newest, that a function which was re-created is compared with."""


def _is_steady(fun: Any) -> bool:
    """Return whether the fingerprint of a function determines its parameters."""
    if type(fun) is MethodType:
        fun = fun.__func__
    if type(fun) is not FunctionType or fun.__dict__:
        return False
    given: list[Any] = [*(fun.__defaults__ or ()), *(fun.__kwdefaults__ or {}).values()]
    return all(id(class_of(x)) in ATOMS for x in given)


@final
class Definition(InternalObject):
    """One function with its options, and its versions.

    Args:
        shared: the versions of its fingerprint.
        signature: its parameters.
        options: how it is compiled.
        parts: its code and defaults, when the signature was read.

    Attributes:
        jitted_at: where user code first jits it; None if imprint does.
    """

    __slots__ = (
        *("__weakref__", "jitted_at", "site", "shared", "last_miss", "options"),
        *("parts", "signature", "size_families", "traced", "versions", "written"),
    )

    def __init__(
        self,
        shared: SharedVersions,
        signature: Signature,
        options: JitOptions,
        parts: tuple[Any, ...] = (),
    ) -> None:
        self.shared = shared
        self.signature = signature
        self.options = options
        self.parts = parts
        self.versions: Table[Version] = Table()
        self.traced: Table[TracedCall] = Table()
        self.written: frozenset[Key] = frozenset()
        """The locations that its traces are known to change."""
        self.last_miss: Explanation | None = None
        self.jitted_at: Source | None = None
        self.site: DefinitionSite | None = None  # known from the first miss on
        self.size_families: Any = None  # the `SizeFamilies` of calls with named axes

    @property
    def token(self) -> Token:
        """The fingerprint of the function."""
        return self.shared.token

    def clear(self) -> None:
        """Drop all versions, and the keys of the last misses."""
        self.versions.clear()
        self.traced.clear()
        self.shared.clear()
        self.size_families = None
        if self.last_miss is not None:
            self.last_miss.settle()
        if self.site is not None:
            self.site.settle()

    def learn(self, written: frozenset[Key]) -> None:
        """Add the locations that a trace wrote, and remove their guards.

        The value that an earlier trace left there is no input: each trace writes it.
        """
        if written <= self.written:
            return
        self.written |= written
        # Versions first: their guards may be in the other table.
        for version in (*self.versions, *self.shared.versions):
            guard = _without(version.traced.guard, self.written)
            if guard is not version.checks:
                version.traced.guard = guard
                version.use_guard(guard)
        for traced in (*self.traced, *self.shared.traced):
            traced.guard = _without(traced.guard, self.written)


def _without(guard: Guard, written: frozenset[Key]) -> Guard:
    left = guard.dependencies.without(written)
    return guard if left is guard.dependencies else Guard(left)


class FunctionState(NamedTuple):
    """A function at one compilation.

    Args:
        token: its token, with captures.
        options: its options.
        code: its code; None if it is not Python code.
        function: the object that was called, if it takes weak references.
        jitted_at: the key of the place that jits it.
        definition: its definition, while it is in use.
    """

    token: Token
    options: JitOptions
    code: Code | None
    function: WeakStandin | None
    jitted_at: Hashable
    definition: weakref.ref[Definition]

    def is_before(self, now: "FunctionState") -> bool:
        """Return whether another function may be this one, re-created or edited.

        Not if this one is still in use, and is jitted at another place or has other code.
        """
        if self.code is now.code:
            return self.jitted_at == now.jitted_at or self.definition() is None
        if self.code is None or now.code is None or self.code.file != now.code.file:
            return True
        return self.function is None or self.function() is None

    def is_of(self, fun: Callable[..., Any]) -> bool:
        """Return whether it is of the same function, or of a method of the same object."""
        return self.function is not None and self.function is _standin_of(fun)


def _made_of(fun: Callable[..., Any], definition: Definition) -> FunctionState:
    function, _ = _unwrapped(fun)
    return FunctionState(
        token=definition_token(fun),
        options=definition.options,
        code=None if function is None else code_of(function.__code__),
        function=_standin_of(fun),
        jitted_at=place_key(definition.jitted_at),
        definition=weakref.ref(definition),
    )


def place_key(source: Source | None) -> Hashable:
    """Return a key of a place that stays equal when its code is executed again."""
    if source is None:
        return None
    return source.file, source.code.co_qualname, source.instruction


def _standin_of(fun: Any) -> WeakStandin | None:
    standin = identity(fun.__self__ if type(fun) is MethodType else fun)
    return standin if isinstance(standin, WeakStandin) else None  # else it holds it


class _CompileCount:
    """The versions of a function that one place jits.

    Attributes:
        made: how many were compiled since the function was edited.
        misses: the explanations of those before the warning.
    """

    __slots__ = ("made", "misses")

    def __init__(self) -> None:
        self.made: int = 0
        self.misses: list[Explanation] = []


@final
class DefinitionSite:
    """The definitions of one function in the program text.

    Args:
        defined: the place, as `/path/file.py:12`; empty if it has no Python code.
    """

    __slots__ = (*("_counts", "_made", "captured", "defined"),)

    def __init__(self, defined: str) -> None:
        self.defined = defined
        self.captured: set[object] = set()
        """Large captured arrays that were warned about."""
        self._made: deque[FunctionState] = deque(maxlen=4)
        self._counts: dict[Hashable, _CompileCount] = {}

    def before(
        self, fun: Callable[..., Any], definition: Definition
    ) -> list[FunctionState]:
        """Return the last compilations, the newest first.

        If the same function was compiled before a change, return only that.
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
        return [x for x in found if x.is_before(now)]

    def knows(self, fun: Callable[..., Any]) -> bool:
        """Return whether a version was compiled for the same function or object."""
        return any(made.is_of(fun) for made in self._made)

    def note(
        self, fun: Callable[..., Any], definition: Definition, miss: Explanation
    ) -> None:
        """Count a compilation; the eighth warns, with the slot that keeps changing.

        The differences are computed only then. An edit restarts the count. A version from
        the disk is not compiled.
        """
        now, options = _made_of(fun, definition), definition.options
        if all(
            x.token is not now.token or x.options is not options for x in self._made
        ):
            self._made.append(now)
        if miss.is_edit:
            self._counts.clear()
        if miss.origin == "disk":
            return
        count = self._counts.setdefault(now.jitted_at, _CompileCount())
        count.made += 1
        if options.max_versions is not None:
            return
        if count.made > _MANY or is_library(self.defined):
            return
        count.misses.append(miss)
        if count.made == _MANY:
            misses, count.misses = count.misses, []
            self._warn(misses)

    def settle(self) -> None:
        """Compute the differences of the misses so far, so that they hold no keys."""
        for count in self._counts.values():
            for miss in count.misses:
                miss.settle()

    def _warn(self, misses: list[Explanation]) -> None:
        reasons: Counter[str] = Counter()
        for miss in misses:
            counted = [d for d in miss.differences if d.kind != "cleared"]
            reasons.update([*dict.fromkeys(map(_cause, counted))])
        last = {_cause(d): d for d in reversed(misses[-1].differences)}
        # clear_cache() is no cause.
        most = next((c for c, _ in reasons.most_common() if c in last), None)
        if most is None:
            return
        change = last[most]
        where = f" ({self.defined})" if self.defined else ""
        shown = str(change)
        if change.slot == most:
            shown = f"{change.old} → {change.new}"
        warn(
            f"{misses[-1].function}{where} was compiled {len(misses)} times, "
            f"{reasons[most]} of them because of {most}, the last time {shown}. "
            f"{change.remedy}",
            RecompileWarning,
        )


def _cause(change: Difference) -> str:
    """Return the changed slot: for a growing list the argument, not its item."""
    if change.kind == "evicted":
        return "versions that were dropped"
    if change.kind != "structure":
        return change.slot
    return f"the structure of {re.split(r'[.[]', change.slot)[0]}"


@final
class Definitions:
    """The definitions of a process.

    Args:
        limit: how many fingerprints there may be; the byte budget bounds their memory.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._kin: OrderedDict[Hashable, SharedVersions] = OrderedDict()
        self._known: weakref.WeakValueDictionary[Hashable, Definition] = (
            weakref.WeakValueDictionary()
        )
        self._sites: OrderedDict[Hashable, DefinitionSite] = OrderedDict()
        self._of_functions: weakref.WeakKeyDictionary[
            Any, dict[tuple[str, ...], DefinitionSite]
        ] = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()  # a weak reference may die inside

    def of(
        self,
        fun: Callable[..., Any],
        options: JitOptions,
        signature: Callable[[], Signature],
    ) -> Definition:
        """Return the definition of a function; create it if there is none.

        Args:
            fun: the function.
            options: how it is compiled.
            signature: reads its parameters.
        """
        token = fingerprint(fun)
        shared = self._kin_of(token, options)
        parts = parts_of(fun)
        own = shared.own(fun)
        if own is not None and own.parts == parts:
            return own
        key = (*_standing(fun), token, options)
        known = self._known.get(key)
        if known is not None and known.parts == parts:
            return known
        made = Definition(shared, shared.signature(fun, signature), options, parts)
        with self._lock:
            known = self._known.get(key)  # another thread may have been first
            if known is not None and known.parts == parts:
                return known
            self._known[key] = made
        if type(fun) is FunctionType and fun.__closure__ is None and _is_steady(fun):
            shared.keep(fun, made)
        return made

    def _kin_of(self, token: Token, options: JitOptions) -> SharedVersions:
        key = token, options
        with self._lock:
            found = self._kin.get(key)
            if found is None:
                found = self._kin[key] = SharedVersions(token)
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
            for shared in self._kin.values():
                shared.clear()
            self._kin.clear()

    def definition_site_of(
        self, fun: Callable[..., Any], definition: Definition
    ) -> DefinitionSite:
        """Return the definition site of a function."""
        with self._lock:
            if definition.site is None:
                function, transforms = _unwrapped(fun)
                site = DefinitionSite("")
                if function is not None:
                    own = getattr(function, "__func__", function)
                    site = self._site_of(own, transforms)
                definition.site = site
            return definition.site

    def _site_of(self, function: Any, transforms: tuple[str, ...]) -> DefinitionSite:
        """Return the definition site of a Python function, also after an edit in place."""
        code = function.__code__
        known = self._of_functions.setdefault(function, {})
        site = known.get(transforms)
        if site is None:
            place = _place_of(function), transforms
            site = self._sites.setdefault(place, DefinitionSite(""))
            self._sites.move_to_end(place)
            while len(self._sites) > self._limit:
                self._sites.popitem(last=False)
            known[transforms] = site
        site.defined = f"{code.co_filename}:{code.co_firstlineno}"
        return site

    def orphans(self) -> Iterator[Version]:
        """Yield the versions whose functions no longer exist."""
        with self._lock:
            every = [*self._kin.values()]
        for shared in every:
            yield from (v for v in shared.versions if not v.users)

    def __iter__(self) -> Iterator[Definition]:
        with self._lock:
            return iter([*self._known.values()])


def parts_of(fun: Any) -> tuple[Any, ...]:
    """Return the identities of the objects that determine the parameters."""
    if type(fun) is not FunctionType:
        return ()
    return id(fun.__code__), id(fun.__defaults__), id(fun.__kwdefaults__)


def _standing(fun: Any) -> tuple[Standin, ...]:
    """Return the identity of a function; each access to a method makes a new object."""
    if type(fun) is MethodType:
        return identity(fun.__func__), identity(fun.__self__)
    return (identity(fun),)


def _place_of(function: Any) -> Hashable:
    """Return a key that stays equal when a function is re-created or edited.

    At module level it is the name: an edit replaces the code, in a notebook each time under
    a new file name that does not exist. Otherwise it includes the code, so that the lambdas
    of a list are different functions.
    """
    code, names = function.__code__, getattr(function, "__globals__", None)
    qualname = getattr(function, "__qualname__", code.co_qualname)
    if "<" not in qualname and names is not None:
        module = str(names.get("__name__"))
        if getattr(sys.modules.get(module), "__dict__", None) is names:
            has_file = os.path.exists(code.co_filename)  # any text: `Path` may raise
            return code.co_filename if has_file else "", module, qualname
    return code.co_filename, qualname, code.co_firstlineno, code_of(code)


def _unwrapped(fun: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the Python function that a callable runs, if any, and transforms around it."""
    transforms: list[str] = []
    for _ in range(_WRAPPERS):
        if type(fun) is FunctionType and "__wrapped__" in fun.__dict__:
            transforms += _names_of_library(fun)
            fun = fun.__dict__["__wrapped__"]  # by a decorator, or by `grad`
            continue
        if isinstance(getattr(fun, "__code__", None), CodeType):
            return fun, tuple(transforms)
        inner = getattr(fun, "func", None) or getattr(fun, "__func__", None)
        fun = type(fun).__call__ if inner is None else inner
    return None, ()


def _names_of_library(wrapper: FunctionType) -> Iterator[str]:
    """Yield the names of the functions of imprint that a wrapper calls: `grad.gradient`."""
    for cell in wrapper.__closure__ or ():
        with suppress(ValueError):  # a variable without a value yet
            held = cell.cell_contents
            if type(held) is FunctionType and is_library(held.__code__.co_filename):
                yield held.__code__.co_qualname


DEFINITIONS: Final = Definitions()
"""The definitions of this process."""

# ---- the scope of an audit ----

# An audit traces as if there were no earlier traces, also of nested functions. Its traces go
# to tables of their own, which are compared with the others and then dropped.


class _AuditTraces(NamedTuple):
    """The fresh traces of one definition, which is kept alive as its key is its `id`."""

    definition: Definition
    traces: Table[TracedCall]


AuditTraces: TypeAlias = dict[int, _AuditTraces]

_fresh: Final = ContextVar[AuditTraces | None]("imprint_fresh_traces", default=None)


@contextmanager
def audit_scope() -> Generator[AuditTraces]:
    """Trace every function again within this `with`; yield their traces."""
    traces: AuditTraces = {}
    token = _fresh.set(traces)
    try:
        yield traces
    finally:
        _fresh.reset(token)


def is_auditing() -> bool:
    """Return whether an audit is tracing."""
    return _fresh.get() is not None


def count_trace() -> None:
    """Count a trace, except those of audits."""
    COUNTERS.traces += not is_auditing()


def traces_of(definition: Definition) -> Table[TracedCall]:
    """Return the table in which a trace of a definition is found and kept."""
    fresh = _fresh.get()
    if fresh is None:
        return definition.traced
    return fresh.setdefault(id(definition), _AuditTraces(definition, Table())).traces


# ---- a call of a definition ----


class Request(NamedTuple):
    """A call, its function, and the definition that answers it."""

    fun: Callable[..., Any]
    definition: Definition
    pending: Pending

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.definition.signature.function_name

    @property
    def options(self) -> JitOptions:
        """How the function is compiled."""
        return self.definition.options

    @property
    def roots(self) -> tuple[Any, ...]:
        """The function and its static values: the roots of all guarded locations."""
        return self.fun, *(value for _, value in held_by(self.pending.call))


def shared_version(request: Request) -> Version | None:
    """Return the version of an equal function, rebound to the function of a call."""
    definition, key = request.definition, request.pending.key
    shared = definition.shared
    if not shared.versions.current:
        return None
    found = shared.version(key, request.roots, request.name)
    if found is not None and not found.traced.dependencies.calls_static:
        found.insert_into(definition.versions, key)
    return found
