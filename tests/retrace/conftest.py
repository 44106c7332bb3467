import pytest

import imprint
from imprint._src import runtime


@pytest.fixture(autouse=True)
def _no_versions():
    """Equal functions share versions, so a count starts from none."""
    imprint.clear_caches()


@pytest.fixture(scope="module")
def kept_executables():
    """Keep what was compiled: while it is in use, programs of equal text share it."""
    kept = []
    compile_one = runtime.compile

    def compile_and_keep(*args):
        kept.append(compile_one(*args))
        return kept[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "compile", compile_and_keep)
        yield
