"""PJRT: devices, buffers and executables; the only package that knows jaxlib.

Nothing starts before the first use of a device. The order is `put`, `compile`,
`Executable`, `read`. The engine, which is XLA with PJRT, checks little and ends the process
when it is misused. The missing checks are made here, except on the warm path: the
docstrings of `Executable.call`, `host_call` and `unchecked_put` name the duties of callers.

- `compat`: differences between releases of jaxlib
- `client`: devices and the start of their client
- `plugins`: plug-ins of accelerators
- `options`: options of XLA and the identity of the machine
- `executable`: compilation and execution of programs
- `partition`: programs and arrays over several devices
- `lapack`: kernels of linear algebra
- `kernels`: native kernels
- `callbacks`: programs that call Python
- `arguments`: NumPy arrays as arguments without a put for each
- `transfer`: values between NumPy and devices
- `portable`: programs for other releases of XLA
- `profiling`: the engine's profiler
- `searching`: sizes of approximate searches
- `processes`: processes that compute together
- `buffer`: values on a device
"""

from imprint._src.runtime.arguments import HostCall, host_call
from imprint._src.runtime.buffer import (
    Aval,
    Buffer,
    block_until_ready,
    collect_garbage,
    cuda_interface,
    delete,
    is_deleted,
    is_ready,
    on_device_size,
    unsafe_pointer,
)
from imprint._src.runtime.callbacks import HostFunction
from imprint._src.runtime.client import (
    Device,
    change_calls,
    computes_on_cpu_only,
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
from imprint._src.runtime.compat import (
    VECTORIZES_SUMS,
    EngineError,
    ExecuteResults,
    library_identity,
)
from imprint._src.runtime.executable import (
    Executable,
    MemoryStats,
    Runnable,
    compile,  # noqa: A004 - the standard term
    deserialize,
    explain_execute_error,
    hlo_text,
)
from imprint._src.runtime.kernels import has_kernels, kernels_status
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
from imprint._src.runtime.profiling import (
    end_session,
    heap_profile,
    mark,
    profile_options,
    start_session,
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
    "VECTORIZES_SUMS",
    "Aval",
    "Buffer",
    "ClusterConfig",
    "CompileOptions",
    "Device",
    "EngineError",
    "Executable",
    "ExecuteResults",
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
    "change_calls",
    "collect_garbage",
    "compile",
    "computes_on_cpu_only",
    "copy_to",
    "cuda_interface",
    "default_backend",
    "default_device",
    "delete",
    "deserialize",
    "device_count",
    "devices",
    "end_session",
    "engine_version",
    "explain_execute_error",
    "first_device",
    "from_portable",
    "functions_of",
    "has_kernels",
    "has_started",
    "has_wide_vectors",
    "heap_profile",
    "hlo_text",
    "host_call",
    "identity",
    "is_deleted",
    "is_ready",
    "join",
    "joined",
    "kernels_status",
    "leave",
    "library_identity",
    "local_device_count",
    "local_devices",
    "mark",
    "named_sharding",
    "on_device_size",
    "process_count",
    "process_index",
    "process_indices",
    "profile_options",
    "put",
    "put_shards",
    "read",
    "refine_sizes",
    "shards_of",
    "split_address",
    "start_session",
    "to_portable",
    "unchecked_put",
    "unsafe_pointer",
]
