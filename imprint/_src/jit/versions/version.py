"""Versions: the compiled forms of a function, one for each call signature.

A `Version` is a traced call with its executable, laid out for the warm path: the path
reads plain attributes, and `take` is None if all arguments are passed unchanged. A
`special` version is executed by `run`: it donates, checks for NaN, moves arguments to its
device, or runs something else than its executable. Donated arrays lose their values and
record the function that took them. The public properties are computed when read.

Observers watch all misses of a process, before and after the compilation; limits, reports
and tests use them. Only the cold path reads the list, so warm calls pay nothing.
"""

import itertools
import re
import time
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol, cast, final

from imprint._src import native, runtime
from imprint._src.array import (
    ArrayImpl,
    buffer_of,
    buffer_on,
    deleted_error,
    host_of,
    to_array,
    wrap_host,
)
from imprint._src.core.aval import ShapedArray
from imprint._src.core.dims import Dim
from imprint._src.core.identity import InternalObject, Standin, identity
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.diagnostics import html
from imprint._src.errors import DeletedArrayError
from imprint._src.jit.calls.device_assignment import DeviceAssignment, ShardedAssignment
from imprint._src.jit.calls.key import CallKey, PackedKey
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compilation.counters import COUNTERS, Counters
from imprint._src.jit.compilation.program import Program
from imprint._src.jit.explain.explanation import CallSignature, Explanation
from imprint._src.jit.guards.guard import Guard
from imprint._src.jit.versions.donation_and_sharding import run_donating, run_spread
from imprint._src.jit.versions.table import Table
from imprint._src.passes import nan_checks as sentinel_pass
from imprint._src.passes import pass_report
from imprint._src.runtime import (
    EngineError,
    MemoryStats,
    Runnable,
    collect_garbage,
    explain_execute_error,
)


class VersionCosts(NamedTuple):
    """The seconds of a new version; lowering and compiling are 0 if shared."""

    trace: float
    lower: float
    compile: float

    @property
    def total(self) -> float:
        """The sum."""
        return sum(self)


class Observer(Protocol):
    """Callbacks for every miss of all jitted functions, in any thread.

    `missed` comes first, then `failed` or `compiled`.
    """

    def missed(self, miss: Explanation) -> None:
        """Handle a call that needs a new version; an exception prevents it."""
        ...

    def failed(self, miss: Explanation) -> None:
        """Handle a failed compilation, or the refusal of another observer."""
        ...

    def compiled(self, miss: Explanation, costs: VersionCosts) -> None:
        """Handle a new version."""
        ...


OBSERVERS: Final[list[Observer]] = []
"""The observers of this process."""


# ---- observers of misses ----


