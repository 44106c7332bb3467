"""Examples in prose: the fenced blocks of a page and the docstrings of the package.

In a page the ```python blocks run in order in one namespace. A block with `>>>` prompts
is a doctest. A block without is a script, and a ```text block right after it is the output
of the script. In both, `...` matches any text.
"""

import contextlib
import doctest
import importlib
import io
import itertools
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import imprint

ROOT = Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ONLY_BLANK = re.compile(r"\s*")


class Block(NamedTuple):
    line: int
    code: str
    output: str | None


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def is_first(page):
    """Return whether a page sets options that must come before any computation."""
    return "num_cpu_devices" in page.read_text(encoding="utf-8")


def blocks(text):
    """Return the Python blocks of a page, each with the output that follows it."""
    fences = list(FENCE.finditer(text))
    found = []
    for fence, after in itertools.zip_longest(fences, fences[1:]):
        if fence[1] != "python":
            continue
        follows = (
            after is not None
            and after[1] == "text"
            and ONLY_BLANK.fullmatch(text, fence.end(), after.start())
        )
        line = text.count("\n", 0, fence.start(2)) + 1
        found.append(Block(line, fence[2], after[2] if follows else None))
    return found


def run_page(path):
    namespace = {"__name__": "__main__"}
    for block in blocks(path.read_text(encoding="utf-8")):
        if ">>> " in block.code:
            parser = doctest.DocTestParser()
            test = parser.get_doctest(
                block.code, namespace, path.name, str(path), block.line
            )
            run_doctest(test)
            namespace = test.globs
        else:
            run_script(path, block, namespace)


def run_page_in_process(path):
    """Run a page in a process of its own, for options that must come first."""
    code = "import sys, pathlib; from tests.docs.examples import run_page; "
    code += "run_page(pathlib.Path(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, path],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr


def run_script(path, block, namespace):
    # The newlines put the block on its line of the page, for the traceback.
    code = compile("\n" * (block.line - 1) + block.code, str(path), "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    if block.output is not None:
        check = doctest.OutputChecker()
        got = printed.getvalue()
        assert check.check_output(block.output, got, FLAGS), (
            f"{path.name}:{block.line} printed\n{got}\nand the page says\n{block.output}"
        )


def run_doctest(test):
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    report = io.StringIO()
    # `run` empties `globs` by default; the next block of a page needs them.
    failed, _ = runner.run(test, out=report.write, clear_globs=False)
    assert not failed, report.getvalue()


def docstrings():
    """Return a doctest for each docstring of imprint that has an example."""
    finder = doctest.DocTestFinder()
    modules = [imprint] + [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(imprint.__path__, "imprint.")
        if not info.name.endswith(("__main__", ".as_jax"))  # which takes JAX's name
        and not info.name.endswith(".kernels.kernels")  # a library, no module of Python
    ]
    tests = [test for module in modules for test in finder.find(module)]
    return [test for test in tests if test.examples]
