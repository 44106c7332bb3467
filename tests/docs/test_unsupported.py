"""Each public name of JAX is here, or has a row with its replacement."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import equinox
import numpy as np
import optax
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.core import array
from imprint._src.diagnostics import unsupported
from imprint._src.diagnostics.unsupported import MODELS, NUMPY
from tests.docs import reference
from tests.docs.test_advice import NAME, exists
from tests.oracle import jax

MODULES = [home for home in unsupported.ABSENT if home != "Array"]
OF_MODELS = [(library, home) for library in MODELS for home in MODELS[library]]
ROWS = [(home, *row) for home in unsupported.ABSENT for row in unsupported.rows(home)]
ROWS += [(home, *row) for home in NUMPY for row in unsupported.rows(home, "NumPy")]
ROWS += [(at[1], *row) for at in OF_MODELS for row in unsupported.rows(at[1], at[0])]
ARRAYS = (inp.ones(2), inp.float32(1))


DOCUMENTED = {
    "imprint.experimental.multihost_utils": (
        "assert_equal broadcast_one_to_all global_array_to_host_local_array "
        "host_local_array_to_global_array live_devices process_allgather "
        "reached_preemption_sync_point sync_global_devices ProcessFailureError"
    ),
    "imprint.experimental.mesh_utils": (
        "create_device_mesh create_hybrid_device_mesh device_kind_handler_dict"
    ),
}
"""The public names of modules of JAX's that also hold what they import."""


def names_of_jax(home):
    if home in DOCUMENTED:
        return {*DOCUMENTED[home].split()}
    face = importlib.import_module(home.replace("imprint", "jax"))
    parts = [part.name for part in pkgutil.iter_modules(getattr(face, "__path__", []))]
    return {name for name in [*dir(face), *parts] if name[0] != "_"}


@pytest.mark.parametrize("home", MODULES)
def test_each_name_of_jax_is_here_or_has_a_row(home):
    face = importlib.import_module(home)
    rows = dict(unsupported.rows(home))
    lacking = {name for name in names_of_jax(home) if not hasattr(face, name)}
    assert sorted(lacking - set(rows)) == [], (
        "write a row in _src/diagnostics/unsupported.py"
    )
    here = {name for name in rows if hasattr(face, name)}
    assert sorted(here) == [], (
        "take the name off its row in _src/diagnostics/unsupported.py"
    )


def names_of_model(library, home):
    """Return the names of a library that are neither modules nor states of optax's."""
    face = {
        "imprint": equinox,
        "imprint.nn": equinox.nn,
        "imprint.optim": optax,
    }[home]
    names = {name for name in vars(face) if name[0] != "_"}
    names -= {name for name in names if inspect.ismodule(vars(face)[name])}
    return {n for n in names if n.islower()} if library == "optax" else names


@pytest.mark.parametrize(("library", "home"), OF_MODELS)
def test_each_name_of_a_model_is_here_or_has_a_row(library, home):
    face = importlib.import_module(home)
    rows = dict(unsupported.rows(home, library))
    lacking = {n for n in names_of_model(library, home) if not hasattr(face, n)}
    assert sorted(lacking ^ set(rows)) == [], "write or take rows in unsupported.py"
    for name, said in rows.items():
        with pytest.raises(AttributeError) as caught:
            getattr(face, name)
        assert (
            str(caught.value)
            == f"{home}.{name} is not there yet ({library} has it). {said}"
        )


OF_NUMPY = {
    "imprint.numpy": np,
    "imprint.numpy.linalg": np.linalg,
    "imprint.numpy.fft": np.fft,
}


@pytest.mark.parametrize("home", OF_NUMPY)
def test_each_name_of_numpy_is_here_or_has_a_row(home):
    face = importlib.import_module(home)
    theirs = {name for name in OF_NUMPY[home].__all__ if name[0] != "_"}
    lacking = {name for name in theirs if not hasattr(face, name)}
    known = reference.unsupported_names(home)
    assert sorted(lacking - set(known)) == [], (
        "write a row in _src/diagnostics/unsupported.py"
    )
    assert {
        name for name, _ in unsupported.rows(home, "NumPy") if hasattr(face, name)
    } == set()
    for name, said in unsupported.rows(home, "NumPy"):
        with pytest.raises(AttributeError) as caught:
            getattr(face, name)
        assert str(caught.value) == f"{home}.{name} is not there (NumPy has it). {said}"


