from tests.compose.programs import agree, every_program


def total(api, f):
    return lambda *args: api.numpy.sum(api.vmap(f)(*args))


@every_program
def test_grad_of_vmap(program):
    agree(lambda api, f: api.grad(total(api, f)), program, program.batched_args)


@every_program
def test_grad_of_vmap_with_a_shared_argument(program):
    (first, *_), (_, *others) = program.args, program.batched_args
    axes = (None, *[0 for _ in others])

    def compose(api, f):
        mapped = api.vmap(f, axes, axis_size=3)
        return api.grad(lambda *args: api.numpy.sum(mapped(*args)))

    agree(compose, program, (first, *others))
