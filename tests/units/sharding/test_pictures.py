"""Where IPython runs, it chooses how a picture is shown."""

import sys
from types import ModuleType

import pytest

import imprint


@pytest.fixture
def displayed(monkeypatch):
    """Return what IPython is asked to display; it stands for itself here."""
    found = []
    shell, display = ModuleType("IPython"), ModuleType("IPython.display")
    shell.get_ipython = lambda: "a shell"
    display.display = found.append
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return found


def test_a_notebook_draws_what_a_terminal_prints(displayed, capsys):
    x = imprint.numpy.ones((2, 3))
    imprint.debug.visualize_array_sharding(x)
    (shown,) = displayed
    assert shown._repr_svg_().startswith("<svg ")
    assert capsys.readouterr().out == ""
    sys.modules["IPython"].get_ipython = lambda: None
    imprint.debug.visualize_array_sharding(x)
    assert capsys.readouterr().out == f"{shown!r}\n"
