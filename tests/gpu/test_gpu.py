"""Ordinary uses of a GPU; skipped without one, or without its plug-in.

`make test-gpu` runs these and all tests that compute, with the GPU as default device, and
then the benchmarks there. Computations that only the CPU has are skipped.
"""

import socket
import subprocess
import sys

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import nn, random
from imprint.debug import counters
from imprint.errors import BackendError, CompileError

try:
    GPU, *_ = imprint.devices("gpu")
except BackendError as why:
    pytest.skip(str(why), allow_module_level=True)
X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)


def on_gpu():
    return imprint.device_put(X, GPU)


def test_a_device_has_a_platform():
    assert GPU.platform == "gpu"
    assert imprint.devices("cuda") == imprint.devices("gpu")


def test_an_array_put_on_the_gpu_stays_there():
    x = on_gpu()
    assert x.devices() == {GPU}
    assert x.committed
    np.testing.assert_array_equal(x, X)
    y = inp.tanh(x) @ x.T
    assert y.devices() == {GPU}
    np.testing.assert_allclose(y, np.tanh(X) @ X.T, rtol=1e-3, atol=1e-4)


def test_libraries_of_cuda_read_an_array_in_place():
    x = on_gpu()
    interface = x.__cuda_array_interface__
    assert (interface["shape"], interface["typestr"]) == (x.shape, "<f4")
    assert interface["data"][0] == x.unsafe_buffer_pointer()


@pytest.mark.parametrize(
    "options", [{"backend": "gpu"}, {"device": GPU}, {"in_shardings": GPU}]
)
def test_a_function_runs_on_the_requested_gpu(options):
    f = imprint.jit(lambda x: inp.sin(x).sum(0), **options)
    y = f(X)
    assert y.devices() == {GPU}
    np.testing.assert_allclose(y, np.sin(X).sum(0), rtol=1e-5, atol=1e-6)
    f(X)
    assert f._cache_size() == 1


def test_single_operations_compile_once():
    x = imprint.jit(lambda x: x * 2)(on_gpu())
    inp.sinh(x)
    before = counters().compiles
    inp.sinh(x)
    assert counters().compiles == before


def test_a_network_learns_as_on_the_cpu():
    model = nn.MLP(6, 1, 16, 2, key=random.key(0))

    @imprint.filter_jit
    def loss(model, x):
        return (imprint.vmap(model)(x) ** 2).mean()

    want = imprint.filter_grad(loss)(model, X)
    there = imprint.device_put(imprint.filter(model, imprint.is_array), GPU)
    there = imprint.combine(there, model)
    got = imprint.filter_grad(loss)(there, on_gpu())
    for a, b in zip(imprint.tree.leaves(got), imprint.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-4)


def test_loops_branches_and_random_numbers():
    def step(carry, x):
        return carry * 0.9 + x, imprint.lax.cond(x[0] > 0, inp.sin, inp.cos, x)

    x = on_gpu()
    got = imprint.lax.scan(step, inp.zeros(6), x)
    want = imprint.lax.scan(step, inp.zeros(6), X)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    draw = imprint.jit(lambda key: random.bits(key, (9,)), backend="gpu")
    np.testing.assert_array_equal(draw(random.key(3)), random.bits(random.key(3), (9,)))


def test_several_gpus_compute_as_one_does():
    gpus = imprint.devices("gpu")
    mesh = imprint.make_mesh((len(gpus),), ("d",), devices=gpus)
    rows = np.linspace(-2, 2, 8 * len(gpus) * 6, dtype=np.float32).reshape(-1, 6)
    x = imprint.device_put(rows, imprint.NamedSharding(mesh, imprint.P("d")))
    assert x.devices() == {*gpus}
    y = imprint.jit(lambda x: (inp.sin(x), inp.sin(x).sum(0)))(x)
    np.testing.assert_allclose(y[0], np.sin(rows), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(y[1], np.sin(rows).sum(0), rtol=1e-4, atol=1e-4)
    total = imprint.shard_map(
        lambda x: imprint.lax.psum(x.sum(0), "d"),
        mesh=mesh,
        in_specs=imprint.P("d"),
        out_specs=imprint.P(),
    )
    np.testing.assert_allclose(total(x), rows.sum(0), rtol=1e-4, atol=1e-4)


PART = """
import sys
import imprint
from imprint.experimental import multihost_utils

rank, port = int(sys.argv[1]), sys.argv[2]
imprint.distributed.initialize(f"127.0.0.1:{port}", 2, rank, rank)
gpus = imprint.devices("gpu")
mesh = imprint.make_mesh((2,), ("d",), devices=gpus)
rows = imprint.NamedSharding(mesh, imprint.P("d"))
x = imprint.make_array_from_process_local_data(rows, imprint.numpy.ones(3) + rank)
print(len(imprint.local_devices("gpu")), float(imprint.jit(lambda x: x.sum())(x)))
multihost_utils.sync_global_devices("end")
"""


@pytest.mark.skipif(len(imprint.devices("gpu")) < 2, reason="there is one GPU")
def test_two_processes_with_a_gpu_each_sum_by_nccl():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    command = [sys.executable, "-c", PART]
    running = [
        subprocess.Popen([*command, rank, port], stdout=-1, text=True) for rank in "01"
    ]
    outs = [process.communicate(timeout=300)[0] for process in running]
    assert [out.splitlines()[-1] for out in outs] == ["1 9.0"] * 2


def test_the_error_names_a_computation_of_the_cpu_alone():
    with pytest.raises(CompileError, match="which only the CPU has"):
        imprint.jit(inp.linalg.eigvalsh, backend="gpu")(X.T @ X)


def test_donated_memory_is_reused():
    f = imprint.jit(lambda x: x + 1, donate_argnums=0)
    x = on_gpu()
    np.testing.assert_array_equal(f(x), X + 1)
    assert x.is_deleted()
