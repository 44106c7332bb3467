from tests.compose.programs import agree, every_program


@every_program
def test_vmap_of_jit(program):
    agree(lambda api, f: api.vmap(api.jit(f)), program, program.batched_args, "program")


@every_program
def test_vmap_of_jit_of_grad(program):
    agree(lambda api, f: api.vmap(api.jit(api.grad(f))), program, program.batched_args)
