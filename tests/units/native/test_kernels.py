"""The library of kernels: its interface, when it is loaded, and programs on the disk."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import jaxlib
import pytest

from imprint import debug
from imprint._src import runtime
from imprint._src.native import kernels
from imprint.errors import CompileError

ROOT = Path(__file__).parents[3]
needs_kernels = pytest.mark.skipif(
    not runtime.has_kernels(), reason=runtime.kernels_status()
)


def run(code, **environ):
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_environment_says_whether_they_are_loaded():
    status = debug.environment()["kernels"]
    assert (status == "loaded") is runtime.has_kernels()


# ---- XLA's interface ----

FIELDS = """
Buffer XLA_FFI_Buffer struct_size dtype data rank dims
CallFrame XLA_FFI_CallFrame struct_size extension_start api stage args rets
Buffers XLA_FFI_Args struct_size size types
Buffers XLA_FFI_Rets struct_size size types
Version XLA_FFI_Api_Version struct_size extension_start major_version minor_version
Metadata XLA_FFI_Metadata struct_size api_version
MetadataExtension XLA_FFI_Metadata_Extension metadata
ErrorCreate XLA_FFI_Error_Create_Args struct_size extension_start message
Api XLA_FFI_Api struct_size extension_start api_version internal_api
"""
PAIRS = """
offsetof(xla_ffi::CallFrame, context) == offsetof(XLA_FFI_CallFrame, ctx)
offsetof(xla_ffi::Buffers, items) == offsetof(XLA_FFI_Args, args)
offsetof(xla_ffi::Buffers, items) == offsetof(XLA_FFI_Rets, rets)
offsetof(xla_ffi::ErrorCreate, code) == offsetof(XLA_FFI_Error_Create_Args, errc)
offsetof(xla_ffi::Api, error_create) == offsetof(XLA_FFI_Api, XLA_FFI_Error_Create)
sizeof(xla_ffi::Extension) == offsetof(XLA_FFI_Metadata_Extension, metadata)
sizeof(xla_ffi::Buffers) == sizeof(XLA_FFI_Args)
sizeof(xla_ffi::Buffers) == sizeof(XLA_FFI_Rets)
sizeof(xla_ffi::Version) == sizeof(XLA_FFI_Api_Version)
sizeof(XLA_FFI_DataType) == sizeof(int)
xla_ffi::kMetadata == XLA_FFI_Extension_Metadata
xla_ffi::kMajor == XLA_FFI_API_MAJOR
xla_ffi::kMinor <= XLA_FFI_API_MINOR
xla_ffi::kS32 == XLA_FFI_DataType_S32
xla_ffi::kS64 == XLA_FFI_DataType_S64
xla_ffi::kU32 == XLA_FFI_DataType_U32
xla_ffi::kU64 == XLA_FFI_DataType_U64
xla_ffi::kF32 == XLA_FFI_DataType_F32
xla_ffi::kF64 == XLA_FFI_DataType_F64
"""


@pytest.mark.skipif(which("c++") is None, reason="no C++ compiler")
def test_the_interface_is_that_of_the_header(tmp_path):
    equal = PAIRS.strip().splitlines()
    for line in FIELDS.strip().splitlines():
        ours, theirs, *fields = line.split()
        equal += [
            f"offsetof(xla_ffi::{ours}, {field}) == offsetof({theirs}, {field})"
            for field in fields
        ]
    source = tmp_path / "interface.cc"
    source.write_text(
        '#include "xla/ffi/api/c_api.h"\n#include "ffi.h"\n'
        + "".join(f'static_assert({condition}, "");\n' for condition in equal)
    )
    include = Path(jaxlib.__file__).parent / "include"
    folders = [f"-I{include}", f"-I{kernels.KERNELS.parent}"]
    done = subprocess.run(
        [
            "c++",
            "-std=c++17",
            "-Wno-invalid-offsetof",
            "-fsyntax-only",
            *folders,
            source,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# ---- when they are loaded ----


@pytest.fixture
def fresh():
    kernels.load.cache_clear()
    yield
    kernels.load.cache_clear()


@needs_kernels
def test_a_binary_of_another_source_is_refused(fresh, monkeypatch):
    monkeypatch.setattr(kernels, "source", lambda: "another")
    loaded = kernels.load()
    assert not loaded.handlers
    assert loaded.status.startswith("not loaded: they were built from another source")


def test_a_file_that_is_no_library_is_refused(fresh, monkeypatch, tmp_path):
    monkeypatch.delenv("IMPRINT_NATIVE", raising=False)
    path = tmp_path / "kernels.so"
    monkeypatch.setattr(kernels, "KERNELS", path)
    assert kernels.load().status == "not built: there was no C++ compiler"
    path.write_bytes(b"text")
    kernels.load.cache_clear()
    assert kernels.load().status.startswith("not loaded: ")


def test_a_program_that_names_one_that_is_not_there(monkeypatch):
    none = kernels.Kernels({}, "not built: there was no C++ compiler")
    monkeypatch.setattr(kernels, "load", lambda: none)
    monkeypatch.setattr(runtime.kernels, "_ready", [])
    text = (
        "func.func public @main(%x: tensor<1x2x1xf32>) -> tensor<1x1xi32> {\n"
        "%y = stablehlo.custom_call @imprint_kernel_argmax(%x) {api_version = 4 : i32} "
        ": (tensor<1x2x1xf32>) -> tensor<1x1xi32>\nreturn %y : tensor<1x1xi32> }"
    )
    with pytest.raises(CompileError) as caught:
        runtime.compile(text, [])
    assert str(caught.value) == (
        "compile: expected a program without native kernels, which are not there (not "
        "built: there was no C++ compiler), got one that calls them. Lower it again "
        "where it shall run, or with compiler_options={'formulations': 'plain'}."
    )


# ---- programs on the disk ----

PROGRAM = """
import imprint, numpy as np
from imprint._src.jit.compilation.counters import COUNTERS
f = imprint.jit(lambda x: imprint.numpy.argmax(x))
x = np.arange(1000, dtype=np.float32)
print(f(x), COUNTERS.compiles, COUNTERS.loads, COUNTERS.lowerings)
"""


@needs_kernels
def test_another_process_loads_a_program_and_its_kernels(tmp_path):
    here = {"IMPRINT_CACHE_DIR": str(tmp_path), "IMPRINT_CACHE": "write"}
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    code = f"import runpy; runpy.run_path({str(script)!r})"
    assert run(code, **here) == "999 1 0 1"
    assert run(code, **here) == "999 0 1 0"  # no trace and no lowering
    assert run(code, **here, IMPRINT_NATIVE="0") == "999 1 0 1"  # another program
    assert run(code, **here, IMPRINT_NATIVE="0") == "999 0 1 0"


@needs_kernels
def test_they_are_loaded_for_programs_alone():
    code = (
        "import imprint\n"
        "from imprint._src.native import kernels\n"
        "imprint.numpy.ones(3) + 1\n"
        "print(kernels.load.cache_info().currsize)"
    )
    assert run(code) == "0"


SPREAD = """
import imprint, numpy as np
from imprint.sharding import NamedSharding, PartitionSpec as P
mesh = imprint.make_mesh((2,), ("a",))
x = imprint.device_put(np.arange(128, dtype=np.float32), NamedSharding(mesh, P("a")))
f = imprint.jit(imprint.numpy.argmax)
rows = x.reshape(2, 64)
each = imprint.shard_map(
    lambda x: imprint.numpy.argmax(x, 1), mesh=mesh, in_specs=P("a"), out_specs=P("a")
)
texts = f.lower(x).as_text() + imprint.jit(each).lower(rows).as_text()
print(f(x), imprint.jit(each)(rows), each(rows), "imprint_kernel" in texts)
"""


@needs_kernels
def test_a_program_of_many_devices_calls_none():
    assert run(SPREAD, IMPRINT_NUM_CPU_DEVICES="2") == "127 [63 63] [63 63] False"
