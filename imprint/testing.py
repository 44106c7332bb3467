"""Tools for the tests of programs that use imprint.

The pytest plugin, `pytest_imprint`, provides the limit on compiles as a marker and a
fixture, and reports the compiles of each test. It turns the persistent cache off, so that
no test depends on earlier runs; the fixture `imprint_store` is an empty one.
"""

from imprint._src.testing.compiles import Compiles as Compiles
from imprint._src.testing.compiles import max_compiles as max_compiles
from imprint._src.testing.gradients import check_grads as check_grads
from imprint._src.testing.stores import empty_store as empty_store

__all__ = ["check_grads", "empty_store", "max_compiles"]
