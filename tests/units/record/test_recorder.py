"""Which functions the recorder sees, and beside whom it works."""

import asyncio
import collections
import contextlib
import copy
import cProfile
import dataclasses
import functools
import gc
import posixpath
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

import imprint
import imprint.numpy as inp
from imprint.record import recorder
from imprint.record.recorder import Recording, contribute
from imprint.watch.guard import Watch
from tests.units.modules import find, names, run

DEDENT = textwrap.dedent.__code__
MONITORING = sys.version_info >= (3, 12)


def recorded(fun, *args):
    """Return the names of the user's functions that run."""
    with Recording(fun) as recording:
        fun(*args)
    assert not recording.by_names
    return {code.co_name for code in recording.record.codes} - {"__enter__"}


PROGRAM = """
import functools
A, B, C, D = 1, 2, 3, 4

def leaf(x): return x * A
def helper(x): return leaf(x) + B
def root(x): return helper(x)
def unused(x): return x * D
def branch(x): return helper(x) if x > 0 else unused(x)

def generator(n):
    for i in range(n):
        yield i * C

def consumes(x): return sum(generator(3)) + x
def comprehends(x): return [leaf(i) for i in range(3)] + [*map(lambda i: i * B, [x])]

def logged(f):
    @functools.wraps(f)
    def wrapper(*args): return f(*args) + C
    return wrapper

@logged
def decorated(x): return x * A
def calls_decorated(x): return decorated(x)

@functools.lru_cache
def remembered(x): return x * A
def calls_remembered(x): return remembered(x)

def nested(x):
    k = 3
    def inner(y): return y * k + leaf(y)
    return inner(x)

partial = functools.partial(helper)
def calls_partial(x): return partial(x)
async def coroutine(x): return helper(x)
def recursive(x): return A if x <= 0 else recursive(x - 1)
def fails(x): raise KeyError(helper(x))
def catches(x):
    try: fails(x)
    except KeyError: return B
"""


@pytest.fixture
def program(user):
    return user("program", PROGRAM)


@pytest.mark.parametrize(
    ("root", "functions"),
    [
        ("root", "root helper leaf"),
        ("branch", "branch helper leaf"),
        ("calls_decorated", "calls_decorated wrapper decorated"),
        ("calls_remembered", "calls_remembered remembered"),
        ("nested", "nested inner leaf"),
        ("calls_partial", "calls_partial helper leaf"),
        ("consumes", "consumes generator"),
        ("recursive", "recursive"),
        ("catches", "catches fails helper leaf"),
    ],
)
def test_functions_that_run_are_recorded(program, root, functions):
    assert recorded(getattr(program, root), 2) == set(functions.split())


def test_lambdas_and_comprehensions_are_recorded(program):
    ran = recorded(program.comprehends, 2)
    assert {"comprehends", "leaf", "<lambda>"} <= ran


def test_coroutines_are_recorded(program):
    ran = recorded(lambda x: asyncio.run(program.coroutine(x)), 2)
    assert {"coroutine", "helper", "leaf"} <= ran


def test_every_recording_sees_everything_again(program):
    for _ in range(3):
        assert recorded(program.root, 2) == {"root", "helper", "leaf"}


def test_a_trace_that_fails_is_no_obstacle_to_the_next(program):
    with pytest.raises(KeyError), Recording(program.fails) as recording:
        program.fails(2)
    assert recording.findings.reads == ()
    assert recorded(program.root, 2) == {"root", "helper", "leaf"}


def test_nothing_listens_afterwards(program):
    recorded(program.root, 2)
    if MONITORING:
        tools = [i for i in range(6) if sys.monitoring.get_tool(i) == "imprint"]
        assert [sys.monitoring.get_events(i) for i in tools] == [0]
    else:
        assert sys.getprofile() is None


def test_an_inner_trace_merges_into_the_outer(program):
    inner = []

    def outer(x):
        inner.append(run(program.root, x))
        return x * program.D

    watch = run(outer, 2)
    assert names(inner[0]) == {"helper", "leaf", "A", "B"}
    assert {"helper", "leaf", "A", "B", "D"} <= names(watch)


def test_an_inner_trace_records_what_the_outer_had_seen_before(program):
    inner = []

    def outer(x):
        program.root(x)
        inner.append(run(program.root, x))

    run(outer, 2)
    assert names(inner[0]) == {"helper", "leaf", "A", "B"}


# ---- libraries ----


@pytest.fixture
def libraries(monkeypatch):
    """Return what the records are told of libraries, in order."""
    told = []

    def library(record, code, frame):
        assert frame.f_code is code
        told.append((record, code, frame.f_globals))
        return True

    monkeypatch.setattr(recorder.Record, "library", library)
    return told


