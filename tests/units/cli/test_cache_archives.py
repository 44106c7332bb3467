"""`imprint cache export`, `import` and `warm`: programs reach another store."""

import os
import subprocess
import sys
import tarfile

import pytest

SCRIPT = """
import sys, imprint, imprint.numpy as np
f = imprint.jit(lambda x: np.tanh(x).sum())
f(np.ones(int(sys.argv[1])))
print(f.versions[0].origin)
"""
MAIN = "import sys; from imprint.cli import main; sys.exit(main())"


@pytest.fixture
def cache(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)

    def call(store, *words, key=None, status=0):
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("IMPRINT")},
            "IMPRINT_CACHE_DIR": str(tmp_path / store),
            **({} if key is None else {"IMPRINT_CACHE_KEY": str(key)}),
        }
        command = [sys.executable, "-c", MAIN, "cache", *map(str, words)]
        if words[0] == script:
            command = [sys.executable, *map(str, words)]
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    call.script = script
    return call


def test_programs_made_for_an_image_are_loaded_from_another_store(cache, tmp_path):
    printed = cache("a", "warm", cache.script, 4)
    assert printed == "compiled\ncompiled 1 programs, loaded 0 from the disk\n"
    assert cache("a", "export", "all.tar").startswith("2 entries, ")
    with tarfile.open(tmp_path / "all.tar") as archive:
        assert len(archive.getnames()) == 2
    assert cache("b", "import", "all.tar") == "took 2 entries; 0 were there\n"
    assert cache("b", "import", "all.tar") == "took 0 entries; 2 were there\n"
    assert cache("b", cache.script, 4) == "disk\n"
    assert cache("b", "verify").startswith("2 entries are whole")


def test_damaged_entries_and_those_of_other_signers_stay_out(cache, tmp_path):
    cache("a", "warm", cache.script, 4)
    cache("a", "export", "all.tar")
    with tarfile.open(tmp_path / "all.tar") as archive:
        middles = [m.offset_data + m.size // 2 for m in archive.getmembers()]
    data = bytearray((tmp_path / "all.tar").read_bytes())
    for middle in middles:
        data[middle] ^= 1
    (tmp_path / "bad.tar").write_bytes(data)
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(32)))
    secret.chmod(0o600)
    refused = (
        "took 0 entries; 0 were there\n"
        "2 were left out: they are damaged, or signed with another secret\n"
    )
    assert cache("b", "import", "bad.tar", status=1) == refused
    assert cache("b", "import", "all.tar", key=secret, status=1) == refused
    assert cache("b", cache.script, 4) == "compiled\n"


def test_names_in_an_archive_lead_nowhere_else(cache, tmp_path):
    evil = tmp_path / "evil.tar"
    with tarfile.open(evil, "w") as archive:
        archive.add(cache.script, "../../outside.py")
        archive.add(cache.script, f"ab/{'0' * 62}")
    assert "2 were left out" in cache("b", "import", evil, status=1)
    assert [f.name for f in (tmp_path / "b").rglob("*") if f.is_file()] == []
    assert not (tmp_path.parent / "outside.py").exists()


def test_mistakes_are_reported(cache, tmp_path):
    assert cache("a", "warm", "no.py", status=2) == (
        "imprint cache warm: expected a script, got 'no.py', which is no file\n"
    )
    assert "expected what `imprint cache export` wrote, got no.tar: " in cache(
        "a", "import", "no.tar", status=1
    )
    assert cache("a", "export", "no/all.tar", status=1) == (
        "expected a file in a directory that exists, got no/all.tar\n"
    )
