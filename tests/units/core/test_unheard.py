"""Tests of core.unheard: which functions the recorder of a trace is not told of."""

import sys

import pytest

import imprint
import imprint.numpy as np
from imprint.core import unheard
from imprint.record.recorder import Recording
from imprint.transforms import staging

PLAIN = imprint.make_jaxpr(lambda x: np.sin(x) * 2)(1.0)
HOLDING = imprint.make_jaxpr(imprint.jit(lambda x: np.sin(x) * 2))(1.0)
BY_PROFILER = sys.version_info < (3, 12)


def started():
    """Start, while a profiler may listen."""


@pytest.fixture
def heard():
    """Install a profiler that need not hear what is unheard; return what it was told."""
    seen = []

    def listener(frame, event, _):
        if event == "call":
            seen.append(frame.f_code.co_name)

    unheard.LISTENERS.add(listener)
    before = sys.getprofile()
    sys.setprofile(listener)
    try:
        yield seen
        assert sys.getprofile() is listener
    finally:
        sys.setprofile(before)
        unheard.LISTENERS.discard(listener)


def test_rules_of_imprints_own_are_unheard_where_hearing_is_dear(heard):
    with unheard.while_running(PLAIN.jaxpr):
        started()
    assert ("started" not in heard) is BY_PROFILER
    heard.clear()
    started()
    assert "started" in heard


def write():
    """Write an equation, without a recorder."""
    aval = PLAIN.in_avals[0]
    staging.stage(lambda x: [np.sin(x)], [aval], staging.Staged("test", "f"))


def test_how_an_equation_is_written_is_unheard(heard):
    write()
    assert "process" in heard
    assert ("current_source" not in heard) is BY_PROFILER


def test_it_is_heard_again_after_an_equation_that_fails(heard, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(staging, "Eqn", fail)
    with pytest.raises(ZeroDivisionError):
        write()
    started()
    assert "started" in heard


def test_what_may_run_a_function_of_the_users_is_heard(heard):
    with unheard.while_running(HOLDING.jaxpr):
        started()
    assert "started" in heard


def test_a_profiler_of_the_users_hears_everything(heard, monkeypatch):
    monkeypatch.setattr(unheard, "LISTENERS", frozenset())
    with unheard.while_running(PLAIN.jaxpr):
        started()
    assert "started" in heard


def test_it_is_heard_again_after_an_error(heard):
    with pytest.raises(ZeroDivisionError), unheard.while_running(PLAIN.jaxpr):
        raise ZeroDivisionError
    started()
    assert "started" in heard


def test_the_recorder_hears_what_follows_a_derivative_and_its_rules(user):
    program = user(
        "program",
        """
        import imprint
        import imprint.numpy as np
        A, B = 2.0, 3.0

        @imprint.custom_vjp
        def ruled(x): return np.sin(x)
        def forward(x): return ruled(x), x
        def backward(x, ct): return (ct * A * x,)
        ruled.defvjp(forward, backward)

        def after(x): return x * B
        def root(x):
            plain = imprint.grad(lambda x: np.sin(x) * x)(x)
            return after(plain + imprint.grad(lambda x: np.sin(ruled(x)))(x))
        """,
    )
    before = sys.getprofile()
    with Recording(program.root) as recording:
        imprint.jit(program.root)(1.0)
    ran = {code.co_name for code in recording.record.codes}
    assert {"root", "forward", "backward", "after"} <= ran
    assert not recording.deaf
    assert not recording.by_names
    assert sys.getprofile() is before
