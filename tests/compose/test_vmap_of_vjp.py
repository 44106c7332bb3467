"""A batch of cotangents: the rows of a Jacobian."""

import numpy

from tests.compose.programs import agree, every_program


@every_program
def test_vmap_of_vjp(program):
    rows = numpy.eye(2, dtype="float32")

    def compose(api, f):
        def two(first, *others):
            value = f(first, *others)
            return api.numpy.stack([value, value * value])

        def jacobian(*args):
            _, pullback = api.vjp(two, *args)
            return api.vmap(pullback)(rows)

        return jacobian

    agree(compose, program, program.args)
