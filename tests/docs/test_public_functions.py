"""Every public function has a runnable example, but for a list that only shrinks.

`without_example.txt` names the functions that still lack one. A function that is missing
from the list, and a name on the list that needs it no more, are both failures.
"""

import importlib
import inspect
from pathlib import Path

LISTED = Path(__file__).with_name("without_example.txt")
FACES = ("imprint", "imprint.numpy", "imprint.random", "imprint.tree")


def public_functions():
    """Return the functions of the public modules, by the place that defines them."""
    faces = [importlib.import_module(name) for name in FACES]
    values = [
        vars(face)[name] for face in faces for name in vars(face) if name[0] != "_"
    ]
    return {
        f"{value.__module__}.{value.__qualname__}": value
        for value in map(inspect.unwrap, filter(inspect.isroutine, values))
        if value.__module__.startswith("imprint.")
    }


def test_the_functions_without_an_example_are_those_of_the_list():
    functions = public_functions()
    lacking = {name for name, value in functions.items() if ">>> " not in value.__doc__}
    listed = set(LISTED.read_text(encoding="utf-8").split())
    assert sorted(lacking - listed) == [], "write an example into the docstring"
    assert sorted(listed - lacking) == [], (
        "take the name off the list: it has its example"
    )
