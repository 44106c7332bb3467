"""A process that did the same before: from its start to its end, with a warm store.

Both sides have compiled the program in an earlier process and keep it on the disk: imprint
in its store, JAX in its persistent cache, which is told to keep all. The timer is around
the whole process: the interpreter, the import, tracing, which only JAX does, loading, one
call, the exit. The programs are the same text, with the names of either library. The last
rows are beside the floor: a script that loads and runs the same program on jaxlib alone.
"""

import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from benchmarks.pairs import Pair, Suite, Timing

HEADS = {
    "imprint": "import imprint as library, imprint.numpy as np, imprint.nn as nn",
    "jax": "import jax as library, jax.numpy as np, jax.nn as nn",
}

# 3,000 operations.
CHAIN = """
def program(x):
    for i in range(1500):
        x = np.sin(x) * 1.01
    return x

result = library.jit(program)(np.ones(100))
"""

# 12 layers, as loops in Python write them.
TRANSFORMER = """
import numpy
draw = numpy.random.default_rng(0)
DEPTH, WIDTH, LENGTH, HEADS = 12, 64, 32, 4

def parameter(*shape):
    return draw.normal(size=shape, scale=shape[0] ** -0.5).astype("float32")

layers = [
    {
        "look": parameter(WIDTH, 3 * WIDTH), "merge": parameter(WIDTH, WIDTH),
        "up": parameter(WIDTH, 4 * WIDTH), "down": parameter(4 * WIDTH, WIDTH),
        "scale": numpy.ones((2, WIDTH), "float32"),
    }
    for _ in range(DEPTH)
]

def norm(x, scale):
    x = x - x.mean(-1, keepdims=True)
    return x * scale / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)

def attend(x, layer):
    q, k, v = np.split((x @ layer["look"]).reshape(LENGTH, HEADS, -1), 3, axis=-1)
    scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(WIDTH / HEADS)
    scores = np.where(np.tril(np.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    seen = np.einsum("hqk,khd->qhd", nn.softmax(scores), v)
    return seen.reshape(LENGTH, WIDTH) @ layer["merge"]

def program(layers, x):
    for layer in layers:
        x = x + attend(norm(x, layer["scale"][0]), layer)
        x = x + nn.gelu(norm(x, layer["scale"][1]) @ layer["up"]) @ layer["down"]
    return x

result = library.jit(program)(layers, numpy.ones((LENGTH, WIDTH), "float32"))
"""

BEFORE, _, _ = TRANSFORMER.partition("result =")
GRADIENT = f"""{BEFORE}
def loss(layers, x):
    return (program(layers, x) ** 2).mean()

slopes = library.jit(library.grad(loss))(layers, parameter(LENGTH, WIDTH))
result = slopes[0]["look"]
"""

# A script of some 40 lines in NumPy's words: a line through noisy points, by descent.
SCRIPT = """
import numpy
draw = numpy.random.default_rng(0)
points = numpy.linspace(-1.0, 1.0, 200, dtype="float32")
values = (3.0 * points + 0.5 + 0.1 * draw.normal(size=200)).astype("float32")
RATE, STEPS, DEGREE = 0.1, 30, 3

def basis(x):
    return np.stack([x**k for k in range(DEGREE + 1)], axis=-1)

def predict(weights, x):
    return basis(x) @ weights

def error(weights, x, y):
    difference = predict(weights, x) - y
    return np.mean(difference**2) + 1e-3 * np.sum(np.abs(weights))

def slope(weights, x, y):
    difference = predict(weights, x) - y
    return 2.0 * basis(x).T @ difference / len(x) + 1e-3 * np.sign(weights)

@library.jit
def fit(x, y):
    weights = np.zeros(DEGREE + 1)
    for _ in range(STEPS):
        weights = weights - RATE * slope(weights, x, y)
    return weights, error(weights, x, y)

@library.jit
def summary(weights, x, y):
    residual = predict(weights, x) - y
    order = np.argsort(residual)
    spread = np.quantile(residual, np.array([0.1, 0.5, 0.9]))
    return np.std(residual), spread, np.cumsum(residual[order])[-1]

weights, loss = fit(points, values)
result = summary(weights, points, values)[0]
"""

# The result is waited for, and a wrong one is no time.
END = """
import numpy
assert numpy.isfinite(numpy.asarray(result)).all()
"""


