"""Calls that compile, as users make them; each explanation is a golden file.

Each function is one program. It returns an explanation, and where that gives advice that
can be typed, the explanation of a call that follows it, which must hit. The texts name
lines of this file, so add at the end.
"""

import dataclasses
import enum
import functools
import sys
import types
import warnings

import numpy as onp

import imprint
import imprint.numpy as np

# ---- arguments ----


def a_first_call():
    @imprint.jit
    def fresh(x):
        return x + 1

    return fresh.explain(1.0)


def none_became_an_array():
    @imprint.jit
    def masked(x, mask=None):
        return x if mask is None else np.where(mask, x, 0)

    x, mask = np.ones(4), np.ones(4, bool)
    masked(x)
    why = masked.explain(x, mask)
    masked(x, mask)
    return why, masked.explain(x, mask=np.zeros(4, bool))


def an_array_became_none():
    @imprint.jit
    def unmasked(x, mask=None):
        return x if mask is None else np.where(mask, x, 0)

    unmasked(np.ones(4), np.ones(4, bool))
    return unmasked.explain(np.ones(4), None)


def none_inside_a_dict_became_an_array():
    @imprint.filter_jit
    def normed(params):
        return params["w"]

    normed({"w": np.ones(3), "scale": None})
    return normed.explain({"w": np.ones(3), "scale": np.ones(3)})


def a_default_became_an_array():
    @imprint.jit
    def scaled(x, by=2):
        return x * by

    x = np.ones(3)
    scaled(x)
    why = scaled.explain(x, 0.5)
    scaled(x, np.array(0.5))
    return why, scaled.explain(x, np.array(2.0))


def a_list_grew():
    @imprint.jit
    def summed(xs):
        return sum(x.sum() for x in xs)

    summed([np.ones(4)] * 3)
    why = summed.explain([np.ones(4)] * 5)
    summed(np.pad(np.stack([np.ones(4)] * 3), [(0, 1), (0, 0)]))
    xs = [np.ones(4)] * 4
    return why, summed.explain(np.stack(xs))


def a_list_of_many_grew():
    @imprint.jit
    def summed_many(xs):
        return sum(x.sum() for x in xs)

    summed_many([np.ones(4)] * 30)
    xs = [np.ones(4)] * 57
    why = summed_many.explain(xs)
    summed_many(np.pad(np.stack(xs), [(0, 7), (0, 0)]))
    return why, summed_many.explain(
        np.pad(np.stack([np.ones(4)] * 60), [(0, 4), (0, 0)])
    )


def a_list_of_different_arrays_grew():
    @imprint.jit
    def ragged(batch):
        return [x.sum() for x in batch["tokens"]]

    ragged({"tokens": [np.ones(3), np.ones(5)]})
    return ragged.explain({"tokens": [np.ones(3), np.ones(5), np.ones(2)]})


def a_list_of_layers_grew():
    @imprint.jit
    def stacked(layers):
        return layers[0]["w"]

    layer = {"w": np.ones(3), "b": np.ones(3)}
    stacked([layer] * 2)
    return stacked.explain([layer] * 3)


def more_positional_arguments():
    @imprint.jit
    def joined(*xs):
        return sum(xs)

    joined(np.ones(3))
    return joined.explain(np.ones(3), np.ones(3), np.ones(3))


def a_key_came():
    @imprint.jit
    def keyed(batch):
        return batch["x"]

    keyed({"x": np.ones(3)})
    return keyed.explain({"x": np.ones(3), "weight": np.ones(3)})


def many_keys_came_and_one_went():
    @imprint.jit
    def renamed(params):
        return 0

    renamed({"x": np.ones(3), "w": np.ones(3)})
    names = ("x", "w0", "w1", "w2", "w3")
    return renamed.explain({name: np.ones(3) for name in names})


def a_list_became_a_tuple():
    @imprint.jit
    def paired(xs):
        return xs[0]

    paired([1.0, 2.0])
    why = paired.explain((1.0, 2.0))
    return why, paired.explain([1.0, 2.0])


def an_array_became_a_dict():
    @imprint.jit
    def boxed(x):
        return x

    boxed(np.ones(3))
    return boxed.explain({"x": np.ones(3)})


# ---- shapes and dtypes ----


def a_transposed_array():
    @imprint.jit
    def crossed(x):
        return x @ np.ones((5, 2))

    crossed(np.ones((3, 5)))
    x = np.ones((5, 3))
    return crossed.explain(x), crossed.explain(x.T)


def axes_in_another_order():
    @imprint.jit
    def ordered(x):
        return x * 2

    ordered(np.ones((2, 3, 4)))
    x = np.ones((4, 2, 3), "int32")
    why = ordered.explain(x)
    return why, ordered.explain(np.transpose(x, (1, 2, 0)).astype("float32"))


def a_column_for_a_vector():
    @imprint.jit
    def dotted(x):
        return x.sum()

    dotted(np.ones(3))
    x = np.ones((3, 1))
    return dotted.explain(x), dotted.explain(x.reshape((3,)))


