"""The command line: its parser, and which function answers a subcommand.

A subcommand is a function from parsed options to an exit status: 0 is well, 1 is a failed
check. Wrong usage exits with 2, as argparse does.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import imprint
from imprint.cli.tour import PARTS, tour


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `imprint` and return its exit status.

    Args:
        argv: the words after `imprint`; those of the process if left out.

    Returns:
        0 if all went well, 1 if a check failed.

    >>> from imprint.cli import main
    >>> main(["tour", "--help"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    options = _parser().parse_args(argv)
    parts = (options.part,) if options.part else PARTS
    return tour(parts, options.out, options.steps)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="imprint",
        description="A just-in-time compiler for array programs in Python.",
    )
    parser.add_argument(
        "--version", action="version", version=f"imprint {imprint.__version__}"
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    words = commands.add_parser(
        "tour",
        help="real programs traced, compiled, cached and differentiated",
        description=(
            "Run small programs that show what imprint does, and train a network on "
            "handwritten digits. Every result is checked; the exit status tells."
        ),
    )
    words.add_argument(
        "part", nargs="?", choices=PARTS, help="one part of the tour (default: all)"
    )
    words.add_argument(
        "--out",
        type=Path,
        default=Path("imprint-tour"),
        metavar="DIR",
        help="where the picture is written (default: %(default)s)",
    )
    words.add_argument(
        "--steps",
        type=_steps,
        default=600,
        metavar="N",
        help="how many steps the network is trained (default: %(default)s)",
    )
    return parser


def _steps(text: str) -> int:
    steps = int(text)
    if steps < 2:
        raise argparse.ArgumentTypeError(
            f"expected at least 2 steps, got {steps}: the first is timed apart"
        )
    return steps
