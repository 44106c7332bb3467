"""Builds the native core, where there is a C compiler.

A hook of hatchling: wheels contain the extension; of an editable install it lies beside its
source. Without a compiler, or where it fails, the package has none, and its calls run in
Python. `python hatch_build.py` builds it in place, for the Python that runs it.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
from hashlib import blake2b
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "imprint" / "_src" / "native"


def build() -> Path:
    """Compile the extension beside its source, and return it."""
    import numpy  # noqa: PLC0415 - for the build alone

    source = FOLDER / "core.c"
    target = FOLDER / f"core{sysconfig.get_config_var('EXT_SUFFIX')}"
    texts = [part.read_bytes() for part in sorted(FOLDER.glob("*.c"))]
    identity = blake2b(b"".join(texts), digest_size=16).hexdigest()
    variables = sysconfig.get_config_vars()
    made = target.with_suffix(".tmp")  # replaced at once: a process may have it loaded
    linker = shlex.split(variables["LDSHARED"])
    compiler = shlex.split(os.environ.get("CC", ""))  # instead of Python's own
    command = [
        *(compiler + linker[1:] if compiler else linker),
        *shlex.split(variables["CCSHARED"] or ""),
        *(
            "-O2",
            "-std=c11",
            "-fvisibility=hidden",
            "-Werror=implicit-function-declaration",
        ),
        f'-DIMPRINT_SOURCE="{identity}"',
        *(f"-I{sysconfig.get_path('include')}", f"-I{numpy.get_include()}"),
        *(str(source), "-o", str(made)),
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    made.replace(target)
    return target


def try_build() -> Path | None:
    """Compile the extension; say why it could not be, and return None."""
    try:
        return build()
    except (OSError, ImportError, KeyError, TypeError) as err:
        reason = str(err)
    except subprocess.CalledProcessError as err:
        reason = err.stderr
    print(f"imprint: no native core, calls run in Python: {reason}", file=sys.stderr)
    return None


if __name__ == "__main__":
    sys.exit(try_build() is None)

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:
    BuildHookInterface = object


class NativeBuildHook(BuildHookInterface):
    """Builds the extension and adds it to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it, before the files of the wheel are collected."""
        made = try_build()
        if made is not None and version != "editable":
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"] += [str(made.relative_to(Path(self.root)))]
