"""Libraries that only the demo needs: loaded when asked for, by name.

They are not dependencies of imprint but its extra `[demo]`, and scikit-learn takes a
second to import; so no file of the package imports them at its top.
"""

from importlib import import_module
from typing import Any


def extra(name: str) -> Any:
    """Return a module of the extra `[demo]`; without it, end the command with a message."""
    try:
        return import_module(name)
    except ImportError as err:
        raise SystemExit(
            f"imprint tour: expected the module {name}, got {type(err).__name__}: {err}. "
            "Install the extra that the tour needs: pip install 'imprint[demo]'."
        ) from err
