"""Captured arrays: private copies, hoisted out of the program, with a word when large."""

import gc
import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.fingerprint import content
from imprint._src.jit.versions.definitions import DEFINITIONS
from imprint.errors import CaptureWarning

MIB = 1 << 20


def caught_by(action):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [w for w in caught if w.category is CaptureWarning]


def test_a_large_captured_array_gives_one_warning_with_its_size_and_line():
    table = np.ones((512, 1024), np.float32)

    @imprint.jit
    def look(x):
        return inp.sum(x @ table)

    def calls():
        look(inp.ones(512))
        look(inp.ones((2, 512)))

    (warning,) = caught_by(calls)
    line = look.__code__.co_firstlineno + 2
    assert warning.filename == __file__
    assert str(warning.message) == (
        "look: expected large arrays as arguments, got the captured array "
        f"float32[512,1024] (2.0 MiB), used at test_captures.py:{line}, `x @ table`. It "
        "was copied when the function was traced: what is written into it later has no "
        "effect. Pass it as an argument."
    )


def test_a_captured_array_that_is_only_returned_has_no_line():
    table = inp.ones((512, 1024))
    (warning,) = caught_by(lambda: imprint.jit(lambda x: table)(1))
    assert "(2.0 MiB). It was copied" in str(warning.message)


