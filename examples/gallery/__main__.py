"""`python -m examples.gallery n_body --plot n_body.png`: run a program, and draw its result.

A program has `main()`, which returns what it found, and, where there is something to see,
`plot(figure, found)`. Only `--plot` needs matplotlib, of the extra `[demo]`.
"""

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from examples.data import extra

PROGRAMS = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def main(argv: Sequence[str] | None = None) -> None:
    """Run one program.

    Args:
        argv: the words after `examples.gallery`; by default those of the process.
    """
    parser = argparse.ArgumentParser(
        prog="python -m examples.gallery", description="Run a program of the gallery."
    )
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--plot", metavar="FILE", help="a file for a picture")
    options = parser.parse_args(argv)
    program = import_module(f"examples.gallery.{options.program}")
    if options.plot is None:
        program.main()
    elif hasattr(program, "plot"):
        draw(program, options.plot)
    else:
        parser.error(f"{options.program} has no picture: leave out --plot")


def draw(program: Any, file: str | IO[bytes]) -> None:
    """Run a program and write its picture.

    Args:
        program: a module of the gallery that has a `plot`.
        file: a path whose suffix is the format, or an open file for a PNG.
    """
    figure = extra("matplotlib.figure").Figure(layout="constrained")
    program.plot(figure, program.main())
    figure.savefig(file)


if __name__ == "__main__":
    main()
