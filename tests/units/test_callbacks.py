"""Callbacks run as in JAX; their errors reach the caller unchanged."""

import bdb
import gc
import io
import subprocess
import sys
import threading
import weakref
from functools import partial

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import AbsentRuleError, ArgumentError, DTypeError, ShapeError
from imprint.experimental import io_callback

ONE = np.float32(1)
THREE = np.arange(3, dtype=np.float32)


class Ours:
    name = imprint
    np = inp
    io_callback = staticmethod(io_callback)


class Theirs:
    name = jax
    np = jnp
    io_callback = staticmethod(jax.experimental.io_callback)


BOTH = Theirs, Ours


def printed(capfd, program, *args):
    """Return the output of a program under JAX and here; compare its results."""
    texts, results = [], []
    for side in BOTH:
        sys.stdout.flush()
        capfd.readouterr()
        result = program(side)(*args)
        results.append(side.name.tree.map(np.asarray, result))
        side.name.effects_barrier()
        texts.append(capfd.readouterr().out)
    theirs, ours = results
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-6), theirs, ours)
    return texts


# ---- debug.print ----


def _function(side):
    def f(x):
        side.name.debug.print("x = {x}, {}", x * 2, x=x, ordered=True)
        side.name.debug.print("still {:.2f}", x.sum(), ordered=True)
        return side.np.sin(x).sum()

    return f


