"""Programs over eight devices of the CPU as in JAX: run by `test_on_eight.py`.

Each function is a case; its name is the test's. One process runs them all.
"""

import os
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path

import jax
import numpy as onp

import imprint
import imprint.numpy as np
from imprint import NamedSharding, P, lax
from imprint._src.debug.shardings import picture
from imprint.errors import (
    ArgumentError,
    DeletedArrayError,
    IndivisibleError,
    ShapeError,
)
from imprint.sharding import Mesh, SingleDeviceSharding

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
os.environ["IMPRINT_CACHE"] = "off"


MESH = imprint.make_mesh((4, 2), ("x", "y"))
THEIRS = jax.sharding.Mesh(onp.array(jax.devices()).reshape(4, 2), ("x", "y"))
CASES = {}
SPECS = [(), ("x",), ("y",), (("x", "y"),), (None, "y"), ("x", "y"), (None, ("y", "x"))]


def case(function):
    CASES[function.__name__] = function
    return function


def ours(*spec):
    return NamedSharding(MESH, P(*spec))


def theirs(*spec):
    return jax.sharding.NamedSharding(THEIRS, jax.P(*spec))


def values(*shape, dtype="float32"):
    size = int(onp.prod(shape))
    return (onp.arange(size) % 13 - 6).astype(dtype).reshape(shape)


def same(x, y):
    """Compare values, dtypes and the parts on each device."""
    onp.testing.assert_allclose(onp.asarray(x), onp.asarray(y), rtol=2e-6, atol=2e-6)
    assert x.dtype == y.dtype, (x.dtype, y.dtype)
    assert x.sharding.num_devices == len(y.sharding.device_set)
    for mine, other in zip(x.addressable_shards, y.addressable_shards, strict=True):
        assert mine.device.id == other.device.id
        bounds = [
            [s.indices(n)[:2] for s, n in zip(each.index, x.shape, strict=True)]
            for each in (mine, other)
        ]
        assert bounds[0] == bounds[1], (x.sharding, y.sharding)
        assert mine.replica_id == other.replica_id
        onp.testing.assert_allclose(
            onp.asarray(mine.data), onp.asarray(other.data), rtol=2e-6, atol=2e-6
        )


def message(kind, function, *args):
    try:
        function(*args)
    except kind as err:
        return str(err)
    raise AssertionError(f"no {kind.__name__}")


@case
def puts_and_reads():
    for dtype in ("float32", "bfloat16", "int4", "bool", "complex64", "int8"):
        for spec in SPECS:
            x = np.asarray(values(8, 16)).astype(dtype)
            y = onp.asarray(x)
            mine, other = (
                imprint.device_put(x, ours(*spec)),
                jax.device_put(y, theirs(*spec)),
            )
            assert mine.sharding == ours(*spec)
            assert mine.committed
            wide = "complex64" if dtype == "complex64" else "float32"
            assert mine.dtype == other.dtype
            onp.testing.assert_array_equal(
                onp.asarray(mine).astype(wide), onp.asarray(other).astype(wide)
            )
            for a, b in zip(
                mine.addressable_shards, other.addressable_shards, strict=True
            ):
                assert a.data.shape == b.data.shape
                assert a.data.sharding == SingleDeviceSharding(a.device)
    assert mine.is_fully_addressable
    assert not mine.is_fully_replicated
    assert imprint.device_put(x, ours()).is_fully_replicated
    assert mine.device == mine.sharding
    assert len(mine.devices()) == 8
    assert repr(imprint.device_put(values(2), ours("y"))) == (
        "Array([-6., -5.], dtype=float32)"
    )
    tree = imprint.device_put(
        {"a": values(8), "b": [1.0]}, {"a": ours("x"), "b": ours()}
    )
    assert tree["a"].sharding == ours("x")
    assert tree["b"][0].sharding == ours()
    assert imprint.device_get(tree)["a"].tolist() == values(8).tolist()


