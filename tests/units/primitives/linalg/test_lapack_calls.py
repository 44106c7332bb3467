"""SciPy's LAPACK for eager evaluation, without the package around it."""

import numpy as np

from imprint._src.primitives.linalg import lapack_calls
from tests.units.runtime.programs import in_fresh_process

EIGENVALUES = """
import sys
import numpy as np
from imprint import numpy
from imprint._src.primitives.linalg.lapack_calls import routine
numpy.linalg.eigh(np.eye(2, dtype=np.float32))
print("scipy.linalg" in sys.modules)
from scipy.linalg import lapack
print(lapack.ssyevd is routine("syevd", np.dtype("float32")))
"""


def test_only_the_library_is_loaded_and_only_once():
    assert in_fresh_process(EIGENVALUES) == ["False", "True"]


def test_the_public_symbols_replace_a_moved_library(monkeypatch):
    monkeypatch.setattr(lapack_calls, "_ALONE", "scipy.linalg._moved")
    library = lapack_calls._library.__wrapped__()
    assert library.__name__ == "scipy.linalg.lapack"
    assert library.dgetrf is lapack_calls.routine("getrf", np.dtype("float64"))