PROGRAMS = {
    "eager": lambda s: _function(s),
    "jit": lambda s: s.name.jit(_function(s)),
    "nested": lambda s: s.name.jit(lambda x: s.name.jit(_function(s))(x) + 1),
    "twice": lambda s: s.name.jit(lambda x: _function(s)(x) + _function(s)(x + 1)),
    "grad": lambda s: s.name.grad(_function(s)),
    "grad of jit": lambda s: s.name.grad(s.name.jit(_function(s))),
    "jit of grad": lambda s: s.name.jit(s.name.value_and_grad(_function(s))),
    "jvp": lambda s: lambda x: s.name.jvp(_function(s), (x,), (x,)),
    "linearize": lambda s: lambda x: s.name.linearize(_function(s), x)[0],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_prints_are_those_of_jax(name, capfd):
    theirs, ours = printed(capfd, PROGRAMS[name], THREE)
    assert ours == theirs != ""


@pytest.mark.parametrize("compiled", [False, True])
def test_under_vmap_each_element_is_printed(compiled, capfd):
    def program(side):
        def f(x, y):
            side.name.debug.print("{} and {}", x, y)
            return x * y

        mapped = side.name.vmap(f, in_axes=(0, None))
        return side.name.jit(mapped) if compiled else mapped

    theirs, ours = printed(capfd, program, THREE, ONE)
    assert ours == theirs
    assert ours.count("\n") == 3


def test_vmaps_of_gradients_print_each_element(capfd):
    def program(side):
        def f(x):
            side.name.debug.print("{}", x)
            return x * x

        return side.name.vmap(side.name.vmap(side.name.grad(f)))

    theirs, ours = printed(capfd, program, THREE.reshape(1, 3))
    assert ours == theirs == "0.0\n1.0\n2.0\n"


def test_a_hit_prints_again(capfd):
    f = imprint.jit(_function(Ours))
    f(THREE), f(THREE), f(inp.asarray(THREE))
    assert len(f.versions) == 1
    assert capfd.readouterr().out.count("still") == 3


@pytest.mark.parametrize(
    ("fmt", "args", "kwargs"),
    [
        ("no values", (), {}),
        ("{:>8.3f}|{!r}", (ONE, ONE), {}),
        ("{0} {1} {0}", (ONE, THREE), {}),
        ("{x[a]} {y}", (), {"x": {"a": ONE}, "y": "text"}),
        ("{} {}", (None, (ONE, "b")), {}),
        ("", (), {}),
    ],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_formats_are_those_of_jax(fmt, args, kwargs, compiled, capfd):
    def program(side):
        def f():
            side.name.debug.print(fmt, *args, **kwargs)

        return side.name.jit(f) if compiled else f

    theirs, ours = printed(capfd, program)
    assert ours == theirs


def test_a_value_without_a_location_is_reported():
    with pytest.raises(ArgumentError, match="got none for argument 1, y="):
        imprint.debug.print("{}", ONE, ONE, y=ONE)
    with pytest.raises(IndexError) as outside:
        imprint.debug.print("{} {}", ONE)
    assert str(outside.value) == (
        "debug.print: expected a value for each {} in the format, got 1 and a place for "
        "one more. Pass it, or write {{}} for the text itself."
    )
    with pytest.raises(KeyError) as missing:
        imprint.debug.print("{x}", y=ONE)
    assert missing.value.args == (
        "debug.print: expected a value for {x} in the format, got y=. Pass x=..., or "
        "write {{x}} for the text itself.",
    )


def test_options_may_come_first(capfd):
    def program(side):
        def f(x):
            side.name.debug.print(ordered=True)("{ordered}", ordered=x)
            side.name.debug.callback(ordered=True)(print, x)
            return x

        return f

    theirs, ours = printed(capfd, program, THREE)
    assert ours == theirs == "[0. 1. 2.]\n" * 2
    with pytest.raises(ArgumentError, match="expected what to call before"):
        imprint.debug.print(x=ONE)


# ---- debug.breakpoint ----


def stopped(commands, call):
    out = io.StringIO()
    call({"stdin": io.StringIO(commands), "stdout": out})
    return out.getvalue()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_breakpoint_shows_the_values_at_the_line(compiled):
    def call(options):
        def f(x, name="n"):
            y = {"a": x * 2}
            imprint.debug.breakpoint(**options)
            return y["a"]

        assert float((imprint.jit(f) if compiled else f)(ONE)) == 2

    text = stopped("p float(y['a']), name\nlist\np np.pi\nc\n", call)
    assert "test_callbacks.py" in text.splitlines()[0]
    assert "f()" in text.splitlines()[0]
    assert "(2.0, 'n')" in text
    assert "->" in text
    assert "imprint.debug.breakpoint(**options)" in text
    assert "3.14159" in text


def test_a_breakpoint_that_is_quit_ends_the_call():
    @imprint.jit
    def f(x):
        imprint.debug.breakpoint(stdin=io.StringIO("q\n"), stdout=io.StringIO())
        return x

    with pytest.raises(bdb.BdbQuit):
        f(ONE)


def test_breakpoints_stop_in_each_call_and_element():
    def call(options):
        def f(x):
            token = imprint.debug.breakpoint(token=x, **options)
            return token + 1

        g = imprint.jit(imprint.vmap(f))
        g(THREE), g(THREE)

    assert stopped("p float(x)\nc\n" * 6, call).count("(Pdb) 2.0") == 2


# ---- callbacks with results ----


@pytest.mark.parametrize(
    "method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all"]
)
@pytest.mark.parametrize("compiled", [False, True])
def test_pure_callbacks_are_mapped_as_by_jax(method, compiled):
    shapes = {}

    def program(side):
        seen = shapes.setdefault(side, [])

        def call(x, y):
            seen.append((np.shape(x), np.shape(y)))
            return np.asarray(x) * np.asarray(y)

        def f(x, y):
            struct = side.name.ShapeDtypeStruct((3,), "float32")
            return side.name.pure_callback(call, struct, x, y, vmap_method=method)

        mapped = side.name.vmap(f, in_axes=(1, None))
        return side.name.jit(mapped) if compiled else mapped

    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    theirs, ours = (np.asarray(program(side)(x, THREE)) for side in BOTH)
    np.testing.assert_array_equal(ours, theirs)
    assert shapes[Ours] == shapes[Theirs] or "sequential" not in method
    assert set(shapes[Ours]) == set(shapes[Theirs])


def test_a_mapped_axis_of_no_length_calls_nothing():
    def f(x):
        return imprint.pure_callback(lambda x: 1 / 0, x, x, vmap_method="sequential")

    assert imprint.vmap(f)(np.zeros((0, 2), np.float32)).shape == (0, 2)


def test_trees_go_in_and_come_out():
    def call(a, *, b):
        return {"sum": a["x"] + b, "pair": (a["x"], [b])}

    def f(x):
        shapes = {"sum": x, "pair": (x, [x])}
        return imprint.pure_callback(call, shapes, {"x": x}, b=x * 2)

    for g in (f, imprint.jit(f)):
        found = imprint.tree.map(float, g(ONE))
        assert found == {"sum": 3.0, "pair": (1.0, [2.0])}


def test_a_callback_gets_arrays_and_may_keep_them():
    kept = []

    @imprint.jit
    def f(x):
        imprint.debug.callback(kept.append, x)
        return x

    for i in range(3):
        f(np.full(1000, i, np.float32)).block_until_ready()
    assert [type(x) for x in kept] == [type(inp.ones(1))] * 3
    assert [float(x.sum()) for x in kept] == [0.0, 1000.0, 2000.0]


@pytest.mark.parametrize(
    "dtype", ["bool", "int4", "int8", "uint32", "bfloat16", "float16", "complex64"]
)
def test_dtypes_go_through(dtype):
    x = inp.asarray(np.arange(6).reshape(2, 3)).astype(dtype)
    f = imprint.jit(lambda x: imprint.pure_callback(lambda x: x, x.T, x.T))
    got = f(x)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(
        np.asarray(got, np.complex64), np.asarray(x.T, np.complex64)
    )


def test_numbers_of_python_are_results():
    f = imprint.jit(lambda x: imprint.pure_callback(lambda x: 2.5, x, x))
    assert float(f(ONE)) == 2.5


def test_an_unused_callback_is_dropped_if_pure_and_kept_if_effectful():
    calls = []

    def f(x):
        imprint.pure_callback(lambda x: calls.append("pure"), None, x)
        io_callback(lambda x: calls.append("io"), None, x)
        imprint.debug.callback(lambda x: calls.append("debug"), x)
        return x

    imprint.jit(f)(ONE)
    assert sorted(calls) == ["debug", "io"]


def test_equal_calls_with_effects_are_two():
    calls = []

    @imprint.jit
    def f(x):
        shape = imprint.ShapeDtypeStruct((), "int32")
        one, two = (
            io_callback(lambda x: len(calls.append(1) or calls), shape, x) for _ in "ab"
        )
        return one * 10 + two

    assert int(f(ONE)) in {12, 21}
    assert len(calls) == 2


def test_ordered_callbacks_of_all_kinds_keep_the_order_of_the_program():
    seen = []

    @imprint.jit
    def inner(x):
        io_callback(lambda x: seen.append(float(x)), None, x, ordered=True)
        return x + 1

    @imprint.jit
    def f(x):
        for _ in range(3):
            imprint.debug.callback(
                lambda x: seen.append(float(x)), x + 0.5, ordered=True
            )
            x = inner(x)
        return x

    for _ in range(3):
        f(np.float32(0))
    assert seen == [0.5, 0.0, 1.5, 1.0, 2.5, 2.0] * 3


def test_callbacks_get_the_original_donated_arguments():
    seen = []

    def f(x):
        imprint.debug.callback(lambda x: seen.append(np.asarray(x).tolist()), x)
        return x + 1

    step = imprint.jit(f, donate_argnums=0)
    x = inp.asarray(THREE)
    for _ in range(3):
        x = step(x)
    assert seen == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]