@pytest.mark.parametrize(("size", "count"), [(MIB // 4 - 1, 0), (MIB // 4, 1)])
def test_large_is_a_mebibyte(size, count):
    table = np.ones(size, np.float32)
    assert len(caught_by(lambda: imprint.jit(lambda x: x + table)(1.0))) == count


def test_a_captured_array_is_no_text_of_the_program():
    table = np.arange(10_000, dtype=np.float32)
    f = imprint.jit(lambda x: x + table)
    f(1.0)
    (version,) = f.versions
    assert len(version.stablehlo) < 1000


@pytest.mark.unaudited
def test_a_captured_array_is_a_private_copy():
    table = np.arange(4, dtype=np.float32)
    f = imprint.jit(lambda x: x + table)
    np.testing.assert_array_equal(f(1.0), [1, 2, 3, 4])
    table[:] = 7
    np.testing.assert_array_equal(f(1.0), [1, 2, 3, 4])
    np.testing.assert_array_equal(f(inp.ones(())), [8, 8, 8, 8])  # another version


# ---- functions that are re-created ----


@pytest.fixture
def hashed(monkeypatch):
    """Return the lengths of the arrays that are hashed."""
    lengths = []
    blake2b = content.blake2b

    def counted(data, **options):
        lengths.append(data.nbytes)
        return blake2b(data, **options)

    monkeypatch.setattr(content, "blake2b", counted)
    return lengths


class Held:
    """Holds arrays where only a walk through objects finds them."""

    def __init__(self, *arrays):
        self.arrays = [*arrays]


def added(*arrays):
    return imprint.jit(lambda x: sum((a[0] for a in arrays), x))


def added_from(held):
    return imprint.jit(lambda x: sum((a[0] for a in held.arrays), x))


def zeros(mebibytes):
    return np.zeros(int(mebibytes * MIB) // 4, np.float32)


def traces_of(make, calls=3):
    before = COUNTERS.traces
    for _ in range(calls):
        make()(1.0)
    return COUNTERS.traces - before


@pytest.mark.parametrize(
    "sizes", [(16,), (6, 6, 4)], ids=["an array", "several arrays"]
)
@pytest.mark.parametrize("make", [added, lambda *a: added_from(Held(*a))])
def test_captured_arrays_are_compared_up_to_16_mebibytes(make, sizes):
    arrays = [*map(zeros, sizes)]
    held = Held(*arrays)
    assert traces_of(lambda: added(*arrays)) == 1
    assert traces_of(lambda: added_from(held)) == 1


@pytest.mark.unaudited
@pytest.mark.parametrize("size", [1, 17])
@pytest.mark.parametrize("make", [added, lambda a: added_from(Held(a))])
def test_a_recreated_function_sees_writes_into_an_array(make, size):
    table = zeros(size)
    first = make(table)
    assert first(1.0) == 1
    table[0] = 7
    assert make(table)(1.0) == 8
    assert first(1.0) == 1  # a traced one keeps its values
    table[0] = 0
    assert make(table)(1.0) == 1


def test_a_definition_over_a_large_array_is_freed_with_its_function():
    table = zeros(17)
    gc.collect()
    before = len([*DEFINITIONS]), len(imprint.cache.entries())
    f = added(table)
    f(1.0)
    assert len([*DEFINITIONS]) == before[0] + 1
    del f
    gc.collect()
    assert (len([*DEFINITIONS]), len(imprint.cache.entries())) == before


def test_why_a_function_over_a_large_array_is_traced_each_time():
    table = zeros(20)
    imprint.clear_caches()
    added(table)(1.0)
    (difference,) = added(table).explain(1.0).differences
    assert str(difference) == (
        "closure variable arrays[0]: array of float32[5242880] → 20.0 MiB, too large to "
        "compare"
    )
    assert difference.remedy == (
        "Captured arrays are compared up to 16 MiB in all, so each <lambda> that is made "
        "is traced. Make arrays[0] an argument: `def f(..., arrays)`."
    )


def test_an_array_in_a_file_is_compared_as_others_are(tmp_path):
    table = np.memmap(tmp_path / "table", np.float32, "w+", shape=1000)
    assert traces_of(lambda: added(table)) == 1
    table[0] = 7
    assert added(table)(1.0) == 8


# ---- strict ----


def test_a_strict_function_sees_writes_into_an_array():
    table = np.arange(4, dtype=np.float32)
    f = imprint.jit(lambda x: x + table, strict=True)
    f(1.0)
    table[:] = 7
    np.testing.assert_array_equal(f(1.0), [8, 8, 8, 8])


def test_a_strict_function_reads_large_arrays_too():
    table = zeros(17)
    f = imprint.jit(lambda x: x + table[0], strict=True)
    assert traces_of(lambda: f) == 1
    table[0] = 7
    assert f(1.0) == 8


STRICT = """
    import numpy as np
    import imprint

    table = np.arange(4.0)

    class Box:
        rate = 1.0

    box = Box()
    by_closure = (lambda t: imprint.jit(lambda x: x + t))(table)
    by_name = imprint.jit(lambda x: x * table.sum() + box.rate)
    opted_out = imprint.jit(lambda x: x + table, strict=False)
    for f in by_closure, by_name, opted_out:
        f(1.0)
    table[:] = 7
    box.rate = 5.0
    print(by_closure(1.0).tolist(), float(by_name(1.0)), opted_out(1.0).tolist())
"""


@pytest.mark.unaudited
@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("1", "[8.0, 8.0, 8.0, 8.0] 33.0 [1.0, 2.0, 3.0, 4.0]"),
        ("0", "[1.0, 2.0, 3.0, 4.0] 33.0 [1.0, 2.0, 3.0, 4.0]"),
    ],
)
def test_the_environment_makes_every_function_strict(value, printed):
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(STRICT)],
        env={**os.environ, "IMPRINT_STRICT": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == printed


def test_strict_costs_no_trace_while_nothing_changes():
    table = np.arange(4, dtype=np.float32)
    f = imprint.jit(lambda x: x * table, strict=True)
    f(1.0)
    before = COUNTERS.traces
    for _ in range(5):
        f(2.0)
    assert COUNTERS.traces == before


def test_a_version_belongs_to_the_captured_values_of_its_trace():
    table = np.arange(4, dtype=np.float32)

    def make():
        return imprint.jit(lambda x: x + table)

    first = make()
    table[:] = 7
    np.testing.assert_array_equal(first(1.0), [8, 8, 8, 8])  # traced now, not when made
    table[:] = np.arange(4)
    np.testing.assert_array_equal(make()(1.0), [1, 2, 3, 4])
    second = make()
    table[:] = 9
    np.testing.assert_array_equal(second(inp.ones(4)), [10, 10, 10, 10])
    table[:] = np.arange(4)
    np.testing.assert_array_equal(make()(inp.ones(4)), [1, 2, 3, 4])


def test_a_function_keeps_its_versions_while_its_captures_change():
    class Trainer:
        steps = 0

        def step(self, x):
            return x * 1.25

    trainer = Trainer()
    step = imprint.jit(trainer.step)
    before = COUNTERS.traces
    for n in 3, 2, 3, 2, 4, 3:
        step(inp.ones(n))
        trainer.steps += 1
    assert COUNTERS.traces - before == 3
    assert step._cache_size() == 3
    assert len([v for v in imprint.cache.entries() if v in step.versions]) == 3
    imprint.clear_caches()
    assert step._cache_size() == 0


def test_an_uncompiled_trace_belongs_to_its_captured_values():
    table = np.arange(4, dtype=np.float32)

    def make():
        return imprint.jit(lambda x: x - table)

    first = make()
    first(1.0)
    table[:] = 7
    first.trace(inp.ones(4))  # traced, and not compiled
    imprint.make_jaxpr(first)(inp.ones((3, 4)))  # inside another trace
    table[:] = np.arange(4)
    np.testing.assert_array_equal(make()(inp.ones(4)), [1, 0, -1, -2])
    np.testing.assert_array_equal(make()(inp.ones((3, 4)))[0], [1, 0, -1, -2])
