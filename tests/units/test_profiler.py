"""`imprint.profiler`: timelines and profiles of memory."""

import gzip
import inspect
import json

import jax.profiler
import pytest

import imprint
import imprint.numpy as np
from imprint import profiler
from imprint.errors import ArgumentError

RATE = 2.0


@pytest.fixture
def quiet():
    """Options of a trace that records no calls of Python functions."""
    options = profiler.ProfileOptions()
    options.python_tracer_level = 0
    return options


def events(folder, name="*.trace.json.gz"):
    """Return the names of the events in the one file of a folder."""
    (file,) = folder.rglob(name)
    data = json.loads(gzip.decompress(file.read_bytes()))
    return [e for e in data["traceEvents"] if "name" in e]


def test_a_trace_has_the_run_of_a_program_and_the_marks_of_the_user(tmp_path, quiet):
    f = imprint.jit(lambda x: np.sin(x) @ x)
    x = np.ones((64, 64))
    f(x)

    @profiler.annotate_function
    def load():
        return 3

    with profiler.trace(tmp_path, profiler_options=quiet):
        with profiler.TraceAnnotation("mine", batch=7):
            f(x).block_until_ready()
        with profiler.StepTraceAnnotation("train", step_num=5):
            assert load() == 3
    found = {e["name"]: e for e in events(tmp_path)}
    assert found["mine"]["args"]["batch"] == "7"
    assert found["train"]["args"]["step_num"] == "5"
    assert load.__qualname__ in found
    assert any("Execut" in name for name in found)


def test_a_function_that_is_traced_under_the_profiler_is_watched(tmp_path, monkeypatch):
    f = imprint.jit(lambda x: x * RATE)
    with profiler.trace(tmp_path):  # its Python tracer is a profile function, too
        assert float(f(1.0)) == 2
    monkeypatch.setitem(globals(), "RATE", 3.0)
    assert float(f(1.0)) == 3
    assert len([*tmp_path.rglob("*.trace.json.gz")]) == 1


def test_an_annotated_function_is_traced_like_any_other(monkeypatch):
    @imprint.jit
    @profiler.annotate_function
    def f(x):
        with profiler.TraceAnnotation("inside"):
            return x * RATE

    assert (float(f(1.0)), float(f(1.0))) == (2, 2)
    (version,) = f.versions
    assert version.calls == 2
    monkeypatch.setitem(globals(), "RATE", 3.0)
    assert float(f(1.0)) == 3


def test_the_file_for_perfetto_has_no_metadata(tmp_path, quiet):
    profiler.start_trace(tmp_path, create_perfetto_trace=True, profiler_options=quiet)
    np.ones(3)
    profiler.stop_trace()
    (file,) = tmp_path.rglob("perfetto_trace.json.gz")
    assert "metadata" not in json.loads(gzip.decompress(file.read_bytes()))


def test_one_trace_at_a_time(tmp_path, quiet):
    with pytest.raises(RuntimeError, match=r"got none\. Call"):
        profiler.stop_trace()
    with (
        profiler.trace(tmp_path, profiler_options=quiet),
        pytest.raises(RuntimeError, match="expected no trace under way"),
    ):
        profiler.start_trace(tmp_path)
    with pytest.raises(ArgumentError, match="expected a name, got 3"):
        profiler.TraceAnnotation(3)


def test_an_error_ends_the_trace(tmp_path, quiet):
    with pytest.raises(KeyError), profiler.trace(tmp_path, profiler_options=quiet):
        raise KeyError
    assert events(tmp_path)


def test_the_memory_of_a_device_has_a_profile(tmp_path):
    big = np.ones((300, 1000)).block_until_ready()
    profiler.save_device_memory_profile(tmp_path / "memory.prof", backend="cpu")
    data = gzip.decompress((tmp_path / "memory.prof").read_bytes())
    assert b"buffer" in data
    assert big.nbytes


@pytest.mark.parametrize("name", [n for n in profiler.__all__ if n.islower()])
def test_the_parameters_have_jax_s_names(name):
    ours = inspect.signature(getattr(profiler, name)).parameters
    theirs = inspect.signature(getattr(jax.profiler, name)).parameters
    assert [p for p in theirs if p != "create_perfetto_link"] == [*ours]
