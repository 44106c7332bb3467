"""The command line: the parser, and dispatch to subcommands.

A subcommand is a function from parsed options to an exit status: 0 is success, 1 a failed
check; `run` returns the status of its program, or 3. Wrong usage exits with 2, as argparse
does. Without a subcommand it prints the help.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any, Final

import imprint
from imprint._src.cli import cache_commands
from imprint._src.cli.run import RunOptions, run, split_words, usage_error
from imprint._src.cli.tune import tune


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `imprint` and return its exit status.

    Args:
        argv: the words after `imprint`; by default those of the process.

    Returns:
        0 for success, 1 for a failed check; `run` returns the status of the program, or 3
        if a function was recompiled more often than `--fail-on-recompile` allows.

    Example:
        >>> from imprint.cli import main
        >>> main(["cache", "--help"])
        Traceback (most recent call last):
        SystemExit: 0
    """
    words = sys.argv[1:] if argv is None else list(argv)
    program: list[str] = []
    if words[:1] == ["run"]:
        own, program = split_words(words[1:])
        words = ["run", *own]
    elif words[:1] in (["check"], ["compare"], ["tune"]):
        own, program = split_words(words[1:])
        words = [words[0], *own]
    elif words[:2] in _WITH_PROGRAM and words[2:3] != ["--help"]:
        words, program = words[:2], words[2:]
    parser = argparse.ArgumentParser(
        prog="imprint",
        description="A just-in-time compiler for array programs in Python.",
    )
    parser.add_argument(
        "--version", action="version", version=f"imprint {imprint.__version__}"
    )
    commands = parser.add_subparsers(required=True, metavar="command", dest="command")
    _add_cache(commands)
    usage = _add_run(commands)
    for add in (_add_check, _add_compare, _add_tune):
        add(commands)
    if not words:
        parser.print_help()
        return 0
    options = parser.parse_args(words)
    if options.command == "cache":
        return _cache(options, program)
    if options.command in ("check", "compare", "tune"):
        return _with_program(options, program)
    run_options = RunOptions(
        program=program,
        json=options.json,
        html=options.html,
        as_jax=options.as_jax,
        recompiles=options.recompiles,
    )
    wrong = usage_error(run_options)
    if wrong:
        usage.error(wrong)
    return run(run_options)


def _add_run(commands: Any) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "run",
        help="run a program and report its compiles, with reasons",
        usage=(
            "imprint run [--as-jax] [--json[=FILE]] [--html FILE] [--fail-on-recompile N] "
            "(SCRIPT | -m MODULE) [ARGUMENT ...]"
        ),
        description=(
            "Run a program as Python would. At its end, also after an error, print a "
            "table of its jitted functions on standard error: versions, hits, seconds, "
            "and the reason of each miss. The exit status is the program's, or 3 for "
            "too many recompiles."
        ),
    )
    parser.add_argument(
        "--as-jax",
        action="store_true",
        help="let `import jax` in the program give imprint",
    )
    parser.add_argument(
        "--json",
        nargs="?",
        const="-",
        metavar="FILE",
        help="write the report as JSON too: to =FILE, or as the last line of the output",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write a page with a timeline, versions, misses and programs",
    )
    parser.add_argument(
        "--fail-on-recompile",
        type=_count,
        dest="recompiles",
        metavar="N",
        help="exit with 3 if a function has more than N versions beyond its first",
    )
    return parser


def _add_check(commands: Any) -> None:
    parser = commands.add_parser(
        "check",
        help="list the names of JAX that a program uses and imprint lacks",
        usage="imprint check [--deep] (SCRIPT | -m MODULE)",
        description=(
            "Read a program that imports JAX, without running it, and list the names of "
            "JAX that imprint lacks, with their lines. The exit status is 1 if there are "
            "any."
        ),
    )
    parser.add_argument(
        "--deep", action="store_true", help="read the libraries that it imports, too"
    )


