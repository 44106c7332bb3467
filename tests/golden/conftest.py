"""Golden files: texts that are reviewed like code.

`golden(name, text)` compares with tests/golden/<name>; `pytest --update-golden` rewrites
the files instead. Paths of this checkout and addresses are taken out of the text.
"""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def golden(request):
    def check(name, text):
        text = text.replace(f"{HERE}/", "").rstrip() + "\n"
        text = re.sub(r" at 0x[0-9a-f]+", " at 0x…", text)
        path = HERE / name
        if request.config.getoption("--update-golden"):
            path.write_text(text)
        assert path.exists(), f"no {name}: run pytest --update-golden and review it"
        assert text == path.read_text()

    return check
