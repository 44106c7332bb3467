"""SciPy's LAPACK for eager evaluation, without the package around it."""

import numpy as np

from imprint.primitives import routines
from tests.units.runtime.programs import in_fresh_process

EIGENVALUES = """
import sys
import numpy as np
from imprint import numpy
from imprint.primitives.routines import routine
numpy.linalg.eigh(np.eye(2, dtype=np.float32))
print("scipy.linalg" in sys.modules)
from scipy.linalg import lapack
print(lapack.ssyevd is routine("syevd", np.dtype("float32")))
"""


def test_only_the_library_is_loaded_and_only_once():
    assert in_fresh_process(EIGENVALUES) == ["False", "True"]


def test_what_is_public_stands_in_for_a_library_that_has_moved(monkeypatch):
    monkeypatch.setattr(routines, "_ALONE", "scipy.linalg._moved")
    library = routines._library.__wrapped__()
    assert library.__name__ == "scipy.linalg.lapack"
    assert library.dgetrf is routines.routine("getrf", np.dtype("float64"))
