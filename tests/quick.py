"""The compiler options of tests: XLA optimizes less than for users, in half the time.

Half of the time of the tests is XLA compiling programs that run once, imprint's and JAX's.
The rules under test decide which program that is, XLA's optimizer has its own tests, and
results stay within the tolerances of tests/tolerances.py. `pytest --optimized`, which
`make test-all` and `make test-isa` pass, compiles as for users.
"""

import os
from importlib.metadata import version

FLAGS = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    # Each worker has a processor: a program in one part compiles in less work.
    " --xla_cpu_parallel_codegen_split_count=1"
)
if version("jaxlib").startswith("0.10."):
    # Of a small program, MLIR emitters take half of the compile time. Later jaxlibs have
    # no others.
    FLAGS += " --xla_cpu_use_fusion_emitters=false"
    OF_MLIR = {"xla_cpu_use_fusion_emitters": True}
else:
    OF_MLIR = {}


def hasten():
    """Set the environment so that this process and its children compile quickly.

    Call it before the engine is loaded. The flags that XLA_FLAGS has already come later,
    so they take precedence.
    """
    given = os.environ.get("XLA_FLAGS", "")
    if not given.startswith(FLAGS):  # a worker's parent has been here
        os.environ["XLA_FLAGS"] = f"{FLAGS} {given}".rstrip()


def options_of(primitive):
    """Return the compiler options that a program of a primitive needs.

    The other emitters refuse `clamp` of booleans, and `reduce_precision` to one bit of
    exponent makes infinity of NaN.
    """
    return OF_MLIR if primitive.name in ("clamp", "reduce_precision") else {}


def as_for_users():
    """Return the environment of a process that compiles as for users.

    The rematerialization examples take exponential time where LLVM merges nothing.
    """
    flags = os.environ.get("XLA_FLAGS", "").removeprefix(FLAGS)
    return {**os.environ, "XLA_FLAGS": flags.strip()}