@case
def reshards():
    x = values(8, 16)
    for one in SPECS:
        for other in SPECS:
            moved = imprint.device_put(imprint.device_put(x, ours(*one)), ours(*other))
            same(moved, jax.device_put(x, theirs(*other)))
    back = imprint.device_put(moved, imprint.devices()[3])
    assert back.devices() == {imprint.devices()[3]}
    assert (onp.asarray(back) == x).all()
    reverse = Mesh(MESH.devices[::-1], ("x", "y"))
    turned = imprint.device_put(moved, NamedSharding(reverse, P("x")))
    assert turned.addressable_shards[0].device.id == 6
    assert (onp.asarray(turned) == x).all()


@case
def makes_arrays_of_parts():
    x = values(8, 4)
    asked = []

    def part(index):
        asked.append(index)
        return x[index]

    made = imprint.make_array_from_callback((8, 4), ours("x"), part)
    same(made, jax.make_array_from_callback((8, 4), theirs("x"), lambda i: x[i]))
    assert len(asked) == 4
    pieces = [shard.data for shard in made.addressable_shards]
    again = imprint.make_array_from_single_device_arrays(
        (8, 4), ours("x"), pieces[::-1]
    )
    same(again, jax.device_put(x, theirs("x")))
    local = imprint.make_array_from_process_local_data(ours("y"), x)
    same(local, jax.device_put(x, theirs("y")))
    assert made.addressable_data(2).shape == (2, 4)
    one = SingleDeviceSharding(imprint.devices()[5])
    for alone in (
        imprint.make_array_from_callback((8, 4), one, part),
        imprint.make_array_from_single_device_arrays(
            (8, 4), one, [imprint.device_put(x, one)]
        ),
        imprint.make_array_from_process_local_data(one, x),
    ):
        assert alone.sharding == one
        assert (onp.asarray(alone) == x).all()
    assert made.sharding.mesh.local_devices == imprint.devices()
    print(
        message(
            ArgumentError,
            imprint.make_array_from_single_device_arrays,
            (8, 4),
            ours("x"),
            pieces[:2],
        )
    )
    print(
        message(
            ShapeError, imprint.make_array_from_callback, (8, 4), ours("x"), lambda _: x
        )
    )
    local_data = imprint.make_array_from_process_local_data
    print(message(ShapeError, local_data, ours("x"), x, (8, 4, 1)))
    print(message(IndexError, made.addressable_data, 8))


def programs(lib, lx):
    return [
        (lambda a: a + 1, [(8, 16)]),
        (lambda a: a @ a.T, [(8, 16)]),
        (lambda a: (a.sum(), a.sum(0), a.sum(1)), [(8, 16)]),
        (lambda a, b: lib.tanh(a @ b), [(8, 16), (16, 4)]),
        (lambda a: a.reshape(4, 2, 16).transpose(2, 0, 1), [(8, 16)]),
        (lambda a: (a[0], a[:, 1:5], a[::2]), [(8, 16)]),
        (lambda a: lib.concatenate([a, a * 2], 1), [(8, 16)]),
        (lambda a: lib.sort(a, 0), [(8, 16)]),
        (lambda a: lib.cumsum(a, 1), [(8, 16)]),
        (lambda a: lib.where(a > 0, a, -a), [(8, 16)]),
        (lambda a: (a.argmax(0), a.max()), [(8, 16)]),
        (lambda a: lx.fori_loop(0, 3, lambda i, c: c * 0.5 + a, a), [(8, 16)]),
        (lambda a: lx.cond(a.sum() > 0, lambda x: x, lambda x: x + 1, a), [(8, 16)]),
    ]


@case
def computes_as_jax_does():
    for (f, shapes), (g, _) in zip(
        programs(np, lax), programs(jax.numpy, jax.lax), strict=True
    ):
        for spec in SPECS[:6]:
            args = [values(*shape) for shape in shapes]
            mine = imprint.jit(f)(imprint.device_put(args[0], ours(*spec)), *args[1:])
            other = jax.jit(g)(jax.device_put(args[0], theirs(*spec)), *args[1:])
            mine, other = map(imprint.tree.leaves, (mine, list(jax.tree.leaves(other))))
            for a, b in zip(mine, other, strict=True):
                onp.testing.assert_allclose(
                    onp.asarray(a), onp.asarray(b), rtol=1e-5, atol=1e-5
                )
                assert a.sharding.num_devices == 8


