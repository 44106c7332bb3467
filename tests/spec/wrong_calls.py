"""Programs that use `jit` wrongly; their messages are golden files.

Each function is one program. The messages name lines of this file, so add at the end.
"""

import dataclasses
import functools

import numpy as np

import imprint
import imprint.numpy as inp


def identity(x, y=0.0):
    return x


def device():
    return imprint.devices()[0]


# ---- values that are no functions ----


def jit_of_a_coroutine():
    async def fetch(x):
        return x

    imprint.jit(fetch)


def jit_of_a_classmethod():
    class Model:
        @imprint.jit
        @classmethod
        def build(cls, x):
            return x


def jit_of_a_property():
    imprint.jit(property(identity))


def method_without_static_self():
    class Model:
        @imprint.jit
        def step(self, x):
            return x

    Model().step(1.0)


# ---- static and donated arguments ----


def static_name_for_a_number():
    imprint.jit(identity, static_argnums="y")


def static_number_for_a_name():
    imprint.jit(identity, static_argnames=1)


def static_fraction():
    imprint.jit(identity, static_argnums=1.5)


def static_position_below_range():
    imprint.jit(identity, static_argnums=(0, -3))


def donated_position_out_of_range():
    imprint.jit(identity, donate_argnums=(0, 2))


def donated_name_unknown():
    imprint.jit(lambda params, batch: params, donate_argnames="param")


def static_and_donated():
    imprint.jit(identity, static_argnums=1, donate_argnames="y")


def static_tracer():
    repeat = imprint.jit(lambda x, n: x * n, static_argnums=1)
    imprint.jit(lambda x: repeat(x, x))(1.0)


# ---- shardings, devices, backends ----


def in_shardings_foreign():
    imprint.jit(identity, in_shardings=("data", None))


def in_shardings_too_many():
    imprint.jit(lambda x, y: x, in_shardings=(None, device(), None))(1.0, 2.0)


def out_shardings_of_another_key():
    imprint.jit(lambda x: {"a": x}, out_shardings={"b": device()})(1.0)


def device_and_shardings():
    imprint.jit(identity, in_shardings=device(), device=device())


def device_and_backend():
    imprint.jit(identity, device=device(), backend="cpu")


def device_by_name():
    imprint.jit(identity, device="cpu")


def backend_unknown():
    imprint.jit(identity, backend="bogus")


# ---- other options ----


def inline_word():
    imprint.jit(identity, inline="yes")


def keep_unused_number():
    imprint.jit(identity, keep_unused=1)


def abstracted_axes_no_names():
    imprint.jit(identity, abstracted_axes=({0: "batch", 1: 2},))


def compiler_option_misspelled():
    imprint.jit(identity, compiler_options={"xla_cpu_enable_fast_mth": True})(1.0)


def compiler_option_of_another_type():
    imprint.jit(identity, compiler_options={"xla_cpu_enable_fast_math": "yes"})(1.0)


def compiler_options_no_dictionary():
    imprint.jit(identity, compiler_options="xla_cpu_enable_fast_math")


def compiler_options_nested():
    fast = imprint.jit(identity, compiler_options={"xla_cpu_enable_fast_math": True})
    imprint.jit(lambda x: fast(x))(1.0)


def max_versions_zero():
    imprint.jit(identity, max_versions=0)


def on_limit_unknown():
    imprint.jit(identity, max_versions=1, on_limit="raise")


def max_versions_reached():
    f = imprint.jit(identity, max_versions=1, on_limit="error")
    f(1.0)
    f(inp.ones(3))


# ---- arguments and results ----


def shape_for_an_array():
    imprint.jit(identity)({"x": imprint.ShapeDtypeStruct((3,), "float32")})


def array_of_objects():
    imprint.jit(identity)({"names": np.array(["a", None], object)})


def array_of_dates():
    imprint.jit(identity)(np.array(["2020-01-01"], "M8[D]"))


def array_of_foreign_byte_order():
    imprint.jit(identity)(np.ones(3, ">f4"))


def array_with_a_mask():
    imprint.jit(identity)(np.ma.array([1.0, 2.0], mask=[False, True]))


def set_as_an_argument():
    imprint.jit(lambda batch: 1)({"labels": {1, 2}})


# ---- donated arrays ----


def donated_array_used_again():
    add_one = imprint.jit(lambda x: x + 1, donate_argnums=0)
    x = inp.ones(3)
    add_one(x)
    x + 1


def donated_array_passed_again():
    update = imprint.jit(
        lambda params: {"w": params["w"] + 1}, donate_argnames="params"
    )
    params = {"w": inp.ones(3)}
    update(params)
    update(params)


