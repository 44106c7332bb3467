"""Examples: functions with the output that they must print.

`@prints(expected)` makes one. Its heading is the first line of the docstring; the shown
code is the source of the body. In `expected`, `...` matches any text.
"""

import ast
import doctest
import inspect
import io
import textwrap
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Example:
    """A function with its expected output; `jax` describes JAX's behaviour."""

    fun: Callable[[], None]
    expected: str
    jax: str = ""

    @property
    def heading(self) -> str:
        """The heading, in one line."""
        return (self.fun.__doc__ or "").strip().partition("\n")[0]

    @property
    def code(self) -> str:
        """The body of the function without its docstring."""
        source = textwrap.dedent(inspect.getsource(self.fun))
        (function,) = ast.parse(source).body
        assert isinstance(function, ast.FunctionDef)
        docstring = function.body[0]
        body = source.splitlines()[docstring.end_lineno :]
        return textwrap.dedent("\n".join(body)).strip()

    def run(self) -> str:
        """Run the function and return its output, including an error."""
        out = io.StringIO()
        with redirect_stdout(out):
            try:
                self.fun()
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
        return out.getvalue().strip()

    def accepts(self, printed: str) -> bool:
        """Return whether this is the expected output."""
        checker = doctest.OutputChecker()
        return checker.check_output(
            self.expected + "\n", printed + "\n", doctest.ELLIPSIS
        )


Chapters: TypeAlias = dict[str, tuple[Example, ...]]


def prints(expected: str, jax: str = "") -> Callable[[Callable[[], None]], Example]:
    """Make a function an example.

    Args:
        expected: the expected output.
        jax: the behaviour of JAX, if it differs.
    """
    text = textwrap.dedent(expected).strip()
    return lambda fun: Example(fun, text, jax)