@case
def results_are_spread_as_in_jax():
    f = lambda a, b: (a + 1, a @ b, a.T, a.sum(0), a[:2])
    for spec in SPECS[:6]:
        a, b = values(8, 16), values(16, 4)
        mine = imprint.jit(f)(imprint.device_put(a, ours(*spec)), b)
        other = jax.jit(f)(jax.device_put(a, theirs(*spec)), b)
        for x, y in zip(mine, other, strict=True):
            same(x, y)


@case
def operations_outside_of_jit():
    for spec in SPECS[1:6:2]:
        x, y = (
            imprint.device_put(values(8, 16), ours(*spec)),
            jax.device_put(values(8, 16), theirs(*spec)),
        )
        same(x + 1, y + 1)
        same(x * x, y * y)
        same(x.sum(1), y.sum(1))
        same(x @ x.T, y @ y.T)
        onp.testing.assert_array_equal(onp.asarray(x[2]), onp.asarray(y[2]))
        onp.testing.assert_array_equal(
            onp.asarray(np.sort(x)), onp.asarray(jax.numpy.sort(y))
        )
        assert float(x.max()) == float(y.max())
        assert (onp.asarray(x == x)).all()
        copy = x.copy()
        assert copy.sharding == x.sharding
    loops = lax.fori_loop(0, 3, lambda i, c: c + x, x)
    onp.testing.assert_array_equal(onp.asarray(loops), values(8, 16) * 4)


@case
def transforms():
    x = imprint.device_put(values(8, 16), ours("x"))
    y = jax.device_put(values(8, 16), theirs("x"))
    w = values(16, 4)

    def loss(lib):
        return lambda w, x: (lib.tanh(x @ w) ** 2).sum()

    same(
        imprint.jit(imprint.grad(loss(np), 1))(w, x),
        jax.jit(jax.grad(loss(jax.numpy), 1))(w, y),
    )
    same(imprint.grad(loss(np), 1)(w, x), jax.grad(loss(jax.numpy), 1)(w, y))
    mapped = imprint.vmap(lambda row: row / (1 + row.sum() ** 2))
    same(
        imprint.jit(mapped)(x),
        jax.jit(jax.vmap(lambda row: row / (1 + row.sum() ** 2)))(y),
    )

    def constrained(lx, sharding):
        def f(x):
            x = lx.with_sharding_constraint(x, sharding)
            return (x**2).sum()

        return f

    mine, other = constrained(lax, ours("y")), constrained(jax.lax, theirs("y"))
    same(imprint.jit(imprint.grad(mine))(x), jax.jit(jax.grad(other))(y))
    inner = imprint.vmap(lambda row: lax.with_sharding_constraint(row, ours("y")) * 2)
    theirs_inner = jax.vmap(
        lambda row: jax.lax.with_sharding_constraint(row, theirs("y")) * 2
    )
    same(imprint.jit(inner)(x), jax.jit(theirs_inner)(y))