# ---- errors ----


class OddError(Exception):
    pass


def _raising(error):
    def callback(x):
        raise error

    return callback


@pytest.mark.parametrize(
    "error",
    [
        OddError("boo"),
        KeyboardInterrupt(),
        SystemExit(3),
        imprint.errors.BackendError("x"),
    ],
)
@pytest.mark.parametrize("after_work", [False, True])
def test_an_exception_reaches_the_caller_as_it_was(error, after_work):
    def f(x):
        y = x @ x @ x if after_work else x
        imprint.debug.callback(_raising(error), y)
        return y

    x = inp.ones((500, 500)) if after_work else ONE
    for call in (imprint.jit(f), f):
        with pytest.raises(type(error)) as caught:
            call(x)
        assert caught.value is error
        frames = [frame.name for frame in caught.traceback]
        assert frames[-1] == "callback"
        assert frames[0].startswith("test_an_exception")


def test_the_function_works_on_after_an_exception():
    fail = [True]

    def callback(x):
        if fail[0]:
            raise OddError

    @imprint.jit
    def f(x):
        imprint.debug.callback(callback, x)
        return x + 1

    with pytest.raises(OddError):
        f(ONE)
    fail[0] = False
    assert float(f(ONE)) == 2
    # Without observed execution, values that the callback reads are dependencies.
    assert len(f.versions) == (1 if sys.version_info >= (3, 12) else 2)


@pytest.mark.parametrize("kind", ["pure", "io"])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (np.ones(1000, np.float32), ShapeError, r"float32\[3\] as result 0"),
        (np.ones(2, np.float32), ShapeError, r"got float32\[2\]"),
        (np.ones(3, np.int32), DTypeError, r"got int32\[3\]"),
        ((THREE, THREE), ArgumentError, "to return 1 arrays"),
        (None, ArgumentError, "got 0"),
    ],
)
def test_a_wrong_result_is_an_error(kind, compiled, result, error, text):
    call = imprint.pure_callback if kind == "pure" else io_callback

    def f(x):
        return call(lambda x: result, imprint.ShapeDtypeStruct((3,), "float32"), x)

    with pytest.raises(error, match=text):
        (imprint.jit(f) if compiled else f)(ONE)


