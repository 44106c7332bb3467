"""PJRT: devices, buffers and executables; the only package that knows jaxlib.

Nothing starts before the first question for a device. A value goes `put`, `compile`,
`Executable`, `read`. The engine checks little and ends the process when it is misused;
what it leaves out is checked here, except on the warm path: `Executable.call`,
`host_call` and `unchecked_put` say what their caller must have checked.

- `compat`: what do the releases of jaxlib do differently?
- `client`: which devices are there, and when does their client start?
- `plugins`: which accelerators have a plug-in, and how does it start?
- `options`: how is a program compiled on this machine?
- `executable`: how is a program compiled, and run on buffers?
- `partition`: how are programs and arrays spread over several devices?
- `lapack`: what makes the kernels of linear algebra ready?
- `callbacks`: how does a program call Python, and raise what that raises?
- `arguments`: how does a call take NumPy arrays without putting each?
- `transfer`: how does a value get to a device, and back?
- `portable`: how does a program go to other releases of the engine?
- `searching`: how many results does an approximate search give?
- `processes`: how do processes that compute together meet, and who is alive?
- `buffer`: what may be asked of a value on a device?
"""

from imprint._src.runtime.arguments import HostCall, host_call
from imprint._src.runtime.buffer import (
    Aval,
    Buffer,
    block_until_ready,
    collect_garbage,
    delete,
    is_deleted,
    is_ready,
    on_device_size,
)
from imprint._src.runtime.callbacks import HostFunction
from imprint._src.runtime.client import (
    Device,
    default_backend,
    default_device,
    device_count,
    devices,
    first_device,
    has_started,
    local_device_count,
    local_devices,
    process_count,
    process_index,
    process_indices,
)
from imprint._src.runtime.compat import EngineError
from imprint._src.runtime.executable import (
    Executable,
    MemoryStats,
    Runnable,
    compile,  # noqa: A004 - the word of the field
    deserialize,
    explain_execute_error,
    hlo_text,
)
from imprint._src.runtime.options import (
    CompileOptions,
    OptionValue,
    engine_version,
    has_wide_vectors,
    identity,
)
from imprint._src.runtime.partition import (
    Partition,
    Place,
    named_sharding,
    put_shards,
    shards_of,
)
from imprint._src.runtime.portable import (
    from_portable,
    functions_of,
    refine_sizes,
    to_portable,
)
from imprint._src.runtime.processes import (
    ClusterConfig,
    Processes,
    join,
    joined,
    leave,
    split_address,
)
from imprint._src.runtime.searching import approximate_count
from imprint._src.runtime.transfer import (
    UncheckedPut,
    copy_to,
    put,
    read,
    unchecked_put,
)

__all__ = [
    "Aval",
    "Buffer",
    "ClusterConfig",
    "CompileOptions",
    "Device",
    "EngineError",
    "Executable",
    "HostCall",
    "HostFunction",
    "MemoryStats",
    "OptionValue",
    "Partition",
    "Place",
    "Processes",
    "Runnable",
    "UncheckedPut",
    "approximate_count",
    "block_until_ready",
    "collect_garbage",
    "compile",
    "copy_to",
    "default_backend",
    "default_device",
    "delete",
    "deserialize",
    "device_count",
    "devices",
    "engine_version",
    "explain_execute_error",
    "first_device",
    "from_portable",
    "functions_of",
    "has_started",
    "has_wide_vectors",
    "hlo_text",
    "host_call",
    "identity",
    "is_deleted",
    "is_ready",
    "join",
    "joined",
    "leave",
    "local_device_count",
    "local_devices",
    "named_sharding",
    "on_device_size",
    "process_count",
    "process_index",
    "process_indices",
    "put",
    "put_shards",
    "read",
    "refine_sizes",
    "shards_of",
    "split_address",
    "to_portable",
    "unchecked_put",
]
