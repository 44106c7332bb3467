"""The program of each of several processes; it prints one line of JSON."""

import json
import os
import sys
import time

import numpy

import imprint
from imprint.experimental import multihost_utils


def error_text(function, *args):
    """Return the error that a call raises, as text."""
    try:
        function(*args)
    except (
        ArithmeticError,
        LookupError,
        AssertionError,
        ValueError,
        RuntimeError,
        OSError,
    ) as err:
        return f"{type(err).__name__}: {err}"
    return "nothing"


def talk(rank):
    found = {}
    leaves = {"a": numpy.arange(2) + rank, "b": numpy.float32(rank)}
    gathered = multihost_utils.process_allgather(leaves)
    found["gathered"] = [gathered["a"].tolist(), gathered["b"].tolist()]
    tiled = multihost_utils.process_allgather(numpy.arange(2) + rank, tiled=True)
    found["tiled"] = tiled.tolist()
    long = numpy.full(300_000, rank + 1, numpy.int64)
    found["sent"] = int(multihost_utils.broadcast_one_to_all(long).sum())
    mine = multihost_utils.broadcast_one_to_all(rank, is_source=rank == 1)
    found["from one"] = int(mine)
    both = multihost_utils.broadcast_one_to_all
    found["two sources"] = error_text(lambda: both(rank, is_source=True))
    found["equal"] = error_text(multihost_utils.assert_equal, {"x": numpy.arange(3)})
    found["unequal"] = error_text(multihost_utils.assert_equal, {"x": rank}, "step 3")
    found["synced"] = error_text(multihost_utils.sync_global_devices, "here")
    found["apart"] = error_text(multihost_utils.sync_global_devices, f"at {rank}")
    shapes = multihost_utils.process_allgather
    found["shapes"] = error_text(shapes, numpy.zeros(rank + 1, "float32"))
    store = imprint.distributed.key_value_store()
    if rank == 0:
        store.set("step/3", "done")
    found["value"] = store.get("step/3", timeout=120).decode()
    store.wait_at_barrier("read", timeout=120)
    found["no value"] = error_text(store.get, "step/4", 0.2)
    found["late"] = error_text(store.wait_at_barrier, "alone", 0.2) if rank == 0 else ""
    found["twice"] = error_text(imprint.distributed.initialize, "localhost:1", 2, rank)
    found["count"] = imprint.process_count(), imprint.process_index()
    found["devices"] = imprint.device_count(), imprint.local_device_count()
    here = imprint.jit(lambda x: x + rank)(imprint.numpy.ones(2))
    found["computed"] = here.tolist(), here.device in imprint.local_devices()
    own = imprint.jit(lambda x: imprint.numpy.sin(x) * 3)
    for turn in range(2):
        if turn == rank:
            found["own"] = own(imprint.numpy.ones(2)).tolist()
        store.wait_at_barrier(f"compiled {turn}", timeout=120)
    found["origin"] = own.versions[0].origin
    multihost_utils.sync_global_devices("end")
    imprint.distributed.shutdown()
    found["left"] = imprint.distributed.is_initialized()
    return found


def train(rank, count, steps):
    """Train on the devices of all processes, and on one; return the losses."""
    np = imprint.numpy
    places = imprint.P("data")
    mesh = imprint.make_mesh((2 * count,), ("data",))
    rows, whole = (imprint.NamedSharding(mesh, s) for s in (places, imprint.P()))
    drawn = numpy.random.default_rng(0)
    x = drawn.normal(size=(16, 4)).astype("float32")
    y = (x @ drawn.normal(size=(4, 1))).astype("float32")
    start = numpy.zeros((4, 1), "float32")

    def loss(w, x, y):
        return ((np.tanh(x @ w) - y) ** 2).mean()

    def step(w, x, y):
        value, slope = imprint.value_and_grad(loss)(w, x, y)
        return w - 0.1 * slope, value

    def own_step(w, x, y):
        value, slope = imprint.value_and_grad(loss)(w, x, y)  # summed over devices
        share = slope / imprint.lax.axis_size("data")
        return w - 0.1 * share, imprint.lax.pmean(value, "data")

    specs = {"in_specs": (imprint.P(), places, places), "out_specs": imprint.P()}
    own = imprint.shard_map(own_step, mesh=mesh, **specs)
    put = imprint.device_put
    spread = put(x, rows), put(y, rows)
    found = {}
    for name, function, data, w in (
        ("one device", step, (x, y), start),
        ("jit", step, spread, put(start, whole)),
        ("shard_map", own, spread, put(start, whole)),
    ):
        compiled = imprint.jit(function)
        for _ in range(steps):
            w, value = compiled(w, *data)
        found[name] = float(value)
    gathered = multihost_utils.process_allgather(
        {"x": spread[0], "n": rank}, tiled=True
    )
    found["gathered"] = bool((gathered["x"] == x).all()), gathered["n"].tolist()
    found["parts"] = [s.data.shape for s in spread[0].addressable_shards]
    found["read"] = error_text(np.asarray, spread[0]) + error_text(
        numpy.asarray, spread[0]
    )
    found["apart"] = error_text(imprint.jit(lambda x: x * (1.0 + rank)), spread[0])
    multihost_utils.sync_global_devices("end")
    return found


