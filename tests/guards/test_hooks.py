"""A trace leaves the process alone: no global hook, no user class and no setting differs."""

import ast
import dataclasses
import functools
import gc
import sys
import threading
from pathlib import Path

import pytest

import imprint
from tests.guards.programs import X

SOURCES = sorted(Path(imprint.__file__).parent.rglob("*.py"))
FORBIDDEN = {"restart_events", "set_threshold", "setprofile", "settrace"}
HAS_MONITORING = sys.version_info >= (3, 12)
monitored = pytest.mark.skipif(not HAS_MONITORING, reason="from 3.12")
TOOLS = range(6)


@functools.cache
def hooks_in(path):
    """Return the names of global hooks that a source file mentions."""
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in FORBIDDEN):
        return frozenset()
    nodes = list(ast.walk(ast.parse(text)))
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.name for node in nodes if isinstance(node, ast.alias)}
    return frozenset(names & FORBIDDEN)


@pytest.mark.parametrize("name", sorted(FORBIDDEN))
def test_no_source_names_a_global_hook(name):
    root = SOURCES[0].parents[1]
    found = [
        path.relative_to(root).as_posix() for path in SOURCES if name in hooks_in(path)
    ]
    assert found == []


# ---- state of the process ----


def classes_of_a_user():
    class Base:
        rate = 2.0

        def __init__(self):
            self.k = 2.0

        def __add__(self, other):
            return self.k + other

    @dataclasses.dataclass
    class Derived(Base):
        more: float = 1.0

        def __post_init__(self):
            super().__init__()

        @property
        def factor(self):
            return self.k * self.rate

        def __getattr__(self, name):
            if name == "missing":
                return 3.0
            raise AttributeError(name)

    class Slots:
        __slots__ = ("k",)

        def __init__(self):
            self.k = 2.0

    return Base, Derived, Slots


def program():
    """Return a function that reads classes in many ways, the classes, and an edit."""
    base, derived, slots = classes_of_a_user()
    made, slotted = derived(), slots()

    @imprint.jit
    def inner(x):
        return x * made.factor

    @imprint.jit
    def f(x):
        x = inner(x) * slotted.k + (made + 1.0) * made.missing
        return imprint.grad(lambda y: y * made.more)(x) + x

    def edit():
        made.k += 1.0

    return f, (base, derived, slots), edit


def observed():
    """Return the state of the process that a trace must not change."""
    state = {
        "profile": sys.getprofile(),
        "trace": sys.gettrace(),
        "profile of new threads": threading.getprofile(),
        "trace of new threads": threading.gettrace(),
        "garbage collection": (gc.isenabled(), gc.get_threshold()),
        "recursion": sys.getrecursionlimit(),
        "switches": sys.getswitchinterval(),
        "import": __import__,
    }
    if HAS_MONITORING:
        state["tools"] = [sys.monitoring.get_tool(tool) for tool in TOOLS]
    return state


def calls(fun, edit):
    """Call a function: a trace, a hit, a retrace."""
    for _ in range(2):
        fun(X)
        fun(X)
        edit()
    fun(X)


def test_user_classes_are_unchanged():
    fun, classes, edit = program()
    before = [dict(vars(kind)) for kind in classes]
    calls(fun, edit)
    after = [dict(vars(kind)) for kind in classes]
    assert [list(table) for table in after] == [list(table) for table in before]
    for was, now in zip(before, after, strict=True):
        assert all(now[name] is value for name, value in was.items())


def test_the_code_and_attributes_of_functions_are_unchanged():
    rate = 2.0

    def helper(x):
        return x * rate

    def f(x):
        return helper(x)

    before = [(fun.__code__, dict(vars(fun)), fun.__defaults__) for fun in (f, helper)]
    jitted = imprint.jit(f)
    calls(jitted, lambda: None)
    after = [(fun.__code__, dict(vars(fun)), fun.__defaults__) for fun in (f, helper)]
    assert [a[0] is b[0] for a, b in zip(before, after, strict=True)] == [True, True]
    assert [a[1:] for a in after] == [b[1:] for b in before]


def test_the_process_is_unchanged():
    fun, _, edit = program()
    imprint.jit(lambda x: x + 1.0)(X)  # a tool id may be claimed at the first trace
    before = observed()
    calls(fun, edit)
    assert observed() == before


