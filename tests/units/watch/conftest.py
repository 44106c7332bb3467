"""Guards are tried in both forms: comparing place by place, and written."""

import pytest

from imprint.watch import guard


@pytest.fixture(params=["compared", "written"], autouse=True)
def _form(request, monkeypatch):
    """Have guards that were asked once compare the next time, or be written by then."""
    if request.param == "written":
        monkeypatch.setattr(guard, "_WRITTEN_AT", 1)
