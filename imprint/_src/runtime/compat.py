"""The one import of jaxlib, and differences between its releases.

`engine` is jaxlib's extension module; the other files of `runtime` take it from here. It
has no types, so it is `Any`, and `runtime` types the results. Loading it starts no thread
and no device. Nothing in `runtime` may call functions that import `jax` from C++: `_arrays`, `_single_device_array_to_np_array_did_copy`, Python functions
as result handlers, importing DLPack. The four shims below go when jaxlib 0.11 is the oldest
supported release.
"""

import ctypes
import os
import sys
import threading
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.dtypes import DType

# Read once, when the extension is loaded; unset, every start prints two log lines.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

# By `import_module`, because it must follow the line above and has no type stubs.
engine: Final[Any] = import_module("jaxlib._jax")
jaxlib_version: Final[str] = import_module("jaxlib.version").__version__
jaxlib_release: Final = tuple(int(n) for n in jaxlib_version.split(".")[:2])
"""The first two numbers of the version: (0, 12)."""
_modern: Final = jaxlib_release >= (0, 11)
VECTORIZES_SUMS: Final = jaxlib_release >= (0, 12)
"""Whether XLA computes a function whose result is summed, such as a sine, by vectors."""

EngineError: Final[type[RuntimeError]] = engine.JaxRuntimeError
"""The error of the engine: a `RuntimeError` whose text begins with a status code."""
ExecuteResults: Final[Any] = engine.ExecuteResults
"""The class of the results of an execution."""


def hlo() -> Any:
    """Return the module of the engine for programs and shardings."""
    return import_module("jaxlib._hlo")


class _NoJax:
    """An importer that hides jax from some threads."""

    def __init__(self) -> None:
        self.threads: Final[set[int]] = set()

    def find_spec(self, name: str, *_: object) -> None:
        if name == "jax" and threading.get_ident() in self.threads:
            raise ModuleNotFoundError("jax is not asked for", name="jax")


_no_jax: Final = _NoJax()


@contextmanager
def without_jax() -> Generator[None]:
    """Keep this thread from importing jax, which parts of the engine do from C++.

    They need it for an aval, and continue without one if the import fails.
    """
    if "jax" in sys.modules:
        yield
        return
    if _no_jax not in sys.meta_path:
        sys.meta_path.insert(0, cast("Any", _no_jax))
    _no_jax.threads.add(threading.get_ident())
    try:
        yield
    finally:
        _no_jax.threads.discard(threading.get_ident())


def library_identity() -> str:
    """Return the size of the file of the engine, and a digest of its first and last part.

    The first part has the build identity of the linker. Two builds of one release have
    equal version numbers, and load each other's programs without an error.
    """
    path = Path(engine.__file__)
    path = next(iter(sorted(path.parent.glob("libjax_common.*"))), path)
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
        digest.update(file.read(_ENDS))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _ENDS))
        digest.update(file.read(_ENDS))
    return f"{size} bytes, {digest.hexdigest()}"


_ENDS: Final = 1 << 16


# ---- shim 1, goes at 0.11: two attributes of shardings in Python ----


class _OldSingleDeviceSharding(engine.SingleDeviceSharding):
    """A sharding with the attributes that 0.10 reads."""

    memory_kind = None

    def _to_xla_hlo_sharding(self, _ndim: int) -> Any:
        return hlo().HloSharding.replicate()


class _OldSeveralDevicesSharding(engine.GSPMDSharding):
    """A sharding over several devices with the attributes that 0.10 reads."""

    memory_kind = None

    def _to_xla_hlo_sharding(self, _ndim: int) -> Any:
        return self._hlo_sharding


def several_devices_sharding(devices: Any, tiled: Any) -> Any:
    """Return the sharding of buffers with a shard on each device."""
    kind = engine.GSPMDSharding if _modern else _OldSeveralDevicesSharding
    return kind(devices, tiled)


def single_device_sharding(device: Any) -> Any:
    """Return the sharding of buffers on one device."""
    if _modern:
        return engine.SingleDeviceSharding(device)
    return _OldSingleDeviceSharding(device)


# ---- shim 2, goes at 0.11: a handler checks its aval by default ----