@final
class Version(InternalObject):
    """A compiled version of a function.

    Args:
        traced: the jaxpr and the trees.
        program: the compiled jaxpr.
        name: the function's, for messages.
        assignment: where it runs.
        sentinels: the meaning of the program's last result, if it has flags.

    Attributes:
        trace_reason: why another process traces it; "" if it does not, None if unknown.
        source: the one, detached from each function, that those of re-created functions
            were made from; its `users` are these.
    """

    __slots__ = (
        "__weakref__",
        "_others",
        "_roots",
        "_traced",
        "arguments",
        "assignment",
        "at",
        "checks",
        "consts",
        "created_at",
        "direct",
        "donated",
        "executable",
        "finalizers",
        "guard",
        "handlers",
        "hits",
        "host_call",
        "name",
        "only_donates",
        "out_aval",
        "out_avals",
        "pinned",
        "program",
        "run_special",
        "runs",
        "sentinels",
        "source",
        "special",
        "tables",
        "take",
        "trace_reason",
        "unflatten",
        "users",
    )

    def __init__(
        self,
        traced: TracedCall,
        program: Program,
        name: str,
        assignment: "DeviceAssignment | ShardedAssignment",
        sentinels: "sentinel_pass.Sentinels | None" = None,
    ) -> None:
        self.sentinels: sentinel_pass.Sentinels | None = sentinels
        self._traced = traced
        self._roots: tuple[Standin, ...] | None = None
        self._others: Guard | None = (
            None  # of a source: its locations that are no captures
        )
        self.program: Program = program
        self.name: str = name
        self.assignment: DeviceAssignment | ShardedAssignment = assignment
        self.hits: int = 0
        self.users: Collection[Version] = ()
        self.source: Version | None = None
        self.finalizers: Any = None  # drops it when a captured array dies
        self.guard: Callable[[], bool] | None = None
        self.use_guard(traced.guard)
        self.executable: runtime.Executable = program.executable
        self.handlers: list[Any] = program.executable.handlers
        self.consts: list[runtime.Buffer] = list(program.consts)
        self.out_avals: tuple[ShapedArray, ...] = assignment.place(
            traced.closed.out_avals
        )
        self.out_aval: ShapedArray | None = (
            self.out_avals[0] if traced.results.is_single else None
        )
        self.unflatten: Callable[[Iterable[Any]], Any] = traced.results.unflatten
        names = traced.leaf_names() if program.module.donated else []
        self.donated: dict[int, str] = {
            i: f"donated as argument {names[i]} of {name}"
            for i in program.module.donated
        }
        self.arguments: int = len(self.consts) + len(traced.closed.in_avals)
        self.run_special: Callable[[Version, list[Any]], list[Any]] | None = (
            run_spread
            if isinstance(assignment, ShardedAssignment)
            else run_donating
            if self.donated
            else None
        )
        self.use(program.executable)
        self.at: Any = None  # its key in its table
        self.tables: tuple[weakref.ref[Table[Version]], ...] = ()
        self.pinned: bool = False
        self.trace_reason: str | None = None
        self.created_at: float = time.time()
        _alive.add(self)

    def __del__(self, counters: Counters = COUNTERS) -> None:
        # The name COUNTERS is gone when the interpreter ends.
        hits, source = getattr(self, "hits", 0), getattr(self, "source", None)
        if (
            source is not None and source is not self
        ):  # the version of a function that is gone
            source.hits += hits
        else:
            counters.retired += hits

    def use(self, runs: Runnable) -> None:
        """Execute calls by `runs`: the executable, or an equivalent."""
        self.runs: Runnable = runs
        if not isinstance(self.assignment, ShardedAssignment):
            self.host_call: runtime.HostCall = runtime.host_call(
                runs, self.program.module.in_avals
            )
        self.special: bool = (
            bool(self.donated)
            or self.sentinels is not None
            or self.assignment.moves
            or runs is not self.executable
        )
        is_plain = self.sentinels is None and runs is self.executable
        is_donating = self.run_special is run_donating and not self.assignment.moves
        self.only_donates: bool = (
            is_plain and is_donating
        )  # no other reason to be special
        kept, count = self.program.kept, len(self.traced.closed.in_avals)
        everything = kept == tuple(range(count)) and not self.consts
        is_whole = everything and not self.special
        is_whole = is_whole and not isinstance(self.assignment, ShardedAssignment)
        self.take: tuple[int, ...] | None = None if is_whole else kept
        self.direct: Any = None if _direct is None else _direct.program_of(self)

    def use_guard(self, guard: Guard) -> None:
        """Set the guard that decides whether it is valid."""
        reference = weakref.ref(self)

        def changed(check: Callable[[], bool]) -> None:
            version = reference()
            if version is not None:
                version.guard = check

        has_reads = bool(guard.dependencies.reads)
        self.guard: Callable[[], bool] | None = guard.check if has_reads else None
        if guard.dependencies.calls_static:  # equal static functions have equal keys
            self.guard = _never
        self._others = None
        self.checks: Guard = guard  # it lives as long as its check is called
        guard.changed = changed

    def insert_into(self, table: Table["Version"], key: PackedKey) -> None:
        """Insert it into a table, as the current item of its key."""
        self.at = key
        self.tables = (*self.tables, weakref.ref(table))
        table.put(key, self)

    @property
    def traced(self) -> TracedCall:
        """The jaxpr and the trees."""
        if self._roots is not None:
            self._bind()
        return self._traced

    @traced.setter
    def traced(self, traced: TracedCall) -> None:
        self._traced = traced

    def fits(self, roots: tuple[Any, ...]) -> bool:
        """Return whether a source is valid for another function.

        Args:
            roots: the function, and its static values.
        """
        dependencies = self._traced.dependencies
        if not dependencies.fits(roots):
            return False
        if self._others is None:
            self._others = Guard(dependencies.of_others())
        return self._others.check()

    def for_function(self, roots: tuple[Any, ...], name: str = "") -> "Version":
        """Return this program as the version of another function, which it fits.

        Many functions are called once, so the guards are rebound at the second call.
        """
        made = object.__new__(Version)
        for each in _SHARED:
            setattr(made, each, getattr(self, each))
        if hasattr(self, "host_call"):
            made.host_call = self.host_call
        made.name = name or self.name
        made._traced = self._traced
        made._others = None
        made.checks = self.checks
        made._roots = tuple(map(identity, roots))
        made.guard = None
        if self._traced.dependencies.reads:
            reference = weakref.ref(made)

            def first() -> bool:
                version = reference()
                return version is not None and version._bind()

            made.guard = first
        made.hits = 0
        made.pinned = False
        made.users = ()
        made.tables = ()
        made.source = self
        made.finalizers = None
        cast("set[Version]", self.users).add(made)
        _alive.add(made)
        return made

    def _bind(self) -> bool:
        """Rebind the guards to its own function; return whether they hold."""
        held, self._roots = self._roots, None
        if held is None:  # another thread is at it
            return False
        roots = [standin() for standin in held]
        found = None
        if roots[0] is not None:
            found = self._traced.dependencies.rebound(roots)
        if found is None:
            self.guard = _never
            return False
        self._traced = self._traced.rebound(found)
        self.use_guard(self._traced.guard)
        return self.guard is not _never

    def detached(self) -> "Version":
        """Return the same program for functions that are re-created; it holds none."""
        traced = self.traced.detached()
        made = Version(traced, self.program, self.name, self.assignment, self.sentinels)
        made.trace_reason = self.trace_reason
        made.users = weakref.WeakSet((self,))
        self.source = made
        return made

    def where_it_runs(self) -> "Version":
        """Return the same program for arguments that are on its device."""
        assignment = self.assignment._replace(moves=False)
        return Version(
            self._traced, self.program, self.name, assignment, self.sentinels
        )

    @property
    def calls(self) -> int:
        """How many calls it answered, for all functions that use it."""
        return self.hits + sum([user.hits for user in (*self.users,)])

    def holds(self) -> bool:
        """Return whether its guards hold."""
        return self.guard is None or self.guard()

    def is_lost(self) -> bool:
        """Return whether it can never hold again; one that is pinned stays for all that."""
        return not self.stays and self.traced.dependencies.is_lost()

    def run(self, leaves: list[Any], host_leaves: list[int] | None = None) -> Any:  # noqa: C901 - hot: a helper costs 60 ns
        """Execute on leaves of which some are NumPy arrays or numbers; hot.

        Args:
            leaves: the leaves of a call, in a list of its own.
            host_leaves: which are host values, if the caller knows.
        """
        if self.direct is not None and (outs := self.direct(*leaves)) is not None:
            return self.wrap(outs, wrap_host)
        if self.take is None and host_leaves and len(host_leaves) == len(leaves):
            try:  # host values only: nothing to sort out
                outs = self.host_call(leaves, host_leaves)
            except _FAILED as err:
                raise self.explain(leaves, err) from err
            return self.wrap(outs)
        if self.run_special is not None:
            return self.wrap(self.run_special(self, leaves))
        take = self.take
        arguments = leaves if take is None else [leaves[i] for i in take]
        start = len(self.consts)
        if start:
            arguments = [*self.consts, *arguments]
        elif take is None:
            arguments = leaves[:]
        assignment: Any = self.assignment
        hosts: list[int] = []
        for i in range(start, len(arguments)):
            x = arguments[i]
            if type(x) is ArrayImpl:
                arguments[i] = (
                    buffer_on(x, assignment.device)
                    if assignment.moves
                    else buffer_of(x)
                )
            else:
                hosts.append(i)
        if not hosts:
            return self.wrap(self.call(arguments))
        try:
            outs = self.host_call(arguments, hosts)
        except _FAILED as err:
            raise self.explain(arguments, err) from err
        return self.wrap(outs)

    def execute(self, arguments: list[Any]) -> Any:
        """Execute, if not `special`, on buffers, of captured arrays first; hot."""
        try:  # the door, written out as in `Jitted.__call__`
            results = self.executable.execute(arguments)
            outs = results.consume_with_handlers(self.handlers)
        except EngineError as err:
            raise self.explain(arguments, err) from err
        collect_garbage()
        if self.out_aval is not None:
            return ArrayImpl(self.out_aval, outs[0])
        return self.unflatten(map(ArrayImpl, self.out_avals, outs))

    def call(self, arguments: list[Any]) -> list[Any]:
        """Execute on buffers, captured arrays first; return those of the results."""
        try:
            return self.runs.call(arguments)
        except _FAILED as err:
            raise self.explain(arguments, err) from err

    def wrap(self, outs: list[Any], make: Callable[..., ArrayImpl] = ArrayImpl) -> Any:
        """Return values of results, buffers unless `make` takes others, as their tree."""
        if self.sentinels is not None:
            aval = self.assignment.of_flags(self.program.out_avals[-1])
            flags = host_of(ArrayImpl(aval, outs.pop()))
            names, results = self.traced.leaf_names(), self.traced.results.names()
            self.sentinels.check(flags, self.name, names, results)
        if self.out_aval is not None:
            return make(self.out_aval, outs[0])
        return self.unflatten(map(make, self.out_avals, outs))

    def explain(self, buffers: list[Any], err: Exception) -> Exception:
        """Return the error to raise for an error of the execution."""
        for value in self.program.module.consts:
            array = to_array(value)
            if runtime.is_deleted(buffer_of(array)):
                return DeletedArrayError(
                    f"{self.name}: the array that the function closes over is gone: "
                    f"{deleted_error(array)} Or pass it as an argument."
                )
        return explain_execute_error(buffers, err)

    # ---- public properties ----

    @property
    def key(self) -> CallSignature:
        """Its call signature: names, tree, avals, static values, flags."""
        return CallKey.unpack(self.at).kind(self.traced.spec, self.traced.in_tree)

    @property
    def avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the leaves of its dynamic arguments."""
        return self.traced.given_avals

    @property
    def statics(self) -> dict[str, str]:
        """The static arguments, as they print, by name."""
        return dict(self.key.static)

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The traced program."""
        return self.traced.closed

    @property
    def stablehlo(self) -> str:
        """The lowered program, without source lines."""
        return self.program.module.plain_text

    @property
    def hlo(self) -> str:
        """The program as XLA optimized it."""
        return self.executable.hlo_text()

    @property
    def costs(self) -> VersionCosts:
        """The seconds that it took."""
        module = self.program.module
        return VersionCosts(
            self.traced.seconds, module.seconds, self.program.compile_seconds
        )

    @property
    def trace_s(self) -> float:
        """The seconds of tracing."""
        return self.costs.trace

    @property
    def lower_s(self) -> float:
        """The seconds of lowering."""
        return self.costs.lower

    @property
    def compile_s(self) -> float:
        """The seconds of XLA; almost 0 if `origin` is "memory"."""
        return self.costs.compile

    @property
    def origin(self) -> str:
        """Where the executable is from: "compiled", "disk", or "memory" if another had it."""
        return self.program.origin

    @property
    def runs_on(self) -> str:
        """What runs it: "engine", or "direct" if calls of arrays need no engine."""
        return "engine" if self.direct is None else "direct"

    @property
    def restarts(self) -> str:
        """How another process starts with it: "with a trace" and why, or without one."""
        if self.trace_reason == "":
            return "without a trace"
        return (
            f"with a trace: {self.trace_reason}"
            if self.trace_reason
            else "with a trace"
        )

    @property
    def stored(self) -> str:
        """Whether it is on disk: "stored", or "not stored: " and the reason."""
        return self.program.stored

    @property
    def nbytes(self) -> int:
        """The memory it takes, in bytes, estimated."""
        return self.program.nbytes

    @property
    def passes(self) -> "tuple[pass_report.Change, ...]":
        """The changes by passes: loops made, values materialized."""
        return self.program.module.changes

    @property
    def cost(self) -> dict[str, float]:
        """XLA's estimates for one call: flops, bytes accessed and so on."""
        return self.executable.cost_analysis()

    @property
    def memory(self) -> MemoryStats:
        """XLA's memory plan, in bytes."""
        return self.executable.memory_stats()

    @property
    def watched(self) -> tuple[str, ...]:
        """The names that it read while it was traced: rebinding one is a miss."""
        return self.traced.guard.names

    @property
    def stays(self) -> bool:
        """Whether the byte budget leaves it: it is pinned, or spans processes.

        One that forgot it alone would wait for the others to compile it again.
        """
        assignment = self.assignment
        return (
            self.pinned
            or any(user.pinned for user in (*self.users,))
            or (
                isinstance(assignment, ShardedAssignment)
                and assignment.device.spans_processes
            )
        )

    def pin(self) -> None:
        """Keep it, whatever the byte budget and `max_versions` say."""
        self.pinned = True

    def unpin(self) -> None:
        """Let it go when others need its place."""
        self.pinned: bool = False

    def evict(self) -> None:
        """Forget it: the next call of its kind traces and compiles again."""
        self.drop("evict()")

    def drop(self, reason: str = "") -> None:
        """Leave all tables, with the versions of functions that were re-created."""
        source = self.source or self
        for version in (self, source, *source.users):
            for table in version.tables:
                held = table()
                if held is not None:
                    held.drop(version, reason)

    def figures(self) -> tuple[object, ...]:
        """Return its name with its arguments, equations and seconds, for a log."""
        return (str(self), self.program.module.equations, *self.costs)

    def __str__(self) -> str:
        arrays = dict(zip(self.traced.given_names, self.avals, strict=True))
        arguments = _listed(arrays, self.statics)
        return f"{self.name}({', '.join(arguments)}){self.traced.where}"

    def __repr__(self) -> str:
        return f"<version of {self}, {self.hits} calls>"

    def _repr_html_(self) -> str:
        costs = {
            f"{name} seconds": f"{s:.3f}" for name, s in self.costs._asdict().items()
        }
        values = {
            "calls": self.calls,
            "bytes": f"{self.nbytes:,}",
            "origin": self.origin,
            **costs,
            "watched": ", ".join(self.watched),
        }
        return html.fields(f"Version of {self}", values) + "".join(
            html.folded(title, text) for title, text in self.texts().items()
        )

    def texts(self) -> dict[str, str]:
        """Return its jaxpr and its StableHLO, if it was traced in this process."""
        if not getattr(self.traced.closed, "is_known", True):
            return {}  # loaded: user code would run
        return {"jaxpr": str(self.jaxpr), "StableHLO": self.stablehlo}


