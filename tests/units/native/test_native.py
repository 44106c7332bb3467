"""The native core: when it is loaded, and that calls in C keep no object alive."""

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import debug, stages
from imprint._src import native
from imprint._src.jit.dispatch import Jitted
from imprint.errors import ArgumentError, DeletedArrayError

ROOT = Path(__file__).parents[3]
SECTIONS = (
    "guards",
    "units/jit/test_dispatch.py",
    "units/eager",
    "units/native",
    "spec/test_donation.py",
    "spec/test_stages.py",
)
needs_core = pytest.mark.skipif(native.core is None, reason=native.status)


def run(*args, **environ):
    return subprocess.run(
        [sys.executable, *args],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_environment_says_whether_it_is_loaded():
    shown = debug.environment()
    assert shown["imprint"] == imprint.__version__
    assert shown["native core"] == native.status
    assert (native.status == "loaded") is (native.core is not None)


def test_it_can_be_turned_off():
    code = (
        "import imprint; f = imprint.jit(lambda x: x + 1); f(1.0); f(1.0);"
        "print(f(1.0), imprint.debug.environment()['native core'])"
    )
    done = run("-c", code, IMPRINT_NATIVE="0")
    assert (done.stdout, done.stderr) == ("2.0 off: IMPRINT_NATIVE=0\n", "")


def test_an_installation_without_it_runs_in_python():
    code = (
        "import sys; sys.modules['imprint._src.native._core'] = None;"
        "import imprint; f = imprint.jit(lambda x: x + 1); f(1.0); f(1.0);"
        "print(f(1.0), imprint.debug.environment()['native core'][:11])"
    )
    done = run("-c", code, IMPRINT_NATIVE="1")
    assert (done.stdout, done.stderr) == ("2.0 not loaded:\n", "")


def test_a_build_without_a_compiler_gives_a_pure_wheel(tmp_path):
    """The hook prints why, and adds nothing to the wheel."""
    shutil.copy(ROOT / "hatch_build.py", tmp_path)
    code = (
        "import hatch_build as b; data = {'artifacts': []};"
        "b.NativeBuildHook.initialize(b.NativeBuildHook, 'standard', data); print(data)"
    )
    none = "/nonexistent"
    done = run("-c", code, CC=none, CXX=none, PYTHONPATH=str(tmp_path))
    assert done.stdout == "{'artifacts': []}\n"
    core, kernels, direct = done.stderr.splitlines()
    assert core.startswith("imprint: no native core, calls run in Python: ")
    assert kernels.startswith("imprint: no kernels, XLA computes everything: ")
    assert direct.startswith("imprint: small programs run on the engine: ")
    assert done.returncode == 0


@needs_core
def test_a_binary_of_another_source_is_refused(monkeypatch):
    assert native.core.source == native.source()
    monkeypatch.setattr(native, "source", lambda: "another")
    core, status = native._load()
    assert core is None
    assert status.startswith("not loaded: it was built from another source")


@pytest.mark.exhaustive
@needs_core
@pytest.mark.parametrize("section", SECTIONS)
def test_the_tests_pass_without_it(section):
    done = run("-m", "pytest", "-q", "-n", "0", f"tests/{section}", IMPRINT_NATIVE="0")
    assert done.returncode == 0, done.stdout[-4000:]


# ---- calls ----


computed = imprint.jit(lambda x: x + 0)


def array():
    return computed(np.arange(8, dtype=np.float32))


class Model:
    scale = 2.0

    @imprint.jit(static_argnames="self")
    def step(self, x):
        return x + 1


SCALE = 2.0
RATES, NAMED = [1.0, 2.0], {"rate": 3.0}
one = imprint.jit(lambda x: x * SCALE)
pair = imprint.jit(lambda x, y: (x + y, [x, {"y": y}]))
static = imprint.jit(lambda x, n: x * n, static_argnames="n")
sliced = imprint.jit(lambda x, at: x[at[1] : at[0]], static_argnums=1)
tree = imprint.jit(lambda batch: batch["a"][0] + batch["b"])
defaulted = imprint.jit(lambda x, k=2.0, *, m=None: x * k if m is None else x + m)
filtered = imprint.filter_jit(lambda model, x: model["f"](x) * model["w"])
donating = imprint.jit(lambda xs: [x + 1 for x in xs], donate_argnums=0)
stepping = imprint.jit(lambda p, x: {"w": p["w"] + x}, donate_argnums=0)
model = Model()
ahead_of_time = pair.lower(
    np.arange(8.0, dtype="f"), np.arange(8.0, dtype="f")
).compile()
guarded = imprint.jit(lambda x: x * model.scale * RATES[0] * NAMED["rate"] * len(RATES))
X, Y, HOST = array(), array(), np.arange(8, dtype=np.float32)
LARGE = np.ones(1 << 17, np.float32)
CAPTURED = array()
capturing = imprint.jit(lambda x, unused: x + CAPTURED)


def use_deleted():
    gone = array()
    gone.delete()
    return one(gone)


FORMS = {
    "array": lambda: one(X),
    "results in a tree": lambda: pair(X, Y),
    "keywords": lambda: pair(y=X, x=Y),
    "static number": lambda: static(X, 3),
    "static float": lambda: static(X, n=2.5),
    "keyword only": lambda: defaulted(X, m=Y),
    "tree": lambda: tree({"a": (X,), "b": Y}),
    "default": lambda: defaulted(X, Y),
    "method": lambda: model.step(X),
    "filtered": lambda: filtered({"f": inp.sin, "w": X}, Y),
    "donated": lambda: donating([array(), array()]),
    "donated twice": lambda: donating([X + 0] * 2),
    "donated with a host value": lambda: stepping({"w": X + 0}, HOST),
    "NumPy": lambda: one(HOST),
    "NumPy, strided": lambda: one(np.ones((4, 2), np.float32).T),
    "NumPy, wider": lambda: one(HOST.astype(np.float64)),
    "NumPy, large": lambda: one(LARGE),
    "NumPy scalar": lambda: pair(X, np.float32(2.5)),
    "number": lambda: pair(X, 2.5),
    "integer": lambda: pair(X, 3),
    "captured": lambda: capturing(X, Y),
    "host value in a tree": lambda: tree({"a": (X,), "b": 1.5}),
    "host value in a filtered tree": lambda: filtered({"f": inp.sin, "w": HOST}, X),
    "static tuple": lambda: sliced(X, (3, 2)),
    "number with a default": lambda: defaulted(X, 3.5),
    "ahead of time": lambda: ahead_of_time(X, Y),
    "ahead of time, keywords": lambda: ahead_of_time(y=X, x=HOST),
    "guarded": lambda: guarded(X),
    "operation": lambda: X + Y,
    "operation with a number": lambda: X * 2.5,
    "operation with parameters": lambda: X[3],
}
ERRORS = {
    "too many": (lambda: one(X, X), TypeError),
    "no array": (lambda: one("text"), ArgumentError),
    "too large": (lambda: one(1 << 40), OverflowError),
    "deleted": (use_deleted, DeletedArrayError),
    "no hash": (lambda: static(X, n=[{}]), ArgumentError),
}


@needs_core
@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"donated twice"}))
def test_a_warm_call_stays_in_it(form, monkeypatch):
    for _ in range(3):  # the match of a tree is made when it comes again
        first = FORMS[form]()
    monkeypatch.setattr(Jitted, "_warm", None)
    monkeypatch.setattr(stages.Compiled, "_checked", None)
    assert str(FORMS[form]()) == str(first)


