"""A version of what was found on the disk, of which no more is made than a call needs.

Its jaxpr is traced, and its text written, when somebody asks for them: if by then what the
function reads is another thing than it was, it is too late, and that is said.
"""

import time
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.device_assignment import Home, home_of_call
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.results import Results
from imprint._src.jit.calls.sharded_call import layout_of_call, spread_home
from imprint._src.jit.calls.signature import Call
from imprint._src.jit.calls.tracing import TracedCall, trace_call
from imprint._src.jit.compilation.layout import Layout
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.compilation.program import Program, const_buffers
from imprint._src.jit.compilation.program_cache import loaded_program
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.manifest.lazy_program import LateJaxpr, LateProgram
from imprint._src.jit.manifest.shardings import spread_of
from imprint._src.jit.manifest.trace_manifest import Asked, Found
from imprint._src.jit.request import Request
from imprint._src.jit.versions.audit_scope import count_trace
from imprint._src.jit.versions.version import Version
from imprint._src.runtime import CompileOptions, Place


class Lower(Protocol):
    """What lowers a trace."""

    def __call__(
        self,
        traced: TracedCall,
        name: str,
        options: JitOptions,
        *,
        layout: Layout | None,
    ) -> LoweredProgram:
        """Lower a trace."""
        ...


def loaded_version(
    store: Store, request: Request, traced: TracedCall, there: Found, lower: Lower
) -> Version | None:
    """Return the version of what was kept; None if its program is gone.

    Args:
        store: where it is.
        request: the call.
        traced: the trace of it, which nobody has made.
        there: what was kept.
        lower: lowers a trace.
    """
    start = time.perf_counter()
    name, options = request.name, request.options
    module = _module(request, traced, there, lower)
    avals = [get_aval(x) for x in request.pending.leaves]
    one: Home | None = None
    if module.spread is None:
        one = home_of_call(name, options, traced, avals, module.kept)
        place: Place = one.device
    else:
        place = module.spread.partition
    chosen = options.compile.over(module.options)
    key = bytes.fromhex(there.plain["program"])
    loaded = loaded_program(store, key, module.out_avals, chosen, place)
    if loaded is None:
        return None
    program = Program(
        *(loaded.executable, const_buffers(module, loaded.executable)),
        *(module.kept, module.out_avals, module, chosen),
        *(time.perf_counter() - start, "disk", loaded.stored, key),
    )
    version = Version(traced, program, name, one or spread_home(program, avals))
    version.restarts = "without a trace"
    return version


def _module(
    request: Request, traced: TracedCall, there: Found, lower: Lower
) -> LateProgram:
    """Return what was lowered, whose text is written when somebody asks."""
    plain, name, options = there.plain, request.name, request.options
    avals = [get_aval(x) for x in request.pending.leaves]
    known = LoweredProgram(
        *("", there.consts, tuple(plain["kept"]), there.avals("ins")),
        *(there.avals("outs"), tuple(plain["donated"]), (), None),
        *(CompileOptions.of(dict(plain["options"])), plain["equations"]),
        *(0.0, (), (), spread_of(plain["spread"])),
    )

    def written() -> LoweredProgram:
        layout = layout_of_call(name, options, traced, avals)
        return lower(traced, name, options, layout=layout)

    return LateProgram.of(known, written, plain["text_bytes"])


# ---- what nobody has traced ----


def late_traced(request: Request, asked: Asked, there: Found) -> TracedCall:
    """Return the trace of a call, which is made when somebody looks at its jaxpr."""
    avals = tuple(get_aval(x).unplaced() for x in request.pending.leaves)
    signature = request.definition.signature
    transform = "jit" if request.options.filtered is None else "filter_jit"
    blank = without_leaves(request.pending.call, asked)

    def trace(function: Callable[..., Any]) -> ClosedJaxpr:
        return trace_call(function, signature, blank, avals, transform).closed

    late = Late(request, trace)
    equations = there.plain["own_equations"]
    closed = LateJaxpr(late, avals, there.avals("outs"), equations)
    trees = asked.in_tree, Results(there.out_tree, {})
    made = TracedCall(closed, trees, blank.form, 0.0, there.dependencies)
    late.traced = weakref.ref(made)
    return made


def without_leaves(call: Call, asked: Asked) -> Call:
    """Return a call that holds none of its arrays."""
    treedef = asked.in_tree
    return call._replace(dynamic=treedef.unflatten([0] * treedef.num_leaves))


class Late:
    """Traces a function when somebody asks, while what it reads is as it was.

    Args:
        request: a call of it.
        trace: traces it.

    Attributes:
        traced: what the jaxpr belongs to, if it is still there.
    """

    def __init__(
        self, request: Request, trace: Callable[[Callable[..., Any]], ClosedJaxpr]
    ) -> None:
        self._name = request.name
        self._fun = _weakly(request.fun)
        self._trace = trace
        self.traced: Callable[[], TracedCall | None] = lambda: None

    def __call__(self) -> ClosedJaxpr:
        """Return the jaxpr.

        Raises:
            ArgumentError: it is too late.
        """
        function, traced = self._fun(), self.traced()
        if function is None or traced is None or not traced.holds():
            raise ArgumentError(
                f"{self._name}: expected what it reads to be as it was when it started "
                "from the disk, got another: nobody has traced its program. Ask "
                "before that changes, or with IMPRINT_CACHE=off."
            )
        count_trace()
        return self._trace(function)


def _weakly(fun: Any) -> Callable[[], Any]:
    """Return what gives a function as long as somebody has it."""
    try:
        return weakref.ref(fun)
    except TypeError:
        return lambda: fun
