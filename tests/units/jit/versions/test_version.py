"""Executables of a version share one interface.

Each call signature runs with XLA, then with `Native`, which computes with NumPy behind
the same interface, then with XLA again: all three give equal results.
"""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src import runtime
from imprint._src.array import buffer_of
from imprint.errors import DeletedArrayError, NonFiniteError


class Native:
    """A version's function on the buffers of its arguments, in NumPy."""

    def __init__(self, version, compute):
        self.device = version.executable.device
        self.in_avals = version.program.module.in_avals
        self.out_avals = version.program.out_avals
        self.compute = compute
        self.calls = 0

    def call(self, buffers):
        self.calls += 1
        given = [
            runtime.read(buffer, aval)
            for buffer, aval in zip(buffers, self.in_avals, strict=True)
        ]
        outs = [
            np.asarray(out, aval.dtype)
            for out, aval in zip(self.compute(*given), self.out_avals, strict=True)
        ]
        return [
            runtime.put(out, aval, copy=True, device=self.device)
            for out, aval in zip(outs, self.out_avals, strict=True)
        ]


X = np.arange(3, dtype=np.float32)
SCALE = np.array([1, 2, 4], np.float32)


@pytest.fixture(autouse=True)
def _no_versions():
    imprint.clear_caches()


def captured():
    scale = inp.asarray(SCALE)
    return imprint.jit(lambda x: x * scale)


CALLS = {
    "one array": (lambda: imprint.jit(lambda x: x + 1), lambda x: [x + 1], ("X",)),
    "two results": (
        lambda: imprint.jit(lambda x, y: (x + y, x * y)),
        lambda x, y: [x + y, x * y],
        ("X", "X"),
    ),
    "an argument that is not used": (
        lambda: imprint.jit(lambda x, y: y - 1),
        lambda y: [y - 1],
        ("X", "X"),
    ),
    "no result": (lambda: imprint.jit(lambda x: ()), list, ("X",)),
    "a captured array": (captured, lambda scale, x: [x * scale], ("X",)),
    "a tree": (
        lambda: imprint.jit(lambda d: {"s": d["a"] + d["b"]}),
        lambda a, b: [a + b],
        ("TREE",),
    ),
}


def arguments(names, wrap):
    tree = {"a": wrap(X), "b": wrap(X)}
    return [tree if name == "TREE" else wrap(X) for name in names]


def numbers(tree):
    return [np.asarray(x).tolist() for x in imprint.tree.leaves(tree)]


@pytest.mark.parametrize("case", CALLS)
@pytest.mark.parametrize("wrap", [inp.asarray, np.asarray], ids=["arrays", "host"])
def test_calls_of_every_form_use_the_same_interface(case, wrap):
    make, compute, names = CALLS[case]
    f = make()
    wanted = [numbers(f(*arguments(names, wrap))) for _ in range(3)]
    (version,) = f.versions
    native = Native(version, compute)
    version.use(native)
    assert [numbers(f(*arguments(names, wrap))) for _ in range(3)] == wanted
    assert native.calls == 3
    version.use(version.executable)
    assert [numbers(f(*arguments(names, wrap))) for _ in range(3)] == wanted
    assert native.calls == 3
    assert version.hits == 9


def test_arrays_and_host_values_mixed():
    f = imprint.jit(lambda x, y, z: x + y * z)
    x = inp.asarray(X)
    wanted = f(x, X, 2.0).tolist()
    (version,) = f.versions
    native = Native(version, lambda x, y, z: [x + y * z])
    version.use(native)
    assert f(x, X, 2.0).tolist() == wanted
    assert f(x, y=X.astype(float), z=2.0).tolist() == wanted  # narrowed
    assert native.calls == 2


def test_donated_arrays_are_consumed():
    f = imprint.jit(lambda x: x + 1, donate_argnums=0)
    assert f(inp.asarray(X)).tolist() == [1, 2, 3]
    (version,) = f.versions
    native = Native(version, lambda x: [x + 1])
    version.use(native)
    x = inp.asarray(X)
    assert f(x).tolist() == [1, 2, 3]
    assert native.calls == 1
    assert x.is_deleted()
    with pytest.raises(DeletedArrayError, match="donated as argument x"):
        f(x)


def test_sentinels_are_checked():
    with imprint.debug_nans(True):
        f = imprint.jit(lambda x: inp.log(x))
        f(inp.ones(3))
        (version,) = f.versions

        def log(x):
            with np.errstate(invalid="ignore"):
                out = np.log(x)
            return [
                out,
                np.full(version.program.out_avals[-1].shape, np.isnan(out).any()),
            ]

        native = Native(version, log)
        version.use(native)
        assert f(inp.ones(3)).tolist() == [0, 0, 0]
        with pytest.raises(NonFiniteError):
            f(-inp.ones(3))
        assert native.calls == 2


@pytest.mark.parametrize("special", [False, True])
def test_a_buffer_that_is_gone_is_named_at_the_door_and_where_it_is_written_out(
    special,
):
    f = imprint.jit(lambda x: x + 1)
    x = f(inp.asarray(X))
    f(x)
    (version,) = f.versions
    if special:
        version.special, version.take = True, version.program.kept
    runtime.delete(buffer_of(x))
    with pytest.raises(DeletedArrayError, match=r"got argument 0 \(float32\[3\]\)"):
        f(x)


def test_the_door_refuses_in_a_process_whose_device_is_not_its_own():
    f = imprint.jit(lambda x: x + 1)
    x = f(inp.asarray(X))
    executable = f.versions[0].executable

    def refuse(*_args):
        raise imprint.errors.BackendError("forked")

    before, executable.execute = executable.execute, refuse
    try:
        for call in (
            lambda: executable.call([buffer_of(x)]),
            lambda: f(x),
            lambda: f(x=x),
            lambda: f(X),
        ):
            with pytest.raises(imprint.errors.BackendError, match="forked"):
                call()
    finally:
        executable.execute = before
