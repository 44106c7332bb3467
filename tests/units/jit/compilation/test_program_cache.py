"""Programs on the disk: every compile looks them up, and nothing else does."""

import operator
from collections import Counter
from functools import partial
from types import SimpleNamespace

import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint._src import runtime
from imprint._src.jit.compilation import program_cache
from imprint._src.jit.disk_cache.current import current
from imprint._src.jit.disk_cache.eviction import entries
from imprint._src.runtime.processes import ClusterConfig, Processes
from imprint.debug import counters
from tests.units.jit.compilation import persistable

pytestmark = pytest.mark.usefixtures("imprint_store")


def files():
    """Return the files of programs, by key."""
    store = current()
    return {
        found.key: found.path
        for found in entries(store.folder)
        if "kind" not in store.look(found.path, whole=False).note
    }


def counted(run):
    """Return the numbers of compiles and loads, and the bytes of the result."""
    before = counters()
    result = [numpy.asarray(x).tobytes() for x in imprint.tree.leaves(run())]
    after = counters()
    return after.compiles - before.compiles, after.loads - before.loads, result


@pytest.mark.parametrize("run", persistable.WAYS, ids=lambda run: run.__name__)
def test_all_that_compiles_is_loaded_by_the_next(run):
    compiles, loads, made = counted(run)
    assert compiles > 0
    assert loads == 0
    assert len(files()) == compiles
    imprint.clear_caches()
    assert counted(run) == (0, compiles, made)


@pytest.mark.parametrize("run", persistable.CALLING, ids=lambda run: run.__name__)
def test_a_program_that_calls_python_is_not_stored_and_reports_it(run, capfd):
    function, x = run()
    function(x)
    (version,) = function.versions
    assert not files()
    assert version.origin == "compiled"
    assert version.stored == (
        "not stored: E-EFFECT: it calls functions of this process (a callback, "
        "debug.print or a check); leave them out of what shall start warm"
    )


def test_a_version_reports_its_outcome():
    f = imprint.jit(lambda x: x * 5)
    f(1.0)
    assert (f.versions[0].origin, f.versions[0].stored) == ("compiled", "stored")
    imprint.clear_caches()
    f(1.0)
    (version,) = f.versions
    assert (version.origin, version.stored) == ("disk", "stored: loaded from the disk")
    g = imprint.jit(lambda x: x * 5.0)  # of equal text, while the other is in use
    g(np.ones(()) * 1.0)


def test_a_function_may_stay_off_the_disk():
    for jit, factor in ((imprint.jit, 6.28125), (imprint.filter_jit, 7.28125)):
        f = jit(partial(operator.mul, factor), persist=False)
        f(1.0)
        assert f.versions[0].stored == "not stored: its jit has persist=False"
        f.lower(1.0).compile()
        assert not files()
    with pytest.raises(imprint.errors.ArgumentError, match="expected persist True or"):
        imprint.jit(lambda x: x, persist=1)


def test_a_version_reports_a_disabled_or_read_only_store():
    folder = current().folder
    f = imprint.jit(lambda x: x * 7)
    imprint.cache.configure(mode="off")
    f(1.0)
    assert f.versions[0].stored == "not stored: the store is off"
    imprint.clear_caches()
    imprint.cache.configure(mode="read")
    f(1.0)
    assert f.versions[0].stored == "not stored: the store is only read"
    assert not [*folder.rglob("*")]


# ---- the key ----


def double_it(x):
    return x * 2


# The same program from another line.
SAME = "\n\n\n\ndef double_it(x):\n    return x * 2\n"


def test_the_line_of_a_function_is_ignored():
    imprint.jit(double_it)(1.0)
    imprint.clear_caches()
    space = {}
    exec(compile(SAME, "elsewhere.py", "exec"), space)
    assert counted(lambda: imprint.jit(space["double_it"])(1.0))[:2] == (0, 1)


def test_an_option_is_part_of_the_key():
    imprint.jit(double_it)(1.0)
    options = {"xla_cpu_enable_fast_math": True}
    imprint.clear_caches()
    fast = imprint.jit(double_it, compiler_options=options)
    assert counted(lambda: fast(1.0))[:2] == (1, 0)


@pytest.mark.parametrize(
    "at",
    range(len(runtime.identity("", runtime.CompileOptions(), runtime.devices()[0]))),
)
def test_each_part_of_the_engine_and_the_machine_is_part_of_the_key(at, monkeypatch):
    real = runtime.identity

    def other(*program):
        parts = [*real(*program)]
        parts[at] += " "
        return tuple(parts)

    imprint.jit(double_it)(1.0)
    imprint.clear_caches()
    monkeypatch.setattr(program_cache.runtime, "identity", other)
    assert counted(lambda: imprint.jit(double_it)(1.0))[:2] == (1, 0)


