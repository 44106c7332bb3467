"""`python -m benchmarks [words]`: a table of imprint and JAX.

A row has the best time of each side, the ratio of the best, the ratio of the medians, and
the target. Words choose the rows whose file or name contains one of them. Read the ratios:
the times depend on the machine.
"""

import importlib
import os
import platform
import sys
import warnings
from importlib.metadata import version

import jax

import imprint
from benchmarks.measure import measure
from benchmarks.pairs import Fact, Pair

FILES = (
    *("import_time", "lengths", "dispatch", "devices", "call_forms", "callbacks"),
    *("cold", "tracing", "watching", "compiling", "eager", "engine", "loops", "chains"),
    *(
        "memory",
        "recomputation",
        "rolling",
        "definitions",
        "filtering",
        "redundant_misses",
    ),
    *("arrays", "order", "padding", "small", "spectra", "statics", "steady"),
    "warm_start",
    "as_jax",
)
HEAD = ("", "imprint", "jax", "ratio", "median", "target", "")
WIDTHS = (46, 10, 10, 7, 7, 7, 7)


def main() -> None:
    """Measure the chosen rows and print each as it is known."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have bytecode
    words = sys.argv[1:]
    # One function is compiled for many call signatures on purpose.
    warnings.filterwarnings("ignore", ".* was compiled 8 times")
    print(machine())
    print_row(HEAD)
    missed = []
    for row in chosen(words):
        cells, reached = time_cells(row) if isinstance(row, Pair) else fact_cells(row)
        print_row((row.name, *cells, "" if reached is None else verdict(reached)))
        if reached is False:
            missed.append(row.name)
    if missed:
        print("not reached: " + "; ".join(missed))


def chosen(words):
    """Return the rows whose file or name contains a word, or all."""
    names = (
        words if words and set(words) <= set(FILES) else FILES
    )  # to import all: 1 min
    files = [importlib.import_module(f"benchmarks.{name}") for name in names]
    return [
        row
        for file in files
        for row in (*getattr(file, "PAIRS", ()), *getattr(file, "FACTS", ()))
        if not words or any(word in file.__name__ or word in row.name for word in words)
    ]


def time_cells(pair: Pair):
    """Measure one pair: its cells, and whether its ratio is reached."""
    ours, jax = measure(pair)
    ratio = ours.best / jax.best
    cells = (
        seconds(ours.best / pair.per),
        seconds(jax.best / pair.per),
        f"{ratio:.3f}",
        f"{ours.middle / jax.middle:.3f}",
        "" if pair.target is None else f"{pair.target:.2f}",
    )
    return cells, None if pair.target is None else ratio <= pair.target


def fact_cells(fact: Fact):
    """Count one fact: its cells, and whether it is within its limit."""
    ours, jax = fact.ours(), fact.jax()
    shown = f"{ours:.4g}", f"{jax:.4g}"
    if fact.relative:
        ratio = ours / jax
        return (*shown, f"{ratio:.3f}", "", f"{fact.limit:.2f}"), ratio <= fact.limit
    return (*shown, "", "", f"≤ {fact.limit:g}"), ours <= fact.limit


def verdict(reached: bool) -> str:
    return "reached" if reached else "MISSED"


def seconds(value: float) -> str:
    """Return a time with three digits and its unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def print_row(cells) -> None:
    name, *rest = cells
    line = name.ljust(WIDTHS[0])
    for cell, width in zip(rest, WIDTHS[1:], strict=True):
        line += "  " + cell.rjust(width)
    print(line.rstrip(), flush=True)


def machine() -> str:
    """Return a description of the machine and the packages."""
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("jaxlib", "jax", "numpy")
    )
    processor = f"{os.cpu_count()} × {cpu_model()}"
    if os.environ.get("IMPRINT_DEFAULT_DEVICE", "cpu") != "cpu":
        ours, theirs = imprint.device_put(1.0).device, jax.devices()[0]
        processor += f", imprint on {ours.device_kind}, jax on {theirs.device_kind}"
    return f"{processor}, CPython {platform.python_version()}, {packages}\n"


def cpu_model() -> str:
    """Return the processor's name as Linux knows it, else its architecture."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0].split(":")[1].strip() if names else platform.machine()


if __name__ == "__main__":
    main()