# What no library can save: the engine, the program's bytes, arguments, one run.
FLOOR = """
import sys
import numpy
from jaxlib import _hlo, _jax

class Sharding(_jax.SingleDeviceSharding):
    memory_kind = None
    def _to_xla_hlo_sharding(self, _):  # jaxlib 0.10 asks for it
        return _hlo.HloSharding.replicate()

class Aval:
    dtype, weak_type = numpy.dtype("float32"), False
    def __init__(self, shape):
        self.shape = shape

client = _jax.get_tfrt_cpu_client(asynchronous=True)
(device,) = client.local_devices()
options = _jax.CompileOptions()
options.device_assignment = _jax.DeviceAssignment.create(numpy.array([[device.id]]))
data, shapes = open(sys.argv[1], "rb").read(), eval(sys.argv[2])
program = client.deserialize_executable(data, _jax.DeviceList((device,)), options)
arguments = [
    _jax.batched_device_put(
        Aval(shape), Sharding(device), [numpy.ones(shape, "float32")], [device], True,
        enable_x64=True,
    )
    for shape in shapes
]
# `disassemble_into_single_device_arrays` would import jax, for 400 ms.
make_handler = _jax.array_result_handler
checks = {"_skip_checks": True} if "_skip_checks" in make_handler.__doc__ else {}  # 0.10
handlers = [
    make_handler(Aval(shape), Sharding(device), committed=True, **checks)
    for shape in eval(sys.argv[3])
]
results = program.execute_sharded(arguments).consume_with_handlers(handlers)
results[0].block_until_ready()
assert "jax" not in sys.modules
"""

# Writes the largest program of a store into a file, and prints the shapes of what it takes
# and gives.
TAKEN = """
import re, sys
from pathlib import Path
from imprint._src import runtime
from imprint._src.jit.disk_cache.current import current
from imprint._src.jit.disk_cache.eviction import entries

store = current()
found = [store.look(found.path, whole=True) for found in entries(store.folder)]
largest = max((e for e in found if "compile_seconds" in e.note), key=lambda e: e.nbytes)
Path(sys.argv[1]).write_bytes(largest.body)
(module,) = runtime.deserialize(largest.body, ()).loaded.hlo_modules()
both = re.search(r"entry_computation_layout={\\((.*?)\\)->(.*)", module.to_string())
for part in both.groups():
    shapes = re.findall(r"f32\\[([0-9,]*)\\]", part)
    print([tuple(map(int, filter(None, shape.split(",")))) for shape in shapes])
"""


@cache
def floor(program):
    """Return the arguments of `FLOOR` for a program: a file, and two lists of shapes."""
    held = tempfile.TemporaryDirectory()
    FOLDERS.append(held)
    file = f"{held.name}/program"
    given = environment() | {"IMPRINT_CACHE_DIR": f"{held.name}/store"}
    code = HEADS["imprint"] + program + END
    subprocess.run([sys.executable, "-c", code], check=True, env=given)
    command = [sys.executable, "-c", TAKEN, file]
    told = subprocess.check_output(command, env=given, text=True)
    return file, *told.strip().splitlines()


def floor_seconds(program):
    """Return a function that runs a program without any library, and returns seconds."""

    def run():
        command = [sys.executable, "-c", FLOOR, *floor(program)]
        start = time.perf_counter()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return time.perf_counter() - start

    return run


@cache
def folder(library):
    """Return the directory in which a library keeps its programs, gone at exit."""
    held = tempfile.TemporaryDirectory()
    FOLDERS.append(held)
    return held.name


FOLDERS = []


def environment():
    """Return the variables by which both libraries keep all programs on the disk."""
    given = {
        "IMPRINT_CACHE": "write",
        "IMPRINT_CACHE_DIR": folder("imprint"),
        "JAX_COMPILATION_CACHE_DIR": folder("jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
    }
    unwanted = {"PYTHONDONTWRITEBYTECODE"}
    return {k: v for k, v in os.environ.items() if k not in unwanted} | given


def process_seconds(library, program):
    """Return a function that runs a process and returns what it took."""
    code = HEADS[library] + program + END

    def run():
        given = environment()
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=given)
        return time.perf_counter() - start

    return run


PAIRS = [
    Pair(
        f"whole process, warm store, {name}",
        ours=process_seconds("imprint", program),
        jax=process_seconds("jax", program),
        target=target,
        timing=Timing.SELF,
    )
    for name, program, target in (
        ("3,000 operations", CHAIN, 0.35),
        ("12 layers", TRANSFORMER, 0.45),
        ("their gradient", GRADIENT, 0.45),
        ("a script of 40 lines", SCRIPT, 0.35),
    )
]
PAIRS += [
    Pair(
        f"{name}, beside 30 lines on jaxlib alone",
        ours=process_seconds("imprint", program),
        jax=floor_seconds(program),
        target=target,  # 120 ms more than the floor takes
        timing=Timing.SELF,
    )
    for name, program, target in (
        ("3,000 operations", CHAIN, 1.7),
        ("12 layers", TRANSFORMER, 1.5),
    )
]


class WarmStart(Suite):
    pairs = PAIRS
