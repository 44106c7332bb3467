import gc
import subprocess
import sys
import weakref

import pytest

from imprint._src.jit.fingerprint.code import code_digest, code_of, codes


def code(source):
    """Return the code of the function that a source defines."""
    names = {}
    exec(compile(source, "<source>", "exec"), names)
    (fun,) = (value for name, value in names.items() if name != "__builtins__")
    return fun.__code__


SAME = [
    ("def f(x): return x", "\n\n\ndef f(x): return x"),
    ("def f(x): return x", "def f(x):\n    # why\n    return x"),
    ('def f(x):\n    "a"\n    return 1', 'def f(x):\n    "b"\n    return 1'),
    ("f = lambda x: x + 1", "f = lambda x: (x + 1)"),
    ("f = lambda x: x in {1, 9, 17, 'a'}", "f = lambda x: x in {'a', 17, 9, 1}"),
    (
        "def f(x):\n    def g():\n        'a'\n        return 2\n    return g",
        "def f(x):\n    def g():\n        'b'\n        return 2\n    return g",
    ),
]
DIFFERENT = [
    ("f = lambda x: x + 1", "f = lambda x: x + 2"),
    ("f = lambda x: x + 1", "f = lambda x: x + 1.0"),
    ("f = lambda x: x + 1", "f = lambda x: x + True"),
    ("f = lambda x: x + 0.0", "f = lambda x: x + -0.0"),
    ("f = lambda x: x + 1", "f = lambda x: x - 1"),
    ("f = lambda x: x + 1", "f = lambda y: y + 1"),
    ("f = lambda x: x + 1", "f = lambda *x: x + 1"),
    ("f = lambda x: x.real", "f = lambda x: x.imag"),
    ("f = lambda x: a", "f = lambda x: b"),
    ("def f(x): return x", "def g(x): return x"),
    ("def f(x, y): return x", "def f(x, *, y): return x"),
    ("def f(x, y): return x", "def f(x, y, /): return x"),
    ("f = lambda x: (1, 2)", "f = lambda x: (1, True)"),
    ("f = lambda x: x in {1, 2}", "f = lambda x: x in {1, True, 2.0}"),
    ("f = lambda: lambda: 1", "f = lambda: lambda: 2"),
    ("def f():\n    'a'\n    return 'a'", "def f():\n    'b'\n    return 'b'"),
    (
        "def f():\n    try:\n        g()\n    except A:\n        pass",
        "def f():\n    try:\n        g()\n    finally:\n        pass",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_code(one, other):
    assert code_of(code(one)) is code_of(code(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_code(one, other):
    assert code_digest(code(one)) != code_digest(code(other))


def test_a_used_docstring_is_part_of_the_fingerprint():
    one = code("def f():\n    'a'\n    return 'a'")
    other = code("def f():\n    'b'\n    return 'a'")
    assert code_digest(one) != code_digest(other)


@pytest.mark.parametrize(
    "change",
    [
        {"co_flags": 0x40},
        {"co_exceptiontable": b"\x80"},
        {"co_stacksize": 99},
        {"co_names": ("other",)},
        {"co_varnames": ("y",)},
        {"co_posonlyargcount": 1},
    ],
    ids=str,
)
def test_every_part_of_the_code_is_part_of_the_fingerprint(change):
    one = code("f = lambda x: abs")
    assert code_of(one.replace(**change)) is not code_of(one)
    where = {"co_filename": "other", "co_firstlineno": 99, "co_linetable": b""}
    assert code_of(one.replace(**where)) is code_of(one)


def test_running_does_not_change_the_digest():
    names = {}
    exec(
        "def f(n):\n    t = 0\n    for i in range(n):\n        t += i\n    return t",
        names,
    )
    fun = names["f"]
    before = code_digest(fun.__code__)
    for _ in range(500):
        fun(20)
    codes.pop(id(fun.__code__))
    assert code_digest(fun.__code__) == before


def test_the_digest_is_the_same_in_another_process():
    source = "f = lambda x: x in {'a', 'bc', 'd', 2.5} and (x, ('e', None))"
    script = (
        "from tests.units.jit.fingerprint.test_code import code, code_digest\n"
        f"print(code_digest(code({source!r})).hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == code_digest(code(source)).hex()


def test_nothing_keeps_a_code_object_alive():
    one = code("f = lambda x: x + 31415")
    key, gone = id(one), weakref.ref(one)
    code_of(one)
    assert key in codes
    del one
    gc.collect()
    assert gone() is None
    assert key not in codes