def test_a_callback_has_no_derivative_and_names_the_remedy():
    def pure(x):
        return imprint.pure_callback(np.sin, x, x)

    def io(x):
        return io_callback(np.sin, x, x)

    for f in (pure, io, imprint.jit(pure)):
        with pytest.raises(AbsentRuleError, match="custom_jvp"):
            imprint.grad(f)(ONE)
    assert (
        float(imprint.grad(lambda x: x * pure(imprint.lax.stop_gradient(x)))(ONE)) > 0
    )


def test_vmap_needs_a_method_and_no_order():
    def pure(x):
        return imprint.pure_callback(np.sin, x, x)

    with pytest.raises(NotImplementedError, match="expected a vmap_method"):
        imprint.vmap(pure)(THREE)
    with pytest.raises(ValueError, match="expected ordered=False"):
        imprint.vmap(lambda x: io_callback(print, None, x, ordered=True))(THREE)
    seen = []
    imprint.vmap(lambda x: io_callback(lambda x: seen.append(float(x)), None, x))(THREE)
    assert seen == [0, 1, 2]


def test_bad_arguments_raise():
    with pytest.raises(ArgumentError, match="expected vmap_method to be one of"):
        imprint.pure_callback(np.sin, ONE, ONE, vmap_method="parallel")
    with pytest.raises(ArgumentError, match="expected a function as callback"):
        imprint.pure_callback(3, ONE, ONE)
    with pytest.raises(ArgumentError, match="expected a function first"):
        imprint.debug.callback(3)
    with pytest.raises(ArgumentError, match="expected a shape and a dtype"):
        imprint.pure_callback(np.sin, 1.0, ONE)
    with pytest.raises(ArgumentError, match="expected a SingleDeviceSharding"):
        imprint.pure_callback(np.sin, ONE, ONE, sharding="cpu")
    with pytest.raises(DTypeError, match="expected dtypes of 32 bits"):
        imprint.pure_callback(np.sin, np.zeros(3), ONE)


# ---- the engine ----


def test_a_callback_may_call_compiled_functions():
    inner = imprint.jit(lambda x: inp.tanh(x @ x) @ x)

    @imprint.jit
    def f(x):
        y = inp.tanh(x @ x)
        return imprint.pure_callback(lambda y: inner(y) + inp.sin(y), y, y) + y

    x = inp.ones((300, 300)) / 300
    y = inp.tanh(x @ x)
    for _ in range(5):
        np.testing.assert_allclose(f(x), inner(y) + inp.sin(y) + y, rtol=1e-5)


