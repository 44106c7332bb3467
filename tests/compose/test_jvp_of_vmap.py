from imprint import tree
from tests.compose.programs import agree, every_program


@every_program
def test_jvp_of_vmap(program):
    tangents = tree.map(lambda x: x * 0 + 0.5, program.batched_args)

    def compose(api, f):
        return lambda *args: api.jvp(api.vmap(f), args, tangents)

    agree(compose, program, program.batched_args)
