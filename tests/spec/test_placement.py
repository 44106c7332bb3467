"""Where arrays are and where programs run, on two devices in fresh processes.

JAX runs the same programs in a process of its own: the devices of all results, and
whether they are committed, are equal.
"""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import warnings
from functools import cache

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, BackendError
from tests.spec.placements import CASES

COUNT = "--xla_force_host_platform_device_count=2"


def two_devices():
    """Return the environment of a process with two devices."""
    return {**os.environ, "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {COUNT}"}


def fresh(*command, **environment):
    """Run Python with two devices; return its output."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        env={**two_devices(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


FORKS = """
import json, os, sys
import numpy, imprint, imprint.numpy
for line in sys.stdin:
    code, path = json.loads(line)
    child = os.fork()
    if child == 0:
        output = os.open(path, os.O_WRONLY)
        os.dup2(output, 1)
        os.dup2(output, 2)
        exec(code, {"__name__": "__main__"})
        sys.exit()
    print(os.waitpid(child, 0)[1], flush=True)
"""


@cache
def forks():
    """Start a process whose forks run programs: to import imprint takes half a second."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FORKS],
        env=two_devices(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(autouse=True, scope="module")
def _forks_end():
    yield
    if forks.cache_info().currsize:
        forks().communicate()
        forks.cache_clear()


def program(code):
    """Run a program in a process with two devices; return what it printed."""
    setup = """
    import numpy as np
    import imprint
    import imprint.numpy as inp
    from imprint.errors import *
    from imprint._src.jit.compilation.counters import COUNTERS
    d0, d1 = imprint.devices()
    a = imprint.device_put(np.arange(3, dtype="f"), d1)
    b = imprint.device_put(np.arange(3, dtype="f"), d0)
    """
    with tempfile.NamedTemporaryFile("r") as printed:
        whole = textwrap.dedent(setup) + textwrap.dedent(code)
        print(json.dumps([whole, printed.name]), file=forks().stdin, flush=True)
        status = forks().stdout.readline()
        text = printed.read().strip()
    assert status == "0\n", text
    return text


@pytest.fixture(scope="module")
def outcomes():
    """Return the results of both libraries for each program."""
    return {
        name: json.loads(fresh("-m", "tests.spec.placements", name).splitlines()[-1])
        for name in ("imprint", "jax")
    }


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_results_are_where_those_of_jax_are(case, outcomes):
    assert outcomes["imprint"][case] == outcomes["jax"][case]


@pytest.mark.slow
def test_each_placement_is_a_version_and_all_share_a_trace():
    code = """
    f = imprint.jit(lambda x: x + 1)
    u = inp.arange(3.0)
    with imprint.default_device(d1):
        v = inp.arange(3.0)
    for x in (a, b, u, v):
        assert f(x).tolist() == f(x).tolist() == [1, 2, 3]
    assert f._cache_size() == 4
    assert COUNTERS.traces == 1
    assert COUNTERS.compiles == 2  # for each device
    assert {version.executable.device for version in f.versions} == {d0, d1}
    for x in (a, b, u, v, a, b, u, v):
        f(x)
    assert (f._cache_size(), COUNTERS.traces, COUNTERS.compiles) == (4, 1, 2)
    """
    program(code)


@pytest.mark.slow
def test_arguments_are_moved_in_every_call():
    code = """
    made = imprint.jit(lambda: inp.arange(3.0))
    u = made()  # on the device, not on the host
    with imprint.default_device(d1):
        v = made()
    on_second = imprint.jit(lambda x, y: x + y, device=d1)
    add = imprint.jit(lambda t: t["x"] + t["y"])
    for _ in range(4):
        assert on_second(u, u).devices() == on_second(b, y=v).devices() == {d1}
        assert add({"x": u, "y": a}).devices() == add({"x": a, "y": 1}).devices() == {d1}
        assert add({"x": u, "y": v}).devices() == {d0}
        with imprint.default_device(d1):
            assert add({"x": u, "y": v}).devices() == {d1}
    assert u.devices() == {d0} and v.devices() == {d1}
    """
    program(code)


@pytest.mark.slow
def test_a_miss_names_a_changed_device():
    code = """
    f = imprint.jit(lambda x: x + 1)
    f(a)
    print(*f.explain(b).differences, f.explain(inp.arange(3.0)).differences[0])
    f(inp.arange(3.0))
    f.versions[0].evict()
    print(f.explain(b).differences[0])
    print(f.explain(b).differences[0].kind, f.explain(b).differences[0].remedy)
    """
    assert program(code).splitlines() == [
        "x: committed to cpu:1 → cpu:0 x: committed to cpu:1 → uncommitted",
        "x: uncommitted → committed to cpu:0",
        "device Put x on the same device before each call, with "
        "`imprint.device_put(x, device)`, or name none for any.",
    ]


@pytest.mark.slow
def test_arrays_of_two_devices_are_named_with_the_remedy():
    code = """
    f = imprint.jit(lambda params, y: params["w"] + y)
    for call in (
        lambda: f({"w": a}, b),
        lambda: a + b,
        lambda: f.lower({"w": a}, a).compile()({"w": b}, a),
        lambda: imprint.jit(lambda x: x, out_shardings=d0)(a),
    ):
        try:
            call()
        except ArgumentError as err:
            print(err)
    """
    put = (
        "Put them on one with imprint.device_put(x, device); what was made without a "
        "device follows by itself."
    )
    assert program(code).splitlines() == [
        "<lambda>: expected committed arrays on one device, got argument params['w'] on "
        f"cpu:1 and argument y on cpu:0. {put}",
        "add: expected committed arrays on one device, got operand 0 on cpu:1 and "
        f"operand 1 on cpu:0. {put}",
        "<lambda>: expected argument params['w'] on cpu:1, got one committed to cpu:0. A "
        "Compiled takes only the kind of call it was compiled for; call the jitted "
        "function for another.",
        "<lambda>: expected committed arrays on one device, got argument x on cpu:1 and "
        f"out_shardings on cpu:0. {put}",
    ]


@pytest.mark.slow
def test_donation_on_another_device():
    code = """
    f = imprint.jit(lambda x, y: x + y, donate_argnums=0)
    x = f(a, 1.0)
    assert a.is_deleted() and x.tolist() == [1, 2, 3]
    assert f(x, x).tolist() == [2, 4, 6] and x.is_deleted()
    moved = imprint.device_put(inp.arange(3.0), d1)
    for u in (inp.arange(3.0), imprint.jit(lambda: inp.arange(3.0))()):
        y = f(u, moved)  # a copy of u is donated, as in JAX
        assert not u.is_deleted() and y.device is d1
    assert f(np.arange(3, dtype="f"), moved).devices() == {d1}
    shared = imprint.device_put(b, d0)
    assert f(shared, 1.0).device is d0 and shared.is_deleted()
    try:
        f(shared, 1.0)
    except DeletedArrayError as err:
        print(err)
    """
    assert "donated as argument x of <lambda>" in program(code)


@pytest.mark.slow
def test_sentinels_and_captured_arrays_on_another_device():
    code = """
    scale = inp.asarray([1.0, 2.0, 4.0])
    f = imprint.jit(lambda x: x * scale)
    assert f(a).tolist() == [0, 2, 8] and f(a).device is d1
    with imprint.debug_nans(True):
        assert f(a).device is d1
        try:
            imprint.jit(inp.log)(-a - 1)
        except NonFiniteError as err:
            print("found")
    """
    assert program(code) == "found"


@pytest.mark.slow
def test_values_can_be_moved_between_devices():
    code = """
    for dtype in ("float32", "bfloat16", "int4", "bool", "complex64", "float64"):
        x = imprint.jit(lambda x: x)(inp.asarray([0, 1, 1], dtype))
        y = imprint.device_put(x, d1)
        assert imprint.jit(lambda y: y)(y).devices() == {d1}
        assert np.asarray(y).tolist() == np.asarray(x).tolist()
        assert imprint.device_put(y, d0).devices() == {d0}
        y.delete()
        assert np.asarray(x).astype(int).tolist() == [0, 1, 1]
    gone = imprint.jit(lambda x: x)(inp.ones(3))
    imprint._src.runtime.delete(imprint._src.array.buffer_of(gone))
    try:
        imprint.device_put(gone, d1)
    except DeletedArrayError:
        print("refused")
    """
    assert program(code) == "refused"


@pytest.mark.slow
def test_asarray_moves_a_committed_array():
    code = """
    for moved in (inp.asarray(b, device=d1), inp.array(b, device=d1), b.to_device(d1)):
        assert moved.tolist() == [0, 1, 2] and moved.devices() == {d1}
    assert b.devices() == {d0}
    """
    program(code)


@pytest.mark.slow
def test_a_device_of_the_flag_is_that_of_the_environment_and_of_the_process():
    code = """
    x = inp.zeros(2)
    imprint.config.update("default_device", d1)
    print(x.device, inp.zeros(2).device, imprint.jit(lambda x: x)(x).device)
    imprint.config.update("default_device", None)
    print(inp.zeros(2).device)
    """
    assert program(code).splitlines() == ["cpu:0 cpu:1 cpu:1", "cpu:0"]
    code = "import imprint\ntry: imprint.numpy.zeros(2)\nexcept imprint.errors.BackendError as e: print(e)"
    assert fresh("-c", code, IMPRINT_DEFAULT_DEVICE="tpu") == (
        "default_device: expected a plug-in for the backend 'tpu', found none. Install "
        "one with `pip install 'libtpu'`, or leave the backend out: the CPU computes. It "
        "is the flag that `with imprint.default_device(...)`, config.update or "
        "IMPRINT_DEFAULT_DEVICE set."
    )


@pytest.mark.slow
def test_devices_are_static_arguments_and_captured():
    code = """
    f = imprint.jit(lambda x, device: x + inp.ones(3, device=device), static_argnums=1)
    assert f(a, d0).tolist() == f(a, d1).tolist() == [1, 2, 3]
    assert f._cache_size() == 2
    import copy, pickle
    assert pickle.loads(pickle.dumps(d1)) is d1 is copy.deepcopy(d1)
    assert pickle.loads(pickle.dumps(a.aval)) is a.aval
    """
    program(code)


# ---- on one device ----


def test_a_missing_backend_never_falls_back_to_the_cpu():
    f = imprint.jit(lambda x: x + 1)
    x = inp.ones(3)
    f(x)
    with imprint.default_device("tpu"):
        for call in (
            lambda: inp.zeros(2),
            lambda: inp.asarray([1.0]),
            lambda: x + 1,
            lambda: f(x),
            lambda: f(np.ones(3)),
            lambda: imprint.device_put(1.0),
            lambda: f.lower(x).compile(),
        ):
            with pytest.raises(BackendError, match="default_device: expected"):
                call()


def test_a_device_of_another_library_is_refused():
    import jax  # noqa: PLC0415 - its devices start a client

    with (
        imprint.default_device(jax.devices()[0]),
        pytest.raises(BackendError, match="got CpuDevice"),
    ):
        inp.zeros(2)
    with pytest.raises(ArgumentError, match="device_put: expected device to be one of"):
        imprint.device_put(1.0, jax.devices()[0])


@pytest.mark.parametrize(
    "options",
    [
        {"device": imprint.devices()[0]},
        {"in_shardings": imprint.devices()[0]},
        {"out_shardings": imprint.devices()[0]},
    ],
    ids=str,
)
def test_a_call_inside_a_trace_cannot_choose_its_device(options):
    inner = imprint.jit(lambda x: x + 1, **options)
    outer = imprint.jit(lambda x: inner(x))
    with pytest.raises(
        ArgumentError, match="got a call inside another traced function"
    ):
        outer(1.0)


def test_a_traced_array_stays_but_its_device_is_checked():
    with pytest.raises(ArgumentError, match="zeros: expected device to be one of"):
        imprint.jit(lambda x: x + inp.zeros(3, device="cpu"))(inp.ones(3))
    with pytest.raises(ArgumentError, match="to_device: expected stream to be None"):
        inp.ones(3).to_device(imprint.devices()[0], stream=1)


def test_a_committed_array_is_one_for_everything_that_reads_it():
    device = imprint.devices()[0]
    x = imprint.device_put(np.arange(3, dtype=np.float32), device)
    assert x.committed
    assert x.sharding == imprint.sharding.SingleDeviceSharding(device)
    assert x.sharding.device_set == x.devices() == {device}
    assert imprint.device_get(x).tolist() == [0, 1, 2]
    assert imprint.block_until_ready(x) is x
    assert repr(x) == "Array([0., 1., 2.], dtype=float32)"
    assert str(device) == "cpu:0"
    assert not inp.ones(3).committed
    closed = imprint.make_jaxpr(lambda y: y * x[0] + x)(x)
    avals = [v.aval for eqn in closed.eqns for v in (*eqn.invars, *eqn.outvars)]
    assert all(aval.sharding is None for aval in (*closed.in_avals, *avals))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert imprint.grad(lambda y: (y * x).sum())(x).tolist() == [0, 1, 2]


def test_a_derivative_that_needs_no_value_is_uncommitted():
    a = imprint.device_put(np.ones(3, "f"), imprint.devices()[0])
    assert not imprint.grad(lambda x: (x * 2).sum())(a).committed
    assert imprint.grad(lambda x: (x * x).sum())(a).committed
