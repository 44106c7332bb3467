"""Whatever happens while something is recorded, everything is put back afterwards.

A fault is raised at each line of the recorder in turn, as an interrupt may come there;
user code takes what tells us of functions; a process forks; threads trace at once.
"""

import contextlib
import gc
import linecache
import os
import sys
import threading

import pytest

from imprint.record import elsewhere, heard, listening, recorder
from imprint.record.listening import Listener
from imprint.record.record import Record
from imprint.record.recorder import Recording
from tests.units.modules import names, run

MONITORING = sys.version_info >= (3, 12)
ALL = {"helper", "leaf", "A", "B"}

PROGRAM = """
import sys
A, B, C = 1, 2, 3
def leaf(x): return x * A
def helper(x): return leaf(x) + B
def root(x): return helper(x)
def before(x): return x * C
def after(x): return x * A
def disturbed(x):
    y = before(x)
    DISTURB()
    return after(y)
def outer(x): return run_inner(disturbed, x) + after(x)
def deep(n): return deep(n - 1)
def recovers(x):
    try: deep(x)
    except RecursionError: return after(x)
"""


@pytest.fixture
def program(user):
    return user("program", PROGRAM)


def told():
    """Return what the interpreter tells now, and to how many recordings."""
    if not MONITORING:
        return sys.getprofile(), sys.gettrace(), recorder._listener.recordings
    tools = [i for i in range(6) if sys.monitoring.get_tool(i) == "imprint"]
    events = [
        sys.monitoring.get_events(i) for i in tools if sys.monitoring.get_events(i)
    ]
    return sys.getprofile(), sys.gettrace(), events, recorder._listener.recordings


@pytest.fixture(autouse=True)
def _put_back():
    before = told()
    yield
    assert told() == before


# ---- faults ----


@pytest.fixture
def no_collection():
    """Let a fault be the trace's: a collection starts the engine's code in between."""
    gc.disable()
    yield
    gc.enable()


def record_all(program):
    return names(run(program.root, 2))


# Also what the collector and weak references call is told: an error there is printed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Record, "start"),
        (Record, "library"),
        (Record, "settle"),
        (Record, "merge"),
        (Recording, "start"),
        (Listener, "tell"),
        (Listener, "hears"),
        (type(recorder._listener), "listen"),
        (type(recorder._listener), "leave"),
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_a_fault_in_any_call_leaves_nothing_behind(
    program, monkeypatch, error, owner, name, after
):
    """In the first call, in the second and so on, before it and after it."""
    whole = getattr(owner, name)
    count = 0

    def faulty(*args):
        nonlocal count
        count += 1
        if count != number:
            return whole(*args)
        if after:
            whole(*args)
        raise error

    def outer(x):
        return run(program.root, x) and program.root(x)

    for number in range(1, 60):
        clean = told()
        count = 0
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, faulty)
            with contextlib.suppress(error):
                run(outer, 2)
            reached = count >= number
        assert record_all(program) == ALL
        assert told() == clean
        if not reached:
            return
    raise AssertionError("expected the calls to come to an end")


LISTENING = sys.modules[type(recorder._listener).__module__]
FILES = {m.__file__ for m in (recorder, heard, listening, LISTENING, elsewhere)}