def a_batch_for_one():
    @imprint.jit
    def single(x):
        return x.sum()

    single(np.ones(3))
    x = np.ones((8, 3))
    why = single.explain(x)
    return why, single.explain(x[0])


def one_for_a_batch():
    @imprint.jit
    def batched(x):
        return x.sum(1)

    batched(np.ones((1, 3)))
    x = np.ones(3)
    return batched.explain(x), batched.explain(x.reshape((1, 3)))


def a_length_that_varies():
    @imprint.jit
    def loss(x):
        return x.sum()

    for n in (31, 57):
        loss(np.ones((n, 8)))
    x = np.ones((60, 8))
    why = loss.explain(x)
    loss(np.pad(np.ones((57, 8)), [(0, 7), (0, 0)]))
    return why, loss.explain(np.pad(x, [(0, 4), (0, 0)]))


def an_integer_array():
    @imprint.jit
    def counted(x):
        return x * 3

    counted(np.ones(3))
    x = np.arange(3)
    return counted.explain(x), counted.explain(x.astype("float32"))


def many_arrays_of_another_dtype():
    @imprint.jit
    def cast(params):
        return params["w0"]

    params = {f"w{i}": np.ones(3) for i in range(40)}
    cast(params)
    return cast.explain({name: x.astype("float16") for name, x in params.items()})


def a_number_became_an_array():
    @imprint.jit
    def stepped(x, rate):
        return x * rate

    stepped(np.ones(3), 0.1)
    rate = np.array(0.1, "float32")
    why = stepped.explain(np.ones(3), rate)
    return why, stepped.explain(np.ones(3), float(rate))


def an_array_became_a_number():
    @imprint.jit
    def decayed(x, rate):
        return x * rate

    decayed(np.ones(3), np.array(0.1, "float32"))
    why = decayed.explain(np.ones(3), 0.1)
    return why, decayed.explain(np.ones(3), np.array(0.1, "float32"))


def a_weak_array():
    @imprint.jit
    def filled(x):
        return x * 2

    filled(np.ones(3))
    x = np.full(3, 2.0)
    return filled.explain(x), filled.explain(np.array(x, "float32"))


def an_integer_for_a_float():
    @imprint.jit
    def temperature(x, t):
        return x / t

    temperature(np.ones(3), 0.5)
    return temperature.explain(np.ones(3), 1), temperature.explain(np.ones(3), float(1))


def a_committed_array():
    @imprint.jit
    def placed(x):
        return x * 4

    placed(np.ones(3))
    return placed.explain(imprint.device_put(np.ones(3), imprint.devices()[0]))


# ---- static values ----


class Linear(imprint.Module):
    w: object
    width: int = imprint.field(static=True)
    meta: object = imprint.field(static=True, default=None)


class Conv(imprint.Module):
    w: object
    width: int = imprint.field(static=True)


class Net(imprint.Module):
    layers: list
    head: object


def a_static_field():
    @imprint.filter_jit
    def run(net):
        return net.w

    run(Linear(np.ones(3), 3))
    return run.explain(Linear(np.ones(5), 5))


def a_static_field_of_a_layer():
    @imprint.jit
    def run_net(net):
        return net.head.w

    def net(width):
        layer = Linear(np.ones(3), 3)
        return Net([layer, layer], Linear(np.ones(3), width))

    run_net(net(3))
    return run_net.explain(net(4))


def a_tuple_in_a_static_field():
    @imprint.filter_jit
    def run_meta(net):
        return net.w

    run_meta(Linear(np.ones(3), 3, (("lr", 0.1), ("name", "a"))))
    return run_meta.explain(Linear(np.ones(3), 3, (("lr", 0.2), ("name", "a"))))


def a_layer_of_another_class():
    @imprint.jit
    def run_head(net):
        return net.head.w

    run_head(Net([], Linear(np.ones(3), 3)))
    return run_head.explain(Net([], Conv(np.ones(3), 3)))


def a_static_number():
    @imprint.jit(static_argnames="n")
    def repeated(x, n):
        return x * n

    repeated(1.0, 2)
    return repeated.explain(1.0, n=3)


@dataclasses.dataclass(frozen=True)
class Config:
    rate: float = 0.1
    layers: tuple = (8, 8)


def a_field_of_a_static_config():
    @imprint.jit(static_argnames="config")
    def configured(x, config):
        return x * config.rate

    configured(1.0, Config())
    return configured.explain(1.0, Config(layers=(8, 16)))


def a_long_static_text():
    @imprint.jit(static_argnames="prompt")
    def prompted(x, prompt):
        return x

    prompted(1.0, "Answer in one sentence. " * 20 + "Be kind.")
    return prompted.explain(1.0, "Answer in one sentence. " * 20 + "Be brief.")


class Mode(enum.Enum):
    TRAIN = 1
    TEST = 2


def another_member_of_an_enum():
    @imprint.jit(static_argnames=("mode", "act"))
    def moded(x, mode, act):
        return act(x)

    moded(1.0, Mode.TRAIN, np.sin)
    return moded.explain(1.0, Mode.TEST, np.cos)


