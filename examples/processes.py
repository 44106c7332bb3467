"""The environment of processes that the demo starts.

They import the examples and the imprint of this checkout from any directory.
"""

import os
from pathlib import Path
from typing import Final

_ROOT: Final = str(Path(__file__).resolve().parents[1])


def environment(**settings: str) -> dict[str, str]:
    """Return this process's environment with settings and the path of the examples."""
    paths = filter(None, (_ROOT, os.environ.get("PYTHONPATH")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **settings}
