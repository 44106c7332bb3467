import pytest

import imprint
from tests.sharing import shared_executables


@pytest.fixture(autouse=True)
def _no_versions():
    """Clear the caches: equal functions share versions, so a count starts from none."""
    imprint.clear_caches()


@pytest.fixture(autouse=True, scope="module")
def _shared_executables():
    """Compile equal programs once, also where no version keeps the executable."""
    with shared_executables():
        yield
