"""The progress of a long compile: a line on a terminal, and where the user asks for it."""

import io
import os
import re
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.config import config
from imprint._src.jit.compilation.lowered import lower
from imprint._src.jit.compilation.progress import Progress

TEXT = "module @jit_step attributes {} {\n}"


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


class Terminal:
    """A terminal, and the text written to it."""

    def __init__(self):
        self.ours, self.theirs = os.openpty()
        self.stream = open(self.theirs, "w")  # noqa: SIM115 - closed by the fixture

    def read(self):
        return os.read(self.ours, 1 << 16).decode()

    def read_until(self, text):
        """Read until `text` was written."""
        got = ""
        while text not in got:
            got += self.read()
        return got


@pytest.fixture
def terminal():
    made = Terminal()
    yield made
    made.stream.close()
    os.close(made.ours)


def screen(written):
    """Return the final text of the line: a carriage return overwrites it."""
    line = []
    for part in written.split("\r"):
        line[: len(part)] = part
    return "".join(line).rstrip()


def progress_threads():
    return [t for t in threading.enumerate() if t.name == "imprint-progress"]


def wait_for_progress_threads():
    for thread in progress_threads():
        thread.join()


@pytest.fixture(autouse=True)
def every_thread_ends():
    yield
    wait_for_progress_threads()


def test_a_long_compile_is_shown_refreshed_and_cleared(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    clock = Clock()
    progress = Progress(delay=0.0, period=0.001, clock=clock)
    with progress.during(TEXT, 12345):
        clock.now = 3.24
        got = terminal.read_until("compiling jit_step: 12,345 equations, 3.2 s")
        clock.now = 61.0
        got += terminal.read_until("compiling jit_step: 12,345 equations, 61.0 s")
    got += terminal.read_until(" \r")
    assert screen(got) == ""
    assert got.endswith("\r")


def test_a_short_compile_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    progress = Progress(delay=1000.0)
    with progress.during(TEXT, 1):
        (thread,) = progress_threads()
        assert thread.daemon
    sys.stderr.write("nothing before this")
    sys.stderr.flush()
    assert terminal.read() == "nothing before this"
    thread.join()


def test_an_interrupted_compile_leaves_no_line_and_no_thread(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    got, threads = "", []

    def compile_until_interrupted():
        nonlocal got
        with Progress(delay=0.0, period=0.001).during(TEXT, 5):
            threads.extend(progress_threads())
            got = terminal.read_until("equations")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_until_interrupted()
    (thread,) = threads
    thread.join()
    got += terminal.read_until(" \r")
    assert screen(got) == ""


def test_of_two_compiles_the_one_that_began_first_is_shown(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    clock = Clock()
    progress = Progress(delay=1000.0, clock=clock)  # its thread sleeps: we refresh
    with progress.during("module @jit_late {", 2):
        (thread,) = progress_threads()
        clock.now = 600.0
        with progress.during(TEXT, 1):
            progress._refresh()
            clock.now = 1500.0
            progress._refresh()
            got = terminal.read_until(" equations, 1500.0 s")
        got += terminal.read_until(" \r")
        clock.now = 1600.0
        progress._refresh()
        got += terminal.read_until(" equations, 1600.0 s")
    got += terminal.read_until(" \r")
    thread.join()
    assert "jit_step" not in got
    assert " 600.0 s" not in got
    assert screen(got) == ""


def test_a_line_is_cut_to_the_width_of_the_terminal(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    size = os.terminal_size((20, 24))
    monkeypatch.setattr(os, "get_terminal_size", lambda fd: size)
    progress = Progress(delay=0.0, period=0.001)
    with progress.during(TEXT, 12345):
        got = terminal.read_until("compiling")
    got += terminal.read_until(" \r")
    assert {len(part) for part in got.split("\r")} <= {0, 19}


class Closed(io.StringIO):
    def isatty(self):
        raise ValueError("I/O operation on closed file")


@pytest.mark.parametrize("stream", [io.StringIO(), None, object(), Closed()])
def test_without_a_terminal_no_thread_is_started(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(delay=0.0).during(TEXT, 5):
        assert not progress_threads()
    if isinstance(stream, io.StringIO):
        assert not stream.getvalue()


class Stream(io.StringIO):
    """A stream that says when a text was written."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def write(self, text):
        super().write(text)
        self.written.set()

    def wait(self):
        assert self.written.wait(60)
        self.written.clear()


def test_a_pipe_gets_a_line_now_and_then_and_one_at_the_end(monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream := Stream())
    clock = Clock()
    progress = Progress(delay=1000.0, log_period=0.001, clock=clock)
    config.update("show_progress", True)
    try:
        with progress.during(TEXT, 1234):
            clock.now = 10.0
            stream.wait()
        wait_for_progress_threads()
        with Progress(log_period=1000.0).during(TEXT, 1):
            (thread,) = progress_threads()
            thread.join(0.01)
    finally:
        config.update("show_progress", False)
    first, *_, last = stream.getvalue().splitlines()
    assert first == "compiling jit_step: 1,234 equations, 10.0 s"
    assert last == "compiled jit_step in 10.0 s"


def test_a_notebook_shows_the_line(monkeypatch):
    monkeypatch.setattr(Stream, "__module__", "ipykernel.iostream")
    monkeypatch.setattr(sys, "stderr", stream := Stream())
    progress = Progress(delay=0.0, period=0.001)
    with progress.during(TEXT, 5):
        assert not progress_threads()
    config.update("show_progress", True)
    try:
        with progress.during(TEXT, 5):
            stream.wait()
    finally:
        config.update("show_progress", False)
    assert stream.getvalue().startswith("\rcompiling jit_step: 5 equations, 0.0 s")
    assert screen(stream.getvalue()) == ""


def test_a_closed_terminal_is_ignored(monkeypatch):
    class Gone(io.StringIO):
        def isatty(self):
            return True

        def write(self, text):
            asked.set()
            raise OSError("gone")

    asked = threading.Event()
    monkeypatch.setattr(sys, "stderr", Gone())
    with Progress(delay=0.0, period=0.001).during(TEXT, 5):
        (thread,) = progress_threads()
        asked.wait()
    thread.join()


def test_without_another_thread_it_goes_without_the_line(terminal, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(sys, "stderr", terminal.stream)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Progress(delay=0.0).during(TEXT, 5):
        assert not progress_threads()


def test_the_equations_of_a_shared_call_are_counted_once():
    inner = imprint.jit(lambda x: inp.sin(x) + 1)
    closed = imprint.make_jaxpr(lambda x: inner(inner(x)) * 2)(1.0)
    assert lower(closed, "jit_outer").equations == 5


PROGRAM = """
import imprint
from imprint._src.jit.compilation import progress
progress.PROGRESS._delay = 0.0
progress.PROGRESS._period = 0.0001
compile = imprint.jit(lambda x: imprint.numpy.sin(x) + 1)
compile(1.0)
"""


def until_the_end(descriptor):
    with suppress(OSError):  # the error of a closed terminal
        while read := os.read(descriptor, 1 << 16):
            yield read.decode()
    os.close(descriptor)


@pytest.mark.slow
def test_a_compile_of_a_program_is_shown():
    ours, theirs = os.openpty()
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=theirs) as child:
        os.close(theirs)
        got = "".join(until_the_end(ours))
    assert child.returncode == 0, got
    assert re.search(r"\rcompiling jit__lambda_?: 2 equations, \d\.\d s", got), got
    assert screen(got) == ""