def test_during_a_trace_no_hook_is_set():
    seen = []

    def f(x):
        seen.append((sys.getprofile(), sys.gettrace(), gc.get_threshold()))
        return x * 2.0

    before = (sys.getprofile(), sys.gettrace(), gc.get_threshold())
    imprint.jit(f)(X)
    assert seen[0] == before


@pytest.mark.parametrize("hook", ["profile", "trace"])
def test_a_hook_of_the_user_stays_and_is_called(hook):
    executed = []

    def listen(frame, event, arg):
        executed.append(frame.f_code.co_name)
        return listen

    def traced_by_a_debugger(x):
        return x * 2.0

    install, ask = getattr(sys, f"set{hook}"), getattr(sys, f"get{hook}")
    before = ask()
    fun = imprint.jit(traced_by_a_debugger)
    install(listen)
    try:
        assert fun(X) == 4.0
        kept = ask()
    finally:
        install(before)
    assert kept is listen
    assert "traced_by_a_debugger" in executed


# ---- sys.monitoring ----


def tools_of_imprint():
    return [
        t for t in TOOLS if (sys.monitoring.get_tool(t) or "").startswith("imprint")
    ]


def global_events():
    return {tool: sys.monitoring.get_events(tool) for tool in tools_of_imprint()}


@monitored
def test_no_global_event_is_set_after_a_trace():
    fun, _, edit = program()
    calls(fun, edit)
    assert not any(global_events().values())


@monitored
def test_no_global_event_is_set_during_a_trace():
    seen = []

    def f(x):
        seen.append(global_events())
        return x * 2.0

    imprint.jit(f)(X)
    assert not any(seen[0].values())


@monitored
def test_no_local_event_is_set_after_a_trace():
    def helper(x):
        return x * 2.0

    def f(x):
        return helper(x) + 1.0

    imprint.jit(f)(X)
    codes = [f.__code__, helper.__code__]
    events = [
        sys.monitoring.get_local_events(tool, code)
        for tool in tools_of_imprint()
        for code in codes
    ]
    assert not any(events)


@pytest.fixture
def tool():
    """Return the id of a monitoring tool of user code."""
    free = [t for t in TOOLS if sys.monitoring.get_tool(t) is None]
    sys.monitoring.use_tool_id(free[0], "a user's tool")
    yield free[0]
    sys.monitoring.set_events(free[0], 0)
    sys.monitoring.register_callback(free[0], sys.monitoring.events.PY_START, None)
    sys.monitoring.free_tool_id(free[0])


@monitored
def test_locations_that_another_tool_disabled_stay_disabled(tool):
    executed = []

    def start(code, offset):
        executed.append(code)
        return sys.monitoring.DISABLE

    def helper():
        return 1.0

    sys.monitoring.register_callback(tool, sys.monitoring.events.PY_START, start)
    sys.monitoring.set_events(tool, sys.monitoring.events.PY_START)
    helper()
    assert executed.count(helper.__code__) == 1
    imprint.jit(lambda x: x * 2.0)(X)
    helper()
    assert executed.count(helper.__code__) == 1


@monitored
def test_another_tool_observes_code_that_a_trace_runs(tool):
    executed = []

    def f(x):
        return x * 2.0

    def start(code, offset):
        executed.append(code)

    sys.monitoring.register_callback(tool, sys.monitoring.events.PY_START, start)
    sys.monitoring.set_events(tool, sys.monitoring.events.PY_START)
    imprint.jit(f)(X)
    assert f.__code__ in executed


@pytest.fixture
def no_free_tool():
    taken = [t for t in TOOLS if sys.monitoring.get_tool(t) is None]
    for t in taken:
        sys.monitoring.use_tool_id(t, "a user's tool")
    yield
    for t in taken:
        sys.monitoring.free_tool_id(t)


@monitored
@pytest.mark.usefixtures("no_free_tool")
def test_without_a_free_tool_id_an_edit_is_seen():
    rate = 2.0
    fun = imprint.jit(lambda x: x * rate)
    assert fun(X) == 4.0
    rate = 3.0
    assert fun(X) == 6.0


@monitored
@pytest.mark.usefixtures("no_free_tool")
def test_without_a_free_tool_id_a_new_method_of_an_object_is_seen():
    class Model:
        def rate(self):
            return 2.0

    model = Model()

    def read_rate(held):
        return held.rate() if getattr(held, "other", None) is None else 1.0

    fun = imprint.jit(lambda x: x * read_rate(model))
    assert fun(X) == 4.0
    model.rate = lambda: 3.0
    assert fun(X) == 6.0