def result_handler(aval: Any, sharding: Any) -> Any:
    """Return a function that makes a buffer of a result of an execution."""
    skip_checks: dict[str, bool] = {} if _modern else {"_skip_checks": True}
    return engine.array_result_handler(aval, sharding, committed=True, **skip_checks)


# ---- shim 3, goes at 0.11: reading dtypes that NumPy does not define ----


def read_extended(buffer: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """Return the values, read-only, of a buffer whose dtype comes from ml_dtypes."""
    if _modern:
        return buffer._to_np_array_did_copy()[0]
    if dtype in _WIDER:
        wide = _widener(buffer.aval.shape, dtype, buffer._sharding._device)
        value = np.asarray(wide(buffer)).astype(dtype)
        value.flags.writeable = False
        return value
    buffer.block_until_ready()
    return _view(buffer, dtype)


# DLPack has no dtypes below a byte: XLA converts them to these, which NumPy reads.
_WIDER: Final = {
    dtypes.int2: ("i2", "i8", dtypes.int8),
    dtypes.int4: ("i4", "i8", dtypes.int8),
    dtypes.uint2: ("ui2", "ui8", dtypes.uint8),
    dtypes.uint4: ("ui4", "ui8", dtypes.uint8),
    dtypes.float4_e2m1fn: ("f4E2M1FN", "f32", dtypes.float32),
}


class _WideAval:
    """The attributes of an aval that a handler reads."""

    def __init__(self, shape: tuple[int, ...], dtype: DType) -> None:
        self.shape, self.dtype, self.weak_type = shape, dtype, False


@lru_cache(maxsize=64)
def _widener(shape: tuple[int, ...], dtype: DType, device: Any) -> Any:
    """Return the program that converts such a buffer to its wider dtype."""
    narrow, wide, wide_dtype = _WIDER[dtype]
    dims = "".join(f"{n}x" for n in shape)
    x, y = f"tensor<{dims}{narrow}>", f"tensor<{dims}{wide}>"
    text = (
        f"module @widen {{ func.func public @main(%x: {x}) -> {y} {{\n"
        f"%y = stablehlo.convert %x : ({x}) -> {y}\nreturn %y : {y} }} }}"
    )
    options = engine.CompileOptions()
    ids = np.array([[device.id]], np.int32)
    options.device_assignment = engine.DeviceAssignment.create(ids)
    executable = device.client.compile_and_load(
        text, engine.DeviceList((device,)), options
    )
    aval = _WideAval(shape, wide_dtype)
    handlers = [result_handler(aval, single_device_sharding(device))]

    def widen(buffer: Any) -> Any:
        return executable.execute_sharded([buffer]).consume_with_handlers(handlers)[0]

    return widen


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _MemoryView:
    """Memory for NumPy; an array over it keeps this alive, and this keeps the capsule."""

    def __init__(self, capsule: object, address: int, shape: tuple[int, ...], n: int):
        self.capsule = capsule
        self.__array_interface__: Final = {
            "version": 3,
            "shape": shape,
            "typestr": f"|V{n}",
            "data": (address, True),  # True: read-only
        }


def _view(buffer: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """Return a NumPy view of the memory, found by DLPack: exporting imports no jax.

    A DLTensor begins with `void* data` and has `uint64_t byte_offset` at byte 40.
    """
    capsule = engine.buffer_to_dlpack_managed_tensor(buffer)
    tensor = _capsule_pointer(capsule, b"dltensor")
    address = ctypes.c_uint64.from_address(tensor).value
    address += ctypes.c_uint64.from_address(tensor + 40).value
    exported = _MemoryView(capsule, address, buffer.aval.shape, dtype.itemsize)
    return np.asarray(exported).view(dtype)


# ---- shim 4, goes at 0.11: vectors of arc tangents are compiled wrongly ----


def corrections(module_text: str | bytes) -> list[tuple[str, str]]:
    """Return the options that avoid a wrong compilation of this program.

    0.10.2 makes `atan2(x, 1)` a call for a whole vector, whose two sides disagree on how
    a wide vector is passed: wrong values, at 512 bits a crash
    (https://github.com/jax-ml/jax/issues/39352). At 128 bits it calls for each element.
    """
    if _modern:
        return []
    text = module_text if isinstance(module_text, str) else module_text.decode("latin1")
    return [("xla_cpu_prefer_vector_width", "128")] if "atan" in text else []