@case
def shardings_of_jit():
    x = values(8, 16)
    same(
        imprint.jit(lambda a: a * 2, in_shardings=ours("y"))(x),
        jax.jit(lambda a: a * 2, in_shardings=theirs("y"))(x),
    )
    same(
        imprint.jit(lambda a: a * 2, out_shardings=ours(None, "y"))(x),
        jax.jit(lambda a: a * 2, out_shardings=theirs(None, "y"))(x),
    )
    f = lambda t, b: {"s": t["a"] + b, "p": t["a"]}
    mine = imprint.jit(
        f,
        in_shardings=({"a": ours("x")}, None),
        out_shardings={"s": None, "p": ours("y")},
    )({"a": x}, 1.0)
    assert mine["s"].sharding.num_devices == 8
    assert mine["p"].sharding == ours("y")
    assert imprint.jit(lambda a: (a, a), out_shardings=ours("x"))(x)[
        1
    ].sharding == ours("x")
    c = (
        imprint.jit(lambda a, b: (a @ b).sum(0))
        .lower(
            imprint.ShapeDtypeStruct((8, 16), "float32", sharding=ours("x")),
            values(16, 4),
        )
        .compile()
    )
    (first, _), _ = c.input_shardings
    assert first == ours("x")
    assert c.output_shardings.is_fully_replicated
    same(
        c(imprint.device_put(x, ours("x")), values(16, 4)),
        jax.jit(lambda a, b: (a @ b).sum(0))(
            jax.device_put(x, theirs("x")), values(16, 4)
        ),
    )
    print(message(ArgumentError, c, imprint.device_put(x, ours("y")), values(16, 4)))
    with imprint.set_mesh(MESH):
        assert imprint.jit(lambda a: a, out_shardings=P("y"))(x).sharding == ours("y")
        assert imprint.device_put(x, P("x")).sharding == ours("x")
        inside = imprint.jit(lambda a: lax.with_sharding_constraint(a, P("x")) + 1)
        assert inside(x).sharding == ours("x")
        assert imprint.jit(lambda a: a + 1)(x).sharding == ours()
    nested = imprint.jit(
        lambda a: imprint.jit(lambda b: b + 1, out_shardings=ours("x"))(a)
    )
    assert nested(x).sharding == ours("x")
    captured = imprint.device_put(x, ours("x"))
    assert imprint.jit(lambda b: captured + b)(1.0).sharding == ours("x")


@case
def versions_and_explanations():
    f = imprint.jit(lambda x: x + 1)
    x = values(8, 16)
    one = imprint.device_put(x, ours("x"))
    f(one), f(one), f(imprint.device_put(x, ours("x")))
    assert f._cache_size() == 1
    f(imprint.device_put(x, ours()))
    assert f._cache_size() == 2
    print(str(f.last_miss))
    f(x)
    assert f._cache_size() == 3


@case
def donation():
    f = imprint.jit(lambda a, b: a + b, donate_argnums=0)
    a, b = (
        imprint.device_put(values(8, 16), ours("x")),
        imprint.device_put(values(8, 16), ours("x")),
    )
    assert (onp.asarray(f(a, b)) == 2 * values(8, 16)).all()
    assert a.is_deleted()
    assert not b.is_deleted()
    message(DeletedArrayError, f, a, b)
    message(DeletedArrayError, onp.asarray, a)
    message(DeletedArrayError, lambda: a.addressable_shards)
    assert (onp.asarray(f(b, b)) == 2 * values(8, 16)).all()
    resharding = imprint.jit(lambda a: a * 2, donate_argnums=0, in_shardings=ours("y"))
    said = message(ArgumentError, resharding, b)
    assert "in_shardings says, P('y')" in said
    assert not b.is_deleted()
    growing = imprint.jit(lambda a: a * 2, donate_argnums=0, out_shardings=ours("y"))
    with warnings.catch_warnings(record=True) as caught:
        assert growing(b).sharding == ours("y")
    print(*[warning.message for warning in caught])
    assert not b.is_deleted()
    split = ours(None, "x")
    moving = imprint.jit(lambda a: a * 2, donate_argnums=0, out_shardings=split)
    assert moving(b).sharding == split
    assert b.is_deleted()
    message(DeletedArrayError, moving, b)
    host = np.asarray(values(8, 16))
    assert (onp.asarray(resharding(host)) == 2 * values(8, 16)).all()
    assert (onp.asarray(host) == values(8, 16)).all()


@case
def many_calls_at_once():
    f = imprint.jit(lambda a: (a @ a.T) / 1000, out_shardings=ours("y"))
    x = imprint.device_put(values(64, 64), ours("x"))
    for _ in range(300):
        y = f(x)
    y.block_until_ready()
    threads = [
        threading.Thread(target=lambda: [f(x) for _ in range(20)]) for _ in range(4)
    ]
    [t.start() for t in threads], [t.join() for t in threads]


