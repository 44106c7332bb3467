"""The demo: small programs, NumPy scripts, and networks that learn; checked.

The parts run in the order of `PARTS`. After a failed check the demo goes on; at its end it
lists the failures and returns 1. This file prints the programs and checks their results.
"""

import platform
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import imprint
from examples import performance, programs
from examples.devices import (
    DeviceFigures,
    ProcessFigures,
    learn_in_processes,
    learn_on_devices,
)
from examples.digits import DigitFigures, learn_digits
from examples.drawings import draw_curve, draw_growth
from examples.example import Chapters, Example
from examples.images import ImageFigures, learn_images
from examples.jit_scripts import Timing, run_scripts
from examples.letters import TextFigures, learn_letters
from examples.warm_start import start_twice

PARTS = (
    "examples",
    "costs",
    "numpy",
    "twice",
    "digits",
    "images",
    "letters",
    "devices",
    "jax",
)
CHAPTERS: Chapters = {**programs.CHAPTERS, **performance.CHAPTERS}

_WIDTH = 88
_ACCURACY = 0.97
_SEEN = 0.99
_LOSS = 1.0
_DIFFERENCE = 1e-3
_TOGETHER = 100  # steps in two processes
_INTRODUCTION = """
Each program is shown as it runs, and behind a bar (|) what it prints. Where JAX does
something else, that is quoted below; it was run on JAX 0.12. All programs begin with

    import imprint
    import imprint.numpy as np
    from imprint import Array, random
"""