def _add_compare(commands: Any) -> None:
    parser = commands.add_parser(
        "compare",
        help="run a JAX program on JAX and on imprint, and compare",
        usage="imprint compare [--json[=FILE]] (SCRIPT | -m MODULE) [ARGUMENT ...]",
        description=(
            "Run a program that imports JAX four times, each in a process of its own: on "
            "JAX and on imprint, with an empty disk cache and with the one that this "
            "leaves. Print seconds, traces, compiles and memory, and whether output and "
            "saved arrays agree. The exit status is 1 if they do not."
        ),
    )
    parser.add_argument(
        "--json",
        nargs="?",
        const="-",
        metavar="FILE",
        help="write the figures as JSON, to =FILE or in place of the table",
    )


def _add_tune(commands: Any) -> None:
    commands.add_parser(
        "tune",
        help="keep the fastest form of the programs that take most of the time",
        usage="imprint tune (SCRIPT | -m MODULE) [ARGUMENT ...]",
        description=(
            "Run a program, then compile each of its hot versions in other forms, on the "
            "arguments of its first call. The fastest whose results agree up to rounding "
            "is kept on the disk, where later processes find it."
        ),
    )


def _with_program(options: argparse.Namespace, program: Sequence[str]) -> int:
    """Run `imprint check`, `imprint compare` or `imprint tune`."""
    wrong = usage_error(RunOptions(program=program))
    if wrong:
        print(f"imprint {options.command}: {wrong}", file=sys.stderr)
        return 2
    if options.command == "tune":
        return tune(program)
    module: Any = importlib.import_module(f"imprint._src.as_jax.{options.command}")
    if options.command == "check":
        return int(module.check(program, deep=options.deep))
    return int(module.compare(program, json_file=options.json))


def _add_cache(commands: Any) -> None:
    parser = commands.add_parser(
        "cache",
        help="list, check and bound the programs on the disk",
        description=(
            "Compiled programs are kept on the disk for later processes: in "
            "IMPRINT_CACHE_DIR, or the user's own directory for caches."
        ),
    )
    actions = parser.add_subparsers(required=True, metavar="action", dest="action")
    both = {"export": cache_commands.export, "import": cache_commands.import_}
    running = {"warm": cache_commands.warm, "why": cache_commands.why}
    listing = {"ls": cache_commands.ls}
    for name, action in {
        **listing,
        **cache_commands.ACTIONS,
        **both,
        **running,
    }.items():
        help_text = str(action.__doc__).partition(".")[0].rstrip(".")
        made = actions.add_parser(
            name, help=help_text[0].lower() + help_text[1:], description=f"{help_text}."
        )
        if name in both:
            made.add_argument("file", help="a tar file of programs")
        elif name in listing:
            made.add_argument(
                "--sort",
                choices=[*cache_commands.ORDERS],
                default="time",
                help="last used (the default), largest, or longest to compile first",
            )
        elif name in running:
            made.usage = f"imprint cache {name} (SCRIPT | -m MODULE) [ARGUMENT ...]"


def _cache(options: argparse.Namespace, program: Sequence[str]) -> int:
    """Run an action of `imprint cache`."""
    if options.action in ("warm", "why"):
        wrong = usage_error(RunOptions(program=program))
        if wrong:
            print(f"imprint cache {options.action}: {wrong}", file=sys.stderr)
            return 2
        return (
            cache_commands.warm if options.action == "warm" else cache_commands.why
        )(program)
    if options.action in ("export", "import"):
        go = (
            cache_commands.export
            if options.action == "export"
            else cache_commands.import_
        )
        return go(options.file)
    if options.action == "ls":
        return cache_commands.ls(options.sort)
    return cache_commands.ACTIONS[options.action]()


_WITH_PROGRAM: Final = (["cache", "warm"], ["cache", "why"])


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError(f"expected 0 or more, got {count}")
    return count
