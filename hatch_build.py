"""Builds the native core and the kernels, where there is a compiler.

A hook of hatchling: wheels contain both; of an editable install they lie beside their
sources. Without a compiler, or where it fails, the package has none: calls run in Python,
and XLA computes everything. `python hatch_build.py` builds them in place: the core for the
Python that runs it, the kernels for every Python of the platform. A third, `direct`, is a study
for x86-64 alone.
"""

import os
import platform
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).parent / "imprint" / "_src" / "native"
KERNELS = FOLDER / "kernels"
LEVELS = {
    "avx2": "-mavx2 -mfma -mbmi -mbmi2",
    "avx512": "-mavx2 -mfma -mbmi -mbmi2 "
    "-mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl",
}
"""Instruction sets of x86-64, besides the baseline; `library.cc` chooses."""


def build_core() -> Path:
    """Compile the core, an extension of Python, and return it."""
    return _build_extension("core")


def build_direct() -> Path:
    """Compile the extension that calls small programs, for x86-64 alone, and return it."""
    return _build_extension("direct")


def _build_extension(name: str) -> Path:
    """Compile an extension beside its source, and return it."""
    import numpy  # noqa: PLC0415 - for the build alone

    source = FOLDER / f"{name}.c"
    target = FOLDER / f"_{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    texts = [part.read_bytes() for part in sorted(FOLDER.glob("*.c"))]
    identity = blake2b(b"".join(texts), digest_size=16).hexdigest()
    variables = sysconfig.get_config_vars()
    made = target.with_suffix(".tmp")  # replaced at once: a process may have it loaded
    linker = shlex.split(variables["LDSHARED"])
    compiler = shlex.split(os.environ.get("CC", ""))  # instead of Python's own
    _run(
        *(compiler + linker[1:] if compiler else linker),
        *shlex.split(variables["CCSHARED"] or ""),
        *(
            "-O2",
            "-DNDEBUG",  # else the macros of Python's headers check their arguments
            "-std=c11",
            "-fvisibility=hidden",
            "-Werror=implicit-function-declaration",
        ),
        f'-DIMPRINT_SOURCE="{identity}"',
        *(f"-I{sysconfig.get_path('include')}", f"-I{numpy.get_include()}"),
        *(str(source), "-o", str(made)),
    )
    made.replace(target)
    return target


def build_kernels() -> Path:
    """Compile the kernels, once for each instruction set, and return their library."""
    sources = sorted(KERNELS.glob("*.h")) + sorted(KERNELS.glob("*.cc"))
    text = b"".join(path.read_bytes() for path in sources)
    identity = blake2b(text, digest_size=16).hexdigest()
    levels = {"baseline": ""}
    if platform.machine().lower() in ("x86_64", "amd64"):
        levels |= LEVELS
    compiler = _cxx()
    flags = (
        *("-O3", "-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off"),
        "-fno-math-errno",
        *(
            "-fno-exceptions",
            "-fno-rtti",
            "-Wall",
            "-Wno-psabi",
            "-Wno-ignored-attributes",
        ),
    )
    target = KERNELS / "kernels.ffi.so"  # no name of a module
    with TemporaryDirectory(dir=KERNELS) as folder:
        objects = [str(Path(folder) / f"{level}.o") for level in levels]
        for (level, options), made in zip(levels.items(), objects, strict=True):
            named = f"-DIMPRINT_LEVEL={level}", *shlex.split(options)
            _run(
                *compiler, *flags, *named, "-c", str(KERNELS / "kernels.cc"), "-o", made
            )
        made = str(Path(folder) / "kernels.so")
        identified = f'-DIMPRINT_SOURCE="{identity}"'
        library = str(KERNELS / "library.cc")
        _run(*compiler, *flags, identified, "-shared", library, *objects, "-o", made)
        Path(made).replace(target)
    return target


def _cxx() -> list[str]:
    """Return the command of the C++ compiler.

    Raises:
        OSError: there is none.
    """
    named = os.environ.get("CXX")
    if named:
        return shlex.split(named)
    found = next(filter(None, map(which, ("c++", "g++", "clang++"))), None)
    if found is None:
        raise OSError("there is no C++ compiler")
    return [found]


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


def try_build(build: Callable[[], Path], without: str) -> Path | None:
    """Run a build; say why it failed, and return None."""
    try:
        return build()
    except (OSError, ImportError, KeyError, TypeError) as err:
        reason = str(err)
    except subprocess.CalledProcessError as err:
        reason = err.stderr
    print(f"imprint: {without}: {reason}", file=sys.stderr)
    return None


def try_build_all() -> list[Path]:
    """Build what can be built, and return it."""
    built = (
        try_build(build_core, "no native core, calls run in Python"),
        try_build(build_kernels, "no kernels, XLA computes everything"),
        try_build(build_direct, "small programs run on the engine"),
    )
    return [path for path in built if path is not None]


if __name__ == "__main__":
    made = {path.name.partition(".")[0] for path in try_build_all()}
    sys.exit(not {"_core", "kernels"} <= made)

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:
    BuildHookInterface = object


class NativeBuildHook(BuildHookInterface):
    """Builds both and adds them to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build them, before the files of the wheel are collected."""
        built = try_build_all()
        if built and version != "editable":
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"] += [
                str(path.relative_to(Path(self.root))) for path in built
            ]
