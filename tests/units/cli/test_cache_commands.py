"""`imprint cache`: output, deletions and exit status of each action."""

import os
import re

import pytest

import imprint
import imprint.numpy as np
from imprint._src.jit.disk_cache.current import StoreOptions, configure
from imprint._src.jit.disk_cache.eviction import entries
from imprint.cli import main


@pytest.fixture
def files(imprint_store):
    """Give the files of two programs without their traces, the second used last."""
    for factor in (2, 3):
        imprint.jit(lambda x, factor=factor: x * factor).trace(1.0).lower().compile()
    found = sorted(entries(imprint_store), key=lambda each: each.used)
    for each, age in zip(found, (7200, 3600), strict=True):
        os.utime(each.path, (each.used - age,) * 2)
    return [each.path for each in found]


@pytest.fixture
def cache(capsys):
    """Give a function that runs an action: its status, and the lines that it printed."""

    def run(*words):
        status = main(["cache", *words])
        printed = capsys.readouterr()
        return status, (printed.out + printed.err).splitlines()

    return run


def test_ls_has_the_last_used_first(files, cache):
    status, [*lines, blank, total] = cache("ls")
    assert status == 0
    names = [(path.parent.name + path.name)[:12] for path in files]
    assert [line.split()[0] for line in lines] == names[::-1]
    assert all("jit__lambda_, 1 equations" in line for line in lines)
    assert blank == ""
    kib = sum(path.stat().st_size for path in files) / 1024
    assert re.fullmatch(
        rf"total +{kib:.1f} KiB  {lines[0].split('KiB  ')[1][:16]}  _lambda_: 2 entries, "
        r"\d+\.\d\d s to compile",
        total,
    )


def test_ls_sorts_functions_by_size(cache, imprint_store):
    assert cache("ls", "--sort", "size")[0] == 1  # nothing is there yet

    @imprint.jit
    def large(x):
        for k in range(20):
            x = np.sin(x) * k + np.cos(x)
        return x

    large(1.0)
    imprint.jit(lambda x: x * 5)(1.0)
    _, lines = cache("ls", "--sort", "size")
    (at,) = [i for i, line in enumerate(lines) if not line]
    sizes = [float(line.split()[1]) for line in lines[:at]]
    assert sizes == sorted(sizes, reverse=True)
    first, second = [line.split("  ")[-1] for line in lines[at + 1 :]]
    assert first.startswith("large: 2 entries, ")
    assert second.startswith("<lambda>: 2 entries, ")


def test_du_prints_the_size(files, cache):
    kib = sum(path.stat().st_size for path in files) / 1024
    assert cache("du") == (0, [f"2 entries, {kib:.1f} KiB of 2.0 GiB"])


def test_prune_deletes_entries_over_the_limit(files, cache):
    old, new = files
    imprint.cache.configure(limit=new.stat().st_size)
    kib = old.stat().st_size / 1024
    assert cache("prune") == (0, [f"deleted 1 files, {kib:.1f} KiB"])
    assert new.exists()
    assert not old.exists()


def test_verify_deletes_damaged_entries(files, cache):
    assert cache("verify") == (0, ["2 entries are whole, 0 were not"])
    damaged = files[0]
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"!")
    assert cache("verify") == (
        1,
        [
            f"deleted {damaged}: it is damaged: its digest is another than it says",
            "1 entries are whole, 1 were not",
        ],
    )
    assert not damaged.exists()


def test_verify_leaves_entries_of_other_signers(files, cache, imprint_store, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(32)))
    secret.chmod(0o600)
    imprint.cache.configure(key=secret)
    imprint.jit(lambda x: x * 4)(1.0)
    assert cache("verify") == (
        0,
        ["2 entries are whole, 0 were not; 2 have another signature"],
    )
    assert len([*entries(imprint_store)]) == 4


def test_clear_deletes_programs_and_nothing_else(files, cache, imprint_store):
    (imprint_store / "mine.txt").write_text("mine")
    status, (line,) = cache("clear")
    assert status == 0
    assert line.startswith("deleted 2 entries, ")
    assert (imprint_store / "mine.txt").exists()
    assert cache("du") == (0, ["0 entries, 0 B of 2.0 GiB"])


def test_doctor_is_content_with_a_store_that_works(files, cache, imprint_store):
    status, lines = cache("doctor")
    assert status == 0
    assert lines[0].startswith(f"folder: {imprint_store} (")
    assert lines[2].startswith("programs: 2, of which 2 are of jaxlib ")
    assert lines[-1] == "writing and reading: well"
    assert len([*entries(imprint_store)]) == 2


def test_doctor_gives_the_reason(cache, imprint_store, monkeypatch):
    assert cache("doctor")[1][-1] == (
        f"no store: {imprint_store} is not there; the first program that is compiled makes "
        "it"
    )
    imprint_store.mkdir()
    imprint_store.chmod(0o777)
    status, lines = cache("doctor")
    assert status == 1
    assert "others can write into it (mode 777)" in lines[-1]
    imprint_store.chmod(0o700)
    imprint.cache.configure(mode="off")
    status, lines = cache("doctor")
    assert status == 1
    assert lines[-1] == "off: nothing is read or written. Unset IMPRINT_CACHE."
    configure(StoreOptions())
    monkeypatch.setenv("IMPRINT_CACHE", "on")
    assert cache("doctor") == (
        1,
        ["off: expected IMPRINT_CACHE to be one of off, read, write, got 'on'"],
    )


def test_without_a_store_the_other_actions_report_it(cache, imprint_store):
    for action in ("ls", "du", "prune", "verify", "clear"):
        status, lines = cache(action)
        assert status == 1
        assert len(lines) == 1
        assert not imprint_store.exists()
