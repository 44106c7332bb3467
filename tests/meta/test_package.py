"""Contents of the distribution and costs of imports: modules and threads."""

import ast
import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib

import pytest

from tests.meta.sources import EXAMPLES, PACKAGE, ROOT, committed_files

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]

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


def test_the_source_distribution_has_the_whole_project():
    included = SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    tops = {path.relative_to(ROOT).parts[0] for path in committed_files()}
    # hatchling adds these two.
    assert tops - {".gitignore", "pyproject.toml"} == {x.strip("/") for x in included}


def test_installed_version_is_the_one_of_pyproject():
    assert importlib.metadata.version("imprint") == PROJECT["version"]


def distributions(needs):
    """Return the names of requirements, without versions and extras of our own."""
    names = {re.split(r"[\[><=!~ ]", need)[0] for need in needs}
    return names - {"imprint"}


def test_run_time_dependencies_are_those_of_the_design():
    names = distributions(PROJECT["dependencies"])
    assert names == {"jaxlib", "ml_dtypes", "numpy", "optree", "scipy"}


def loaded_names(source):
    """Yield the modules that a file imports, by statement or by name, in any place."""
    for node in source.nodes(ast.Import):
        yield from (alias.name for alias in node.names)
    for node in source.nodes(ast.ImportFrom):
        yield node.module
    for call in source.nodes(ast.Call):
        if getattr(call.func, "id", "") in ("import_module", "extra"):
            (name,) = call.args
            if isinstance(name, ast.Constant):
                yield name.value


def needed_by(sources):
    """Return the distributions, but for Python and this project, that files import from."""
    roots = {name.split(".")[0] for s in sources for name in loaded_names(s)}
    foreign = roots - sys.stdlib_module_names - {"examples", "imprint"}
    homes = importlib.metadata.packages_distributions()
    return {root: set(homes[root]) for root in foreign}


def test_each_run_time_dependency_is_imported_by_the_package():
    library = [s for s in PACKAGE if not str(s).startswith("imprint/_src/cli/")]
    imported_from = set().union(*needed_by(library).values())
    assert distributions(PROJECT["dependencies"]) <= imported_from


def test_each_import_of_the_package_is_a_declared_dependency():
    extras = PROJECT["optional-dependencies"]
    needs = distributions(PROJECT["dependencies"])
    for name in ("export", "remote", "safetensors", "signed"):  # on request
        needs |= distributions(extras[name])
    library = [s for s in PACKAGE if not str(s).startswith("imprint/_src/cli/")]
    for name, homes in needed_by(library).items():
        assert needs & homes, f"{name} is imported, and no dependency has it"
    needs |= distributions(extras["cli"])
    for name, homes in needed_by(PACKAGE).items():
        assert needs & homes, f"{name} is imported by the command, and no extra has it"


def test_each_import_of_the_examples_is_in_the_extra_demo():
    extra = distributions(PROJECT["optional-dependencies"]["demo"])
    needs = distributions(PROJECT["dependencies"]) | extra
    needs |= {"jax"}  # Equinox needs it, and `as_jax` stands for it
    homes = needed_by(EXAMPLES)
    for name, found in homes.items():
        assert needs & found, f"{name} is imported by an example, and no extra has it"
    assert extra <= set().union(*homes.values())


@pytest.mark.parametrize("module", ["jax", "matplotlib"])
def test_benchmarks_without_a_package_name_the_extra(module):
    program = f"import sys; sys.modules['{module}'] = None; import benchmarks.pictures"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "benchmarks: expected the packages of the extra [bench], got import of "
        f"{module} halted; None in sys.modules. Install them: pip install '.[bench]'.\n"
    )


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


def test_import_starts_only_the_threads_of_numpy():
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
