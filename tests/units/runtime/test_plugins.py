"""Checks of a plug-in before the engine loads it, and their messages."""

import re
from types import SimpleNamespace

import pytest

import imprint
from imprint._src.runtime import client, plugins
from imprint._src.runtime.compat import jaxlib_version
from imprint._src.runtime.processes import ClusterConfig
from imprint.errors import BackendError, BackendWarning

CPU = "leave the backend out: the CPU computes."


def install(folder, name, release):
    """Install the inspected parts of a plug-in."""
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
        f"{jaxlib_version}'`, or {CPU}"
    )


def test_of_two_plugins_the_newest_cuda_is_taken(monkeypatch, tmp_path):
    install(tmp_path, "cuda12", jaxlib_version)
    newest = install(tmp_path, "cuda13", jaxlib_version)
    monkeypatch.syspath_prepend(tmp_path)
    plugin = plugins._cuda()
    assert plugin.library == newest
    assert plugin[2:] == ("jax-cuda13-pjrt", jaxlib_version, None)


def test_a_library_that_does_not_load_warns_and_the_cpu_computes(monkeypatch, tmp_path):
    library = install(tmp_path, "cuda13", jaxlib_version)
    monkeypatch.syspath_prepend(tmp_path)
    reported = refusal("gpu")
    assert re.match(
        "devices: expected jax-cuda13-pjrt to find a device, got: .", reported
    )
    assert str(library) in reported
    assert reported.endswith(CPU)
    with (
        pytest.raises(BackendError, match="expected jax-cuda13-pjrt to find a device"),
        imprint.default_device("gpu"),
    ):
        imprint.jit(lambda x: x + 1)(1.0)
    assert imprint.jit(lambda x: x + 1)(1.0) == 2.0


class Engine:
    """The parts of the engine that take a plug-in."""

    pjrt_plugin_loaded = pjrt_plugin_initialized = staticmethod(lambda _: True)
    generate_pjrt_gpu_plugin_options = staticmethod(lambda: {"allocator": "default"})
    make_c_api_client = staticmethod(lambda *given: given)


@pytest.mark.parametrize("gpus", [None, (1, 3)])
def test_processes_with_gpus_join_through_the_plugin(monkeypatch, tmp_path, gpus):
    install(tmp_path, "cuda13", jaxlib_version)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins, "engine", Engine)
    monkeypatch.setattr(plugins, "import_module", lambda _: Engine)
    assert plugins.start("gpu") == ("cuda", {"allocator": "default"}, None)
    config = ClusterConfig("host:1", 4, 2, "host:1", 30, 100, 30, gpus)
    others = SimpleNamespace(config=config, client="a client of the service")
    monkeypatch.setattr(plugins, "joined", lambda: others)
    asked = {"allocator": "default", "node_id": 2, "num_nodes": 4}
    asked |= {} if gpus is None else {"visible_devices": [1, 3]}
    assert plugins.start("gpu") == ("cuda", asked, "a client of the service")


@pytest.fixture
def has_gpu(monkeypatch, tmp_path):
    monkeypatch.setattr(plugins, "_GPUS", ("/nowhere", str(tmp_path)))
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


TOLD = "imprint: the CPU computes, though this machine has a GPU: expected "
MEANT = ", or say that you mean the CPU: IMPRINT_DEFAULT_DEVICE=cpu."


def test_a_gpu_without_its_plugin_is_one_warning(has_gpu):
    with pytest.warns(BackendWarning) as caught:
        client._start_cpu()
    assert [str(w.message) for w in caught] == [
        f"{TOLD}a plug-in for the backend 'gpu', found none. Install one with `pip install "
        f"'imprint[cuda13]'`{MEANT}"
    ]


def test_a_gpu_with_a_plugin_of_another_release_is_one_warning(has_gpu):
    install(has_gpu, "cuda12", "0.4.1")
    with pytest.warns(BackendWarning) as caught:
        client._start_cpu()
    assert [str(w.message) for w in caught] == [
        f"{TOLD}jax-cuda12-pjrt of jaxlib's release, {jaxlib_version}, found 0.4.1. Install "
        f"it with `pip install 'jax-cuda12-plugin[with-cuda]=={jaxlib_version}'`{MEANT}"
    ]


def test_where_warnings_are_errors_a_gpu_without_its_plugin_is_logged(has_gpu, caplog):
    assert client._start_cpu().platform == "cpu"  # as pytest raises them
    assert [record.message[: len(TOLD)] for record in caplog.records] == [TOLD]


def test_no_warning_with_the_plugin_or_an_explicit_cpu(has_gpu, caplog):
    with imprint.default_device("cpu"):
        client._start_cpu()
    install(has_gpu, "cuda13", jaxlib_version)
    client._start_cpu()
    assert not caplog.records


def test_a_library_of_a_tpu_may_be_named(monkeypatch, tmp_path):
    library = tmp_path / "libtpu.so"
    library.write_bytes(b"no library")
    monkeypatch.setenv("TPU_LIBRARY_PATH", str(library))
    assert str(library) in refusal("tpu")


def test_an_unnamed_plugin_is_not_loaded(monkeypatch, tmp_path):
    install(tmp_path, "cuda13", jaxlib_version)
    monkeypatch.syspath_prepend(tmp_path)
    assert imprint.default_backend() == "cpu"
    assert {device.platform for device in imprint.devices()} == {"cpu"}
