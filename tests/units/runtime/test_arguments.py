import threading

import numpy as np
import pytest

from imprint import dtypes
from imprint._src import runtime
from imprint.errors import DeletedArrayError
from tests.units.runtime.programs import (
    ADD,
    DONATING_FIRST_OF_TWO,
    DOUBLE,
    F4,
    PlainAval,
    aval,
    growth,
    program,
    put,
)

# Reads its argument after a long loop: writes during the loop would show. The matrix
# product makes another thread compute it, as all programs above 1000 flops.
LATE = program(
    """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %many = stablehlo.constant dense<300> : tensor<i32>
  %seed = stablehlo.constant dense<0.0> : tensor<64x64xf32>
  %loop:2 = stablehlo.while(%i = %zero, %s = %seed) : tensor<i32>, tensor<64x64xf32>
   cond {
    %more = stablehlo.compare LT, %i, %many : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
   } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.dot_general %s, %s, contracting_dims = [1] x [0]
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    stablehlo.return %next, %t : tensor<i32>, tensor<64x64xf32>
   }
  %row = stablehlo.slice %loop#1 [0:1, 0:64]
    : (tensor<64x64xf32>) -> tensor<1x64xf32>
  %none = stablehlo.reshape %row : (tensor<1x64xf32>) -> tensor<64xf32>
  %y = stablehlo.add %none, %x : tensor<64xf32>
  return %y : tensor<64xf32>""",
    "%x: tensor<64xf32>",
    "tensor<64xf32>",
)
X64 = aval("float32", 64)


def calling(text, *avals):
    executable = runtime.compile(text, avals[:1])
    call = runtime.host_call(executable, avals)

    def on_hosts(*values):
        outs = call(list(values), range(len(values)))
        return [runtime.read(out, avals[0]) for out in outs]

    return call, on_hosts


def identity(of):
    kind = f"tensor<{''.join(f'{n}x' for n in of.shape)}{ELEMENTS[of.dtype.name]}>"
    return program(f"return %x : {kind}", f"%x: {kind}", kind)


ELEMENTS = {
    "bool": "i1",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
    **{f"int{n}": f"i{n}" for n in (2, 4, 8, 16, 32, 64)},
    **{f"uint{n}": f"ui{n}" for n in (2, 4, 8, 16, 32, 64)},
    **{f"float{n}": f"f{n}" for n in (16, 32, 64)},
}


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3), (3000,)], ids=str)
@pytest.mark.parametrize("name", ELEMENTS)
def test_every_dtype_arrives_call_after_call(name, shape):
    kind = aval(name, *shape)
    _, on_hosts = calling(identity(kind), kind)
    outs = []
    for bit in (0, 1, 1, 0, 1):
        value = np.full(shape, bit).astype(kind.dtype)
        outs.append((value, on_hosts(value)[0]))
        assert outs[-1][1].dtype == kind.dtype
    for value, out in outs:  # later calls wrote over no earlier result
        assert out.tobytes() == value.tobytes()


def test_results_share_no_memory_with_the_places():
    text = program(
        "%y = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>\n"
        "return %x, %y : tensor<4xf32>, tensor<2x2xf32>",
        result="(tensor<4xf32>, tensor<2x2xf32>)",
    )
    square = aval("float32", 2, 2)
    executable = runtime.compile(text, [F4, square])
    call = runtime.host_call(executable, [F4])
    first = call([np.ones(4, np.float32)], [0])
    for _ in range(4):
        call([np.zeros(4, np.float32)], [0])
    for out, kind in zip(first, (F4, square), strict=True):
        assert (runtime.read(out, kind) == 1).all()


def test_a_call_does_not_see_later_writes_of_the_caller():
    call, _ = calling(LATE, X64)
    value = np.empty(64, np.float32)
    outs = []
    for n in range(50):
        value[:] = n
        outs += call([value], [0])
        value[:] = -1
    for n, out in enumerate(outs):
        assert (runtime.read(out, X64) == n).all()


