import pytest

import imprint


@pytest.fixture(autouse=True)
def _no_versions():
    """Clear the caches: equal functions share versions, so a count starts from none."""
    imprint.clear_caches()
