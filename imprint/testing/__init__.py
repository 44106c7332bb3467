"""Tools for the tests of programs that use imprint.

The pytest plugin, `_imprint_pytestplugin` beside this package, gives tests the limit on
compiles as a marker and a fixture, and reports what each test compiled.

- `compiles`: how many versions may the process make?
- `gradients`: are derivatives those of finite differences?
"""

from imprint.testing.compiles import Compiles as Compiles
from imprint.testing.compiles import max_compiles as max_compiles
from imprint.testing.gradients import check_grads as check_grads

__all__ = ["check_grads", "max_compiles"]