# ---- flags, options, dropped versions ----


def a_flag_inside_a_with():
    @imprint.jit
    def wide(x):
        return x + 1

    wide(1.0)
    with imprint.enable_x64(True):
        return wide.explain(1.0)


def a_flag_that_was_updated():
    @imprint.jit
    def checked(x):
        return x + 2

    checked(1.0)
    imprint.config.update("debug_nans", True)
    try:
        return checked.explain(1.0)
    finally:
        imprint.config.update("debug_nans", False)


def jit_is_disabled():
    @imprint.jit
    def disabled(x):
        return x + 3

    with imprint.disable_jit():
        return disabled.explain(1.0)


def other_options():
    def given(x):
        return x + 4

    imprint.jit(given)(np.ones(3))
    return imprint.jit(given, donate_argnums=0).explain(np.ones(3))


def a_cleared_cache():
    @imprint.jit
    def cleared(x):
        return x + 5

    cleared(1.0)
    cleared.clear_cache()
    return cleared.explain(1.0)


def an_evicted_version():
    @imprint.jit(max_versions=1)
    def limited(x):
        return x + 6

    limited(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        limited(1.0)
    return limited.explain(1)


def over_the_byte_budget():
    @imprint.jit
    def budgeted(x):
        return x + 7

    budgeted(1)
    before = imprint.cache.limit()
    imprint.cache.limit(bytes=0)
    imprint.cache.limit(bytes=before)
    return budgeted.explain(1)


# ---- values that a function reads ----


def _cell(module, text, file="<cell>"):
    """Run text in a module, as a cell of a notebook is."""
    found = sys.modules.setdefault(module, types.ModuleType(module))
    found.__dict__.update(imprint=imprint, np=np)
    exec(compile(text, file, "exec"), found.__dict__)
    return found


def a_rebound_global():
    cell = _cell("mod1", "RATE = 2.0\n@imprint.jit\ndef f(x):\n    return x * RATE\n")
    cell.f(1.0)
    cell.RATE = 3.0
    return cell.f.explain(1.0)


def a_global_function_under_another_name():
    cell = _cell(
        "mod2",
        "def g(x):\n    return x + 1\n\n"
        "def h(x):\n    return x * 2\n\n"
        "@imprint.jit\ndef f(x):\n    return g(x)\n",
    )
    cell.f(1.0)
    cell.g = cell.h
    return cell.f.explain(1.0)


def an_edited_helper():
    cell = _cell("mod3", "def g(x):\n    return x + 1\n")
    _cell("mod3", "@imprint.jit\ndef f(x):\n    return g(x)\n")
    cell.f(1.0)
    _cell("mod3", "def g(x):\n    return x + 2\n")
    return cell.f.explain(1.0)


def a_cell_that_was_edited():
    cell = _cell("mod4", "@imprint.jit\ndef f(x):\n    return x + 1\n", "<cell 1>")
    cell.f(1.0)
    _cell("mod4", "@imprint.jit\ndef f(x):\n    return x + 2\n", "<cell 2>")
    return cell.f.explain(1.0)


def a_captured_list_that_was_written():
    rates = [1.0]

    @imprint.jit
    def rated(x):
        return x * rates[0]

    rated(1.0)
    rates[0] = 2.0
    return rated.explain(1.0)


def a_captured_name_that_was_rebound():
    rate = 1.0

    @imprint.jit
    def rebound(x):
        return x * rate

    rebound(1.0)
    rate = 2.0
    return rebound.explain(1.0)


def a_recreated_function():
    def scale(by):
        return imprint.jit(lambda x: x * by)

    scale(2.0)(1.0)
    return scale(3.0).explain(1.0)


def a_recreated_partial():
    def shift(by, x):
        return x + by

    imprint.jit(functools.partial(shift, 1.0))(1.0)
    return imprint.jit(functools.partial(shift, 2.0)).explain(1.0)


class Model:
    def __init__(self, rate):
        self.rate = rate

    def step(self, x):
        return x * self.rate


def a_method_of_another_object():
    first, second = Model(1.0), Model(2.0)
    imprint.jit(first.step)(1.0)
    return imprint.jit(second.step).explain(1.0)


def lambdas_of_one_line():
    ops = [lambda x: x + 1, lambda x: x * 2]
    first, second = map(imprint.jit, ops)
    first(1.0)
    return second.explain(1.0)


def a_host_array():
    @imprint.jit
    def hosted(x, k=1):
        return x * 5

    x = np.ones(3)
    hosted(x)
    return hosted.explain(x=onp.ones(3, "float32"), k=1), hosted.explain(k=1, x=x)


def named_axes_around_it():
    @imprint.jit
    def doubled(x):
        return x * 2

    doubled(np.ones(3))
    found = []

    def mapped(x):
        found.append(doubled.explain(x))
        return doubled(x)

    rows = np.ones((2, 4, 3))
    imprint.vmap(imprint.vmap(mapped, axis_name="j"), axis_name="i")(rows)
    imprint.vmap(imprint.vmap(mapped))(rows)
    return tuple(found)
