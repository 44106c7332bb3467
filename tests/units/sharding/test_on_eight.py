import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SLOW = ["computes_as_jax_does"]
CASES = [
    "puts_and_reads",
    "reshards",
    "makes_arrays_of_parts",
    "results_are_spread_as_in_jax",
    "operations_outside_of_jit",
    "transforms",
    "shardings_of_jit",
    "versions_and_explanations",
    "donation",
    "many_calls_at_once",
    "data_parallel_training",
    "a_matmul_of_which_each_device_has_an_eighth",
    "models",
    "passes_and_random_numbers",
    "buckets_of_lengths",
    "programs_on_the_disk",
    "saved_trees",
    "pictures",
    "one_device_meshes",
    "programs_of_one_device",
    "refusals",
]
SAID = {
    "makes_arrays_of_parts": [
        "make_array_from_single_device_arrays: expected one array on each of 8 devices "
        "of Mesh('x': 4, 'y': 2), got arrays on ['cpu:0', 'cpu:1']. Put each part on "
        "its device with imprint.device_put.",
        "make_array_from_callback: expected parts of the shape (2, 4), got one of (8, "
        "4). Each device has what sharding.devices_indices_map says.",
        "make_array_from_process_local_data: expected local_data of the global_shape (8, 4, "
        "1), along each axis, got the shape (8, 4). Give what the devices of this process "
        "have, or all of the array.",
        "addressable_data: expected 0 to 7, as float32[8,4] is on 8 devices, got 8. The"
        " whole array is x.",
    ],
    "shardings_of_jit": [
        "<lambda>: expected argument a P('x') over Mesh('x': 4, 'y': 2), got one that "
        "is P('y') over Mesh('x': 4, 'y': 2). A Compiled takes only the kind of call it"
        " was compiled for; call the jitted function for another.",
    ],
    "versions_and_explanations": [
        "<lambda> at eight.py:LINE compiles: it differs from version 0 in x: P('x') → "
        "P(). It took TIME. Spread x alike before each call, with "
        "`imprint.device_put(x, imprint.NamedSharding(mesh, P('x')))`, or say it in "
        "in_shardings.",
    ],
    "donation": [
        "<lambda>: expected each donated argument to have a result of its shape and dtype, "
        "got none for argument a (no result left of float32[8,16] in parts as large). It "
        "is kept as it is; do not donate it.",
    ],
    "programs_of_one_device": [
        "with_sharding_constraint: expected axes that the compiler splits along, got 'x' in "
        "P(None, 'x') inside of a shard_map along it. Leave it out: each device has its "
        "part already.",
        "parts_max: expected committed arrays and shardings over the same devices in the "
        "same order, got argument x over cpu:[0, 1, 2, 3, 4, 5, 6, 7] and a shard_map over "
        "cpu:[0, 1]. Put the arrays on one mesh with imprint.device_put(x, sharding); what "
        "was made without a device follows by itself.",
        "shard_map(<lambda>) out_specs: expected result to be the same on all devices "
        "along 'x', as P() says, got float32[2,4], which may differ there. Reduce it, "
        "such as with imprint.lax.psum(x, 'x') or pmean; or say that it is split, "
        "P('x'); or, if you know it to be the same, give check_vma=False.",
        "<lambda>: expected a program without callbacks over several devices, got one "
        "over Mesh('x': 4, 'y': 2). Call it on one device, or leave the callbacks out.",
    ],
    "refusals": [
        "<lambda>: expected committed arrays and shardings over the same devices in the"
        " same order, got argument a over cpu:[0, 1, 2, 3, 4, 5, 6, 7] and argument b "
        "over cpu:[3]. Put the arrays on one mesh with imprint.device_put(x, sharding);"
        " what was made without a device follows by itself.",
        "add: expected committed arrays and shardings over the same devices in the same"
        " order, got operand 0 over cpu:[0, 1, 2, 3, 4, 5, 6, 7] and operand 1 over "
        "cpu:[3]. Put the arrays on one mesh with imprint.device_put(x, sharding); what"
        " was made without a device follows by itself.",
        "<lambda>: expected committed arrays and shardings over the same devices in the"
        " same order, got argument a over cpu:[0, 1, 2, 3, 4, 5, 6, 7] and argument b "
        "over cpu:[0, 1, 2, 3]. Put the arrays on one mesh with imprint.device_put(x, "
        "sharding); what was made without a device follows by itself.",
        "<lambda>: expected committed arrays and shardings over the same devices in "
        "the same order, got argument a over cpu:[0, 1, 2, 3, 4, 5, 6, 7] and "
        "argument b over cpu:[7, 6, 5, 4, 3, 2, 1, 0]. Put the arrays on one mesh "
        "with imprint.device_put(x, sharding); what was made without a device follows"
        " by itself.",
        "<lambda>: expected committed arrays and shardings over the same devices in "
        "the same order, got argument a over cpu:[0, 1, 2, 3, 4, 5, 6, 7] and a "
        "constraint over cpu:[0, 1, 2, 3]. Put the arrays on one mesh with "
        "imprint.device_put(x, sharding); what was made without a device follows by "
        "itself.",
        "<lambda>: expected committed arrays and shardings over the same devices in "
        "the same order, got argument a over cpu:[0, 1, 2, 3, 4, 5, 6, 7] and "
        "out_shardings over cpu:[0, 1, 2, 3]. Put the arrays on one mesh with "
        "imprint.device_put(x, sharding); what was made without a device follows by "
        "itself.",
        "device_put: expected axis 0 to be a multiple of 4, the size of 'x' in "
        "Mesh('x': 4, 'y': 2), got 7 of the shape [7]. Pad it, or split another axis.",
        "device_put: expected a spec with at most an entry for each of 1 axes, got "
        "P('x', 'y') for the shape [8]. Leave entries out from the end.",
        "device_put: expected a mesh in force for the bare P('x'), got none. Write "
        "`with imprint.set_mesh(mesh):`, or NamedSharding(mesh, P('x')).",
        "<lambda>: expected argument a as in_shardings says, P('y') over Mesh('x': 4, "
        "'y': 2), got one that is P('x') over Mesh('x': 4, 'y': 2). Put it there with "
        "imprint.device_put(x, sharding), or leave in_shardings out.",
        "<lambda>: argument a: expected axis 0 to be a multiple of 4, the size of 'x' "
        "in Mesh('x': 4, 'y': 2), got 7 of the shape [7]. Pad it, or split another "
        "axis.",
        "<lambda>: a result: expected axis 0 to be a multiple of 4, the size of 'x' in "
        "Mesh('x': 4, 'y': 2), got 7 of the shape [7]. Pad it, or split another axis.",
        "with_sharding_constraint: expected axis 0 to be a multiple of 4, the size of "
        "'x' in Mesh('x': 4, 'y': 2), got 7 of the shape [7]. Pad it, or split another "
        "axis.",
        "jit: expected in_shardings to be None, a device, a sharding, a PartitionSpec "
        "or a tree of them, got 'x'. Write imprint.NamedSharding(mesh, "
        "imprint.P('data')).",
        "with_sharding_constraint: expected a NamedSharding or a PartitionSpec, got 3. "
        "Write imprint.NamedSharding(mesh, imprint.P('data')).",
        "<lambda>: expected a program without callbacks over several devices, got one "
        "over Mesh('x': 4, 'y': 2). Call it on one device, or leave the callbacks out.",
    ],
    "saved_trees": [
        "save: expected a folder that is not there yet, got 'FOLDER/tree'. Save"
        " to another, or delete it first.",
        "load: expected a folder that imprint.sharding.save wrote, got 'FOLDER'"
        " without a manifest that can be read. Check the path.",
        "load: expected like to have the leaves that were saved, got another "
        "tree: they differ in \"['b'][0]\". Give a tree of the same structure.",
        "load: expected ['w'] to be float32[8, 16], as it was saved, got "
        "float32[4,16]. Give arrays of the shapes and dtypes that were saved.",
        "load: ['b'][0]: expected a spec with at most an entry for each of 0 axes, got "
        "P('x') for the shape []. Leave entries out from the end.",
    ],
    "pictures": [
        "┌───────┬───────┐",
        "│ cpu:0 │ cpu:1 │",
        "├───────┼───────┤",
        "│ cpu:2 │ cpu:3 │",
        "├───────┼───────┤",
        "│ cpu:4 │ cpu:5 │",
        "├───────┼───────┤",
        "│ cpu:6 │ cpu:7 │",
        "└───────┴───────┘",
        "┌─────────────┐",
        "│ cpu:0,2,4,6 │",
        "├─────────────┤",
        "│ cpu:1,3,5,7 │",
        "└─────────────┘",
        "┌─────────┬─────────┬─────────┬─────────┐",
        "│ cpu:0,1 │ cpu:2,3 │ cpu:4,5 │ cpu:6,7 │",
        "└─────────┴─────────┴─────────┴─────────┘",
        "┌───────┐",
        "│ cpu:3 │",
        "└───────┘",
        '<svg xmlns="http://www.w3.org/2000/svg" width="220" height="40"><rect '
        'x="0" y="0" width="110" height="40" fill="hsl(0,60%,80%)" '
        'stroke="#555"/><text x="55" y="25" text-anchor="middle" font-'
        'size="13">cpu:0</text><rect x="110" y="0" width="110" height="40" '
        'fill="hsl(180,60%,80%)" stroke="#555"/><text x="165" y="25" text-'
        'anchor="middle" font-size="13">cpu:1</text></svg>',
        "visualize_sharding: expected an array of one or two axes, got the "
        "shape (8, 2, 2). Look at x.addressable_shards, or at two axes of it.",
        "visualize_sharding: expected a sharding, got None. Write x.sharding.",
        "visualize_array_sharding: expected an array with values, got 3. Ask "
        "the result of the compiled function.",
    ],
}
"""What a case prints, without lines and times."""


@cache
def run(*cases):
    """Run cases of `eight.py` in one process; return the output of each."""
    path = Path(__file__).with_name("eight.py")
    done = subprocess.run(
        [sys.executable, "-P", path, *cases],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.sub(r"eight\.py:\d+", "eight.py:LINE", done.stdout)
    said = re.sub(r"\d\.\d\d s\.", "TIME.", said)
    parts = [part.split("\n") for part in ("\n" + said).split("\n== ")[1:]]
    return {name: [line for line in lines if line] for name, *lines in parts}


@pytest.mark.parametrize("case", CASES)
def test_over_eight_devices(case):
    assert run(*CASES)[case] == SAID.get(case, [])


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", SLOW)
def test_over_eight_devices_at_length(case):
    assert run(*SLOW)[case] == SAID.get(case, [])
