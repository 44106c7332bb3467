"""Two processes learn the digits as one does; what keeps them from it is told in time."""

import socket
import sys
from pathlib import Path

import pytest

from imprint._src.cli import together
from imprint._src.cli.devices import Shares
from imprint._src.cli.together import Together, learn_together
from imprint._src.cli.tour import discords, show_processes


def shares(*losses):
    return Shares(
        devices=8,
        versions=2,
        alone=[*losses],
        split=[*losses],
        batch=128,
        share=16,
        copies=True,
        picture="",
    )


@pytest.fixture
def instead(tmp_path, monkeypatch):
    """Return a function that says what the processes shall be."""

    def say(line):
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(program))

    return say


@pytest.mark.slow
def test_two_processes_learn_what_one_does(capsys):
    pytest.importorskip("sklearn")
    alone = together.train(4, together.make_step(together.ADAM), None).losses
    assert [*show_processes(shares(*alone), 4)] == []
    shown = capsys.readouterr().out
    assert "  a batch     128 images, 64 in each process\n" in shown
    assert f"  loss, alone {alone[-1]:.4f} after 4 steps\n" in shown
    assert "│   process 0: cpu:0  │" in shown


def test_losses_that_differ_are_told():
    (said,) = discords(shares(2.0, 1.0), Together(losses=[2.0, 1.1]))
    assert said == "Losses in two processes differ by 5e-02, not less than 1e-03"
    assert [*discords(shares(2.0, 1.0, 0.5), Together(losses=[2.0, 1.0]))] == []


def test_where_sockets_are_refused_it_says_so_and_goes_on(monkeypatch, capsys):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    assert [*show_processes(shares(2.0), 4)] == []
    shown = capsys.readouterr().out
    assert shown.endswith("  not run: [Errno 1] Operation not permitted\n\n")


def test_what_a_process_said_last_is_told(instead):
    instead("echo first; echo last >&2; exit 3")
    found = learn_together(4)
    assert found.failed.endswith(" of 2 ended with the status 3: last")
    (said,) = discords(shares(2.0), found)
    assert said.startswith("Two processes train together; process ")


def test_who_does_not_end_is_stopped(instead, monkeypatch, tmp_path):
    monkeypatch.setattr(together, "_LIMIT_S", 0.3)
    instead(f"echo $$ > {tmp_path}/pid-$$; exec sleep 60")
    found = learn_together(4)
    assert found.failed == (
        "process 0 of 2 did not end within 0.3 s: it printed nothing"
    )
    for log in tmp_path.glob("pid-*"):
        if pid := log.read_text().strip():
            assert not Path("/proc", pid).exists()


def test_a_port_that_somebody_took_is_tried_anew(instead, tmp_path):
    instead(f"echo x >> {tmp_path}/starts; echo 'Choose another port, please'; exit 1")
    assert "Choose another port" in learn_together(4).failed
    assert 2 <= len((tmp_path / "starts").read_text().split()) <= 4
