"""The laws run with 64-bit dtypes on: every dtype, and differences in float64."""

import pytest

from imprint._src.config import enable_x64


@pytest.fixture(autouse=True)
def _x64():
    with enable_x64(True):
        yield
