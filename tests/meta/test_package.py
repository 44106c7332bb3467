"""What ships and what an import costs: licence, types, version, modules, threads."""

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib

from tests.meta.sources import ROOT, committed_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

# Prints the modules that an import loaded, and the threads that run after it.
IMPORT = """
import json, os, sys
import {}
print(json.dumps([sorted(sys.modules), len(os.listdir("/proc/self/task"))]))
"""

# Each would cost the user more at import than imprint itself.
LATE = ("scipy", "rich", "sklearn", "PIL", "hypothesis", "pytest")

# Paths of one machine: they mean nothing anywhere else.
MACHINE = re.compile(rb"(?<![\w.])/(?:work|root|home)/|/tmp/(?:v|plan)\b")


def test_licence_and_types_ship():
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert PROJECT["license"] == "Apache-2.0"
    assert (ROOT / "imprint" / "py.typed").is_file()


def test_installed_version_is_the_one_of_pyproject():
    assert importlib.metadata.version("imprint") == PROJECT["version"]


def test_run_time_dependencies_are_those_of_the_design():
    names = {re.split(r"[><=!~ ]", need)[0] for need in PROJECT["dependencies"]}
    design = {"jaxlib", "numpy", "ml_dtypes", "optree", "platformdirs", "filelock"}
    assert names == design


def imported(module):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(module)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return json.loads(done.stdout)


def test_import_loads_no_jax_and_no_late_library():
    modules, _ = imported("imprint")
    roots = {name.split(".")[0] for name in modules}
    assert not roots.intersection({"jax", *LATE})


def test_import_starts_no_thread_beside_those_of_numpy():
    _, threads = imported("imprint")
    _, threads_of_numpy = imported("numpy")
    assert threads == threads_of_numpy


def test_no_committed_file_names_a_machine_path():
    named = [
        path.relative_to(ROOT).as_posix()
        for path in committed_files()
        if path.is_file() and MACHINE.search(path.read_bytes())
    ]
    assert not named
