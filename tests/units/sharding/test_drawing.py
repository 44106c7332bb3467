"""Under IPython, the front end chooses the format of a picture."""

import sys
from types import SimpleNamespace

import imprint


def test_a_notebook_draws_the_picture_of_the_terminal(monkeypatch, capsys):
    shown = []
    running = SimpleNamespace(display_pub=SimpleNamespace(publish=shown.append))
    shell = SimpleNamespace(get_ipython=lambda: running)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    x = imprint.numpy.ones((2, 3))
    imprint.debug.visualize_array_sharding(x)
    assert capsys.readouterr().out == ""
    ((plain, text), (drawn, svg)) = shown[0].items()
    assert (plain, drawn) == ("text/plain", "image/svg+xml")
    assert svg.startswith("<svg ")
    running = None
    imprint.debug.visualize_array_sharding(x)
    assert capsys.readouterr().out == f"{text}\n"
