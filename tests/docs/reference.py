"""The pages of docs/reference that are written from the package itself."""

import functools
import importlib
import inspect
import itertools
from types import ModuleType
from typing import get_origin

import imprint
from imprint._src.config import Flag
from imprint._src.core.primitive import Primitive
from imprint._src.diagnostics import unsupported
from imprint._src.diagnostics.unsupported import MODELS

HOMES = (
    *("imprint", "imprint.numpy", "imprint.lax", "imprint.random", "imprint.nn"),
    *("imprint.nn.initializers", "imprint.optim", "imprint.tree", "imprint.tree_util"),
    *("imprint.flatten_util", "imprint.module", "imprint.testing", "imprint.cache"),
    *("imprint.debug", "imprint.errors", "imprint.stages", "imprint.profiler"),
    *("imprint.sharding", "imprint.typing", "imprint.custom_derivatives"),
    *("imprint.ad_checkpoint", "imprint.checkpoint_policies"),
    *("imprint.custom_batching", "imprint.core", "imprint.dlpack", "imprint.dtypes"),
    *("imprint.experimental", "imprint.experimental.layout"),
    *("imprint.experimental.mesh_utils", "imprint.experimental.shard_map"),
)

API_INDEX = """\
# API index

Every public name, with the first line of its docstring; `help(imprint.numpy.where)` shows
the rest. [Unsupported APIs](unsupported.md) lists the names that only JAX has, and
[Differences from JAX](differences.md) the names that mean something else in JAX.

`pytest tests/docs --update-golden` writes this page.
"""

UNSUPPORTED = """\
# Unsupported APIs

Every public name of `jax`, `jax.numpy`, `jax.lax`, `jax.random`, `jax.nn` and the other
modules of this page is either in the [API index](api-index.md) or here; so is every name of
Equinox, and every function of optax. A test compares them with the libraries. Using a name
of this page raises an `AttributeError` with the same text. The last sections list the
parameters that functions lack.

`pytest tests/docs --update-golden` writes this page from
`imprint/_src/diagnostics/unsupported.py`.
"""


NAMES = """\
# Names of NumPy, jax.numpy and jax.lax

Each name of `numpy`, `numpy.linalg`, `numpy.fft`, `jax.numpy` and `jax.lax`, and whether
imprint has it under the same name. Tests compare the page with the libraries. Using a name
that imprint lacks raises an `AttributeError` with the same text.

`pytest tests/docs --update-golden` writes this page from the package and
`imprint/_src/diagnostics/unsupported.py`.
"""
NAMED = ("imprint.numpy", "imprint.numpy.linalg", "imprint.numpy.fft", "imprint.lax")


def api_index_page():
    """Return the text of api-index.md."""
    return "\n".join([API_INDEX, *map(api_index_section, HOMES)])


def api_index_section(home):
    values = {name: value_of(home, name) for name in public_names(home)}
    listed_names, names = listed_before(home, values), dtype_names(values)
    said = {
        n: summary(v)
        for n, v in values.items()
        if n not in listed_names and n not in names
    }
    rows = [(f"`{name}`", text) for name, text in said.items() if text]
    lines = [f"## {home}", ""]
    if rows:
        lines += [*table("Name", "Description", rows), ""]
    for earlier, group in itertools.groupby(
        sorted(listed_names, key=listed_names.get), listed_names.get
    ):
        lines += [f"As in `{earlier}`: {listed(group)}.", ""]
    if names:
        lines += [
            f"Dtypes, which make an array of a value: {', '.join(names.values())}."
        ]
        lines += [""]
    primitives = [n for n, value in values.items() if isinstance(value, Primitive)]
    rest = [n for n, text in said.items() if not text and n not in primitives]
    if primitives:
        lines += [f"Primitives: {listed(primitives)}.", ""]
    if rest:
        lines += [f"Also {listed(rest)}.", ""]
    return "\n".join(lines)


def listed_before(home, values):
    """Return the names that an earlier home has too, for the same, each with that home."""
    earlier = HOMES[: HOMES.index(home)]
    return {
        name: next(h for h in earlier if vars_of(h).get(name) is value)
        for name, value in values.items()
        if summary(value) and any(vars_of(h).get(name) is value for h in earlier)
    }


