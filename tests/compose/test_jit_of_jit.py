from tests.compose.programs import agree, every_program


@every_program
def test_jit_of_jit(program):
    agree(lambda api, f: api.jit(api.jit(f)), program, program.args, "program")


@every_program
def test_jit_called_twice_in_a_jit(program):
    def compose(api, f):
        inner = api.jit(f)
        return api.jit(lambda *args: inner(*args) * inner(*args))

    agree(compose, program, program.args, "program")