def test_buffers_and_hosts_mix_and_only_hosts_are_replaced():
    call, on_hosts = calling(ADD.replace("add", "subtract"), F4, F4)
    one, three = (np.full(4, n, np.float32) for n in (1, 3))
    arguments = [put(one), three]
    kept = arguments[0]
    (out,) = call(arguments, [1])
    assert arguments[0] is kept
    assert (runtime.read(arguments[1], F4) == 3).all()
    assert (runtime.read(out, F4) == -2).all()
    assert (on_hosts(three, one)[0] == 2).all()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.array([1.5, 2.5]), "float32"),
        (np.array([1, -2]), "int32"),
        (np.array([1, 2**40]), "int32"),
        (np.array([1 + 2j, 3]), "complex64"),
        (np.array([1e300, -1e300]), "float32"),
        (np.array([1, 2], np.uint64), "uint32"),
        (np.arange(8, dtype=np.float32)[::4], "float32"),
        (np.arange(2, dtype=">f4"), "float32"),
    ],
)
def test_a_host_array_is_converted_as_a_put_converts_it(value, name):
    kind = aval(name, 2)
    _, on_hosts = calling(identity(kind), kind)
    with np.errstate(all="ignore"):
        expected = value.astype(kind.dtype)
    assert on_hosts(value)[0].tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "bool"),
        (3, "int32"),
        (2.5, "float32"),
        (1j, "complex64"),
        (2, "bfloat16"),
    ],
)
def test_scalars_arrive(value, name):
    kind = aval(name)
    _, on_hosts = calling(identity(kind), kind)
    assert on_hosts(value)[0] == value
    assert on_hosts(kind.dtype.type(value))[0] == value


@pytest.mark.parametrize("value", [np.int64(-(2**40) + 3), np.uint64(2**63 + 3)])
def test_a_wide_numpy_scalar_is_narrowed_as_an_array_is(value):
    kind = aval("int32")
    _, on_hosts = calling(identity(kind), kind)
    assert on_hosts(value)[0] == on_hosts(np.asarray(value))[0] == 3


def test_an_int_that_does_not_fit_raises_and_the_next_call_works():
    kind = aval("int32")
    _, on_hosts = calling(identity(kind), kind)
    for _ in range(3):
        with pytest.raises(OverflowError):
            on_hosts(2**40)
    assert on_hosts(7)[0] == 7


def test_a_failed_call_leaves_the_next_one_working():
    call, on_hosts = calling(ADD, F4, F4)
    gone = put(np.ones(4, np.float32))
    runtime.delete(gone)
    arguments = [np.ones(4, np.float32), gone]
    with pytest.raises(runtime.EngineError) as caught:
        call(arguments, [0])
    error = runtime.explain_execute_error(arguments, caught.value)
    assert isinstance(error, DeletedArrayError)
    assert (on_hosts(*[np.ones(4, np.float32)] * 2)[0] == 2).all()


def test_donated_buffers_next_to_host_arrays_are_deleted():
    call, _ = calling(DONATING_FIRST_OF_TWO, F4, F4)
    x = put(np.ones(4, np.float32))
    (out,) = call([x, np.ones(4, np.float32)], [1])
    assert runtime.is_deleted(x)
    assert (runtime.read(out, F4) == 2).all()


def test_threads_do_not_see_the_values_of_each_other():
    call, _ = calling(DOUBLE, F4)
    wrong, barrier = [], threading.Barrier(6)

    def work(n):
        value = np.full(4, n, np.float32)
        barrier.wait()
        for _ in range(300):
            (out,) = call([value], [0])
            if not (runtime.read(out, F4) == 2 * n).all():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.slow
def test_memory_does_not_grow_over_10_000_calls():
    blocks, nbytes = growth(
        "call = runtime.host_call(executable, [F4])\nvalue = np.ones(4, np.float32)",
        "call([value], [0])",
    )
    assert blocks < 100
    assert nbytes < 300_000


def test_large_arrays_get_no_place_and_are_copied():
    kind = PlainAval((200_000,), dtypes.float32)
    _, on_hosts = calling(identity(kind), kind)
    value = np.ones(200_000, np.float32)
    assert (on_hosts(np.full(200_000, 1e300))[0] == np.inf).all()
    before = len(runtime.devices()[0].client.live_arrays())
    out = on_hosts(value)[0]
    value[:] = 7
    assert (out == 1).all()
    del out
    assert len(runtime.devices()[0].client.live_arrays()) == before
