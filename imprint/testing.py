"""Tools for the tests of programs that use imprint.

The pytest plugin, `_imprint_pytestplugin` beside this package, gives tests the limit on
compiles as a marker and a fixture, and reports what each test compiled. It turns the
store on the disk off, so that no test depends on what ran before; `imprint_store` is a
fixture with an empty one.
"""

from imprint._src.testing.compiles import Compiles as Compiles
from imprint._src.testing.compiles import max_compiles as max_compiles
from imprint._src.testing.gradients import check_grads as check_grads
from imprint._src.testing.stores import empty_store as empty_store

__all__ = ["check_grads", "empty_store", "max_compiles"]