def over(mesh, *spec):
    return imprint.NamedSharding(mesh, imprint.P(*spec))


X = numpy.arange(32, dtype="float32").reshape(8, 4)


def held(array):
    """Return which rows and columns of `X` are here, after a check of the values."""
    pairs = [(s.index, numpy.asarray(s.data)) for s in array.addressable_shards]
    assert all((values == X[index]).all() for index, values in pairs)
    return [[*i.indices(8)[:2], *j.indices(4)[:2]] for (i, j), _ in pairs]


def arrays(rank, count, folder):
    """Make arrays of which each process has a part; return the view of this one."""
    mesh = imprint.make_mesh((2 * count,), ("d",))
    grid = imprint.make_mesh((count, 2), ("p", "q"))
    rows, whole, columns = over(mesh, "d"), over(mesh), over(grid, None, ("q", "p"))
    mine = X[4 * rank : 4 * rank + 4]
    local = imprint.make_array_from_process_local_data
    spread = imprint.device_put(X, rows)
    asked = []

    def part(index):
        asked.append(index)
        return X[index]

    tree = local({"a": rows, "b": whole}, {"a": mine, "b": X})
    parts = [shard.data for shard in spread.addressable_shards][::-1]
    single = imprint.make_array_from_single_device_arrays
    found = {
        "callback": held(imprint.make_array_from_callback(X.shape, rows, part)),
        "asked": len(asked),
        "single": held(single(X.shape, rows, parts)),
        "local": held(local(rows, mine)),
        "a tree": [held(tree["a"]), held(tree["b"])],
        "of all": held(local(rows, X, (8, 4))),
        "columns": held(local(columns, X[:, rank::2])),
        "put": held(imprint.device_put(spread, whole)),
        "copied": held(spread.copy()),
        "row": numpy.asarray(spread[5]).tolist(),
        "shards": [s.data is not None for s in spread.global_shards],
        "shown": [repr(spread), str(spread), str(imprint.device_put(X[0], whole))],
    }
    last = over(imprint.sharding.Mesh(mesh.devices[2:], "d"), "d")  # of process 1
    there = imprint.jit(lambda x: x + 1)(imprint.device_put(X, last)) * 2
    found["there"] = len(there.addressable_shards), there.shape
    theirs = imprint.devices()[-1 - 2 * rank]
    foreign = over(imprint.sharding.Mesh([theirs], "d"), "d")
    reverse = over(imprint.sharding.Mesh(mesh.devices[::-1], "d"), "d")
    split = imprint.jit(lambda x: x, in_shardings=rows)
    made = imprint.jit(
        lambda: imprint.numpy.ones(4), out_shardings=[rows, reverse][rank]
    )
    found["errors"] = [
        error_text(spread.addressable_data, 2),
        error_text(single, X.shape, rows, parts[:1]),
        error_text(local, rows, mine[:3], (8, 4)),
        error_text(local, foreign, X),
        error_text(
            local, over(imprint.sharding.Mesh(mesh.devices[:3], "d"), "d"), mine
        ),
        error_text(imprint.device_put, X, theirs),
        error_text(imprint.device_put, spread, reverse),
        error_text(imprint.device_put, {"a": 1, "b": X + rank}, whole),
        error_text(split, X),
        error_text(made),
    ]
    doubled = imprint.jit(lambda x: x * 2)
    doubled(spread)
    if rank == 0:  # which alone has no memory left
        usual = imprint.cache.limit()
        imprint.cache.limit(bytes=1)
        imprint.cache.limit(bytes=usual)
    doubled(spread)
    found["kept"] = doubled.cache_info().misses
    saved = {"spread": spread, "n": imprint.numpy.asarray(float(rank))}
    imprint.sharding.save(f"{folder}/tree", saved)
    back = imprint.sharding.load(
        f"{folder}/tree", saved, {"spread": columns, "n": None}
    )
    found["saved"] = (
        held(back["spread"]),
        float(back["n"]),
        os.listdir(f"{folder}/tree"),
    )
    found["again"] = error_text(imprint.sharding.save, f"{folder}/tree", saved)
    if rank == 1:
        spread.delete()
    found["of one"] = error_text(imprint.sharding.save, f"{folder}/other", saved)
    return found


def main(rank, count, port, part):
    if part == "differs" and rank == 1:
        imprint._src.runtime.processes.jaxlib_version = "0.9.9"
    # On a loaded machine the others may start late.
    wait = 1 if part in {"nobody", "alone"} else 120
    limits = {"initialization_timeout": wait, "heartbeat_timeout_seconds": 5}
    join = imprint.distributed.initialize
    err = error_text(lambda: join(f"127.0.0.1:{port}", count, rank, **limits))
    if part == "talk":
        assert err == "nothing", err
        print(json.dumps(talk(rank)))
        return
    if part == "arrays":
        print(json.dumps(arrays(rank, count, os.environ["FOLDER"])))
        return
    if part in {"train", "hundred"}:
        print(json.dumps(train(rank, count, 100 if part == "hundred" else 20)))
        return
    print(json.dumps(err), flush=True)
    if part in {"dies", "raises"}:
        if rank == 1 and part == "dies":
            os._exit(9)
        if rank == 1:
            raise ValueError("a bad batch")
        time.sleep(30)
    sys.stdout.flush()
    os._exit(0)


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
