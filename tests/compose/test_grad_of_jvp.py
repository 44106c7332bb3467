"""Reverse over forward: the same product of the Hessian and a vector."""

from tests.compose.programs import agree, every_program


@every_program
def test_grad_of_jvp(program):
    def compose(api, f):
        def slope(first, *others):
            def at(x):
                return f(x, *others)

            return api.jvp(at, (first,), (program.tangent,))[1]

        return api.grad(slope)

    agree(compose, program, program.args)
