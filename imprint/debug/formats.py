"""Formats: does each argument have a place in a text that is formatted later?

The values are there when the program runs; a format that does not fit them is an error
while tracing, at the line that has it.
"""

import string
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from imprint.errors import ArgumentError


@final
class _Format(string.Formatter):
    """Checks that each argument has a place in a format, and formats nothing."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return nothing: the values are not there yet."""
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Return the value as it is."""
        return value

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
