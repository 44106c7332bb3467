"""Programs without the engine: the bits of their results, and what is refused."""

import os
import subprocess
import sys
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src import native, runtime
from imprint._src.array import buffer_of, from_host
from tests.laws.law import every_primitive
from tests.quick import as_for_users, options_of
from tests.strategies import Share, calls, pinned_operands


@pytest.fixture
def direct(monkeypatch):
    """Return the module that loads programs, in a process in which it is off."""
    runtime.engine_version()  # which is read once
    monkeypatch.setattr(native, "direct", None)
    extension, status = native._load("direct")
    if extension is None:
        pytest.skip(status)
    monkeypatch.setattr(native, "direct", extension)
    module = import_module("imprint._src.jit.versions.direct")
    if runtime.library_identity() not in module.PASSED:
        pytest.skip("this build of jaxlib was not tried")
    return module


def compiled(function, *args, **options):
    """Return the version that answers a call."""
    made = imprint.jit(function, **options)
    made(*args)
    return made.versions[-1]


def floats(*shape, dtype=np.float32):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


# ---- equal bits ----


def softmax(x):
    y = inp.exp(x - x.max())
    return y / y.sum()


X, WIDE = floats(37), floats(6, 9)
TINY = np.array([1e-40, -1e-39, 0, 3e-38, np.nan, np.inf], np.float32)
PROGRAMS = {
    "one kernel": (lambda x: inp.sin(x) + x, X),
    "several kernels": (softmax, X),
    "several results": (lambda x, y: (x + y, [x.sum(), {"y": y.max()}]), X, X[::-1]),
    "subnormal numbers": (lambda x: (x * 0.5, x + 1e-40, x > 0), TINY),
    "rank 0": (lambda x: inp.tanh(x) * 2, X[0]),
    "rank 2": (lambda x: (x - x.mean(0)) / x.std(axis=1, keepdims=True), WIDE),
    "transposed": (lambda x, y: x.T + y, WIDE, WIDE.T),
    "integers": (
        lambda x: (x // 3, x.sum(), x.argmax()),
        np.arange(20, dtype=np.int32),
    ),
    "booleans": (lambda x: (x.any(), ~x), X > 0),
    "complex": (lambda x: x * (1 + 2j), X.astype(np.complex64)),
    "half": (lambda x: x * x + 1, inp.asarray(X).astype(inp.bfloat16)),
    "copies": (lambda x: (x, x.at[3].add(1)), X),
    "an unused argument": (lambda x, y: y * 2, X, WIDE),
    "results of the engine": (lambda x: x + 1, imprint.jit(lambda x: x * 2)(X)),
    "a product": (lambda x: x @ x.T, WIDE),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bits_are_those_of_the_engine(name, direct):
    function, *args = PROGRAMS[name]
    args = [inp.asarray(x) for x in args]
    version = compiled(function, *args)
    program = direct.program_of(version)
    if program is None:  # some releases call a library
        assert name == "a product"
        return
    expected = imprint.tree_util.tree_leaves(imprint.jit(function)(*args))
    for _ in range(3):
        assert_equal_bits(program(*args), expected)


def assert_equal_bits(found, expected):
    assert [x.dtype for x in found] == [x.dtype for x in expected]
    assert [x.shape for x in found] == [x.shape for x in expected]
    pairs = zip(found, expected, strict=True)
    assert all(x.tobytes() == np.asarray(y).tobytes() for x, y in pairs)
    assert not any(x.flags.writeable for x in found)
    assert all(x.ctypes.data % 64 == 0 for x in found)


@pytest.mark.exhaustive
@every_primitive
def test_each_primitive_has_the_bits_of_the_engine(primitive, direct):
    for call in calls(primitive, Share.QUICK):
        avals, options = call.avals, options_of(primitive)
        made = imprint.jit(call.bind, compiler_options=options)
        for (values,) in pinned_operands([call])[:3]:
            args = [
                from_host(a, np.array(x)) for a, x in zip(avals, values, strict=True)
            ]
            expected = made(*args)
            program = direct.program_of(made.versions[-1])
            if program is not None:
                assert_equal_bits(program(*args), expected)


def test_functions_of_libm_are_the_versions_that_the_engine_calls(direct):
    with imprint.enable_x64(True):
        x = inp.asarray([2.0, -2.0, 0.5, np.nan])  # two versions of `log` differ in NaN
        version = compiled(lax.erf_inv, x)
        assert_equal_bits(direct.load(version)(x), [imprint.jit(lax.erf_inv)(x)])


def test_it_reads_arrays_as_they_are(direct):
    program = direct.load(compiled(lambda x: x + 1, inp.zeros((2, 3))))
    wide = inp.asarray(WIDE)
    strided = wide[::4, :3]
    for x in (strided, wide[:2, 6:], inp.asarray(np.ones((3, 2), np.float32)).T):
        (found,) = program(x)
        assert (found == np.asarray(x) + 1).all()
    assert (np.asarray(wide) == WIDE).all()


def test_the_engine_answers_what_is_no_plain_array(direct):
    program = direct.load(compiled(lambda x: x + 1, inp.zeros(3)))
    assert program(np.zeros(3, np.float32)) is None
    assert program(1.0) is None
    assert program() is None
    gone = inp.zeros(3)
    gone.delete()
    assert program(gone) is None
    made = imprint.jit(lambda x: x * 2)(inp.ones(3))
    buffer_of(made)  # the engine has it, too
    alias = made.__imprint_alias__()
    assert program(alias)[0].tolist() == [3, 3, 3]
    runtime.delete(made._buffer)
    assert program(alias) is None


# ---- what is refused ----


def refusal(direct, version):
    with pytest.raises(direct.NotDirectError) as caught:
        direct.load(version)
    assert direct.program_of(version) is None
    return str(caught.value)


W = inp.asarray(X)
REFUSED = {
    "donates": (lambda x: x + 1, X),
    "or calls Python": (lambda x: x + W, X),
    "step of kind custom-call": (inp.linalg.cholesky, np.eye(3, dtype="f")),
    "it has a loop": (lambda x: lax.fori_loop(0, 9, lambda _, y: y * 0.5 + 1, x), X),
    "bytes and 1 steps": (lambda x: x + 1, floats(20_000)),
    "other memory than in NumPy": (lambda x: x + x, inp.ones(4, inp.int4)),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_it_refuses_what_needs_the_engine(reason, direct):
    function, x = REFUSED[reason]
    options = {"donate_argnums": 0} if reason == "donates" else {}
    assert reason in refusal(direct, compiled(function, inp.asarray(x), **options))


def test_it_refuses_a_build_that_was_not_tried(direct, monkeypatch):
    version = compiled(lambda x: x + 1, X)
    monkeypatch.setattr(direct, "PASSED", {"1 bytes, ab": "0.9"})
    assert refusal(direct, version) == "this build of jaxlib was not tried"


def test_it_refuses_bytes_of_another_format(direct):
    version = compiled(lambda x: inp.sin(x) + x, X[:5])
    data = version.executable.serialize()
    for size in (*range(0, len(data) - 1, 37), len(data) // 2):
        version.executable.serialized = data[:size] or b"\0"
        try:
            direct.load(version)
        except direct.NotDirectError:
            continue
        # The last message has the options of the compilation, which it does not read.
        assert size > data.index(b"\x7fELF") + 500
    damaged = {
        "another machine": data.replace(b"\x7fELF\2", b"\x7fELF\1"),
        "calls sinx": data.replace(b"sinf\0", b"sinx\0"),
        "another format": data.replace(b"pjrt_ifrt", b"pjrt_iffy"),
    }
    for reason, changed in damaged.items():
        assert changed != data
        version.executable.serialized = changed
        assert reason in refusal(direct, version)


def test_changed_bytes_of_the_plan_end_in_a_refusal_or_a_program(direct):
    version = compiled(lambda x: inp.sin(x) + x, X[:5])
    data = version.executable.serialize()
    start = data.index(b"kernel")
    for at in range(start, data.index(b"\x7fELF"), 3):
        changed = bytearray(data)
        changed[at] ^= 0x15
        version.executable.serialized = bytes(changed)
        direct.program_of(version)  # raises nothing, whatever the byte meant


def test_it_refuses_memory_that_cannot_be_executed(direct, monkeypatch):
    version = compiled(lambda x: x + 1, X)
    hardened = SimpleNamespace(mprotect=lambda *_: -1)
    monkeypatch.setattr(direct.ctypes, "CDLL", lambda _: hardened)
    assert "this system forbids" in refusal(direct, version)


# ---- a process in which it is on ----


def run(code, **environ):
    """Run a program, compiled as for users."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**as_for_users(), "IMPRINT_DIRECT": "1", **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.skipif("IMPRINT_DIRECT" in os.environ, reason="it is on")
def test_it_is_off_by_default():
    assert native.direct is None
    assert compiled(lambda x: x + 1, X).runs_on == "engine"
    assert "IMPRINT_DIRECT=1" not in runtime.engine_version()


SHARED = """
import os, sys, threading, gc
import numpy as np
import imprint, imprint.numpy as inp
from imprint._src import runtime

@imprint.jit
def step(x, y):
    z = inp.exp(x - x.max()) * y
    return z / z.sum(), z[:3]

x = inp.asarray(np.arange(700, dtype=np.float32) / 100)
first = step(x, x)
bits = [np.asarray(a).tobytes() for a in first]

def same(outs):
    return [np.asarray(a).tobytes() for a in outs] == bits
"""


def test_calls_from_threads_and_signals_and_in_a_fork(direct, tmp_path):
    code = (
        SHARED
        + """
import signal
assert step.versions[0].runs_on == "direct"
assert "IMPRINT_DIRECT=1" in runtime.engine_version()
seen = []
def work():
    seen.append(all(same(step(x, x)) for _ in range(300)))
threads = [threading.Thread(target=work) for _ in range(6)]
signal.signal(signal.SIGALRM, lambda *_: seen.append(same(step(x, x))))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
assert all(seen) and len(seen) >= 6
child = os.fork()
if not child:
    os._exit(0 if same(step(x, x)) else 1)
assert os.waitpid(child, 0)[1] == 0

blocks = []
for _ in range(4):
    for _ in range(2000):
        step(x, x)
    gc.collect()
    blocks.append(sys.getallocatedblocks())
assert blocks[-1] - blocks[1] < 100, blocks
assert step.versions[0].hits > 8000

gone = inp.asarray(np.ones(700, np.float32))
gone.delete()
try:
    step(gone, x)
except imprint.errors.DeletedArrayError:
    print("deleted")
print(step(np.asarray(x), x)[0].dtype, step(x, y=x)[1].shape)
"""
    )
    store = {"IMPRINT_CACHE": "write", "IMPRINT_CACHE_DIR": str(tmp_path)}
    code += "print(step.versions[0].origin, step.versions[0].runs_on)"
    out = "deleted\nfloat32 (3,)\n"
    assert run(code, **store) == out + "compiled direct\n"
    assert run(code, **store) == out + "disk direct\n"


def test_it_needs_the_native_core():
    code = "import imprint; f = imprint.jit(lambda x: x + 1); f(1.0);"
    code += "print(f.versions[0].runs_on, imprint._src.native.direct_status)"
    assert run(code, IMPRINT_NATIVE="0") == "engine core: off: IMPRINT_NATIVE=0\n"
