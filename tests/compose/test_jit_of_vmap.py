import numpy

from imprint import tree
from tests.compose.programs import agree, every_program


@every_program
def test_jit_of_vmap(program):
    agree(lambda api, f: api.jit(api.vmap(f)), program, program.batched_args, "program")


@every_program
def test_jit_of_vmap_along_the_last_axis(program):
    last = tree.map(lambda x: numpy.moveaxis(x, 0, -1), program.batched_args)
    agree(lambda api, f: api.jit(api.vmap(f, -1)), program, last, "program")
