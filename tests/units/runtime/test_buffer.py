import gc
import re
import weakref

import numpy as np
import pytest

from imprint._src import runtime
from imprint.errors import DeletedArrayError
from tests.units.runtime.programs import F4, put

QUESTIONS = {
    "is_ready": runtime.is_ready,
    "block_until_ready": runtime.block_until_ready,
    "on_device_size": runtime.on_device_size,
    "numpy.asarray": lambda buffer: runtime.read(buffer, F4),
}


@pytest.fixture
def live():
    """Count the buffers that the engine holds."""
    client = runtime.devices()[0].client
    gc.collect()
    return lambda: len(client.live_arrays())


def test_a_live_buffer_answers():
    x = put(np.ones(4, np.float32))
    runtime.block_until_ready(x)
    assert runtime.is_ready(x)
    assert not runtime.is_deleted(x)
    assert runtime.on_device_size(x) == 16


@pytest.mark.parametrize("asked", QUESTIONS)
def test_a_deleted_buffer_raises(asked):
    x = put(np.ones(4, np.float32))
    runtime.delete(x)
    runtime.delete(x)
    assert runtime.is_deleted(x)
    message = (
        f"{asked}: expected a live array, got float32[4], which was deleted or donated. "
        "Use the result of the call that took it, or do not donate it."
    )
    with pytest.raises(DeletedArrayError, match=f"^{re.escape(message)}$"):
        QUESTIONS[asked](x)


def test_a_buffer_is_freed_when_the_last_reference_goes(live):
    before = live()
    x = put(np.ones(4, np.float32))
    gone = weakref.ref(x)
    assert live() == before + 1
    del x
    assert gone() is None
    assert live() == before


def test_a_view_keeps_the_memory_of_a_dropped_buffer():
    value = runtime.read(put(np.arange(4, dtype=np.float32)), F4)
    others = [put(np.full(4, 9, np.float32)) for _ in range(100)]
    np.testing.assert_array_equal(value, [0, 1, 2, 3])
    del others
