import numpy

from imprint import tree
from tests.compose.programs import agree, every_program


@every_program
def test_vmap_of_vmap(program):
    """The outer axis is the second one, so the two must not be exchanged."""
    twice = tree.map(lambda x: numpy.stack([x, -x], axis=1), program.batched_args)
    agree(
        lambda api, f: api.vmap(api.vmap(f), in_axes=1, out_axes=0),
        program,
        twice,
        "program",
    )


@every_program
def test_vmap_of_vmap_over_different_arguments(program):
    if len(program.args) > 1:
        first, *others = program.batched_args

        def compose(api, f):
            inner = api.vmap(f, (None, *[0 for _ in others]))
            return api.vmap(inner, (0, *[None for _ in others]), out_axes=1)

        agree(compose, program, (first, *others), "program")
