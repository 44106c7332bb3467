"""Arrays of which each process has a part: how they are made, moved, read and saved."""

from types import SimpleNamespace

import pytest

import imprint
from imprint._src import runtime
from imprint.errors import ArgumentError
from tests.units.distributed.test_joining import results

SAID = [
    "IndexError: addressable_data: expected 0 to 1, as float32[8,4] is on 2 devices of this "
    "process, got 2. The whole array is x.",
    "ArgumentError: make_array_from_single_device_arrays: expected one array on each of 2 "
    "devices of this process of Mesh('d': 4), got arrays on ['cpu:1']. Put each part on "
    "its device with imprint.device_put.",
    "ShapeError: make_array_from_process_local_data: expected local_data of the "
    "global_shape (8, 4), or of its parts here, (4, 4), along each axis, got the shape (3, "
    "4). Give what the devices of this process have, or all of the array.",
    "ArgumentError: make_array_from_process_local_data: expected a sharding over devices of "
    "this process, ['cpu:0', 'cpu:1'], got NamedSharding(mesh=Mesh('d': 1), spec=P('d')). "
    "Leave the call to the processes whose devices it has.",
    "ArgumentError: make_array_from_process_local_data: expected global_shape, as processes "
    "have no equal shares of axis 0 in NamedSharding(mesh=Mesh('d': 3), spec=P('d')), got "
    "None. Give the shape of the whole array.",
    "ArgumentError: device_put: expected a device of this process, [CpuDevice(id=0), "
    "CpuDevice(id=1)], got CpuDevice(id=2049) of process 1. Leave the call to that process, "
    "or name a sharding over devices of both.",
    "ArgumentError: device_put: expected the devices that the array is on, in the same "
    "order, as other processes have some of it, got NamedSharding(mesh=Mesh('d': 4), "
    "spec=P('d')) for float32[8,4] over Mesh('d': 4). Take that mesh, or gather it on the "
    "host with imprint.experimental.multihost_utils.process_allgather(x).",
    "ArgumentError: device_put: expected the same values in all processes whose devices get "
    "a part, got float32[8,4] in process 0 and float32[8,4] of other values in process 1. "
    "If each has a part of its own, write imprint.make_array_from_process_local_data"
    "(sharding, x).",
    "ArgumentError: <lambda>: expected argument x as an imprint array, as in_shardings "
    "splits it between processes, P('d') over Mesh('d': 4), got one of NumPy. Write "
    "imprint.device_put(x, sharding) if all processes have the same, or "
    "imprint.make_array_from_process_local_data(sharding, x) if each has its part.",
    "CompileError: compile: expected the same program in all processes, as each waits for "
    "the others, got in process 0\n  devices [0, 1, 2048, 2049]\nand in process 1\n  devices "
    "[2049, 2048, 1, 0]\nMake what they compute depend on nothing that differs: the number "
    "of the process, random numbers, the order of a set.",
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("saved"))
    codes, outputs, logs, _ = results("arrays", env={"FOLDER": folder})
    assert codes == [0, 0], logs
    return outputs


@pytest.mark.slow
def test_each_process_gives_and_has_its_parts(found):
    for rank, seen in enumerate(found):
        own = [[4 * rank, 4 * rank + 2, 0, 4], [4 * rank + 2, 4 * rank + 4, 0, 4]]
        for way in ("callback", "single", "local", "of all", "copied"):
            assert seen[way] == own, way
        assert seen["asked"] == 2
        assert seen["a tree"] == [own, [[0, 8, 0, 4]] * 2]
        assert seen["columns"] == [[0, 8, rank, rank + 1], [0, 8, rank + 2, rank + 3]]


@pytest.mark.slow
def test_parts_of_other_processes_come_by_a_program(found):
    for seen in found:
        assert seen["put"] == [[0, 8, 0, 4]] * 2
        assert seen["row"] == [20.0, 21.0, 22.0, 23.0]


@pytest.mark.slow
def test_one_process_forgets_no_program_of_all(found):
    assert [seen["kept"] for seen in found] == [1, 1]


@pytest.mark.slow
def test_a_process_that_computes_alone_waits_for_no_other(found):
    assert [seen["there"] for seen in found] == [[0, [8, 4]], [2, [8, 4]]]


@pytest.mark.slow
def test_parts_of_other_processes_are_not_shown(found):
    for rank, seen in enumerate(found):
        assert seen["shards"] == [not rank, not rank, bool(rank), bool(rank)]
        assert seen["shown"] == ["Array(shape=(8, 4), dtype=float32)"] * 2 + [
            "[0. 1. 2. 3.]"
        ]


@pytest.mark.slow
def test_operations_that_need_all_processes_raise_in_one(found):
    assert found[0]["errors"] == SAID


@pytest.mark.slow
def test_processes_save_one_tree(found):
    files = {"manifest.json", "0.0.bin", *[f"1.{i}.bin" for i in range(4)]}
    for rank, seen in enumerate(found):
        parts, number, names = seen["saved"]
        assert parts == seen["columns"]
        assert number == 0.0  # that of the first process
        assert {*names} == files
        prefix = "in process 0: " if rank else ""
        assert seen["again"].startswith(
            f"ArgumentError: {prefix}save: expected a folder that is not there yet, got "
        )


@pytest.mark.slow
def test_a_failure_in_one_process_fails_in_all(found):
    for rank, seen in enumerate(found):
        kind = "DeletedArrayError" if rank else "ArgumentError: in process 1"
        assert seen["of one"].startswith(f"{kind}: expected an array with values, got ")


def test_a_process_that_does_not_see_the_folder_raises(monkeypatch, tmp_path):
    others = SimpleNamespace(exchange=lambda *_: [b"", b""])
    monkeypatch.setattr(runtime, "joined", lambda: others)
    monkeypatch.setattr(runtime, "process_index", lambda: 1)
    with pytest.raises(ArgumentError) as caught:
        imprint.sharding.save(tmp_path / "tree", {"x": 1.0})
    assert str(caught.value) == (
        f"save: expected a folder that all processes see, got '{tmp_path}/tree.part', which "
        "process 1 does not. Save where they share the files."
    )
