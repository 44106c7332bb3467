"""LAPACK's kernels are there when a program calls one, compiled or loaded."""

import numpy as np
import pytest

from imprint._src import runtime
from imprint._src.runtime import lapack
from imprint.errors import CompileError
from tests.units.runtime.programs import aval, in_fresh_process, put

F22 = aval("float32", 2, 2)
FACTOR = """
module @m { func.func public @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {api_version = 4 : i32,
    backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]
  } : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  return %y#0 : tensor<2x2xf32>
} }
"""
LOAD = """
import sys
from pathlib import Path
import numpy as np
from imprint._src import runtime
from tests.units.runtime.programs import aval, put
F22 = aval("float32", 2, 2)
executable = runtime.deserialize(Path(sys.argv[1]).read_bytes(), [F22])
x = np.array([[4, 2], [2, 5]], np.float32)
print(runtime.read(executable.run([put(x)], [F22])[0], F22).tolist())
"""
PLAIN = """
import sys
from imprint._src import runtime
from tests.units.runtime.programs import DOUBLE, F4
runtime.deserialize(runtime.compile(DOUBLE, [F4]).serialize(), [F4])
print("scipy" in sys.modules)
"""


def test_a_loaded_program_finds_the_kernels_ready(tmp_path):
    compiled = runtime.compile(FACTOR, [F22])
    x = put(np.array([[4, 2], [2, 5]], np.float32))
    (factor,) = compiled.run([x], [F22])
    np.testing.assert_array_equal(runtime.read(factor, F22), [[2, 2], [1, 2]])
    stored = tmp_path / "program"
    stored.write_bytes(compiled.serialize())
    assert in_fresh_process(LOAD, str(stored)) == ["[[2.0, 2.0], [1.0, 2.0]]"]


def test_other_programs_do_not_wait_for_them():
    assert in_fresh_process(PLAIN) == ["False"]


def test_a_program_for_a_gpu_is_refused_with_the_remedy():
    lapack.prepare("no kernel", "gpu")
    with pytest.raises(CompileError) as caught:
        lapack.prepare("@lapack_spotrf_ffi", "gpu")
    assert str(caught.value) == (
        "compile: expected a program without decompositions and solvers that call LAPACK, "
        "which only the CPU has, got one for the gpu. Compute them there: "
        "imprint.device_put(x, imprint.devices('cpu')[0]), or jit(..., backend='cpu')."
    )
