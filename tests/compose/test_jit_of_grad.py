from tests.compose.programs import agree, every_program


@every_program
def test_jit_of_grad(program):
    agree(lambda api, f: api.jit(api.grad(f)), program, program.args)


@every_program
def test_jit_of_value_and_grad(program):
    agree(lambda api, f: api.jit(api.value_and_grad(f)), program, program.args)
