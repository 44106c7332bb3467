"""The parameters of each public function, as in JAX: names, order, kinds and defaults.

Lasting differences are listed here with their reasons. A parameter that is missing is
refused by Python; one that is there is honoured, so none is only accepted.
"""

import importlib
import inspect

import jax
import jax.nn.initializers
import pytest

import imprint.lax
import imprint.nn.initializers
import imprint.numpy
from imprint._src.diagnostics import unsupported

LEFT_OUT = {
    tuple(f"{home.removeprefix('imprint.')}.{name}".rsplit(".", 1))
    for home, rows in unsupported.PARAMETERS.items()
    for names, _ in rows
    for name in names.split()
}
LEFT_OUT.add(("numpy.einsum", "_dot_general"))  # has a default of each library's own
"""Parameters that functions here lack, each with its function."""

STAY = {
    "numpy.clip": "needs the array, which JAX allows to be left out and then refuses",
    "numpy.set_printoptions": "is NumPy's own, of which JAX hides the parameters",
    "lax.cond": "marks an operand that is not given by an object of its own",
    "lax.switch": "marks an operand that is not given by an object of its own",
    "lax.convert_element_type": "weak_type is for those who write transforms",
    "lax.random_gamma_grad": "names its operands",
    "numpy.fromfile": "names what NumPy's takes, which JAX hides",
    "numpy.fromiter": "names what NumPy's takes, which JAX hides",
}
"""Functions with other parameters than JAX's, and why."""
if "args" in inspect.signature(jax.numpy.array).parameters:  # before JAX 0.11
    STAY["numpy.array"] = "does not take what JAX takes by position and warns of"

if jax.__version_info__ < (0, 12):
    STAY["numpy.lexsort"] = "has the batch_size of JAX 0.12"
    STAY["lax.top_k"] = "has the is_stable of JAX 0.12"
else:
    STAY["numpy.polyval"] = "has the default of JAX 0.10; there is no loop to unroll"
    STAY["numpy.take_along_axis"] = "has a default of JAX 0.10 that means the same"

MODULES = ("numpy", "lax", "nn", "nn.initializers")


def functions():
    for module in MODULES:
        ours = importlib.import_module(f"imprint.{module}")
        theirs = importlib.import_module(f"jax.{module}")
        for name in sorted(set(dir(ours)) & set(dir(theirs))):
            one, other = getattr(ours, name), getattr(theirs, name)
            is_function = inspect.isroutine(inspect.unwrap(one))
            if name[0] != "_" and is_function and callable(other):
                yield f"{module}.{name}", one, other


FUNCTIONS = {name: (one, other) for name, one, other in functions()}


def parameters(function, function_name):
    """Return the parameters as a call sees them: no names where none may be given."""
    for parameter in inspect.signature(function).parameters.values():
        if (function_name, parameter.name) in LEFT_OUT:
            continue
        is_nameless = parameter.kind in (
            parameter.POSITIONAL_ONLY,
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        )
        name = None if is_nameless else parameter.name
        yield name, parameter.kind, parameter.default


def expected(theirs, function_name):
    if isinstance(theirs, jax.numpy.ufunc):  # takes any arguments, and refuses others
        one = inspect.Parameter
        options = [(name, one.POSITIONAL_OR_KEYWORD, None) for name in ("out", "where")]
        return [(None, one.POSITIONAL_ONLY, one.empty)] * theirs.nin + options
    return list(parameters(theirs, function_name))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_those_of_jax(name):
    ours, theirs = FUNCTIONS[name]
    same = list(parameters(ours, name)) == expected(theirs, name)
    if name in STAY:
        assert not same, "take it off the list: it has JAX's parameters"
    else:
        assert same, f"{inspect.signature(ours)}, not {inspect.signature(theirs)}"


def test_the_list_names_functions_that_both_have():
    assert set(STAY) <= set(FUNCTIONS)
    assert len(FUNCTIONS) > 350


OUT = (
    "sum prod max min all any mean var std ptp nansum nanvar argmax cumsum round stack"
)


@pytest.mark.parametrize("name", [*OUT.split(), "outer", "trace", "modf", "isposinf"])
def test_an_array_to_write_into_is_refused(name):
    x, more = imprint.numpy.ones((2, 2)), {"outer": [1.0]}.get(name, [])
    with pytest.raises(
        NotImplementedError, match=f"{name}: expected no out, got Array"
    ):
        getattr(imprint.numpy, name)(x, *more, out=x)
    with pytest.raises(NotImplementedError):
        getattr(jax.numpy, name)(jax.numpy.ones((2, 2)), *more, out=x)


POSITIONAL = {
    "sum": (0, "float32", None, True, 5.0),
    "max": (0, None, True),
    "mean": (0, None, None, True),
    "var": (0, None, None, 1, True),
    "argmax": (1, None, True),
    "average": (0, None, True, True),
    "count_nonzero": (0, True),
    "nanstd": (0, None, None, 1, True),
}


@pytest.mark.parametrize("name", POSITIONAL)
def test_positional_arguments_have_the_meaning_of_jax(name):
    values = [[1.0, 2.0, 4.0], [3.0, 0.0, 1.0]]
    ours = getattr(imprint.numpy, name)(imprint.numpy.array(values), *POSITIONAL[name])
    theirs = getattr(jax.numpy, name)(jax.numpy.array(values), *POSITIONAL[name])
    got, want = imprint.tree.leaves(ours), jax.tree.leaves(theirs)
    assert [x.tolist() for x in got] == [x.tolist() for x in want]
