from tests.compose.programs import agree, every_program


@every_program
def test_vmap_of_grad(program):
    agree(lambda api, f: api.vmap(api.grad(f)), program, program.batched_args)


@every_program
def test_vmap_of_grad_over_the_first_argument(program):
    (first, *_), (_, *others) = program.batched_args, program.args
    axes = (0, *[None for _ in others])
    agree(lambda api, f: api.vmap(api.grad(f), axes), program, (first, *others))


@every_program
def test_vmap_of_grad_over_the_other_arguments(program):
    if len(program.args) > 1:
        first, *others = program.args[0], *program.batched_args[1:]
        axes = (None, *[0 for _ in others])
        agree(lambda api, f: api.vmap(api.grad(f), axes), program, (first, *others))