def donated_array_captured():
    table = imprint.jit(lambda: inp.ones(3))()
    look_up = imprint.jit(lambda x: x + table)
    look_up(1.0)
    imprint.jit(lambda x: x + 1, donate_argnums=0)(table)
    imprint.block_until_ready(look_up(1.0))


def deleted_array():
    x = inp.ones(3)
    x.delete()
    imprint.jit(identity)(x)


def donation_without_a_result_is_strict():
    imprint.jit(lambda x: x.sum(), donate_argnums=0, strict=True)(inp.ones(3))


# ---- stages ----


def compiled_for_another_dtype():
    compiled = imprint.jit(identity).lower(inp.ones(3)).compile()
    compiled(inp.arange(3))


def compiled_for_another_tree():
    compiled = imprint.jit(identity).lower({"a": 1.0}).compile()
    compiled({"b": 1.0})


def compiled_for_another_static_value():
    f = imprint.jit(lambda x, n: x * n, static_argnums=1)
    f.lower(2.0, 3).compile()(2.0, 4)


def compiled_inside_a_traced_function():
    compiled = imprint.jit(identity).lower(1.0).compile()
    imprint.jit(lambda x: compiled(x))(1.0)


def lowered_in_another_dialect():
    imprint.jit(identity).lower(1.0).as_text("mhlo")


def lowered_compiled_with_a_bogus_option():
    imprint.jit(identity).lower(1.0).compile({"bogus": 1})


@dataclasses.dataclass
class Point:
    x: float


def object_that_is_no_tree():
    imprint.jit(lambda p: p)({"at": Point(1.0)})


def object_as_a_result():
    imprint.jit(lambda x: [x, Point(x)])(1.0)


# ---- static values ----


class HashOnly:
    def __init__(self, a):
        self.a = a

    def __hash__(self):
        return hash(self.a)


class EqualOnly:
    def __eq__(self, other):
        return True


class EqualRaises(HashOnly):
    def __eq__(self, other):
        raise RuntimeError("not today")

    __hash__ = HashOnly.__hash__


class HashRaises:
    def __eq__(self, other):
        return self is other

    def __hash__(self):
        raise RuntimeError("not today")


def call_with_static(value):
    imprint.jit(lambda x, config: x, static_argnames="config")(1.0, config=value)


def static_dict():
    call_with_static({"layers": 2})


def static_set():
    call_with_static({1, 2})


def static_dataclass():
    call_with_static(Point(1.0))


def static_list_inside():
    call_with_static((1, ("a", [2])))


def static_device_array():
    call_with_static(inp.ones(3))


def static_hash_without_eq():
    call_with_static(HashOnly(1))


def static_eq_without_hash():
    call_with_static(EqualOnly())


def static_eq_that_raises():
    call_with_static(EqualRaises(1))


def static_hash_that_raises():
    call_with_static(HashRaises())


# ---- more values that are no functions ----


def jit_of_a_staticmethod():
    class Model:
        @imprint.jit
        @staticmethod
        def double(x):
            return x * 2


class Late(functools.partialmethod):
    def __repr__(self):  # that of Python has a comma more in CPython 3.11
        return "Late(identity)"


def jit_of_a_partialmethod():
    imprint.jit(Late(identity))


def jit_of_a_cached_property():
    imprint.jit(functools.cached_property(identity))


# ---- axes with names ----


def batched(batch, count=0):
    return batch


def abstracted_axes_name_no_identifier():
    imprint.jit(identity, abstracted_axes=("2*n",))


def abstracted_axes_of_no_argument():
    imprint.jit(batched, abstracted_axes={"bath": {0: "n"}})


def abstracted_axes_of_a_static_argument():
    imprint.jit(batched, static_argnames="count", abstracted_axes=(None, {0: "n"}))


def abstracted_axes_deeper_than_the_argument():
    imprint.jit(batched, abstracted_axes={"batch": {"mask": {0: "n"}}})(np.ones(3))


def abstracted_axes_of_no_part():
    jitted = imprint.jit(batched, abstracted_axes={"batch": {"mask": {0: "n"}}})
    jitted({"x": np.ones(3)})


def abstracted_axes_out_of_range():
    imprint.jit(identity, abstracted_axes={1: "n"})(np.ones(3))


def abstracted_axes_of_two_sizes():
    jitted = imprint.jit(batched, abstracted_axes={0: "n"})
    jitted(np.ones((3, 4)), count=np.ones(5))


def buckets_that_do_not_grow():
    imprint.jit(identity, abstracted_axes={0: "n"}, buckets=[64, 32])


def buckets_without_axes():
    imprint.jit(identity, buckets=[32, 64])
