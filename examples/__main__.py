"""`python -m examples`: the demo, all of it or some parts.

The store on the disk is off, so that each run compiles and leaves no files there.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from examples.demo import PARTS, demo


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit status: 1 if a check fails.

    Args:
        argv: the words after `examples`; by default those of the process.
    """
    parser = argparse.ArgumentParser(
        prog="python -m examples",
        description=(
            "Run small programs that show imprint's features and scripts of plain NumPy, "
            "train networks on handwritten digits and a transformer on a text. Every "
            "result is checked; the exit status is 1 if a check fails."
        ),
    )
    parser.add_argument(
        "parts",
        nargs="*",
        type=_part,
        metavar="PART",
        help=f"parts of the demo, of {', '.join(PARTS)} (default: all)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("imprint-demo"),
        metavar="DIR",
        help="where digits' network and picture are written (default: %(default)s)",
    )
    parser.add_argument(
        "--steps",
        type=_steps,
        default=400,
        metavar="N",
        help="how many steps each network is trained, the transformer half as many "
        "more (default: %(default)s)",
    )
    options = parser.parse_args(argv)
    os.environ["IMPRINT_CACHE"] = "off"  # for the processes of the demo, too
    return demo(options.parts or PARTS, options.out, options.steps)


def _part(text: str) -> str:
    if text not in PARTS:
        raise argparse.ArgumentTypeError(
            f"expected a part of the demo, got {text!r}. Choose of {', '.join(PARTS)}"
        )
    return text


def _steps(text: str) -> int:
    steps = int(text)
    if steps < 2:
        raise argparse.ArgumentTypeError(
            f"expected at least 2 steps, got {steps}: the first is timed separately"
        )
    return steps


if __name__ == "__main__":
    sys.exit(main())
