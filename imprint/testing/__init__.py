"""Tools for the tests of programs that use imprint.

`max_compiles` limits how many versions a process may make, `check_grads` compares
derivatives with finite differences. The pytest plugin, `_imprint_pytestplugin` beside
this package, gives tests the first as a marker and a fixture, and reports compiles.
"""

from imprint.testing.compiles import Compiles as Compiles
from imprint.testing.compiles import max_compiles as max_compiles
from imprint.testing.gradients import check_grads as check_grads

__all__ = ["check_grads", "max_compiles"]
