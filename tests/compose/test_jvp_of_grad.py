"""Forward over reverse: the product of the Hessian and a vector."""

from tests.compose.programs import agree, every_program


def hessian_vector(api, f, tangent):
    def product(first, *others):
        return api.jvp(lambda x: api.grad(f)(x, *others), (first,), (tangent,))

    return product


@every_program
def test_jvp_of_grad(program):
    def compose(api, f):
        return hessian_vector(api, f, program.tangent)

    agree(compose, program, program.args)


@every_program
def test_jit_of_jvp_of_grad(program):
    def compose(api, f):
        return api.jit(hessian_vector(api, f, program.tangent))

    agree(compose, program, program.args)
