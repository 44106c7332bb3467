from tests.compose.programs import agree, every_program


@every_program
def test_jit_of_jvp(program):
    def compose(api, f):
        def push(first, *others):
            return api.jvp(lambda x: f(x, *others), (first,), (program.tangent,))

        return api.jit(push)

    agree(compose, program, program.args)