# ---- references ----


def counted():
    watched = (X, Y, HOST, CAPTURED, X.aval, X._buffer, model, None, True, one)
    return [sys.getrefcount(x) for x in watched]


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def repeat(call, times):
    for _ in range(times):
        call()
    gc.collect()


@pytest.mark.parametrize("form", FORMS)
def test_calls_keep_no_references(form):
    repeat(FORMS[form], 8)
    before = counted()
    repeat(FORMS[form], 50)
    after = counted()
    # Refcounts of None and True also move with what the test does itself.
    assert max(b - a for a, b in zip(before, after, strict=True)) < 25


@pytest.mark.parametrize("error", ERRORS)
def test_calls_that_fail_keep_no_references(error):
    call, kind = ERRORS[error]

    def failing():
        with pytest.raises(kind):
            call()

    repeat(failing, 8)
    before = counted()
    repeat(failing, 50)
    assert max(b - a for a, b in zip(before, counted(), strict=True)) < 25


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("form", FORMS)
def test_memory_is_constant_over_many_calls(form):
    repeat(FORMS[form], 5_000)
    before = resident()
    repeat(FORMS[form], 1_000_000)
    assert resident() - before < 2 << 20


# ---- interruptions ----


def test_a_call_in_a_call_and_a_collection_in_the_middle():
    class Owner:
        def __del__(self):
            seen.append(one(X)[1].item())

    seen = []

    @imprint.jit(static_argnames="n")
    def outer(x, n):
        return one(x) * n

    def cycle():
        owner = Owner()
        owner.itself = owner

    for _ in range(5):
        cycle()
        thresholds = gc.get_threshold()
        gc.set_threshold(1)  # a collection at nearly each allocation
        try:
            for _ in range(20):
                assert outer(X, n=3)[1].item() == 6
                assert pair(X, 1.0)[0][1].item() == 2
        finally:
            gc.set_threshold(*thresholds)
    gc.collect()
    assert set(seen) == {2.0}
    assert len(seen) == 5


def test_a_guard_may_be_interrupted():
    one(X)
    version = next(v for v in one.versions if v.avals == (X.aval,))
    held = version.guard

    def interrupted():
        raise KeyboardInterrupt

    version.guard = interrupted
    try:
        with pytest.raises(KeyboardInterrupt):
            one(X)
    finally:
        version.guard = held
    assert one(X)[1].item() == 2


@pytest.mark.skipif(native.direct is not None, reason="the engine is not called")
def test_the_executable_is_read_in_each_call():
    one(X)
    executable = next(v.executable for v in one.versions if v.avals == (X.aval,))
    held = executable.execute

    def refuse(*_):  # as after a fork
        raise RuntimeError("no threads")

    executable.execute = refuse
    try:
        with pytest.raises(RuntimeError, match="no threads"):
            one(X)
    finally:
        executable.execute = held
    assert one(X)[1].item() == 2


def test_importing_an_extension_for_itself_turns_nothing_on():
    code = (
        "import imprint, pkgutil; from imprint._src import native;"
        "found = pkgutil.iter_modules(native.__path__, native.__name__ + '.');"
        "_ = [__import__(m.name) for m in found]; print(native.core, native.direct)"
    )
    done = run("-c", code, IMPRINT_NATIVE="0")
    assert (done.stdout, done.stderr) == ("None None\n", "")
