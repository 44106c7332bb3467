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
    *("imprint.debug", "imprint.errors", "imprint.stages"),
    *("imprint.sharding", "imprint.typing", "imprint.custom_derivatives"),
    *("imprint.ad_checkpoint", "imprint.checkpoint_policies"),
    "imprint.custom_batching",
)

HERE = """\
# What is here

Every public name, with the first line of its docstring; `help(imprint.numpy.where)` shows
the rest. What JAX has beyond these is in [Absent](absent.md), and what means something
else than in JAX in [Differences from JAX](differences.md).

This page is written by `pytest tests/docs --update-golden`.
"""

ABSENT = """\
# JAX features that are absent, and what to write instead

Every public name of `jax`, `jax.numpy`, `jax.lax`, `jax.random` and `jax.nn` is either in
[What is here](what-is-here.md) or on this page, which a test compares with JAX; so is
every name of Equinox, and every function of optax. Asking for one of these names is an
`AttributeError` with the same words.

This page is written by `pytest tests/docs --update-golden` from
`imprint/_src/diagnostics/unsupported.py`.
"""


NAMES = """\
# Names of NumPy, jax.numpy and jax.lax

Each name of `numpy`, `numpy.linalg`, `numpy.fft`, `jax.numpy` and `jax.lax`, and whether it
is here, under the same name. Tests compare the page with the libraries. A name that is not
here is an `AttributeError` with the same words.

This page is written by `pytest tests/docs --update-golden` from the package,
`imprint/_src/diagnostics/unsupported.py`.
"""
NAMED = ("imprint.numpy", "imprint.numpy.linalg", "imprint.numpy.fft", "imprint.lax")


def here_page():
    """Return the text of what-is-here.md."""
    return "\n".join([HERE, *map(here_section, HOMES)])


def here_section(home):
    values = {name: value_of(home, name) for name in public_names(home)}
    told, names = told_before(home, values), dtype_names(values)
    said = {
        n: summary(v) for n, v in values.items() if n not in told and n not in names
    }
    rows = [(f"`{name}`", text) for name, text in said.items() if text]
    lines = [f"## {home}", ""]
    if rows:
        lines += [*table("Name", "What it is", rows), ""]
    for earlier, group in itertools.groupby(sorted(told, key=told.get), told.get):
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


def told_before(home, values):
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
    """Return what to print of each name of a dtype; of another name, its own beside it."""
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
    """Tell whether a value is no module, no type alias and no helper of the module."""
    is_helper = is_function(value) and home_of(value) != "imprint"
    is_alias = get_origin(value) or home_of(value) in ("collections", "typing")
    return not (isinstance(value, ModuleType | bool) or is_helper or is_alias)


def is_function(value):
    """Tell whether a value is a function, or a ufunc that holds one."""
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
    rows = dict.fromkeys(names_here(home), "here") | names_absent(home)
    lines = [(f"`{name}`", rows[name]) for name in sorted(sorted(rows), key=str.lower)]
    return "\n".join([f"## {home}", "", *table("Name", "Here, or why not", lines), ""])


def names_here(home):
    """Return the public names of a home and the modules in it that it offers."""
    return {name for name in dir(module_of(home)) if name[0] != "_"}


def names_absent(home):
    """Return the names that a home lacks, each with what to write instead."""
    return dict([*unsupported.rows(home, "NumPy"), *unsupported.rows(home)])


def absent_page():
    """Return the text of absent.md."""
    sections = [("JAX", home) for home in unsupported.ABSENT]
    sections += [(library, home) for library in MODELS for home in MODELS[library]]
    return "\n".join([ABSENT, *(absent_section(*where) for where in sections)])


def absent_section(library, home):
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
