"""The flag of `make test-isa` restricts the instructions of XLA, in each jaxlib."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import imprint
f = imprint.jit(lambda x: imprint.numpy.exp(x) @ x)
f(np.ones((8, 8), np.float32))
(version,) = f.versions
print("+avx512f" in version.executable.serialize().decode("latin1"))
"""


def uses_avx512(isa):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "XLA_FLAGS": f"--xla_cpu_max_isa={isa}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return done.stdout == "True\n"


def has_avx512():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            return " avx512f " in info.read()
    except OSError:
        return False


@pytest.mark.slow
def test_the_flag_narrows_the_instructions():
    """On a CPU without these instructions it changes nothing, without a message."""
    assert uses_avx512("AVX512") is has_avx512()
    assert not uses_avx512("AVX2")
