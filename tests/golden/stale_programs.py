"""Programs with a stale version, which an audit finds; as `wrong_programs`.

The stale values are read by a computed name, which no version can watch.
"""

import functools

import numpy as np

import imprint
import imprint.numpy as inp

table = np.ones(3, np.float32)
factor = 3.0

_hide = functools.partial(setattr, imprint._src.core)


def _hidden(name):
    return vars(imprint._src.core).get("".join(["_", name]))


def _audited(fun, before, after):
    """Call a function, change a value that it reads, and call it again with an audit."""
    before()
    compiled = imprint.jit(fun)
    compiled(1.0)
    after()
    with imprint.audit(1.0):
        compiled(1.0)


def audit_of_a_computed_name():
    def scaled(x):
        return inp.sin(x) * _hidden("rate")

    _audited(scaled, lambda: _hide("_rate", 2.0), lambda: _hide("_rate", 3.0))


def audit_of_an_array_that_was_written_into():
    def shifted(x):
        return inp.sin(x) + table

    _audited(shifted, lambda: table.fill(1), lambda: table.fill(2))


def _tripled(x):
    return x * factor


def audit_of_a_name_that_is_not_watched():
    def either(x):
        return inp.sin(_hidden("function")(x))

    _audited(
        either,
        lambda: _hide("_function", inp.cos),
        lambda: _hide("_function", _tripled),
    )


def audit_of_a_function_that_fails_by_now():
    def checked(x):
        if _hidden("flag"):
            raise ValueError("expected no flag")
        return inp.sin(x)

    _audited(checked, lambda: _hide("_flag", False), lambda: _hide("_flag", True))
