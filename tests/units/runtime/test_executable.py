import re

import numpy as np
import pytest

from imprint._src import runtime
from imprint.errors import (
    ArgumentError,
    CompileError,
    DeletedArrayError,
    DTypeError,
    ShapeError,
)
from tests.units.runtime.programs import (
    DONATING,
    DONATING_FIRST_OF_TWO,
    DOUBLE,
    F4,
    aval,
    growth,
    in_fresh_process,
    program,
    put,
)

ONES = np.ones(4, np.float32)

LOAD = """
import sys
from pathlib import Path
import numpy as np
from imprint._src import runtime
from tests.units.runtime.programs import F4, put
executable = runtime.deserialize(Path(sys.argv[1]).read_bytes(), [F4])
print(runtime.read(executable.run([put(np.ones(4, np.float32))], [F4])[0], F4))
"""


@pytest.fixture(scope="module")
def double():
    return runtime.compile(DOUBLE, [F4])


# ---- running ----


def test_a_program_runs_by_the_warm_path_and_by_the_checked_one(double):
    x = put(np.arange(4, dtype=np.float32))
    (warm,) = double.execute([x]).consume_with_handlers(double.handlers)
    (checked,) = double.run([x], [F4])
    for result in (warm, checked):
        np.testing.assert_array_equal(runtime.read(result, F4), [0, 2, 4, 6])


def test_text_may_be_bytes():
    (result,) = runtime.compile(DOUBLE.encode(), [F4]).run([put(ONES)])
    np.testing.assert_array_equal(runtime.read(result, F4), 2 * ONES)


def test_no_arguments_no_results_and_repeated_results():
    nothing = runtime.compile(program("return", "", "()"), [])
    assert nothing.run([], []) == []
    text = program(
        "return %x, %x : tensor<4xf32>, tensor<4xf32>",
        result="(tensor<4xf32>, tensor<4xf32>)",
    )
    first, second = runtime.compile(text, [F4, F4]).run([put(ONES)], [F4])
    runtime.delete(first)
    np.testing.assert_array_equal(runtime.read(second, F4), ONES)


def test_extended_dtypes_are_computed_and_read():
    for name, element in (
        ("bfloat16", "bf16"),
        ("int4", "i4"),
        ("float8_e5m2", "f8E5M2"),
    ):
        kind = f"tensor<4x{element}>"
        text = program(f"return %x : {kind}", f"%x: {kind}", kind)
        value = np.array([0, 1, 2, 3]).astype(name)
        (result,) = runtime.compile(text, [aval(name, 4)]).run([put(value)])
        assert runtime.read(result, aval(name, 4)).tobytes() == value.tobytes()


