from tests.compose.programs import agree, every_program


@every_program
def test_jvp_of_jvp(program):
    def compose(api, f):
        def slope(first, *others):
            def at(x):
                return f(x, *others)

            return api.jvp(at, (first,), (program.tangent,))[1]

        def curvature(first, *others):
            return api.jvp(lambda x: slope(x, *others), (first,), (program.tangent,))

        return curvature

    agree(compose, program, program.args)