def test_a_library_is_told_once_in_a_trace(libraries):
    def root(x):
        for _ in range(3):
            x = textwrap.dedent(x)
        return x

    for times in (1, 2):
        assert "dedent" not in recorded(root, "x")
        assert [code for _, code, _ in libraries].count(DEDENT) == times


@dataclasses.dataclass
class Config:
    rate: float = 1.0


@pytest.fixture
def told(monkeypatch):
    """Return what recordings are told of libraries: its code, in order."""
    told, tell = [], Recording.library

    def library(recording, code, frame):
        told.append(code)
        return tell(recording, code, frame)

    monkeypatch.setattr(Recording, "library", library)
    return told


def test_a_library_that_asks_is_told_with_what_is_new_alone(told):
    """`fields` asks a class or an object for a name that it works out."""
    classes = [dataclasses.make_dataclass(f"C{i}", ["x"]) for i in range(3)]
    asked = [Config, *classes, Config(2.0), Config]

    def root():
        for each in asked * 50:
            dataclasses.fields(each)

    recorded(root)
    assert told.count(dataclasses.fields.__code__) == 5


def test_what_makes_a_named_tuple_is_not_told(libraries):
    point = collections.namedtuple("Point", "config")
    recorded(lambda: point(Config(2.0)))
    assert not libraries


def test_code_with_a_name_of_what_makes_named_tuples_is_told():
    namespace = {"_tuple_new": tuple.__new__, "__name__": "mine", "RATE": 2.0}
    exec("def reads(): return RATE", namespace)
    assert recorded(namespace["reads"]) == {"reads"}


def test_what_a_library_gives_of_plain_values_leads_nowhere(monkeypatch):
    given = []
    monkeypatch.setattr(Recording, "given", lambda *args, **_: given.append(args[1:]))

    def root():
        posixpath.split("a/b")
        return copy.copy((Config, 1.0))

    recorded(root)
    assert given == [(copy.copy.__code__, (Config, 1.0))]


def test_a_library_is_told_to_the_traces_inside_and_outside(libraries):
    def inner(x):
        return textwrap.dedent(x)

    def outer(x):
        recorded(inner, x)
        textwrap.dedent(x)
        return recorded(inner, x)

    with Recording(outer) as recording:
        outer("x")
    records = [record for record, code, _ in libraries if code is DEDENT]
    assert records.count(recording.record) == 1
    assert len(records) == 3


def test_a_library_that_another_thread_runs_is_left_out(libraries):
    with ThreadPoolExecutor(1) as pool:
        go = threading.Event()
        other = pool.submit(lambda: go.wait() and textwrap.dedent("x"))
        with Recording(textwrap.dedent) as recording:
            go.set()
            assert other.result() == "x"
            assert DEDENT not in [code for _, code, _ in libraries]
            textwrap.dedent("x")
    told = [record for record, code, _ in libraries if code is DEDENT]
    assert told == [recording.record]


def test_what_imprint_runs_itself_is_neither_a_library_nor_the_users(libraries):
    class Scaled(imprint.Module):
        weight: imprint.Array

        def __call__(self, x):
            return inp.sin(x) * self.weight

    def root(model, x):
        return imprint.grad(lambda y: imprint.jit(model)(y))(x)

    with Recording(root) as recording:
        imprint.make_jaxpr(root)(Scaled(inp.ones(())), 1.0)
    record = recording.record
    record = recording.record
    assert {record} < {each for each, *_ in libraries}
    own = f"{Path(imprint.__file__).parent}/", "<imprint "
    files = [code.co_filename for code in record.codes]
    for _, code, namespace in libraries:
        files += code.co_filename, str(namespace.get("__file__"))
    assert not [file for file in files if file.startswith(own)]


