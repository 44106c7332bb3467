"""A batch of directions at one point: the columns of a Jacobian."""

import numpy

from imprint import tree
from tests.compose.programs import SLICES, agree, every_program


@every_program
def test_vmap_of_jvp(program):
    directions = tree.map(
        lambda t: numpy.stack([t * (i + 1) for i in range(SLICES)]), program.tangent
    )

    def compose(api, f):
        def push(tangent, first, *others):
            return api.jvp(lambda x: f(x, *others), (first,), (tangent,))

        return api.vmap(push, (0, *[None for _ in program.args]))

    agree(compose, program, (directions, *program.args))
