from imprint import tree
from tests.compose.programs import agree, every_program


def along(api, f, tangent):
    """Return the derivative of `f` in a direction, as the gradient gives it."""

    def function(*args):
        grads = tree.leaves(api.grad(f)(*args))
        terms = zip(grads, tree.leaves(tangent), strict=True)
        return sum(api.numpy.sum(g * t) for g, t in terms)

    return function


@every_program
def test_grad_of_grad(program):
    agree(
        lambda api, f: api.grad(along(api, f, program.tangent)), program, program.args
    )


@every_program
def test_jit_of_grad_of_grad_of_jit(program):
    def compose(api, f):
        return api.jit(api.grad(along(api, api.jit(f), program.tangent)))

    agree(compose, program, program.args)
