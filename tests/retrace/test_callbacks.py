"""A program with callbacks belongs to the values they hold, not to equal ones.

Callbacks run when the program runs. They must read and write the same objects as the
callbacks of a fresh trace.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

import imprint
from imprint import debug
from imprint._src.jit.compilation.counters import COUNTERS
from tests.retrace.marks import executed_code_is_known

pytestmark = pytest.mark.unaudited  # they count traces
ONE = np.float32(1)


def traces(call):
    before = COUNTERS.traces
    call()
    return COUNTERS.traces - before


def appending(log):
    """Return a compiled function whose callback appends to a list."""
    return imprint.jit(lambda x: debug.callback(lambda y: log.append(float(y)), x))


def through_a_function(log):
    def add(y):
        log.append(float(y))

    return imprint.jit(lambda x: debug.callback(add, x))


def through_a_default(log):
    return imprint.jit(
        lambda x: debug.callback(lambda y, log=log: log.append(float(y)), x)
    )


def through_a_compiled_function(log):
    inner = appending(log)
    return imprint.jit(lambda x: (inner(x), x + 1)[1])


def through_a_method(log):
    return imprint.jit(lambda x: debug.callback(log.append, x))


def through_a_dict(log):
    logs = {"a": log}
    return imprint.jit(lambda x: debug.callback(logs["a"].append, x))


MAKERS = [
    appending,
    through_a_function,
    through_a_default,
    through_a_compiled_function,
    through_a_method,
    through_a_dict,
]


@pytest.mark.parametrize("make", MAKERS)
def test_recreated_functions_write_into_their_own_lists(make):
    logs = [[], [], [0.0]]
    functions = [make(log) for log in logs]
    for i in range(3):
        for function in functions:
            function(np.float32(i))
    assert [[float(x) for x in log] for log in logs] == [
        [0, 1, 2],
        [0, 1, 2],
        [0, 0, 1, 2],
    ]


@pytest.mark.parametrize(
    "make", [appending, through_a_function, through_a_compiled_function]
)
def test_a_value_read_only_by_callbacks_causes_no_trace(make):
    log = []
    function = make(log)
    first = traces(lambda: function(ONE))
    assert traces(lambda: [function(ONE) for _ in range(5)]) == 0
    assert first == 1 + (make is through_a_compiled_function)
    assert len(log) == 6


def test_a_callback_looks_up_a_rebound_variable():
    def make():
        k = 1.0

        def bump():
            nonlocal k
            k += 1

        function = imprint.jit(
            lambda x: imprint.pure_callback(lambda y: np.float32(y * k), x, x)
        )
        return function, bump

    (one, bump), (other, _) = make(), make()
    assert (float(one(ONE)), float(other(ONE))) == (1, 1)
    bump()
    assert traces(lambda: None) == 0
    assert (float(one(ONE)), float(other(ONE))) == (2, 1)


PROGRAM = """
log = []
def logger(log):
    return lambda y: log.append(float(y))
call = logger(log)
SCALE = 1.0
def scaled(y):
    return np.float32(y * SCALE)
closed = imprint.jit(lambda x: debug.callback(call, x))
looked = imprint.jit(lambda x: debug.callback(lambda y: log.append(y), x))
multiplied = imprint.jit(lambda x: imprint.pure_callback(scaled, x, x))
"""


@pytest.fixture
def module():
    names = {"imprint": imprint, "debug": debug, "np": np, "__name__": "callbacks"}
    exec(PROGRAM, names)
    return names


def test_a_global_list_in_the_place_of_an_equal_one_is_another(module):
    first = module["log"]
    module["looked"](ONE)
    first.clear()
    module["log"] = []
    module["looked"](ONE)
    assert (len(first), len(module["log"])) == (0, 1)


def test_a_global_callback_may_be_replaced(module):
    closed, other = module["closed"], []
    closed(ONE)
    assert traces(lambda: closed(ONE)) == 0
    module["call"] = module["logger"](other)
    closed(ONE), closed(ONE)
    assert (len(module["log"]), len(other)) == (2, 2)


@executed_code_is_known
def test_a_global_that_a_callback_reads_is_read_when_it_runs(module):
    multiplied = module["multiplied"]
    assert float(multiplied(ONE)) == 1
    module["SCALE"] = 3.0
    assert traces(lambda: float(multiplied(ONE))) == 0
    assert float(multiplied(ONE)) == 3


def test_recreated_static_functions_are_called_themselves():
    function = imprint.jit(lambda x, f: debug.callback(f, x), static_argnums=1)

    def logger(log):
        return lambda y: log.append(float(y))

    logs = [[], []]
    for log in (*logs, *logs):
        function(ONE, logger(log))
    assert logs == [[1, 1], [1, 1]]


def test_a_value_that_one_signature_traces_and_another_calls_back_is_tracked():
    log = []

    @imprint.jit
    def function(x):
        if x.ndim:
            return x + len(log)
        debug.callback(lambda y: log.append(float(y)), x)
        return x

    vector = np.zeros(1, np.float32)
    for n in range(1, 4):
        function(ONE)
        assert float(function(vector)[0]) == n


def test_a_value_of_a_callback_is_tracked_once_a_trace_runs_it():
    log = []

    def count(y):
        return np.float32(y + len(log))

    @imprint.jit
    def function(x):
        if x.ndim:
            return x + count(0)
        return imprint.pure_callback(count, x, x)

    vector = np.zeros(1, np.float32)
    for n in range(3):
        assert float(function(ONE)) == 1 + n
        assert float(function(vector)[0]) == n
        log.append(0)


def test_an_edited_callback_is_another(module):
    multiplied = module["multiplied"]
    multiplied(ONE)
    module["scaled"].__code__ = (lambda y: y + np.float32(10)).__code__
    assert float(multiplied(ONE)) == 11


@pytest.mark.parametrize("make", MAKERS)
def test_an_audit_accepts_recreated_callbacks(make):
    function = make([])
    with imprint.audit(1.0):
        for _ in range(3):
            function(ONE)


EDITED = """
import functools
import numpy as np
import imprint
def f(x): return imprint.pure_callback({read}, imprint.ShapeDtypeStruct((), "float32"), x)
def host(v): return np.float32(v * 9)
p = functools.partial(host)
j = imprint.jit(f)
found = [float(j(1.0)) for _ in range(2)]
host.__code__ = (lambda v: np.float32(v * 2)).__code__
found += [float(j(1.0)) for _ in range(2)]
for code in (lambda v: np.float32(v * 3)), (lambda v: np.float32(v * 4)):
    def host(v): return np.float32(v * 9)
    p = functools.partial(host)
    found += [float(j(1.0)) for _ in range(2)]
    host.__code__ = code.__code__
    found += [float(j(1.0)) for _ in range(2)]
print(found)
"""


@pytest.mark.parametrize("read", ["host", "p"])
def test_a_callback_that_is_edited_in_place_after_it_was_defined_again(read):
    """As a script: among tests, more of it is seen."""
    done = subprocess.run(
        [sys.executable, "-c", EDITED.replace("{read}", read)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "IMPRINT_CACHE": "off"},
    )
    each = [value for new in (9.0, 2.0, 9.0, 3.0, 9.0, 4.0) for value in (new, new)]
    assert done.stdout.strip() == str(each)