def test_an_error_about_a_library_does_not_reach_the_function(monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(recorder.Record, "library", fail)
    ran = []
    with pytest.raises(ZeroDivisionError), Recording(textwrap.dedent):
        ran.append(textwrap.dedent("x"))
    assert ran == ["x"]


# ---- the result of an earlier trace ----


def contributed(findings, fun, root=lambda: 0):
    with Recording(root) as recording:
        root()
        contribute(findings, fun)
    return Watch(recording.findings.reads)


def test_an_earlier_trace_contributes_its_reads(program):
    earlier = find(program.root, 2)
    watch = contributed(earlier, program.root, root=lambda: program.unused(2))
    assert names(watch) >= {"helper", "leaf", "A", "B", "D"}
    program.A = 7
    assert not watch.guard()
    contribute(earlier, program.root)  # no recording is under way: nothing happens


def test_a_place_that_the_earlier_trace_changed_is_not_contributed(user):
    module = user(
        "module",
        "COUNT = 0\ndef inner():\n  global COUNT\n  COUNT += 1\n  return COUNT",
    )
    watch = contributed(find(module.inner), module.inner)
    assert names(watch) == set()


CLOSURES = """
def make(k):
    n = 0
    def inner(x):
        nonlocal n
        n += 1
        return x * k
    def put(v):
        nonlocal k
        k = v
    return inner, put
"""


def test_an_earlier_trace_contributes_what_its_function_captures(user):
    module = user("module", CLOSURES)
    one, _ = module.make(2)
    two, put = module.make(2)
    watch = contributed(find(one, 3), two)
    assert names(watch) == {"closure variable k of make.<locals>.inner"}
    two(3)
    assert watch.guard()
    put(5)
    assert not watch.guard()


def test_what_the_trace_itself_makes_is_not_contributed(user):
    module = user("module", CLOSURES)
    earlier = find(module.make(2)[0], 3)

    def root():
        contribute(earlier, module.make(2)[0])

    with Recording(root) as recording:
        root()
    gc.collect()
    watch = Watch(recording.findings.reads)
    assert not any("closure" in name for name in names(watch))
    assert watch.guard()


# ---- threads ----


def test_what_another_thread_runs_is_left_out(program):
    go, done, stop = (threading.Event() for _ in range(3))

    def other():
        go.wait()
        program.unused(1)
        done.set()
        stop.wait()

    thread = threading.Thread(target=other)
    thread.start()
    with Recording(program.root) as recording:
        go.set()
        done.wait()
        program.root(2)
    stop.set()
    thread.join()
    assert names(Watch(recording.findings.reads)) == {"helper", "leaf", "A", "B"}


def test_what_another_thread_started_first_is_not_lost(program):
    go, done = threading.Event(), threading.Event()

    def other():
        go.wait()
        program.root(1)
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with Recording(program.root) as recording:
        go.set()
        done.wait()
        program.root(2)
    thread.join()
    assert names(Watch(recording.findings.reads)) == {"helper", "leaf", "A", "B"}


def test_recordings_of_two_threads_at_once(program):
    barrier = threading.Barrier(2, timeout=30)
    found = {}

    def trace(name):
        fun = getattr(program, name)
        with Recording(fun) as recording:
            barrier.wait()
            fun(2)
            barrier.wait()
        found[name] = names(Watch(recording.findings.reads))

    threads = [
        threading.Thread(target=trace, args=(name,)) for name in ("root", "unused")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"root": {"helper", "leaf", "A", "B"}, "unused": {"D"}}


def test_a_thread_that_records_waits_for_the_recording_of_no_other(program):
    """Else two wait for each other, each with the lock of its own."""
    go = threading.Event()

    def other():
        go.wait()
        with Recording(program.unused):
            cast(Any, program.unused(1))  # a library's

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    with Recording(program.root) as recording, recording.lock:
        go.set()
        thread.join(30)
        assert not thread.is_alive()


def test_who_adds_to_one_recording_waits_for_no_other(program):
    """Also in a thread that works for the other."""
    inside, go, done = (threading.Event() for _ in range(3))

    def add(_):
        inside.set()
        go.wait()
        cast(Any, program.unused(1))
        done.set()

    def other():
        with Recording(program.unused) as recording:
            recorder._listener.add(recording, add)

    with Recording(program.root) as recording:
        thread = threading.Thread(target=other, daemon=True)
        thread.start()
        inside.wait()
        with recording.lock:
            go.set()
            assert done.wait(30)
        thread.join()


# ---- work for other threads ----

POOLS = """
import functools, queue, threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

RATE, LOADED = 2, 0
BASE = 1
def deep(x): return x * RATE
def work(x): return deep(x)

class Model:
    width = 3
    def __call__(self, x): return x * self.width
MODELS = [Model()]

class Worker(threading.Thread):
    def __init__(self, x):
        super().__init__()
        self.x = x
    def run(self): self.x = deep(self.x)

EARLY = ThreadPoolExecutor(1)
EARLY.submit(int).result()
TASKS, DONE = queue.Queue(), queue.Queue()
def serve():
    while (task := TASKS.get()) is not None:
        DONE.put(task[0](task[1]))
SERVER = threading.Thread(target=serve, daemon=True)
SERVER.start()

def submits(x):
    with ThreadPoolExecutor(2) as pool: return pool.submit(work, x).result()
def submits_early(x): return EARLY.submit(work, x).result()
def maps(x):
    with ThreadPoolExecutor(2) as pool: return sum(pool.map(work, [x]))
def submits_lambda(x): return EARLY.submit(lambda y: deep(y), x).result()
def submits_closure(x):
    k = 3
    def inner(y): return y * k * RATE
    return EARLY.submit(inner, x).result()
def submits_by_name(x): return EARLY.submit(globals()["wo" + "rk"], x).result()
def submits_object(x): return EARLY.submit(MODELS[0], x).result()
def starts(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(work(x)))
    thread.start(); thread.join()
    return found[0]
def starts_two(x):
    found = []
    for name in ("in" + "t", "wo" + "rk"):
        task = functools.partial(globals().get(name, int), x)
        thread = threading.Thread(target=task)
        thread.start(); thread.join()
    return x
def starts_worker(x):
    worker = Worker(x)
    worker.start(); worker.join()
    return worker.x
def queues(x):
    TASKS.put((work, x))
    return DONE.get()
def pools(x):
    with ThreadPool(1) as pool: return pool.apply(work, (x,)) + sum(pool.map(work, [x]))
"""


@pytest.fixture
def pools(user):
    module = user("pools", POOLS)
    yield module
    module.EARLY.shutdown()
    module.TASKS.put(None)
    module.SERVER.join()


@pytest.mark.parametrize(
    "root",
    [
        "submits",
        "submits_early",
        "maps",
        "submits_lambda",
        "submits_closure",
        "submits_by_name",
        "starts",
        "starts_two",
        "starts_worker",
        "queues",
        "pools",
    ],
)
def test_what_other_threads_run_for_a_trace_is_recorded(pools, root):
    assert "RATE" in names(run(getattr(pools, root), 2))


def test_an_object_that_is_called_in_a_pool_is_recorded(pools):
    assert "class attribute Model.width" in names(run(pools.submits_object, 2))


def test_a_generator_that_began_before_is_recorded(user):
    module = user(
        "module",
        """
        A, B, C = 1, 2, 3
        def generator(x):
            try:
                yield x
                yield x * A
                yield x
            except KeyError:
                yield x * B
            finally:
                x * C
        """,
    )

    def primed():
        made = module.generator(2)
        next(made)
        return made

    resumed, thrown, closed = primed(), primed(), primed()
    assert "A" in names(run(lambda: next(resumed)))
    assert "B" in names(run(lambda: thrown.throw(KeyError)))
    assert "C" in names(run(lambda: closed.close()))


def test_what_a_thread_runs_for_itself_is_left_out(user):
    """It may run what the trace has called too, and what hangs from the same class."""
    module = user(
        "module",
        """
        import threading
        A, B, C, LOADED = 1, 2, 3, 0
        go, stop = threading.Event(), threading.Event()
        def rare(x): return x * C
        def helper(x): return x + A if x > 0 else rare(x)
        class Trainer:
            seen = 0
            def load(self):
                global LOADED
                while not stop.is_set():
                    LOADED += 1
                    Trainer.seen += 1
                    helper(-LOADED)
                    self.refine(LOADED)
                    go.set()
            def refine(self, x): return x * B
            def step(self, x): return helper(x) + 1
        trainer = Trainer()
        thread = threading.Thread(target=trainer.load)
        """,
    )

    def root(trainer):
        module.go.wait()
        for _ in range(20):
            module.go.clear()
            trainer.step(2)
            module.go.wait()

    module.thread.start()
    try:
        watch = run(root, module.trainer)
    finally:
        module.stop.set()
        module.thread.join()
    assert "A" in names(watch)
    assert not {"B", "C", "LOADED", "class attribute Trainer.seen"} & names(watch)
    assert watch.guard()


# ---- beside other tools ----


@contextlib.contextmanager
def every_tool_id_taken():
    taken = [i for i in range(6) if sys.monitoring.get_tool(i) is None]
    for tool in taken:
        sys.monitoring.use_tool_id(tool, "another")
    try:
        yield
    finally:
        for tool in taken:
            sys.monitoring.free_tool_id(tool)


def by_names(fun, *args):
    with Recording(fun) as recording:
        fun(*args)
    assert recording.by_names
    return Watch(recording.findings.reads)


def inside_trace_function(check):
    """Run a check where a debugger's command runs: nothing is told there."""
    errors = []

    def trace(*_):
        sys.settrace(None)
        try:
            check()
        except BaseException as error:
            errors.append(error)

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        (lambda: 0)()
    finally:
        sys.settrace(before)
    if errors:
        raise errors[0]


def test_in_a_debugger_the_record_is_what_names_lead_to(program):
    def check():
        watch = by_names(program.branch, 2)
        assert names(watch) == {"helper", "leaf", "unused", "A", "B", "D"}
        assert names(by_names(program.nested, 2)) == {"leaf", "A"}
        assert names(by_names(program.calls_decorated, 2)) == {
            "decorated",
            "A",
            "C",
        } | {"closure variable f of decorated"}

    inside_trace_function(check)


def test_names_lead_to_methods(user):
    module = user(
        "module",
        """
        K = 2
        class Model:
            width = 3
            def call(self, x): return self.more(x) * self.width
            def more(self, x): return x * K
        model = Model()
        def root(x): return model.call(x)
        """,
    )

    def check():
        watch = by_names(module.root, 2)
        assert {"model", "K", "class attribute Model.more"} <= names(watch)
        module.Model.width = 4
        assert not watch.guard()

    inside_trace_function(check)


def test_a_debugger_that_only_looks_on_is_no_obstacle(program):
    calls = []

    def trace(frame, event, arg):
        calls.append(event)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        ran = recorded(program.root, 2)
    finally:
        sys.settrace(before)
    assert calls
    assert {"root", "helper", "leaf"} <= ran


@pytest.mark.skipif(not MONITORING, reason="sys.monitoring comes with 3.12")
def test_without_a_free_tool_id_the_record_is_what_names_lead_to(program, monkeypatch):
    fresh = type(recorder._listener)()
    monkeypatch.setattr(recorder, "_listener", fresh)
    with every_tool_id_taken():
        assert names(by_names(program.root, 2)) == {"helper", "leaf", "A", "B"}


@pytest.mark.skipif(not MONITORING, reason="sys.monitoring comes with 3.12")
def test_another_tool_keeps_its_events(program):
    tool, seen = sys.monitoring.COVERAGE_ID, []
    if sys.monitoring.get_tool(tool) is not None:
        pytest.skip("coverage is measured by sys.monitoring")
    event = sys.monitoring.events.PY_START
    sys.monitoring.use_tool_id(tool, "another")
    try:
        sys.monitoring.register_callback(tool, event, lambda code, _: seen.append(code))
        sys.monitoring.set_events(tool, event)
        assert recorded(program.root, 2) == {"root", "helper", "leaf"}
        program.unused(2)
    finally:
        sys.monitoring.set_events(tool, 0)
        sys.monitoring.free_tool_id(tool)
    assert {"root", "helper", "leaf", "unused"} <= {code.co_name for code in seen}


def test_an_existing_profiler_is_told_too(program):
    seen = []

    def profiler(frame, event, arg):
        seen.append((event, frame.f_code.co_name))

    before = sys.getprofile()
    sys.setprofile(profiler)
    try:
        ran = recorded(program.root, 2)
        kept = sys.getprofile()
    finally:
        sys.setprofile(before)
    assert kept is profiler
    assert {"root", "helper", "leaf"} <= ran
    assert {("call", "root"), ("call", "leaf"), ("return", "leaf")} <= set(seen)


def test_beside_a_profiler_that_is_written_in_c(program):
    profiler = cProfile.Profile()
    with profiler, Recording(program.root) as recording:
        program.root(2)
    assert names(Watch(recording.findings.reads)) == {"helper", "leaf", "A", "B"}
    assert not recording.by_names
    assert {entry.code for entry in profiler.getstats()} >= {program.leaf.__code__}


def test_an_error_of_the_recorder_does_not_reach_the_function(program, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(recorder.Record, "start", fail)
    ran = []
    with pytest.raises(ZeroDivisionError), Recording(program.root):
        ran.append(program.root(2))
    assert ran == [2 * 1 + 2]


def test_a_wrapped_root_is_unwrapped(program):
    class Callable:
        def __call__(self, x):
            return program.leaf(x)

    roots = (
        functools.partial(program.leaf, 2),
        functools.partial(Callable(), 2),
        functools.partial(Callable().__call__, 2),
        functools.partial(functools.lru_cache(program.leaf), 2),
    )
    for root in roots:
        assert "A" in names(run(root))


def test_what_a_library_does_when_the_interpreter_goes_down_meets_no_recorder():
    program = """
        import builtins, logging
        import imprint
        kept = imprint.jit(lambda x: (logging.StreamHandler(), x)[1])
        kept(1.0)
        builtins.kept = logging.StreamHandler()  # these go last
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stderr == ""
