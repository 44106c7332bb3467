"""Each public module of JAX, and each parameter of its functions, is here or has advice.

`tests/docs/test_unsupported.py` compares the names of each module. The tables are in
`imprint/_src/diagnostics/unsupported.py`.
"""

import importlib
import inspect
import pkgutil

import jax
import pytest

import imprint
from imprint._src.config import Flag
from imprint._src.diagnostics import unsupported
from tests.docs.test_advice import NAME, exists

MODULES = (
    *("jax", "jax.ad_checkpoint", "jax.core", "jax.custom_batching"),
    *("jax.custom_derivatives", "jax.debug", "jax.distributed", "jax.dlpack"),
    *(
        "jax.dtypes",
        "jax.errors",
        "jax.experimental.checkify",
        "jax.experimental.layout",
    ),
    *("jax.experimental.mesh_utils", "jax.experimental.multihost_utils", "jax.export"),
    *("jax.flatten_util", "jax.image", "jax.lax", "jax.lax.linalg", "jax.nn"),
    *(
        "jax.nn.initializers",
        "jax.numpy",
        "jax.numpy.fft",
        "jax.numpy.linalg",
        "jax.ops",
    ),
    *("jax.random", "jax.scipy.cluster.vq", "jax.scipy.fft", "jax.scipy.integrate"),
    *("jax.scipy.interpolate", "jax.scipy.linalg", "jax.scipy.ndimage"),
    *("jax.scipy.optimize", "jax.scipy.signal", "jax.scipy.sparse.linalg"),
    *("jax.scipy.special", "jax.scipy.stats", "jax.sharding", "jax.stages"),
    *("jax.tree", "jax.tree_util", "jax.typing"),
)
MADE_BY_LIBRARY = {
    *("jax.stages.Compiled", "jax.stages.Lowered", "jax.stages.Traced"),
    *("jax.stages.ArgInfo", "jax.export.Exported", "jax.core.Tracer", "jax.core.Trace"),
    *("jax.experimental.checkify.Error", "jax.core.ShapedArray", "jax.Device"),
}
"""Classes whose instances come from functions: programs name no parameter of theirs."""


def home_of(module):
    """Return the module of imprint, which may be an attribute of another."""
    parent, _, last = module.replace("jax", "imprint", 1).rpartition(".")
    return getattr(importlib.import_module(parent), last) if parent else imprint


def is_module(name):
    try:
        importlib.import_module(name)
    except ImportError:
        parent, _, last = name.rpartition(".")
        face = importlib.import_module(parent) if is_module(parent) else None
        return face is not None and inspect.ismodule(getattr(face, last, None))
    return True


@pytest.mark.parametrize(
    "package", ["jax", "jax.numpy", "jax.nn", "jax.scipy", "jax.lax"]
)
def test_each_public_module_is_here_or_has_a_row(package):
    face = importlib.import_module(package)
    home = package.replace("jax", "imprint", 1)
    rows = dict(unsupported.rows(home))
    parts = {p.name for p in pkgutil.iter_modules(face.__path__) if p.name[0] != "_"}
    lacking = {n for n in parts if not is_module(f"{home}.{n}")} - set(rows)
    here = importlib.import_module(home)
    assert sorted(n for n in lacking if not hasattr(here, n)) == []


def parameters(value):
    """Return the names of the parameters; None if it takes any keyword, or has none."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in found):
        return None
    nameless = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    return {p.name for p in found if p.kind not in nameless}


def lacking_parameters(module):
    face = importlib.import_module(module)
    ours = home_of(module)
    for name in dir(face):
        theirs, own = getattr(face, name), getattr(ours, name, None)
        is_compared = callable(theirs) and callable(own) and name[0] != "_"
        if not is_compared or f"{module}.{name}" in MADE_BY_LIBRARY:
            continue
        wanted, got = parameters(theirs), parameters(own)
        if wanted is not None and got is not None and not isinstance(own, Flag):
            yield from (f"{name}.{p}" for p in sorted(wanted - got))


def known_parameters(module):
    rows = unsupported.PARAMETERS.get(module.replace("jax", "imprint", 1), ())
    return {name: said for names, said in rows for name in names.split()}


@pytest.mark.parametrize("module", MODULES)
def test_each_parameter_of_jax_is_here_or_has_a_row(module):
    lacking, known = {*lacking_parameters(module)}, known_parameters(module)
    assert sorted(lacking - set(known)) == [], "write a row in PARAMETERS"
    ours = home_of(module)
    for row, said in known.items():
        name, parameter = row.split(".")
        assert parameter not in (parameters(getattr(ours, name)) or ()), "take it off"
        assert said.endswith(".")
        assert all(map(exists, NAME.findall(said))), said


def test_flags_are_set_by_the_names_of_jax():
    for name in ("enable_x64", "debug_nans", "disable_jit", "log_compiles"):
        theirs = inspect.signature(getattr(jax, name)).parameters
        ours = inspect.signature(getattr(imprint, name))
        assert set(theirs) - {"self"} <= set(ours.parameters)