def _listed(arrays: dict[str, ShapedArray], statics: dict[str, str]) -> Iterator[str]:
    """Yield the arguments of a call as text; those of many arrays by their sums."""
    counts = Counter(map(_argument_of, arrays))
    large = {name for name, count in counts.items() if count > _SHOWN}
    for argument, leaves in itertools.groupby(arrays, _argument_of):
        if argument in large:
            size: Dim = sum(arrays[leaf].size for leaf in leaves)
            shown = f"{size:,}" if type(size) is int else f"{size}"
            yield f"{argument}: {counts[argument]} arrays of {shown} elements"
        else:
            yield from (f"{leaf}: {arrays[leaf]}" for leaf in leaves)
    for name, value in statics.items():
        if _argument_of(name) not in large:
            yield f"{name}={value}"


def _argument_of(leaf: str) -> str:
    """Return the argument of a leaf: `model` of `model.layers[0]`."""
    return re.split(r"[.\[]", leaf, maxsplit=1)[0]


_SHOWN: Final = 8
"""The most arrays of an argument that a version lists."""


def _never() -> bool:
    return False


_SHARED: Final = (
    "run_special",
    "arguments",
    "at",
    "consts",
    "created_at",
    "direct",
    "donated",
    "executable",
    "handlers",
    "assignment",
    "only_donates",
    "out_aval",
    "out_avals",
    "program",
    "trace_reason",
    "runs",
    "sentinels",
    "special",
    "take",
    "unflatten",
)
"""The attributes that versions of one program share."""
_FAILED: Final = (EngineError, DeletedArrayError)
"""The errors of an execution; the second if a buffer is known to be deleted."""


def calls_answered() -> int:
    """Return how many calls the versions of this process answered, gone ones too."""
    return COUNTERS.retired + sum(version.hits for version in list(_alive))


_direct: Final[Any] = (
    None if native.direct is None else import_module("imprint._src.jit.versions.direct")
)
_alive: Final[weakref.WeakSet[Version]] = weakref.WeakSet()
