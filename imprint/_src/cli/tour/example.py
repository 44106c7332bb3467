"""An example: a function that prints, and what it must print.

`@prints(expected)` makes one. Its heading is the first line of the docstring; the code
shown is the body below it, as it stands in the file, so what is read is what runs. In
`expected`, `...` stands for anything.
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
    """A function that prints, and what it must print; `jax`, what JAX does instead."""

    fun: Callable[[], None]
    expected: str
    jax: str = ""

    @property
    def heading(self) -> str:
        """What the example shows, in one line."""
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
        """Run it and return what it printed; an error that it raises is printed too."""
        out = io.StringIO()
        with redirect_stdout(out):
            try:
                self.fun()
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
        return out.getvalue().strip()

    def accepts(self, printed: str) -> bool:
        """Tell whether this is what it must print."""
        checker = doctest.OutputChecker()
        return checker.check_output(
            self.expected + "\n", printed + "\n", doctest.ELLIPSIS
        )


Chapters: TypeAlias = dict[str, tuple[Example, ...]]


def prints(expected: str, jax: str = "") -> Callable[[Callable[[], None]], Example]:
    """Make a function an example.

    Args:
        expected: what it must print.
        jax: what JAX does with the same program, if that is something else.
    """
    text = textwrap.dedent(expected).strip()
    return lambda fun: Example(fun, text, jax)
