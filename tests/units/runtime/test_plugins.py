"""What is asked of a plug-in before the engine has it, and what is said of it."""

import re

import pytest

import imprint
from imprint.errors import BackendError
from imprint.runtime import plugins
from imprint.runtime.compat import jaxlib_version

CPU = "leave the backend out: the CPU computes."


def install(folder, name, release):
    """Install as much of a plug-in as is looked at."""
    number = name.removeprefix("cuda")
    library = folder / "jax_plugins" / f"xla_cuda{number}" / "xla_cuda_plugin.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"no library")
    info = folder / f"jax_{name}_pjrt-{release}.dist-info"
    info.mkdir()
    text = f"Metadata-Version: 2.1\nName: jax-{name}-pjrt\nVersion: {release}\n"
    (info / "METADATA").write_text(text)
    return library


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch):
    monkeypatch.delenv("TPU_LIBRARY_PATH", raising=False)
    if plugins.find_spec("jax_plugins") or plugins.find_spec("libtpu"):
        pytest.skip("a plug-in is installed")


def refusal(backend):
    with pytest.raises(BackendError) as caught:
        imprint.devices(backend)
    return str(caught.value)


@pytest.mark.parametrize("backend", ["gpu", "cuda"])
def test_without_a_plugin_the_error_has_the_command(backend):
    assert refusal(backend) == (
        "devices: expected a plug-in for the backend 'gpu', found none. Install one with "
        f"`pip install 'imprint[cuda13]'`, or {CPU}"
    )
    assert "`pip install 'libtpu'`" in refusal("tpu")


def test_a_plugin_of_another_release_is_refused(monkeypatch, tmp_path):
    install(tmp_path, "cuda13", "0.4.1")
    monkeypatch.syspath_prepend(tmp_path)
    assert refusal("gpu") == (
        f"devices: expected jax-cuda13-pjrt of jaxlib's release, {jaxlib_version}, found "
        f"0.4.1. Install it with `pip install 'jax-cuda13-plugin[with-cuda]=="
        f"{jaxlib_version}'`."
    )


def test_of_two_plugins_the_newest_cuda_is_taken(monkeypatch, tmp_path):
    install(tmp_path, "cuda12", jaxlib_version)
    newest = install(tmp_path, "cuda13", jaxlib_version)
    monkeypatch.syspath_prepend(tmp_path)
    plugin = plugins._cuda()
    assert plugin.library == newest
    assert plugin[2:] == ("jax-cuda13-pjrt", jaxlib_version, None)


def test_a_library_that_does_not_load_is_told_and_the_cpu_computes(
    monkeypatch, tmp_path
):
    library = install(tmp_path, "cuda13", jaxlib_version)
    monkeypatch.syspath_prepend(tmp_path)
    told = refusal("gpu")
    assert re.match("devices: expected jax-cuda13-pjrt to find a device, got: .", told)
    assert str(library) in told
    assert told.endswith(CPU)
    with (
        pytest.raises(BackendError, match="expected jax-cuda13-pjrt to find a device"),
        imprint.default_device("gpu"),
    ):
        imprint.jit(lambda x: x + 1)(1.0)
    assert imprint.jit(lambda x: x + 1)(1.0) == 2.0


def test_a_library_of_a_tpu_may_be_named(monkeypatch, tmp_path):
    library = tmp_path / "libtpu.so"
    library.write_bytes(b"no library")
    monkeypatch.setenv("TPU_LIBRARY_PATH", str(library))
    assert str(library) in refusal("tpu")


def test_a_plugin_that_nobody_names_is_not_loaded(monkeypatch, tmp_path):
    install(tmp_path, "cuda13", jaxlib_version)
    monkeypatch.syspath_prepend(tmp_path)
    assert imprint.default_backend() == "cpu"
    assert {device.platform for device in imprint.devices()} == {"cpu"}
