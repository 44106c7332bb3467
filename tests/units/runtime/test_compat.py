import numpy as np

from imprint._src import runtime
from tests.tolerances import assert_close
from tests.units.runtime.programs import aval, in_fresh_process, program, put

NOTHING_STARTS = """
import os, sys
import numpy
before = len(os.listdir("/proc/self/task"))
import imprint._src.runtime
print(len(os.listdir("/proc/self/task")) - before)
print(sorted({"jax", "scipy"} & set(sys.modules)))
"""

EVERYTHING_IS_USED = """
import sys
import numpy as np
from imprint import dtypes
from imprint._src import runtime
from tests.units.runtime.programs import DONATING, DOUBLE, F4, PlainAval, put

for dtype in dtypes.ALL:
    if dtype.name.startswith("float6"):
        continue
    aval = PlainAval((3,), dtype)
    for copy in (True, False):
        runtime.read(runtime.put(np.ones(3, dtype), aval, copy=copy), aval)
for text in (DOUBLE, DONATING):
    executable = runtime.compile(text, [F4])
    executable = runtime.deserialize(executable.serialize(), [F4])
    executable.hlo_text(), executable.cost_analysis(), executable.memory_stats()
    x = runtime.unchecked_put()(np.ones(4, np.float32), F4)
    (y,) = executable.run([x], [F4])
    runtime.block_until_ready(y), runtime.is_ready(y), runtime.on_device_size(y)
    repr(executable), repr(runtime.devices()), runtime.engine_version()
    runtime.read(y, F4)
x = put(np.ones(4, np.float32))
runtime.delete(x)
for use in (runtime.read, runtime.put):
    try:
        use(x, F4)
    except Exception:
        pass
runtime.collect_garbage()
print(sorted({"jax", "scipy"} & set(sys.modules)))
"""

LOG_LEVEL = """
import os
from imprint._src import runtime
runtime.devices()
print(os.environ["TF_CPP_MIN_LOG_LEVEL"])
"""


def test_import_starts_no_thread_and_loads_neither_jax_nor_scipy():
    assert in_fresh_process(NOTHING_STARTS) == ["0", "[]"]


def test_nothing_in_the_package_makes_the_engine_import_jax():
    assert in_fresh_process(EVERYTHING_IS_USED) == ["[]"]


def test_start_prints_nothing_and_leaves_the_level_that_the_user_chose(monkeypatch):
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL")
    assert in_fresh_process(LOG_LEVEL) == ["1"]
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
    assert in_fresh_process(LOG_LEVEL) == ["2"]


def test_arc_tangents_of_long_arrays_are_right():
    t = "tensor<1000xf32>"
    one = f"%one = stablehlo.constant dense<1.0> : {t}\n"
    text = program(
        f"{one}%y = stablehlo.atan2 %x, %one : {t}\nreturn %y : {t}", f"%x: {t}", t
    )
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    out = aval("float32", 1000)
    for module in (text, text.encode()):
        (y,) = runtime.compile(module, [out]).run([put(x)])
        assert_close(runtime.read(y, out), np.arctan(x))