@pytest.mark.parametrize("home", reference.NAMED)
def test_the_page_of_names_has_each_name(home):
    section = reference.names_section(home)
    of_numpy = getattr(OF_NUMPY.get(home), "__all__", ())
    face = importlib.import_module(home)
    for name in names_of_jax(home) | {name for name in of_numpy if name[0] != "_"}:
        value = getattr(face, name, None)
        imported = inspect.ismodule(value) and name not in dir(face)
        assert imported or f"| `{name}` | " in section


def test_no_name_has_two_rows():
    pairs = [(home, name) for home, name, _ in ROWS]
    assert len(set(pairs)) == len(pairs)


def test_methods_of_jax_arrays_are_here_or_have_a_row():
    public = {name for name in dir(np.ndarray) if name[0] != "_"} | {"at"}
    of_jax = {name for name in dir(jax.numpy.ones(2)) if name in public}
    of_jax |= {name for name in dir(jax.Array) if name[0] != "_"}
    rows = {name for name, _ in unsupported.rows("Array")}
    assert rows == {name for name in of_jax if not hasattr(type(ARRAYS[0]), name)}
    explained = {
        name
        for name, value in vars(array.Array).items()
        if type(value).__name__ == "UnsupportedMethod"
    }
    assert explained == rows


def test_an_absent_name_that_is_imported_raises_too():
    said = "imprint.numpy.int1 is not there yet"
    with pytest.raises(ImportError, match=said) as caught:
        from imprint.numpy import int1, sin  # noqa: F401, PLC0415 - tested here
    assert not isinstance(caught.value, AttributeError)
    assert caught.value.name == "int1"
    with pytest.raises(ImportError, match="cannot import name 'sine'"):
        from imprint.numpy import sine  # noqa: F401, PLC0415 - a misspelt name
    with pytest.raises(AttributeError, match=said):
        inp.int1  # noqa: B018 - no import
    assert getattr(inp, "int1", None) is None


@pytest.mark.parametrize("home", MODULES)
def test_an_absent_name_names_its_replacement(home):
    face = importlib.import_module(home)
    for name, said in unsupported.rows(home):
        with pytest.raises(AttributeError) as caught:
            getattr(face, name)
        assert (
            str(caught.value) == f"{home}.{name} is not there yet (JAX has it). {said}"
        )


def test_an_absent_method_names_its_replacement():
    for x in ARRAYS:
        for name, said in unsupported.rows("Array"):
            assert not hasattr(x, name)
            with pytest.raises(AttributeError) as caught:
                getattr(x, name)
            assert str(caught.value).endswith(
                f"{name} is not there yet (JAX has it). {said}"
            )
    with pytest.raises(AttributeError, match=r"Array\.flat is not there yet"):
        imprint.jit(lambda x: x.flat)(np.ones(3))


def test_every_advice_names_existing_names():
    for home, name, said in ROWS:
        for named in [*NAME.findall(said), *NUMPY.findall(said)]:
            assert exists(named), f"{home}.{name}: {said}"
        assert said.endswith(".")


NUMPY = re.compile(r"(?<![\w.])numpy(?:\.[A-Za-z]\w*)+")


def printed(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_python_offers_no_name_spelled_alike():
    said = printed("import imprint.numpy as np; np.int1")
    assert said.startswith("AttributeError: imprint.numpy.int1 is not there yet")
    assert "Did you mean" not in said


def test_python_offers_the_name_for_one_misspelt():
    assert printed("import imprint.numpy as np; np.sqrtt") == (
        "AttributeError: module 'imprint.numpy' has no attribute 'sqrtt'. "
        "Did you mean: 'sqrt'?"
    )


def test_the_rows_are_read_only_when_a_name_is_missed():
    program = (
        "import sys, imprint, imprint.lax; hasattr(imprint.numpy, '__path'); "
        "a = 'imprint._src.diagnostics.unsupported' in sys.modules; hasattr(imprint.lax, 'after_all'); "
        "print(a, 'imprint._src.diagnostics.unsupported' in sys.modules)"
    )
    assert printed(program) == "False True"
