"""Marks that several files of this folder use."""

import sys

import pytest

executed_code_is_known = pytest.mark.skipif(
    sys.version_info < (3, 12),
    reason="without `sys.monitoring`, all reachable code counts as executed",
)
