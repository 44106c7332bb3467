"""Formats: does each argument have a place in a text that is formatted later?

The values are there when the program runs; a format that does not fit them is an error
while tracing, at the line that has it.
"""

import string
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from imprint._src.errors import ArgumentError


@final
class _Format(string.Formatter):
    """Checks that each argument has a place in a format, and formats nothing."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return nothing: the values are not there yet."""
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Return the value as it is."""
        return value

    def get_value(
        self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Return the value that a place is for, or say that there is none."""
        if isinstance(key, str):
            if key in kwargs:
                return kwargs[key]
            came = ", ".join(f"{name}=" for name in kwargs) or "none by name"
            raise KeyError(
                f"debug.print: expected a value for {{{key}}} in the format, got {came}. "
                f"Pass {key}=..., or write {{{{{key}}}}} for the text itself."
            )
        if key < len(args):
            return args[key]
        raise IndexError(
            f"debug.print: expected a value for each {{}} in the format, got {len(args)} "
            f"and a place for one more. Pass it, or write {{{{}}}} for the text itself."
        )

    def check_unused_args(
        self, used_args: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Raise if an argument has no place."""
        unused = [f"argument {i}" for i in range(len(args)) if i not in used_args]
        unused += [f"{name}=" for name in kwargs if name not in used_args]
        if unused:
            raise ArgumentError(
                f"debug.print: expected a place for each argument in the format, got "
                f"none for {', '.join(unused)}. Write {{}} or {{name}} there; an "
                "f-string is formatted too early."
            )


FORMAT: Final = _Format()