@case
def data_parallel_training():
    rng = onp.random.RandomState(0)
    x, y = rng.randn(64, 8).astype("f"), rng.randn(64, 1).astype("f")
    params = {
        "w": rng.randn(8, 16).astype("f") / 3,
        "v": rng.randn(16, 1).astype("f") / 4,
    }

    def loss(p, x, y):
        return ((np.tanh(x @ p["w"]) @ p["v"] - y) ** 2).mean()

    @imprint.jit
    def step(p, x, y):
        value, grads = imprint.value_and_grad(loss)(p, x, y)
        return imprint.tree.map(lambda a, g: a - 0.1 * g, p, grads), value

    def train(place, spread_params):
        p = imprint.device_put(params, spread_params)
        losses = []
        for _ in range(100):
            p, value = step(p, place(x), place(y))
            losses.append(float(value))
        return losses, p

    single, _ = train(lambda a: a, None)
    eight = imprint.make_mesh((8,), ("data",))
    grid = imprint.make_mesh((2, 4), ("data", "model"))
    shards = {"w": P(None, ("x", "y")), "v": P(("x", "y"))}  # as FSDP keeps them
    split = {"w": P(None, "model"), "v": P("model")}  # each device a part of the units
    for mesh, batch, spread, parts in (
        (eight, P("data"), P(), 1),
        (MESH, P(("x", "y")), P(), 1),
        (MESH, P(("x", "y")), shards, 8),
        (grid, P("data"), P(), 1),
        (grid, P("data"), split, 4),
    ):
        rows = NamedSharding(mesh, batch)
        specs = spread if isinstance(spread, dict) else dict.fromkeys(params, spread)
        spread = {name: NamedSharding(mesh, spec) for name, spec in specs.items()}
        losses, p = train(lambda a, rows=rows: imprint.device_put(a, rows), spread)
        assert len(losses) == 100
        assert losses[-1] < losses[0] / 2
        onp.testing.assert_allclose(single, losses, rtol=1e-4)
        for name, leaf in p.items():
            assert len(leaf.devices()) == 8
            for shard in leaf.addressable_shards:
                assert shard.data.nbytes * parts == params[name].nbytes


@case
def a_matmul_of_which_each_device_has_an_eighth():
    x, w = values(64, 32), values(32, 128)
    both = ours(None, ("x", "y"))
    split = imprint.device_put(w, both)
    multiply = imprint.jit(lambda x, w: x @ w)
    product = multiply(x, split)
    same(product, jax.jit(lambda x, w: x @ w)(x, jax.device_put(w, theirs(*both.spec))))
    for whole in (split, product):
        assert [s.data.nbytes * 8 for s in whole.addressable_shards] == [
            whole.nbytes
        ] * 8
    # Operands and results on one device: the whole of x, an eighth of others.
    sizes = multiply.lower(x, split).compile().memory_analysis()
    assert sizes.argument_size_in_bytes == x.nbytes + w.nbytes // 8
    assert sizes.output_size_in_bytes == product.nbytes // 8


@case
def models():
    network = imprint.nn.MLP(8, 1, 16, 1, key=imprint.random.key(0))
    x = values(16, 8)

    @imprint.filter_jit
    def step(network, x):
        f = imprint.filter_value_and_grad(lambda m, x: (imprint.vmap(m)(x) ** 2).mean())
        loss, grads = f(network, x)
        return imprint.apply_updates(network, grads), loss

    alone, loss = step(network, x)
    split, other = step(network, imprint.device_put(x, ours("x")))
    onp.testing.assert_allclose(float(loss), float(other), rtol=1e-5)
    onp.testing.assert_allclose(
        alone.layers[0].weight,
        onp.asarray(split.layers[0].weight),
        rtol=1e-4,
        atol=1e-6,
    )
    assert split.layers[0].weight.sharding.num_devices == 8


