"""Plug-ins of GPUs and TPUs, and the start of their clients.

A plug-in is a library with the C interface of PJRT, in packages of exactly the release of
jaxlib. The Python of these packages imports jax, so they are found as files, and their
work is done here. Nothing is loaded before the first use of such a device.
"""

import ctypes
import os
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from imprint._src.runtime.compat import EngineError, engine, jaxlib_version
from imprint._src.runtime.processes import joined


class Plugin(NamedTuple):
    """An installed plug-in.

    Args:
        name: its name in the engine.
        library: its library.
        package: the package of the library.
        release: the release of the package, which must be that of jaxlib; None if any is
            right.
        kernels: the module with its kernels, if there is one.
    """

    name: str
    library: Path
    package: str
    release: str | None = None
    kernels: str | None = None


class UnavailableError(Exception):
    """The reason why a plug-in has no device; callers add the purpose."""


def start(backend: str) -> Any:
    """Return the client of a backend that is a plug-in: "gpu" or "tpu".

    Raises:
        UnavailableError: None is installed, it has another release, or it finds no device.
    """
    plugin = _FINDERS[backend]()
    wrong = _wrong(backend, plugin)
    if plugin is None or wrong is not None:
        raise UnavailableError(f"{wrong}, or leave the backend out: the CPU computes.")
    try:
        return _client(plugin)
    except EngineError as err:
        raise UnavailableError(
            f"expected {plugin.package} to find a device, got: "
            f"{str(err).splitlines()[0].rstrip('.')}. Check the driver and which devices "
            "it shows, or leave the backend out: the CPU computes."
        ) from err


def idle_gpu() -> str | None:
    """Return why a GPU of this machine cannot compute; None if it can, or there is none."""
    if not any(map(os.path.exists, _GPUS)):
        return None
    return _wrong("gpu", _cuda())


def _wrong(backend: str, plugin: Plugin | None) -> str | None:
    """Return the fault of a plug-in that is not loaded, and the remedy; None if none."""
    if plugin is None:
        return (
            f"expected a plug-in for the backend {backend!r}, found none. Install one with "
            f"`pip install '{_EXTRAS[backend]}'`"
        )
    if plugin.release in (None, jaxlib_version):
        return None
    return (
        f"expected {plugin.package} of jaxlib's release, {jaxlib_version}, found "
        f"{plugin.release}. Install it with `pip install "
        f"'{_WHOLE.get(plugin.package, plugin.package)}=={jaxlib_version}'`"
    )


def _client(plugin: Plugin) -> Any:
    _preload()
    if not engine.pjrt_plugin_loaded(plugin.name):
        interface = engine.load_pjrt_plugin(plugin.name, str(plugin.library), None)
        if plugin.kernels is not None:
            _register(plugin.kernels, interface)
    if not engine.pjrt_plugin_initialized(plugin.name):
        engine.initialize_pjrt_plugin(plugin.name)
    client = import_module("jaxlib.xla_client")
    if plugin.name != "cuda":
        return client.make_c_api_client(plugin.name, {}, None)
    options = client.generate_pjrt_gpu_plugin_options()  # memory, by the environment
    processes = joined()
    if processes is None:
        return client.make_c_api_client(plugin.name, options, None)
    config = processes.config  # NCCL finds the GPUs of the others by it
    options |= {"node_id": config.index, "num_nodes": config.count}
    if config.gpus is not None:
        options["visible_devices"] = list(config.gpus)
    return client.make_c_api_client(plugin.name, options, processes.client)


def _register(package: str, interface: Any) -> None:
    """Register the kernels and types of a plug-in under the names in programs."""
    kernels = import_module(f"{package}.cuda_plugin_extension")
    client = import_module("jaxlib.xla_client")
    client.register_custom_type_handler(
        "CUDA", partial(kernels.register_custom_type, interface)
    )
    client.register_custom_call_handler(
        "CUDA", partial(kernels.register_custom_call_target, interface)
    )
    for name, kind in kernels.ffi_types().items():
        client.register_custom_type(name, kind, platform="CUDA")
    for name, kernel in kernels.ffi_handlers().items():
        client.register_custom_call_target(name, kernel, platform="CUDA", api_version=1)


# ---- search ----


def _cuda() -> Plugin | None:
    spec = find_spec("jax_plugins")  # a package without code: this imports nothing
    roots = [] if spec is None else list(spec.submodule_search_locations or ())
    found = [
        path
        for root in roots
        for path in Path(root).glob("xla_cuda*/xla_cuda_plugin.so")
        if path.parent.name in _CUDA
    ]
    if not found:
        return None
    library = max(found, key=lambda path: path.parent.name)  # the newest CUDA
    package, kernels = _CUDA[library.parent.name]
    has_kernels = find_spec(kernels) is not None
    release = _release(package)
    return Plugin("cuda", library, package, release, kernels if has_kernels else None)


def _tpu() -> Plugin | None:
    given = os.environ.get("TPU_LIBRARY_PATH")
    if given:
        return Plugin("tpu", Path(given), "libtpu")
    spec = find_spec("libtpu")
    roots = [] if spec is None else list(spec.submodule_search_locations or ())
    found = [path for root in roots if (path := Path(root) / "libtpu.so").exists()]
    return Plugin("tpu", found[0], "libtpu") if found else None


def _release(package: str) -> str:
    from importlib import metadata  # noqa: PLC0415 - with email, 40 modules of an import

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "without a release"


def _preload() -> None:
    """Load the libraries of NVIDIA from their packages for the plug-in."""
    spec = find_spec("nvidia")
    for root in () if spec is None else spec.submodule_search_locations or ():
        for name in _NVIDIA:
            for path in sorted(Path(root).glob(f"*/lib/{name}")):
                ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


_GPUS: Final = ("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg")
"""Files on machines with a GPU of NVIDIA; the last one under WSL."""
_FINDERS: Final = {"gpu": _cuda, "tpu": _tpu}
BACKENDS: Final = tuple(_FINDERS)
"""The backends that are plug-ins."""
_CUDA: Final = {
    "xla_cuda12": ("jax-cuda12-pjrt", "jax_cuda12_plugin"),
    "xla_cuda13": ("jax-cuda13-pjrt", "jax_cuda13_plugin"),
}
_EXTRAS: Final = {"gpu": "imprint[cuda13]", "tpu": "libtpu"}
_WHOLE: Final = {
    "jax-cuda12-pjrt": "jax-cuda12-plugin[with-cuda]",
    "jax-cuda13-pjrt": "jax-cuda13-plugin[with-cuda]",
}
"""Requirements that install a plug-in with its kernels and the libraries of NVIDIA."""
_NVIDIA: Final = (
    *("libcudart.so.1?", "libnvrtc.so.1?", "libcublasLt.so.1?", "libcublas.so.1?"),
    *("libnccl.so.2", "libcupti.so.1?", "libnvJitLink.so.1?", "libcusparse.so.1?"),
    *("libcusolver.so.1?", "libcufft.so.1?", "libnvshmem_host.so.3", "libcudnn.so.9"),
)
"""In the order of their dependencies."""