def test_callbacks_of_many_threads_do_not_wait_for_each_other():
    inner = imprint.jit(lambda x: inp.tanh(x @ x))

    @imprint.jit
    def f(x):
        y = inp.tanh(x @ x)
        return imprint.pure_callback(lambda y: inner(y), y, y)

    x = inp.ones((200, 200)) / 200
    expected = np.asarray(inner(inner(x)))
    found = []

    def work():
        found.extend(np.asarray(f(x)) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 30
    for each in found:
        np.testing.assert_allclose(each, expected, rtol=1e-5)


def test_programs_of_one_text_have_their_own_callbacks():
    def made(k):
        return imprint.jit(
            lambda x: imprint.pure_callback(lambda x: x + np.float32(k), x, x)
        )

    functions = [made(k) for k in range(3)]
    assert [float(f(ONE)) for f in functions] == [1, 2, 3]
    assert [float(f(ONE)) for f in functions] == [1, 2, 3]


def test_a_program_keeps_its_callbacks_alive():
    class Logger:
        def __init__(self):
            self.seen = []

        def __call__(self, x):
            self.seen.append(float(x))

    logger = Logger()
    died = weakref.ref(logger)
    f = imprint.jit(lambda x, call=logger: imprint.debug.callback(call, x))
    compiled = f.lower(ONE).compile()
    seen = logger.seen
    del logger, f
    gc.collect()
    compiled(ONE), compiled(np.float32(2))
    assert seen == [1.0, 2.0]
    assert died() is not None


def test_debug_nans_works_with_callbacks():
    seen = []

    @imprint.jit
    def f(x):
        imprint.debug.callback(lambda x: seen.append(float(x)), x)
        return inp.log(imprint.pure_callback(lambda x: x, x, x))

    with imprint.debug_nans(True):
        f(ONE)
        with pytest.raises(FloatingPointError, match="`log`"):
            f(-ONE)
    assert seen == [1.0, -1.0]


def test_a_callback_has_the_flags_of_the_caller():
    seen = []

    def f(x):
        imprint.debug.callback(lambda x: seen.append(inp.asarray(1.0).dtype.name), x)

    with imprint.enable_x64(True):
        f(ONE), imprint.jit(f)(ONE)
    assert seen == ["float64", "float64"]


def test_a_callback_in_a_thread_of_the_engine_has_the_flags_of_the_caller():
    seen = set()

    def note(y):
        seen.add(threading.current_thread().name)
        assert inp.asarray(1.0).dtype.name == "float64"

    @imprint.jit
    def f(x):
        for _ in range(4):
            x = inp.sin(x @ x)
            imprint.debug.callback(note, x)
        return x

    with imprint.enable_x64(True):
        for _ in range(10):
            f(inp.ones((700, 700)))
    assert seen


def test_jit_turned_off_calls_at_once():
    seen = []
    with imprint.disable_jit(True):
        imprint.jit(lambda x: imprint.debug.callback(lambda x: seen.append(1), x))(ONE)
    assert seen == [1]


def run(program):
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_a_wrong_result_does_not_end_the_process():
    done = run(
        "import imprint, numpy as np\n"
        "f = imprint.jit(lambda x: imprint.pure_callback(\n"
        "    lambda x: np.ones(10**7, np.float32), x, x))\n"
        "try: f(1.0)\n"
        "except ValueError as e: print('told', type(e).__name__)\n"
        "def g(x): raise OSError('gone')\n"
        "imprint.jit(lambda x: imprint.debug.callback(g, x))(1.0)\n"
    )
    assert done.stdout == "told ShapeError\n"
    assert done.returncode == 1
    assert done.stderr.strip().endswith("OSError: gone")
    assert "jaxlib" not in done.stderr


@pytest.mark.slow
def test_an_interrupt_reaches_the_caller():
    done = run(
        "import imprint, os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def g(x):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "try: imprint.jit(lambda x: imprint.debug.callback(g, x))(1.0)\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    assert done.stdout == "interrupted\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("cpus", [1, 2])
def test_a_callback_that_calls_programs_does_not_wait_for_itself(cpus):
    done = run(
        "import faulthandler, os, threading\n"
        "os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CPUS])\n"
        "faulthandler.dump_traceback_later(60, exit=True)\n"
        "import imprint, imprint.numpy as np\n"
        "inner = imprint.jit(lambda x: np.tanh(x @ x) @ x)\n"
        "@imprint.jit\n"
        "def f(x):\n"
        "    y = np.tanh(x @ x)\n"
        "    return imprint.pure_callback(lambda y: inner(y) + 1, y, y) @ y\n"
        "x = np.ones((400, 400)) / 400\n"
        "def work():\n"
        "    for _ in range(3): f(x).block_until_ready()\n"
        "threads = [threading.Thread(target=work) for _ in range(4)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "print('done')\n".replace("CPUS", str(cpus))
    )
    assert done.stdout == "done\n", done.stderr


@pytest.mark.slow
def test_many_callbacks_leave_no_memory_behind():
    done = run(
        "import imprint, gc\n"
        "f = imprint.jit(lambda x: [imprint.debug.callback(lambda x: None, x) for _ in range(100)])\n"
        "def size(): return int(open('/proc/self/statm').read().split()[1]) * 4\n"
        "x = imprint.numpy.ones(256)\n"
        "for _ in range(200): _ = f(x)\n"
        "gc.collect(); before = size()\n"
        "for _ in range(1000): _ = f(x)\n"
        "gc.collect(); print(size() - before)\n"
    )
    assert int(done.stdout) < 4000, done.stderr  # KiB, of 100,000 calls


def test_a_loop_whose_examples_stop_one_by_one_calls_for_those_that_run():
    seen = []

    def f(x):
        def body(x):
            imprint.debug.callback(lambda x: seen.append(float(x)), x)
            return x + 4

        return imprint.lax.while_loop(lambda x: x < 10, body, x)

    imprint.jit(imprint.vmap(f))(np.array([2, 9], np.float32))
    assert sorted(seen) == [2, 6, 9]


def test_a_program_that_prints_may_have_operations_of_chlo(capfd):
    @imprint.jit
    def largest(x):
        imprint.debug.print("{}", x.sum())
        return imprint.lax.top_k(x, 1)

    values, _ = largest(inp.arange(4.0))
    imprint.effects_barrier()
    assert values[0] == 3
    assert capfd.readouterr().out == "6.0\n"
