"""Damaged manifests: each call gives the right answer, and one warning at most."""

import os
import time
import warnings

import numpy as np
import pytest

import imprint
from imprint._src.jit import load_from_disk
from imprint._src.jit.disk_cache.current import current
from imprint._src.jit.disk_cache.eviction import entries
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.manifest import trace_manifest as manifest
from imprint._src.runtime import options as engine
from imprint.errors import StoreWarning
from tests.spec import reborn

TEXTS = {
    "main": """
import imprint
RATE = 2.0

@imprint.jit
def f(x):
    return x * RATE

@imprint.jit
def g(x):
    return x + RATE
"""
}
X = np.array([1.0, 2.0], np.float32)


@pytest.fixture
def life(tmp_path, imprint_store):
    """Return a function that begins a life whose functions an earlier one called."""

    def begin():
        return reborn.begin(TEXTS, tmp_path).main

    begin().f(X)
    return begin


def manifests():
    """Return the files of the manifests of the store in use."""
    store = current()
    found = [entry.path for entry in entries(store.folder)]
    kinds = {path: store.look(path, whole=False).note.get("kind") for path in found}
    return [path for path in found if kinds[path] == manifest.TRACE]


def called(main):
    """Return how often `f` was traced, and how often was warned; its result is right."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result, count = reborn.traces(main.f, X)
    np.testing.assert_array_equal(result, X * 2)
    return count, sum(issubclass(w.category, StoreWarning) for w in caught)


def reopened_store():
    """Return a store as another process opens it, which has warned of nothing."""
    store = current()
    return Store(store.folder, writes=True, limit=store.limit)


def key_of_call(life, monkeypatch):
    """Return the key of the manifest of a call."""
    keys = []

    def note(inputs):
        keys.append(manifest.manifest_key(inputs))
        return keys[-1]

    with monkeypatch.context() as patched:
        patched.setattr(load_from_disk, "manifest_key", note)
        life().f(X)
    return keys[0]


def test_corrupt_and_truncated_manifests_are_rejected(life, monkeypatch):
    key = key_of_call(life, monkeypatch)
    (path,) = manifests()
    whole = path.read_bytes()
    assert manifest.find_trace(reopened_store(), key) is not None
    damaged = [whole[:size] for size in range(len(whole))]
    for at in range(len(whole)):
        damaged.append(bytearray(whole))
        damaged[-1][at] ^= 1 << at % 8
    for data in damaged:
        path.write_bytes(data)
        path.chmod(0o600)
        with pytest.warns(StoreWarning) as caught:
            assert manifest.find_trace(reopened_store(), key) is None
        assert len(caught) == 1
        assert not path.exists()
    path.write_bytes(whole)
    path.chmod(0o600)
    assert called(life()) == (0, 0)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_a_damaged_manifest_causes_a_trace(life, share):
    (path,) = manifests()
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 16
    path.write_bytes(data)
    assert called(life()) == (1, 1)
    assert called(life()) == (0, 0)  # it was kept again


def test_swapped_manifests_are_rejected(life):
    main = life()
    main.f(X)
    main.g(X)
    one, other = manifests()
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)
    main = life()
    assert called(main) == (1, 1)
    result, count = reborn.traces(main.g, X)
    np.testing.assert_array_equal(result, X + 2)
    assert count == 1


def test_a_manifest_under_another_name_is_not_found(life):
    (path,) = manifests()
    path.rename(path.with_name("0" * 62))
    assert called(life()) == (1, 0)


def test_a_manifest_of_another_signature_is_not_found(life, tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).write_bytes(os.urandom(40))
        (tmp_path / name).chmod(0o600)
    wanted = {"one": (1, 0), "other": (1, 0)}
    for name, expected in wanted.items():
        imprint.cache.configure(key=tmp_path / name)
        assert called(life()) == expected
    assert called(life()) == (0, 0)
    imprint.cache.configure(key=tmp_path / "one")
    assert called(life()) == (0, 0)


@pytest.mark.parametrize("what", ["jaxlib_version", "_cpu"])
def test_another_engine_or_cpu_has_entries_of_its_own(life, what, monkeypatch):
    cpu = engine._cpu()
    other = {
        "jaxlib_version": "0.0.1",
        "_cpu": lambda: {**cpu, "flags": "fpu"},
    }
    engine.engine_version.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(engine, what, other[what])
        main = life()
        before = imprint.debug.counters().compiles
        assert called(main) == (1, 0)
        assert imprint.debug.counters().compiles == before + 1
        engine.engine_version.cache_clear()
    assert called(life()) == (0, 0)


@pytest.mark.parametrize(("number", "name"), [(28, "full"), (30, "read-only")])
def test_a_disk_that_cannot_be_written_gives_a_warning(life, number, name, monkeypatch):
    for path in manifests():
        path.unlink()

    fdopen = os.fdopen

    def refuse(descriptor, mode):
        if mode == "rb":
            return fdopen(descriptor, mode)
        os.close(descriptor)
        raise OSError(number, name)

    with monkeypatch.context() as patched:
        patched.setattr("imprint._src.jit.disk_cache.files.os.fdopen", refuse)
        main = life()
        assert called(main) == (1, 1)
    restarts = main.f.versions[0].restarts
    assert restarts.startswith("with a trace: ")
    assert not manifests()


def test_a_directory_that_is_a_file_is_a_miss(life):
    (path,) = manifests()
    path.unlink()
    for other in path.parent.iterdir():
        other.unlink()
    path.parent.rmdir()
    path.parent.write_text("")
    assert called(life()) == (1, 1)


@pytest.mark.parametrize("days", [-30_000, -400, 400, 30_000])
def test_a_wrong_clock_changes_no_answer(life, days):
    when = time.time() + days * 86_400
    for entry in entries(current().folder):
        os.utime(entry.path, (max(0, when), max(0, when)))
    assert called(life()) == (0, 0)
