from tests.compose.programs import agree, every_program


def pushed(api, f, tangent):
    def push(first, *others):
        return api.jvp(lambda x: f(x, *others), (first,), (tangent,))

    return push


@every_program
def test_jvp_of_jit(program):
    agree(
        lambda api, f: pushed(api, api.jit(f), program.tangent), program, program.args
    )


@every_program
def test_jvp_of_jit_of_jit(program):
    def compose(api, f):
        return pushed(api, api.jit(api.jit(f)), program.tangent)

    agree(compose, program, program.args)