@case
def passes_and_random_numbers():
    x = imprint.device_put(values(64, 32), ours("x"))

    def chain(x):
        for _ in range(12):
            x = np.sin(x) / 2 + x.sum() / 1e4
        return x

    onp.testing.assert_allclose(
        onp.asarray(imprint.jit(chain)(x)),
        onp.asarray(chain(np.asarray(values(64, 32)))),
        rtol=1e-4,
        atol=1e-4,
    )
    with imprint.roll_loops(True):
        rolled = imprint.jit(chain)(x)
        onp.testing.assert_allclose(
            onp.asarray(rolled), onp.asarray(chain(x)), rtol=1e-4, atol=1e-4
        )
    key = imprint.random.key(0)
    draw = lambda k: imprint.random.normal(k, (16, 4))
    onp.testing.assert_array_equal(
        onp.asarray(imprint.jit(draw, out_shardings=ours("x"))(key)),
        onp.asarray(imprint.jit(draw)(key)),
    )
    with imprint.debug_nans(True):
        watched = imprint.jit(lambda a: np.log(a))
        assert "NaN" in message(FloatingPointError, watched, x)
        assert watched(x * 0 + 1).sharding == ours("x")


@case
def buckets_of_lengths():
    """A length that has a name, of an array with parts along it, or copies; 9 over three."""

    def moments(x, w):
        return np.cumsum(x @ w), x * 2, (x @ w).sum()

    named = imprint.jit(moments, abstracted_axes={"x": {0: "n"}})
    three = Mesh(imprint.devices()[:3], ("d",))
    rows, copies, thirds = ours("x"), ours(), NamedSharding(three, P("d"))
    for placed, lengths in (rows, (8, 20)), (copies, (3, 17)), (thirds, (9, 24)):
        for n in lengths:
            x, w = values(n, 4), values(4)
            found = named(imprint.device_put(x, placed), w)
            for got, want in zip(
                found, (onp.cumsum(x @ w), x * 2, (x @ w).sum()), strict=True
            ):
                onp.testing.assert_allclose(onp.asarray(got), want, rtol=1e-5)
            assert found[1].sharding == placed
    reported = [str(v).partition(" where ")[2] for v in named.versions]
    assert reported == [
        "n <= 16",
        "n <= 24",
        "n <= 16",
        "n <= 24",
        "n = 9",
        "n <= 24",
    ], reported
    w = values(4)
    uneven = (
        "axis 0 of x is in 3 equal parts, and its bucket of 16 cannot be. Give buckets "
        "of multiples of 3: `buckets=lambda n: -(-n // 18) * 18`."
    )
    nine, twelve = (imprint.device_put(values(n, 4), thirds) for n in (9, 12))
    assert f"It is compiled for each size: {uneven}" in str(named.explain(nine, w))
    (slot,) = named.explain(twelve, w).differences
    assert slot.remedy == f"n is compiled for each size: {uneven}", slot.remedy
    even = imprint.jit(
        moments, abstracted_axes={"x": {0: "n"}}, buckets=lambda n: -(-n // 18) * 18
    )
    for x in (nine, twelve):
        onp.testing.assert_allclose(
            onp.asarray(even(x, w)[0]), onp.cumsum(onp.asarray(x) @ w), rtol=1e-5
        )
    assert [str(v).partition(" where ")[2] for v in even.versions] == ["n <= 18"]
    replaced = imprint.jit(
        lambda x: x + 1, abstracted_axes=({0: "n"},), donate_argnums=0
    )
    given = imprint.device_put(values(8, 4), rows)
    onp.testing.assert_array_equal(replaced(given), values(8, 4) + 1)
    assert given.is_deleted()
    longer = np.pad_to(imprint.device_put(values(8, 4), rows), 16)
    assert longer.shape == (8, 4)
    onp.testing.assert_array_equal(replaced(longer), values(8, 4) + 1)


@case
def programs_on_the_disk():
    x = imprint.device_put(values(8, 16), ours("x"))
    with tempfile.TemporaryDirectory() as folder, imprint.testing.empty_store(folder):
        for origin in ("compiled", "disk"):
            f = imprint.jit(lambda a: (a @ a.T + 3, a.sum(0)))
            first, second = f(x)
            assert f.versions[0].origin == origin
            assert first.sharding == ours("x")
            assert second.is_fully_replicated
            onp.testing.assert_array_equal(onp.asarray(first), x @ x.T + 3)
            imprint.clear_caches()
        f = imprint.jit(lambda a: (a @ a.T + 3, a.sum(0)))
        f(imprint.device_put(values(8, 16), ours("y")))
        assert f.versions[0].origin == "compiled"


@case
def saved_trees():
    x = values(8, 16)
    saved = {
        "w": imprint.device_put(x, ours("x", "y")),
        "b": [np.asarray(3.5, "bfloat16"), imprint.device_put(x[:0], ours())],
    }
    save, load = imprint.sharding.save, imprint.sharding.load
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/tree"
        save(path, saved)
        assert len([*Path(path).iterdir()]) == 11
        back = load(path, saved)
        assert back["w"].sharding == ours("x", "y")
        onp.testing.assert_array_equal(onp.asarray(back["w"]), x)
        assert float(back["b"][0]) == 3.5
        assert back["b"][0].dtype == "bfloat16"
        assert back["b"][1].shape == (0, 16)
        for over in (ours(None, ("y", "x")), ours("y"), imprint.devices()[2], ours()):
            moved = load(path, saved, {"w": over, "b": None})["w"]
            onp.testing.assert_array_equal(onp.asarray(moved), x)
            assert moved.sharding in {over, SingleDeviceSharding(over)}
        print(message(ArgumentError, save, path, saved).replace(folder, "FOLDER"))
        print(message(ArgumentError, load, folder, saved).replace(folder, "FOLDER"))
        print(message(ArgumentError, load, path, {"w": x}))
        print(message(ShapeError, load, path, {**saved, "w": x[:4]}))
        print(message(ShapeError, load, path, saved, {"w": None, "b": ours("x")}))
        (Path(path) / "0.0.bin").write_bytes(b"123")
        said = message(ArgumentError, load, path, saved).replace(folder, "FOLDER")
        assert "The saved tree is damaged" in said


@case
def pictures():
    for spec in (("x", "y"), ("y",)):
        imprint.debug.visualize_sharding((8, 16), ours(*spec))
    imprint.debug.visualize_array_sharding(imprint.device_put(values(8), ours("x")))
    imprint.debug.visualize_sharding((8,), SingleDeviceSharding(imprint.devices()[3]))
    print(picture([["cpu:0", "cpu:1"]]))
    show = imprint.debug.visualize_sharding
    print(message(ArgumentError, show, (8, 2, 2), ours()))
    print(message(ArgumentError, show, (8,), None))
    show = imprint.debug.visualize_array_sharding
    print(message(ArgumentError, show, 3))


@case
def one_device_meshes():
    mesh = imprint.make_mesh((1,), ("d",))
    x = imprint.device_put(values(4), NamedSharding(mesh, P("d")))
    y = imprint.jit(lambda x: x + 1)(x)
    assert isinstance(y.sharding, NamedSharding)
    assert (onp.asarray(y) == values(4) + 1).all()
    four = Mesh(onp.array(imprint.devices()[4:]), "d")
    z = imprint.device_put(values(4), NamedSharding(four, P("d")))
    assert {d.id for d in (z * 2).devices()} == {4, 5, 6, 7}


@case
def refusals():
    x = imprint.device_put(values(8, 16), ours("x"))
    one = imprint.device_put(1.0, imprint.devices()[3])
    add = imprint.jit(lambda a, b: a + b)
    print(message(ArgumentError, add, x, one))
    print(message(ArgumentError, lambda: x + one))
    other = imprint.device_put(
        values(16), NamedSharding(Mesh(onp.array(imprint.devices()[:4]), "d"), P("d"))
    )
    print(message(ArgumentError, add, x, other))
    turned = NamedSharding(Mesh(onp.array(imprint.devices()[::-1]), "d"), P("d"))
    print(message(ArgumentError, add, x, imprint.device_put(values(8, 16), turned)))
    inner = imprint.jit(lambda a: lax.with_sharding_constraint(a, other.sharding))
    print(message(ArgumentError, inner, x))
    both = {"in_shardings": ours("x"), "out_shardings": other.sharding}
    print(message(ArgumentError, imprint.jit(lambda a: a, **both), values(8, 16)))
    print(message(IndivisibleError, imprint.device_put, values(7), ours("x")))
    print(message(ShapeError, imprint.device_put, values(8), ours("x", "y")))
    print(message(ArgumentError, imprint.device_put, values(8), P("x")))
    print(message(ArgumentError, imprint.jit(lambda a: a, in_shardings=ours("y")), x))
    print(
        message(
            IndivisibleError,
            imprint.jit(lambda a: a, in_shardings=ours("x")),
            values(7),
        )
    )
    print(
        message(
            IndivisibleError,
            imprint.jit(lambda a: a, out_shardings=ours("x")),
            values(7),
        )
    )
    print(
        message(
            IndivisibleError,
            imprint.jit(lambda a: lax.with_sharding_constraint(a, ours("x"))),
            values(7),
        )
    )
    text = lambda: imprint.jit(lambda a: a, in_shardings="x")
    print(message(ArgumentError, text))
    print(message(ArgumentError, lambda: lax.with_sharding_constraint(values(8), 3)))
    called = imprint.jit(lambda a: imprint.pure_callback(lambda v: v, a, a))
    print(message(ArgumentError, called, x))


def parts_max(x):
    return x.reshape(4, 2, 4).max(0)


@case
def programs_of_one_device():
    x = imprint.device_put(values(8, 4), ours("x", "y"))
    inner = imprint.shard_map(
        lambda a: lax.psum(a, "y"),
        mesh=MESH,
        in_specs=P(None, "y"),
        out_specs=P(),
        axis_names={"y"},
    )
    outer = imprint.shard_map(
        inner, mesh=MESH, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )
    halves = values(8, 4).reshape(8, 2, 2).sum(1)
    onp.testing.assert_allclose(onp.asarray(imprint.jit(outer)(x)), halves)
    split = {"mesh": MESH, "in_specs": P("x"), "out_specs": P()}
    again = lambda a: lax.with_sharding_constraint(a, ours(None, "x"))
    print(message(ArgumentError, imprint.shard_map(again, **split, check_vma=False), x))
    half = Mesh(onp.array(imprint.devices()[:2]), "x")
    there = imprint.shard_map(parts_max, mesh=half, in_specs=P(), out_specs=P())
    print(message(ArgumentError, there, x))
    pairs = [[0, 1], [2, 3]]
    most = lambda a: lax.pmax(a, "x", axis_index_groups=pairs)
    print(message(ArgumentError, imprint.shard_map(most, **split), x))
    called = imprint.shard_map(
        lambda a: imprint.pure_callback(lambda v: v, a, a), **split, check_vma=False
    )
    print(message(ArgumentError, called, x))
    checked = {**split, "out_specs": P("x")}
    total = imprint.shard_map(
        lambda a: lax.psum(a, "x", axis_index_groups=pairs), **checked
    )
    trusted = imprint.shard_map(
        lambda a: lax.psum(a, "x", axis_index_groups=pairs), **checked, check_vma=False
    )
    most = imprint.shard_map(
        lambda a: lax.pmax(a, "x"), mesh=MESH, in_specs=P("x"), out_specs=P()
    )
    for ways in zip(
        *[imprint.jvp(f, (x,), (x * x,)) for f in (most, parts_max)], strict=True
    ):
        onp.testing.assert_allclose(*map(onp.asarray, ways), rtol=1e-6)
    stack = np.stack([np.asarray(values(8, 4)) * i for i in (1, 2, 3)])
    several = imprint.vmap(total)(stack)
    for part, whole in zip(several, stack, strict=True):
        onp.testing.assert_allclose(onp.asarray(part), onp.asarray(total(whole)))
    for way in (lambda f: f, lambda f: imprint.grad(lambda a: (f(a) ** 3).sum())):
        onp.testing.assert_allclose(
            onp.asarray(way(total)(x)), onp.asarray(way(trusted)(x)), rtol=1e-6
        )


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        print(f"== {name}")
        start = time.process_time()
        try:
            CASES[name]()
        except BaseException:
            traceback.print_exc(file=sys.stdout)
            print("!! failed")
        if "TIMES" in os.environ:
            print(f"{time.process_time() - start:.2f} s")