def test_two_engines_share_a_store(monkeypatch):
    real = runtime.identity
    for engine in ("one", "two", "one", "two"):
        monkeypatch.setattr(
            program_cache.runtime, "identity", lambda *p, e=engine: (*real(*p), e)
        )
        imprint.jit(double_it)(1.0)
        imprint.clear_caches()
    assert len(files()) == 2


# ---- many hosts ----


def of_host(device, process, *, local_id=0, count=1000, kind="cpu"):
    """Return a device with the attributes of a key, in one of many processes."""
    client = SimpleNamespace(
        device_count=lambda: count, platform_version=device.client.platform_version
    )
    return SimpleNamespace(
        id=2048 * process + local_id,
        process_index=process,
        local_id=local_id,
        platform=device.platform,
        device_kind=kind,
        client=client,
    )


@pytest.fixture
def asked(monkeypatch):
    """Return the program, the options, the device and the executable of a jitted call."""
    given = []
    real = program_cache.find_or_compile

    def noted(module, options, device, make, *, persist):
        found = real(module, options, device, make, persist=persist)
        given.append((module, options, device, found.executable))
        return found

    monkeypatch.setattr(program_cache, "find_or_compile", noted)
    imprint.jit(double_it)(1.0)
    monkeypatch.undo()
    return given[0]


def test_the_key_of_a_host_s_own_program_is_that_of_all_hosts(asked):
    module, options, device, _ = asked

    def key(*args, **given):
        host = of_host(device, *args, **given)
        return program_cache.program_key(module, options, host)

    assert len({key(process) for process in range(1000)}) == 1
    others = key(1), key(1, local_id=1), key(1, count=2000), key(1, kind="other")
    assert len({*others}) == 4


def test_of_a_thousand_hosts_one_compiles_and_the_others_load(asked, monkeypatch):
    module, options, device, executable = asked
    monkeypatch.setattr(runtime, "deserialize", lambda *_: executable)

    def start():
        origins = []
        for process in range(1000):
            found = program_cache.find_or_compile(
                *(module, options, of_host(device, process)),
                lambda: executable,
                persist=True,
            )
            origins.append(found.origin)
        return origins

    assert start() == ["compiled"] + ["disk"] * 999
    assert start() == ["disk"] * 1000  # no compile after a restart


def test_messages_of_a_thousand_hosts_about_a_program_over_all():
    """Each sets two values and reads two thousand, of 16 bytes at most."""
    calls = {"set": 0, "get": 0, "wait": 0, "delete": 0}
    held, waited, longest = {}, [], 0

    def put(key, value, **_):
        nonlocal longest
        calls["set"] += 1
        held[key] = value
        longest = max(longest, len(value))

    def get(key, _):
        calls["get"] += 1
        place = key.split("/")
        return b"x" * 16 if len(place) == 5 else b"1"

    def counted_as(name):
        def count(*given):
            calls[name] += 1
            waited.append(given[-1])

        return count

    one = object.__new__(Processes)
    one.config = ClusterConfig("host:1", 1000, 7, "host:1", 30, 100, 30)
    one.client = SimpleNamespace(
        key_value_set_bytes=put,
        blocking_key_value_get_bytes=get,
        wait_at_barrier=counted_as("wait"),
        key_value_delete=counted_as("delete"),
    )
    one._counted = Counter()
    assert one.exchange("a program", b"y" * 16, 30) == [b"x" * 16] * 1000
    assert calls == {"set": 2, "get": 2000, "wait": 1, "delete": 2}
    assert longest == 16
    # The other hosts get no message about a program over three of them.
    calls |= dict.fromkeys(calls, 0)
    assert len(one.exchange("a program", b"y" * 16, 30, [3, 7, 900])) == 3
    assert calls == {"set": 2, "get": 6, "wait": 1, "delete": 2}
    assert [3, 7, 900] in waited
    # Work of another thread at the same time is counted separately.
    held.clear()
    one.exchange("device_put", b"y", 30)
    one.exchange("a program", b"y", 30)
    places = {key.split("/")[2] for key in held}
    assert sorted(place.rpartition(".")[2] for place in places) == ["1", "2"]


# ---- damage ----


def test_bytes_that_the_engine_refuses_are_compiled_again():
    f = imprint.jit(double_it)
    f(1.0)
    ((key, path),) = files().items()
    current().put(key, {}, b"no program")
    imprint.clear_caches()
    assert counted(lambda: f(1.0))[:2] == (1, 0)
    assert path.stat().st_size > 1000  # and stored again


def test_a_loaded_program_has_all_attributes():
    def f(x):
        return np.linalg.cholesky(x @ x.T) * 2

    jitted = imprint.jit(f)
    x = np.eye(3)
    jitted(x)
    (made,) = jitted.versions
    asked = made.hlo, made.cost, made.memory
    imprint.clear_caches()
    del made
    jitted(x)
    (loaded,) = jitted.versions
    assert loaded.origin == "disk"
    assert (loaded.hlo, loaded.cost, loaded.memory) == asked