@functools.cache
def vars_of(home):
    return {name: value_of(home, name) for name in public_names(home)}


def dtype_names(values):
    """Return the text of each dtype name; an alias has the proper name in parentheses."""
    start, named = "The name of `", {}
    for name, value in values.items():
        if summary(value).startswith(start):
            own = summary(value).removeprefix(start).partition("`")[0]
            named[name] = f"`{name}`" + ("" if own == name else f" ({own})")
    return named


def public_names(home):
    face = module_of(home)
    if hasattr(face, "__all__"):
        return sorted(face.__all__)
    names = [name for name in dir(face) if name[0] != "_"]
    return [name for name in names if is_public(value_of(home, name))]


def module_of(home):
    if home == "imprint.checkpoint_policies":  # a module, as an attribute of its face
        return imprint.checkpoint_policies
    return importlib.import_module(home)


def value_of(home, name):
    return getattr(module_of(home), name)


def is_public(value):
    """Return whether a value is no module, no type alias and no helper of the module."""
    is_helper = is_function(value) and home_of(value) != "imprint"
    is_alias = get_origin(value) or home_of(value) in ("collections", "typing")
    return not (isinstance(value, ModuleType | bool) or is_helper or is_alias)


def is_function(value):
    """Return whether a value is a function, or a ufunc that holds one."""
    return inspect.isroutine(inspect.unwrap(value))


def home_of(value):
    return str(getattr(value, "__module__", "")).partition(".")[0]


def summary(value):
    """Return the first line of a docstring of ours; none for other values."""
    ours = isinstance(value, Flag) or value is imprint.config
    if not ours and not (is_function(value) or inspect.isclass(value)):
        return ""
    if not ours and home_of(value) != "imprint":
        return ""
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def names_page():
    """Return the text of names.md."""
    return "\n".join([NAMES, *map(names_section, NAMED)])


def names_section(home):
    rows = dict.fromkeys(supported_names(home), "yes") | unsupported_names(home)
    lines = [(f"`{name}`", rows[name]) for name in sorted(sorted(rows), key=str.lower)]
    return "\n".join([f"## {home}", "", *table("Name", "Support", lines), ""])


def supported_names(home):
    """Return the public names of a home and the modules in it that it offers."""
    return {name for name in dir(module_of(home)) if name[0] != "_"}


def unsupported_names(home):
    """Return the names that a home lacks, each with its replacement."""
    return dict([*unsupported.rows(home, "NumPy"), *unsupported.rows(home)])


def unsupported_page():
    """Return the text of unsupported.md."""
    sections = [("JAX", home) for home in unsupported.ABSENT]
    sections += [(library, home) for library in MODELS for home in MODELS[library]]
    tables = [unsupported_section(*where) for where in sections]
    tables += map(parameters_section, unsupported.PARAMETERS)
    return "\n".join([UNSUPPORTED, *tables])


def parameters_section(home):
    rows = unsupported.PARAMETERS[home]
    lines = [(listed(sorted(names.split())), said) for names, said in rows]
    title = f"## Parameters of {home}"
    return "\n".join([title, "", *table("Parameter", "Write instead", lines), ""])


def unsupported_section(library, home):
    rows = []
    said = [(name, shown(name, text)) for name, text in unsupported.rows(home, library)]
    for text, group in itertools.groupby(said, key=lambda row: row[1]):
        rows.append((listed(sorted(name for name, _ in group)), text))
    title = "Methods of arrays" if home == "Array" else home
    title += "" if library == "JAX" else f", of {library}"
    return "\n".join([f"## {title}", "", *table("Name", "Write instead", rows), ""])


def shown(name, text):
    """Return an advice that names the function by its row, as in `NumPy's` of one."""
    if text == f"Outside traced functions numpy.{name} takes arrays.":
        return "Outside traced functions NumPy's takes arrays."
    return text


def listed(names):
    return ", ".join(f"`{name}`" for name in names)


def table(left, right, rows):
    yield f"| {left} | {right} |"
    yield "| --- | --- |"
    for name, text in rows:
        yield f"| {name} | {text.replace('|', chr(92) + '|')} |"
