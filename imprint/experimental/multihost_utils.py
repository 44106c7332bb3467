"""Exchange of host values between processes."""

from imprint._src.bootstrap import attribute_errors
from imprint._src.experimental.multihost_utils import assert_equal as assert_equal
from imprint._src.experimental.multihost_utils import (
    broadcast_one_to_all as broadcast_one_to_all,
)
from imprint._src.experimental.multihost_utils import (
    process_allgather as process_allgather,
)
from imprint._src.experimental.multihost_utils import (
    sync_global_devices as sync_global_devices,
)

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "process_allgather",
    "sync_global_devices",
]

attribute_errors.explain_missing(__name__)
