"""Programs of several processes: connection and communication.

Each process calls `initialize` before it uses a device. Then `imprint.devices()` are
those of all processes, and one program runs on all of them: on the CPU by gloo. Under
SLURM, Open MPI and Kubernetes, `initialize` finds the other processes by itself.
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.distributed.joining import initialize as initialize
from imprint._src.distributed.joining import is_initialized as is_initialized
from imprint._src.distributed.joining import shutdown as shutdown
from imprint._src.distributed.store import KeyValueStore as KeyValueStore
from imprint._src.distributed.store import key_value_store as key_value_store

__all__ = [
    "KeyValueStore",
    "initialize",
    "is_initialized",
    "key_value_store",
    "shutdown",
]

attribute_errors.explain_missing(__name__)
