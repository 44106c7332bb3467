"""The programs of a module: the functions defined in it with public names.

A name that begins with `_` is a part of a program, such as the step of its solver.
"""

import inspect


def programs_of(module):
    """Return the programs of a module, in the order of the file."""
    return [
        value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    ]
