from tests.compose.programs import agree, every_program


@every_program
def test_grad_of_jit(program):
    agree(lambda api, f: api.grad(api.jit(f)), program, program.args)


@every_program
def test_jit_of_grad_of_jit(program):
    agree(lambda api, f: api.jit(api.grad(api.jit(f))), program, program.args)


@every_program
def test_grad_of_every_argument_of_jit(program):
    every = tuple(range(len(program.args)))
    agree(lambda api, f: api.grad(api.jit(f), argnums=every), program, program.args)