def demo(parts: Sequence[str], out: Path, steps: int) -> int:
    """Run parts of the demo and return the exit status.

    Args:
        parts: some of `PARTS`.
        out: the directory for the network of digits and its picture.
        steps: how many steps each network is trained; the transformer, half as many more.

    Returns:
        0 if every check passed, else 1.
    """
    print(
        f"imprint {imprint.__version__} on CPython {platform.python_version()}, "
        f"{imprint.devices()[0]!r}"
    )
    shows: dict[str, Callable[[], Iterable[str]]] = {
        "examples": lambda: show_examples(CHAPTERS),
        "costs": lambda: show_costs(performance.LENGTHS) or (),
        "numpy": show_scripts,
        "twice": show_starts,
        "digits": lambda: show_digits(out, steps),
        "images": lambda: show_images(steps),
        "letters": lambda: show_letters(steps * 3 // 2),  # until the text is readable
        "devices": lambda: show_devices(steps),
        "jax": show_jax_program,
    }
    failed = [what for part in PARTS if part in parts for what in shows[part]()]
    if "jax" in sys.modules:
        failed.append("no module of JAX is imported")
    print(_rule("The end"))
    for what in failed:
        print(f"FAILED: {what}")
    if not failed:
        print("Every check passed, and no module of JAX was imported.")
    return 1 if failed else 0


# ---- the programs ----


def show_examples(chapters: Chapters) -> Iterator[str]:
    """Run and show every program; yield the headings of those that failed."""
    print(_INTRODUCTION)
    for chapter, shown in chapters.items():
        print(_rule(chapter))
        for example in shown:
            if not _show(example):
                yield example.heading


def _show(example: Example) -> bool:
    printed = example.run()
    passed = example.accepts(printed)
    print(f"{'[ok]' if passed else '[FAILED]'} {example.heading}\n")
    print(textwrap.indent(example.code, "    "), end="\n\n")
    print(_barred(printed))
    if example.jax:
        print(f"  In JAX: {example.jax}\n")
    if not passed:
        print(f"  expected:\n{_barred(example.expected)}")
    return passed


def _barred(text: str) -> str:
    return textwrap.indent(text, "  | ", lambda _: True) + "\n"


def _rule(title: str) -> str:
    return f"---- {title} ".ljust(_WIDTH, "-") + "\n"


# ---- costs ----


def show_costs(lengths: Sequence[int]) -> None:
    """Draw how the cost of a program grows with its length, and of its twin."""
    print(_rule("VersionCosts: a program that Python unrolls, both axes logarithmic"))
    print("  x = np.sin(x) * x + x.sum(), of 1,000 numbers, so many times:")
    print(
        "  i is imprint, e the same with cut_recomputation off, as the engine does.\n"
    )
    ours = performance.measure(lengths, cuts=True)
    twin = performance.measure(lengths, cuts=False)
    for what, e, i in (
        ("to compile", twin.compiled, ours.compiled),
        ("to run", twin.ran, ours.ran),
    ):
        print(f"  {what}\n")
        print(textwrap.indent(draw_growth({"e": e, "i": i}), "  "), end="\n\n")


# ---- the scripts ----


def show_scripts() -> Iterator[str]:
    """Run plain NumPy scripts with and without `jit`; yield failed checks."""
    print(_rule("Plain NumPy: scripts run unchanged, compiled"))
    print(
        "  Each is in examples/numpy_scripts.py, which imports NumPy and nothing else.\n"
    )
    for timing in run_scripts():
        print(f"  {timing.heading}")
        rows = {
            "by NumPy": f"{timing.numpy_s * 1e3:.2f} ms",
            "under jit": f"{timing.jit_s * 1e3:.2f} ms, {timing.speed_up:.1f} times as "
            f"fast (the first call, which compiles: {timing.first_s:.2f} s)",
            "difference": f"{timing.difference:.0e} of the largest value",
        }
        _print_rows(rows)
        yield from script_failures(timing)


def script_failures(timing: Timing) -> Iterator[str]:
    """Yield the failed checks of a script; its speed is not checked."""
    if not timing.difference < _DIFFERENCE:
        yield (
            f"{timing.heading} Results differ by {timing.difference:.0e}, not less than "
            f"{_DIFFERENCE:.0e}, from NumPy's"
        )
    if timing.compiles != 1:
        yield f"{timing.heading} It compiles once, not {timing.compiles} times"


# ---- a new process ----


def show_starts() -> Iterator[str]:
    """Start a program twice; yield failed checks."""
    print(_rule("Persistent cache: a process that loads what another one compiled"))
    print(
        "  The program is in examples/warm_start.py, and runs in two new processes.\n"
    )
    first, second = start_twice()
    _print_rows({"first": str(first), "second": str(second)})
    if (second.traces, second.compiles) != (0, 0):
        yield f"The second start has 0 traces, 0 compiles, not {second}"
    if first.result != second.result:
        yield f"Both starts give {first.result}, not {second.result}"


# ---- the networks ----


def show_digits(out: Path, steps: int) -> Iterator[str]:
    """Train the network of digits and show the figures; yield failed checks."""
    print(_rule("Real data: a network learns handwritten digits"))
    figures = learn_digits(steps, out)
    rows = {
        "data": f"{figures.learnt} images to learn from, {figures.held_out} held out",
        "first step": f"{figures.first_step_s:.3f} s (traced, compiled and run)",
        "each step": f"{figures.step_s * 1e3:.3f} ms (mean of the {steps - 1} others)",
        "compiles": f"{figures.compiles}",
        "loss": f"{figures.first_loss:.3f} at first, {figures.last_loss:.4f} at the end",
        "held out": f"{figures.right} of {figures.held_out} right ({figures.accuracy:.1%})",
        "saved": f"{figures.model}, loaded and run in a fresh process",
        "picture": f"{figures.picture}",
    }
    _print_rows(rows)
    return digit_failures(figures)


def show_devices(steps: int) -> Iterator[str]:
    """Train the network of digits on eight devices and show it; yield failed checks."""
    print(_rule("Many devices: the digits again, an eighth of each batch on each"))
    shares = learn_on_devices(steps)
    rows = {
        "devices": f"{shares.devices} of the CPU, in a process of its own",
        "a batch": f"{shares.batch} images, {shares.share} on each device",
        "versions": f"{shares.versions} of one function: whole batches, and split ones",
        "loss, alone": f"{shares.alone[0]:.4f} at first, {shares.alone[-1]:.4f} at the end",
        "loss, split": f"{shares.split[0]:.4f} at first, {shares.split[-1]:.4f} at the end",
        "difference": f"{shares.difference:.0e} of the first loss, at most",
    }
    _print_rows(rows)
    print(textwrap.indent(shares.picture, "  "), end="\n\n")
    yield from device_failures(shares)
    yield from show_processes(shares, min(steps, _TOGETHER))


def show_processes(shares: DeviceFigures, steps: int) -> Iterator[str]:
    """Train the network of digits in two processes and show it; yield failed checks."""
    print(
        "The same step in two processes that this one starts, half a batch in each:\n"
    )
    together = learn_in_processes(steps)
    if together.refused or together.failed:
        print(f"  not run: {together.refused or together.failed}\n")
    else:
        losses = together.losses
        rows = {
            "a batch": f"{together.batch} images, {together.share} in each process",
            "loss, alone": f"{shares.alone[len(losses) - 1]:.4f} after {len(losses)} steps",
            "in two": f"{losses[-1]:.4f} after {len(losses)} steps",
            "difference": f"{shares.difference_from(losses):.0e} of the first loss, at most",
        }
        _print_rows(rows)
        print(textwrap.indent(together.picture, "  "), end="\n\n")
    yield from process_failures(shares, together)


def process_failures(shares: DeviceFigures, together: ProcessFigures) -> Iterator[str]:
    """Yield the failed checks of a training in several processes.

    Args:
        shares: results of the training on one device.
        together: the other results; if sockets are refused there is nothing to check.
    """
    if together.failed:
        yield f"Two processes train together; {together.failed}"
    elif (
        not together.refused
        and not shares.difference_from(together.losses) < _DIFFERENCE
    ):
        difference = shares.difference_from(together.losses)
        yield f"Losses in two processes differ by {difference:.0e}, not less than {_DIFFERENCE:.0e}"


def device_failures(shares: DeviceFigures) -> Iterator[str]:
    """Yield the failed checks of a training on several devices."""
    if not shares.difference < _DIFFERENCE:
        yield f"Losses differ by {shares.difference:.0e}, not less than {_DIFFERENCE:.0e}"
    if shares.share * shares.devices != shares.batch or not shares.copies:
        yield "Each device has its share of a batch, and a copy of the network"


def _print_rows(rows: dict[str, str]) -> None:
    for name, text in rows.items():
        print(f"  {name:<12}{text}")
    print()


def digit_failures(figures: DigitFigures) -> Iterator[str]:
    """Yield the failed checks of the training of digits."""
    if figures.compiles != 1:
        yield f"the training step compiles once, not {figures.compiles} times"
    if figures.accuracy < _ACCURACY:
        yield (
            f"{_ACCURACY:.0%} of the held-out digits are right, not "
            f"{figures.accuracy:.1%}"
        )
    if not figures.reloaded:
        yield "the saved network gives the same logits in a fresh process"


def show_images(steps: int) -> Iterator[str]:
    """Train the convolutional network and show the figures; yield failed checks."""
    print(_rule("Real data: a convolutional network learns the same digits"))
    sight = learn_images(steps)
    rows = {
        "network": f"{sight.parameters} numbers, in layers of imprint.nn",
        "first step": f"{sight.first_step_s:.3f} s (traced, compiled and run)",
        "each step": f"{sight.step_s * 1e3:.3f} ms (mean of the {steps - 1} others)",
        "compiles": f"{sight.compiles}",
        "held out": f"{sight.right} of {sight.held_out} right ({sight.accuracy:.1%})",
    }
    _print_rows(rows)
    return image_failures(sight)


def image_failures(sight: ImageFigures) -> Iterator[str]:
    """Yield the failed checks of the convolutional network."""
    if sight.compiles != 1:
        yield f"the convolutional step compiles once, not {sight.compiles} times"
    if sight.accuracy < _SEEN:
        yield (
            f"the convolutional network is right about {_SEEN:.0%} of the held-out "
            f"digits, not {sight.accuracy:.1%}"
        )


def show_letters(steps: int) -> Iterator[str]:
    """Train the transformer, show its loss and its text; yield failed checks."""
    print(_rule("Real text: a transformer learns the Zen of Python"))
    lesson = learn_letters(steps)
    rows = {
        "data": f"{lesson.letters} letters, those of `import this`",
        "first step": f"{lesson.first_step_s:.3f} s (traced, compiled and run)",
        "each step": f"{lesson.step_s * 1e3:.3f} ms (mean of the {steps - 1} others)",
        "compiles": f"{lesson.step_compiles} of the step, {lesson.draw_compiles} to draw",
        "guessing": f"{lesson.guessing:.3f}, by how often each letter occurs (dotted)",
        "loss": f"{lesson.losses[0]:.3f} at first, {lesson.loss:.3f} at the end",
    }
    _print_rows(rows)
    print(textwrap.indent(draw_curve(lesson.losses, lesson.guessing), "  ") + "\n")
    print("  What it draws after the first line:\n")
    print(_barred(lesson.beginning + lesson.drawn))
    return text_failures(lesson)


def text_failures(lesson: TextFigures) -> Iterator[str]:
    """Yield the failed checks of the transformer."""
    compiles = lesson.step_compiles, lesson.draw_compiles
    if compiles != (1, 1):
        yield (
            "the transformer's step compiles once, and so does drawing, not "
            f"{compiles[0]} and {compiles[1]} times"
        )
    if lesson.loss > _LOSS:
        yield (
            f"the transformer's loss falls below {_LOSS}, not from {lesson.losses[0]:.3f} "
            f"to {lesson.loss:.3f}"
        )


# ---- a JAX program ----


def show_jax_program() -> Iterator[str]:
    """Run a JAX script on imprint and on JAX, and show both; yield failed checks."""
    print(_rule("Unmodified JAX: a script of JAX, optax and Equinox, on both"))
    script = Path(__file__).with_name("train_with_jax.py")
    words = [sys.executable, "-m", "imprint", "compare", str(script)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    print(f"  imprint compare {script.name}\n")
    print(_barred(done.stdout + done.stderr))
    if done.returncode:
        yield "a JAX script prints the same on imprint and on JAX"
