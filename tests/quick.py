"""How tests compile: XLA optimizes less than for users, and is done in half the time.

Half of what tests take is XLA compiling programs that run once, imprint's and JAX's. The
rules under test decide which program that is, XLA's optimizer has its own tests, and
results stay within the tolerances of tests/tolerances.py. `pytest --optimized`, which
`make test-all` and `make test-isa` say, compiles as for users.
"""

import os

FLAGS = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


def hasten():
    """Have this process, and those that it starts, compile quickly.

    It is to come before the engine is loaded. What XLA_FLAGS say already comes later
    there, so it counts.
    """
    given = os.environ.get("XLA_FLAGS", "")
    if not given.startswith(FLAGS):  # a worker's parent has been here
        os.environ["XLA_FLAGS"] = f"{FLAGS} {given}".rstrip()


def as_for_users():
    """Return the environment of a process that compiles as for users.

    What computes values again takes exponential time where LLVM merges nothing.
    """
    flags = os.environ.get("XLA_FLAGS", "").removeprefix(FLAGS)
    return {**os.environ, "XLA_FLAGS": flags.strip()}
