"""Training on eight devices and in two processes gives the losses of one device."""

import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from examples import devices
from examples.demo import device_failures, process_failures, show_processes
from examples.devices import (
    DeviceFigures,
    ProcessFigures,
    learn_in_processes,
    learn_on_devices,
)


@pytest.mark.slow
def test_eight_devices_learn_the_same_as_one():
    pytest.importorskip("sklearn")
    shares = learn_on_devices(8)
    assert (shares.devices, shares.versions) == (8, 2)
    assert shares.alone[-1] < shares.alone[0]
    assert not [*device_failures(shares)]
    (said,) = device_failures(replace(shares, split=[x * 2 for x in shares.split]))
    assert said.startswith("Losses differ by ")
    (said,) = device_failures(replace(shares, copies=False))
    assert said == "Each device has its share of a batch, and a copy of the network"


def shares(*losses):
    return DeviceFigures(
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
    """Return a function that replaces the program of the processes."""

    def replace_by(line):
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(program))

    return replace_by


@pytest.mark.slow
def test_two_processes_learn_the_same_as_one(capsys):
    pytest.importorskip("sklearn")
    alone = devices.train(4, devices.make_step(devices.ADAM), None).losses
    assert [*show_processes(shares(*alone), 4)] == []
    shown = capsys.readouterr().out
    assert "  a batch     128 images, 64 in each process\n" in shown
    assert f"  loss, alone {alone[-1]:.4f} after 4 steps\n" in shown
    assert "│   process 0: cpu:0  │" in shown


def test_losses_that_differ_fail():
    (said,) = process_failures(shares(2.0, 1.0), ProcessFigures(losses=[2.0, 1.1]))
    assert said == "Losses in two processes differ by 5e-02, not less than 1e-03"
    assert [
        *process_failures(shares(2.0, 1.0, 0.5), ProcessFigures(losses=[2.0, 1.0]))
    ] == []


def test_refused_sockets_are_reported_and_skipped(monkeypatch, capsys):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    assert [*show_processes(shares(2.0), 4)] == []
    shown = capsys.readouterr().out
    assert shown.endswith("  not run: [Errno 1] Operation not permitted\n\n")


def test_the_failure_has_the_last_line_of_a_process(instead):
    instead("echo first; echo last >&2; exit 3")
    found = learn_in_processes(4)
    assert found.failed.endswith(" of 2 ended with the status 3: last")
    (said,) = process_failures(shares(2.0), found)
    assert said.startswith("Two processes train together; process ")


def test_a_process_that_does_not_end_is_stopped(instead, monkeypatch, tmp_path):
    monkeypatch.setattr(devices, "_LIMIT_S", 0.3)
    instead(f"echo $$ > {tmp_path}/pid-$$; exec sleep 60")
    found = learn_in_processes(4)
    assert found.failed == (
        "process 0 of 2 did not end within 0.3 s: it printed nothing"
    )
    for log in tmp_path.glob("pid-*"):
        if pid := log.read_text().strip():
            assert not Path("/proc", pid).exists()


def test_a_port_that_is_taken_is_chosen_again(instead, tmp_path):
    instead(f"echo x >> {tmp_path}/starts; echo 'Choose another port, please'; exit 1")
    assert "Choose another port" in learn_in_processes(4).failed
    assert 2 <= len((tmp_path / "starts").read_text().split()) <= 4