REFUSED = {
    "count": (
        list,
        ArgumentError,
        "execute: expected 1 arguments, got 0. "
        "Pass one buffer for each argument of the program.",
    ),
    "dtype of the same size": (
        lambda: [put(np.ones(4, np.int32))],
        DTypeError,
        "execute: expected float32[4] as argument 0, got int32[4]. "
        "Convert it, or compile the program for its aval.",
    ),
    "shape of the same size": (
        lambda: [put(np.ones((2, 2), np.float32))],
        ShapeError,
        "execute: expected float32[4] as argument 0, got float32[2,2]. "
        "Convert it, or compile the program for its aval.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_arrays_that_the_engine_would_misread_are_refused(double, case):
    buffers, kind, message = REFUSED[case]
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        double.run(buffers(), [F4])


def test_other_engine_errors_pass_as_they_are(double):
    with pytest.raises(runtime.EngineError) as caught:
        double.run([])
    assert runtime.explain_execute_error([], caught.value) is caught.value


# ---- donation ----


def test_a_donated_buffer_is_reused_and_deleted():
    executable = runtime.compile(DONATING, [F4])
    x = put(ONES)
    (result,) = executable.run([x], [F4])
    assert runtime.is_deleted(x)
    np.testing.assert_array_equal(runtime.read(result, F4), 2 * ONES)
    assert executable.memory_stats().alias_size_in_bytes == 16


def test_a_viewed_buffer_may_be_donated_and_the_view_stays():
    x = put(ONES)
    view = runtime.read(x, F4)
    (result,) = runtime.compile(DONATING, [F4]).run([x], [F4])
    np.testing.assert_array_equal(view, ONES)
    np.testing.assert_array_equal(runtime.read(result, F4), 2 * ONES)


def test_a_shared_array_may_be_donated_and_is_left_alone():
    value = np.ones(4096, np.float32)
    text = DONATING.replace("4x", "4096x")
    wide = aval("float32", 4096)
    (result,) = runtime.compile(text, [wide]).run([put(value, copy=False)], [wide])
    assert (value == 1).all()
    assert (runtime.read(result, wide) == 2).all()


DELETED = (
    "execute: expected a live array, got {}, which was deleted or donated. "
    "Use the result of the call that took it, or do not donate it."
)


def test_using_a_donated_buffer_again_raises_on_both_paths():
    executable = runtime.compile(DONATING, [F4])
    x = put(ONES)
    executable.run([x], [F4])
    message = DELETED.format("argument 0 (float32[4])")
    with pytest.raises(DeletedArrayError, match=f"^{re.escape(message)}$"):
        executable.run([x], [F4])
    with pytest.raises(runtime.EngineError) as caught:
        executable.execute([x])
    reported = runtime.explain_execute_error([x], caught.value)
    assert isinstance(reported, DeletedArrayError)
    assert str(reported) == message


def test_donating_an_argument_passed_twice_raises():
    executable = runtime.compile(DONATING_FIRST_OF_TWO, [F4])
    x = put(ONES)
    message = DELETED.format("one that is also another argument")
    with pytest.raises(DeletedArrayError, match=f"^{re.escape(message)}$"):
        executable.run([x, x], [F4, F4])
    y = put(ONES)
    np.testing.assert_array_equal(
        runtime.read(executable.run([put(ONES), y], [F4, F4])[0], F4), 2 * ONES
    )


# ---- memory ----


RUNS = {
    "new arguments": "warm([put(value, F4)])",
    "one argument": "warm([x])",
    "checked": "executable.run([x], [F4])",
    "read": "runtime.read(warm([x])[0], F4)",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", RUNS)
def test_memory_does_not_grow_over_10_000_executions(case):
    blocks, nbytes = growth(WARM, RUNS[case])
    assert blocks < 100
    assert nbytes < 300_000


WARM = """
put, value = runtime.unchecked_put(), np.ones(4, np.float32)
x = put(value, F4)

def warm(buffers):
    runtime.collect_garbage()
    return executable.execute(buffers).consume_with_handlers(executable.handlers)
"""


# ---- keeping a program ----


def test_a_serialized_program_runs_in_a_fresh_process(double, tmp_path):
    stored = tmp_path / "program"
    stored.write_bytes(double.serialize())
    assert in_fresh_process(LOAD, str(stored)) == ["[2. 2. 2. 2.]"]


def test_a_loaded_program_donates_and_answers_like_the_compiled_one():
    compiled = runtime.compile(DONATING, [F4])
    loaded = runtime.deserialize(compiled.serialize(), [F4])
    x = put(ONES)
    loaded.run([x], [F4])
    assert runtime.is_deleted(x)
    assert loaded.nbytes == compiled.nbytes > 1000
    assert loaded.memory_stats() == compiled.memory_stats()


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:100]])
def test_bytes_that_are_no_program_are_refused(double, damage):
    data = damage(double.serialize())
    with pytest.raises(CompileError) as caught:
        runtime.deserialize(data, [F4])
    assert re.fullmatch(
        rf"deserialize: expected an executable of jaxlib [\d.]+, got {len(data)} bytes "
        r"that it cannot read\. Delete them and compile again\.",
        str(caught.value),
    )


def test_a_program_describes_itself_and_its_costs(double):
    assert repr(double) == "<Executable on CpuDevice(id=0) -> (float32[4])>"
    assert double.out_avals == (F4,)
    assert double.device is runtime.devices()[0]
    assert "HloModule m" in double.hlo_text()
    assert double.cost_analysis()["flops"] == 4
    assert double.nbytes == len(double.serialize())
    assert double.memory_stats() == runtime.MemoryStats(
        argument_size_in_bytes=16,
        output_size_in_bytes=16,
        alias_size_in_bytes=0,
        temp_size_in_bytes=0,
        generated_code_size_in_bytes=double.nbytes,
    )


def test_a_program_that_xla_refuses_raises_with_the_location():
    message = (
        "compile: expected a program that XLA accepts, got: UNKNOWN: -:2:8: error: "
        "use of undeclared SSA value name. "
        "If you passed compiler_options, try without them; else please report it."
    )
    with pytest.raises(CompileError, match=f"^{re.escape(message)}$"):
        runtime.compile(program("return %z : tensor<4xf32>"), [F4])