def is_with(frame):
    """Tell whether a block may end at this line: no interrupt comes before it has."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return line.lstrip().startswith("with ")


def interrupted_at(number, fun):
    """Run a function with an interrupt at the n-th line of the recorder."""
    lines = 0

    def trace(frame, event, _):
        nonlocal lines
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line" and not is_with(frame):
            lines += 1
            if lines == number:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        fun()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return lines >= number


def test_an_interrupt_at_any_line_leaves_nothing_behind(program):
    if sys.gettrace() is not None:
        pytest.skip("coverage is measured by sys.settrace")
    for number in range(1, 2_000):
        clean = told()
        reached = interrupted_at(number, lambda: run(program.root, 2))
        assert record_all(program) == ALL, number
        assert told() == clean, number
        if not reached:
            return
    raise AssertionError("expected the lines to come to an end")


def test_an_interrupt_that_the_function_swallows_fails_the_trace(program, monkeypatch):
    """What it broke off cannot be told from what was recorded."""

    def interrupt(*_):
        raise KeyboardInterrupt

    def swallows(x):
        with monkeypatch.context() as patch:
            patch.setattr(Record, "start", interrupt)
            with contextlib.suppress(KeyboardInterrupt):
                program.root(x)
        return program.before(x)

    with pytest.raises(KeyboardInterrupt):
        run(swallows, 2)
    assert record_all(program) == ALL


# ---- user code that takes what tells us ----


def set_events():
    for tool in range(6):
        if sys.monitoring.get_tool(tool) == "imprint":
            sys.monitoring.set_events(tool, 0)


def free_tool():
    for tool in range(6):
        if sys.monitoring.get_tool(tool) == "imprint":
            sys.monitoring.free_tool_id(tool)


def take_tool():
    for tool in range(6):
        if sys.monitoring.get_tool(tool) == "imprint":
            sys.monitoring.free_tool_id(tool)
            sys.monitoring.use_tool_id(tool, "another")
            TAKEN.append(tool)


def unregister():
    for tool in range(6):
        if sys.monitoring.get_tool(tool) == "imprint":
            sys.monitoring.register_callback(tool, sys.monitoring.events.PY_START, None)


TAKEN = []


@pytest.fixture
def taken():
    yield TAKEN
    sys.setprofile(None)
    while TAKEN:
        sys.monitoring.set_events(TAKEN[-1], 0)  # it keeps them when it is freed
        sys.monitoring.free_tool_id(TAKEN.pop())


def profiler(*_):
    pass


DISTURBANCES = {
    "no profiler": lambda: sys.setprofile(None),
    "another profiler": lambda: sys.setprofile(profiler),
    "no tracer": lambda: sys.settrace(None),
    "a collection": lambda: __import__("gc").collect(),
}
if MONITORING:
    DISTURBANCES |= {
        "no events": set_events,
        "no tool": free_tool,
        "another tool": take_tool,
        "no callback": unregister,
        "all again": sys.monitoring.restart_events,
    }


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize("kind", DISTURBANCES)
def test_what_the_function_does_to_the_tools_is_no_obstacle(program, kind):
    program.DISTURB = DISTURBANCES[kind]
    for _ in range(2):
        assert {"A", "C"} <= names(run(program.disturbed, 2))
        sys.setprofile(None)
        assert {"A", "B"} <= record_all(program)


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize("kind", DISTURBANCES)
def test_what_it_does_in_a_trace_inside_is_none_for_the_one_outside(program, kind):
    program.DISTURB = DISTURBANCES[kind]
    program.run_inner = lambda fun, x: run(fun, x) and 1
    assert {"A", "C"} <= names(run(program.outer, 2))
    sys.setprofile(None)
    assert record_all(program) == ALL


@pytest.mark.usefixtures("taken")
def test_a_profiler_that_the_function_sets_stays(program):
    program.DISTURB = DISTURBANCES["another profiler"]
    run(program.disturbed, 2)
    assert sys.getprofile() is profiler


@pytest.mark.usefixtures("taken")
def test_a_profiler_that_is_set_for_a_while_is_noticed(user):
    module = user(
        "module",
        """
        import sys
        A, B = 1, 2
        def hidden(): return A
        def root(x):
            before = sys.getprofile()
            sys.setprofile(None)
            y = hidden()
            sys.setprofile(before)
            return x * B + y
        """,
    )
    assert {"A", "B"} <= names(run(module.root, 2))


@pytest.mark.usefixtures("taken")
def test_a_profiler_of_ours_that_was_kept_goes_by_itself(program):
    kept = []
    program.DISTURB = lambda: kept.append(sys.getprofile())
    run(program.disturbed, 2)
    sys.setprofile(kept[0])
    program.root(2)
    assert sys.getprofile() is None


def test_the_users_profiler_comes_back_after_an_interrupt(program, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(profiler)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(Record, "start", interrupt)
            with pytest.raises(KeyboardInterrupt):
                run(program.root, 2)
        kept = sys.getprofile()
    finally:
        sys.setprofile(before)
    assert kept is profiler


def test_a_recursion_that_the_function_recovers_from(program):
    assert "A" in names(run(program.recovers, 2))
    assert record_all(program) == ALL


# ---- processes and threads ----


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_a_process_that_forks_in_a_trace(program):
    """While another thread has the recorder's lock, and records too."""
    go, locked, stop = (threading.Event() for _ in range(3))

    def other():
        with Recording(program.before):
            go.set()
            with recorder._listener._lock:
                locked.set()
                stop.wait(30)

    thread = threading.Thread(target=other)
    processes = []

    def root(x):
        thread.start()
        go.wait(30)
        locked.wait(30)
        processes.append(os.fork())
        if processes[0]:
            stop.set()
        return program.root(x)

    clean = told()
    found = set()
    try:
        found = names(run(root, 2))
    finally:
        if processes == [0]:  # no way leads from the child into the tests
            fine = found >= ALL and told() == clean and record_all(program) == ALL
            os._exit(0 if fine else 1)
    thread.join()
    assert found >= ALL
    assert os.waitstatus_to_exitcode(os.waitpid(processes[0], 0)[1]) == 0


def test_many_threads_record_while_another_rebinds(program):
    """The same function and different ones; nothing is lost, nothing raises."""
    stop, errors, found = threading.Event(), [], []
    interval = sys.getswitchinterval()

    def rebind():
        while not stop.is_set():
            program.A += 1
            program.__dict__["extra"] = 1
            program.__dict__.pop("extra")

    def trace(fun):
        try:
            for _ in range(30):
                with Recording(fun) as recording:
                    fun(2)
                found.append((fun, {c.co_name for c in recording.record.codes}))
        except BaseException as error:
            errors.append(error)

    functions = [program.root, program.root, program.before, program.after] * 2
    threads = [threading.Thread(target=trace, args=(fun,)) for fun in functions]
    rebinder = threading.Thread(target=rebind)
    sys.setswitchinterval(1e-6)
    try:
        for thread in (rebinder, *threads):
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        rebinder.join()
    assert errors == []
    ran = {"root": {"root", "helper", "leaf"}, "before": {"before"}, "after": {"after"}}
    for fun, started in found:
        assert started >= ran[fun.__name__]
    assert len(found) == 30 * len(functions)
