"""Programs that fail as a beginner's do; the messages are golden files.

Each function is one program. The messages name lines of this file, so add at the end.
"""

import numpy as np

import imprint
import imprint.numpy as inp


def branch_on_a_traced_value():
    @imprint.jit
    def loss(x):
        if x > 0:
            return x
        return -x

    loss(3.0)


def count_to_a_traced_value():
    @imprint.jit
    def repeat(x, n):
        for _ in range(n):
            x = x * 2
        return x

    repeat(3.0, 4)


def float_of_a_traced_value():
    imprint.jit(lambda x: float(x) + 1)(3.0)


def int_of_a_traced_value():
    imprint.jit(lambda x: int(x * 2))(3)


def numpy_of_a_traced_value():
    @imprint.jit
    def normalise(batch):
        return np.asarray(batch["x"]) / 255

    normalise({"x": np.ones(3, np.float32)})


def bool_of_a_derived_value():
    @imprint.jit
    def step(params, x):
        y = params["w"] * x
        total = y.sum()
        return y if total > params["limit"] else x

    step({"w": np.ones(3, np.float32), "limit": 1.0}, np.ones(3, np.float32))


def mismatched_shapes():
    @imprint.jit
    def add(x, y):
        return x + y

    add(np.ones(3, np.float32), np.ones(4, np.float32))


def mismatched_shapes_outside_jit():
    inp.ones((2, 3)) * inp.ones((4,))


def not_callable():
    imprint.jit(3)


def generator_function():
    def batches(x):
        yield x

    imprint.jit(batches)


def string_argument():
    @imprint.jit
    def activate(x, mode):
        return x if mode == "linear" else -x

    activate(3.0, "linear")


def object_inside_an_argument():
    imprint.jit(lambda batch: batch["x"])({"x": 1.0, "name": object})


def string_result():
    @imprint.jit
    def describe(x):
        return {"value": x, "unit": "m"}

    describe(3.0)


def too_few_arguments():
    @imprint.jit
    def add(x, y):
        return x + y

    add(1.0)


def unknown_keyword():
    @imprint.jit
    def scale(x, factor=2.0):
        return x * factor

    scale(1.0, facter=3.0)


def leaked_tracer():
    seen = []

    @imprint.jit
    def remember(x):
        y = x * 2
        seen.append(y)
        return y

    remember(3.0)
    imprint.jit(lambda x: x + seen[0])(1.0)


def leaked_tracer_outside_jit():
    seen = []

    @imprint.jit
    def remember(x):
        seen.append(x)
        return x

    remember(3.0)
    seen[0] + 1


def gradient_of_a_vector():
    imprint.grad(lambda x: x * 2)(np.ones(3, np.float32))


def gradient_at_an_integer():
    imprint.grad(lambda x: x * 2.0)(3)


def gradient_of_missing_argument():
    imprint.grad(lambda x: x * 2.0, argnums=1)(3.0)


def vmap_over_unequal_lengths():
    imprint.vmap(lambda x, y: x + y)(np.ones(3), np.ones(4))


def vmap_over_nothing():
    imprint.vmap(lambda x: x, in_axes=None)(1.0)


def vmap_over_a_missing_axis():
    imprint.vmap(lambda x: x, in_axes=1)(np.ones(3))


def assign_to_an_array():
    x = inp.ones(3)
    x[0] = 2.0


def static_list():
    imprint.jit(lambda x, sizes: x, static_argnums=1)(1.0, [2, 3])


def static_array():
    imprint.jit(lambda x, n: x, static_argnums=1)(1.0, np.ones(3))


def unknown_static_name():
    @imprint.jit(static_argnames="unroll")
    def repeat(x, unrol):
        return x * unrol


def static_position_out_of_range():
    imprint.jit(lambda x, n: x, static_argnums=2)


def wrong_cotangent():
    _, pullback = imprint.vjp(lambda x: {"a": x}, 1.0)
    pullback(1.0)


def wrong_tangent():
    imprint.jvp(lambda x: x, (1.0,), (np.ones(3, np.float32),))


def compiled_for_another_shape():
    f = imprint.jit(lambda batch: batch["x"] * 2)
    compiled = f.lower({"x": np.ones(3, np.float32)}).compile()
    compiled({"x": np.ones(4, np.float32)})


def integer_too_large():
    imprint.jit(lambda x: x + 1)(2**40)


def float_of_a_differentiated_value():
    def loss(scale):
        return float(scale) ** 2

    imprint.grad(loss)(3.0)


def numpy_of_a_differentiated_value():
    def energy(x):
        values = np.asarray(x)
        return values @ values

    imprint.jvp(energy, (np.ones(2, np.float32),), (np.ones(2, np.float32),))


def float_of_a_mapped_value():
    imprint.vmap(lambda x: float(x))(np.ones(2, np.float32))


def rule_that_was_not_defined():
    @imprint.custom_jvp
    def soft(x):
        return inp.log(1.0 + inp.exp(x))

    imprint.grad(soft)(1.0)


def bwd_of_another_structure():
    @imprint.custom_vjp
    def scaled(x, by):
        return x * by

    def fwd(x, by):
        return scaled(x, by), by

    def bwd(by, ct):
        return ct * by

    scaled.defvjp(fwd, bwd)
    imprint.grad(scaled)(2.0, 3.0)


def bwd_of_another_shape():
    @imprint.custom_vjp
    def scaled(x, by):
        return x * by

    def fwd(x, by):
        return scaled(x, by), (x, by)

    def bwd(residuals, ct):
        x, by = residuals
        return ct * by, ct * x

    scaled.defvjp(fwd, bwd)
    imprint.grad(lambda by: scaled(np.ones(3, np.float32), by).sum())(3.0)


def tangent_of_another_shape():
    @imprint.custom_jvp
    def total(x):
        return x.sum()

    @total.defjvp
    def rule(primals, tangents):
        return total(*primals), tangents[0]

    imprint.grad(total)(np.ones(3, np.float32))


def forward_through_a_custom_vjp():
    @imprint.custom_vjp
    def same(x):
        return x

    same.defvjp(lambda x: (x, None), lambda _, ct: (ct,))
    imprint.jvp(same, (1.0,), (1.0,))


def rule_that_closes_over():
    def loss(x, scale):
        @imprint.custom_jvp
        def scaled(x):
            return x * scale

        scaled.defjvp(lambda primals, tangents: (scaled(*primals), tangents[0]))
        return scaled(x)

    imprint.grad(loss, argnums=(0, 1))(2.0, 3.0)
