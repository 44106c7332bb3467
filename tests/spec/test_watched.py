"""Values that a version watches besides its arguments: attributes and names."""

import functools
import gc
import sys

import jax
import numpy as np
import pytest

import imprint
from tests.units.modules import fill, make_module


class Settings:
    """Two attributes, of which the functions below read one."""

    def __init__(self):
        self.rate, self.calls = 2.0, 0


class Trainer:
    """Counts and logs besides the values that its step reads."""

    def __init__(self):
        self.lr, self.t, self.losses = 0.5, 0, []

    def _updated(self, weight):
        return weight - self.lr * weight

    update = functools.partial(imprint.jit, static_argnums=0)(_updated)

    def step(self, weight):
        self.t += 1
        self.losses.append(float(weight))
        return self.update(weight)


class ByValue:
    """Equal to all of the same number."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, ByValue) and self.number == other.number

    def __hash__(self):
        return hash(self.number)


def test_an_attribute_is_seen_and_going_back_hits():
    settings = Settings()
    f = imprint.jit(lambda x: x * settings.rate)
    theirs = jax.jit(lambda x: x * settings.rate)
    found = []
    for rate in (2.0, 3.0, 2.0, 3.0):
        settings.rate = rate
        settings.calls += 1
        found.append((float(f(1.0)), float(theirs(1.0))))
    assert found == [(2.0, 2.0), (3.0, 2.0), (2.0, 2.0), (3.0, 2.0)]
    assert f._cache_size() == 2


def test_a_trainer_with_a_step_counter_has_one_version():
    trainer, weight = Trainer(), np.float32(1)
    for _ in range(100):
        trainer.step(weight)
    assert trainer.t == len(trainer.losses) == 100
    assert Trainer.update._cache_size() == 1
    for lr in (0.25, 0.125, 0.0625):
        trainer.lr = lr
        assert trainer.step(weight) == weight - np.float32(lr) * weight
    assert Trainer.update._cache_size() == 4
    trainer.lr = 1.5
    differences = Trainer.update.explain(trainer, weight).differences
    assert [*map(str, differences)] == ["self.lr: 0.0625 → 1.5"]


class Scaled:
    """Calls by which users hand an object to a function."""

    def step(self, x):
        return x * getattr(self, "rate", 1.0)

    @classmethod
    def of_list(cls, owner):
        models = [owner]
        return lambda x: models[0].step(x)

    @classmethod
    def of_dict(cls, owner):
        models = {"first": (owner,)}
        return lambda x: models["first"][0].step(x)

    @classmethod
    def of_set(cls, owner):
        models = {owner}
        return lambda x: [each.step(x) for each in models].pop()


WAYS = {
    "self.rate": lambda owner: owner.step,
    "owner.rate": lambda owner: lambda x: owner.step(x),
    "self.args[0].rate": lambda owner: functools.partial(Scaled.step, owner),
    "models[0].rate": Scaled.of_list,
    "models['first'][0].rate": Scaled.of_dict,
    "models[…].rate": Scaled.of_set,
}


@pytest.mark.parametrize("before", ["<not defined>", "1.0"])
@pytest.mark.parametrize("path", WAYS)
def test_a_changed_attribute_is_named_by_the_path_to_its_object(path, before):
    owner = Scaled()
    if before == "1.0":
        owner.rate = 1.0
    f = imprint.jit(WAYS[path](owner))
    f(1.0)
    owner.rate = 2.0
    assert [*map(str, f.explain(1.0).differences)] == [f"{path}: {before} → 2.0"]


def test_of_equal_functions_the_present_one_is_named():
    first = lambda x: x * 2
    imprint.jit(lambda x: first(x))(1.0)
    owner = Scaled()
    f = imprint.jit(lambda x: owner.step(x))
    f(1.0)
    owner.step = lambda x: x * 2
    (difference,) = f.explain(1.0).differences
    assert difference.new.endswith(f".py:{owner.step.__code__.co_firstlineno}")


def test_only_the_read_keys_of_a_dict_are_watched():
    cfg = {"rate": 2.0, "log": []}
    trainer = Settings()
    trainer.cfg = cfg
    f = imprint.jit(lambda x: x * trainer.cfg["rate"])
    assert f(1.0) == 2
    cfg["log"].append(1)
    cfg["new"] = 1
    assert f(1.0) == 2
    assert f._cache_size() == 1
    cfg["rate"] = 3.0
    assert f(1.0) == 3
    assert f._cache_size() == 2


def test_a_replaced_module_is_named(monkeypatch):
    for rate in (2.0, 3.0):
        found = make_module("to_import", f"RATE = {rate}")
        monkeypatch.setitem(sys.modules, "to_import", found)
        if rate == 2.0:
            f = imprint.jit(reads_imported)
            assert f(1.0) == rate
    assert [*map(str, f.explain(1.0).differences)] == [
        "module to_import in sys.modules: module to_import → another module to_import"
    ]


def reads_imported(x):
    import to_import  # noqa: PLC0415 - as the function imports it itself

    return x * to_import.RATE


def test_a_static_object_is_compared_by_identity_and_read_attributes():
    f = imprint.jit(lambda x, settings: x * settings.rate, static_argnums=1)
    one, other = Settings(), Settings()
    assert [float(f(1.0, s)) for s in (one, other, one)] == [2.0, 2.0, 2.0]
    assert f._cache_size() == 2
    one.calls += 1
    f(1.0, one)
    assert f._cache_size() == 2
    one.rate = 3.0
    assert [float(f(1.0, s)) for s in (one, other)] == [3.0, 2.0]
    assert f._cache_size() == 3


TEXT = "import math\nf = lambda x: x * math.floor(len([2.5]))\n"


@pytest.fixture
def module():
    yield make_module("watched", TEXT)
    del sys.modules["watched"]


def test_a_replaced_object_is_named_without_its_attributes(module):
    fill(module, "class K: pass\nO = K(); O.w = 2.0\ng = lambda x: x * O.w")
    f = imprint.jit(module.g)
    assert f(1.0) == 2.0
    fill(module, "O = K(); O.w = 2.0")
    gc.collect()
    (difference,) = f.explain(1.0).differences
    assert str(difference) == "global O in watched: K object → another K object"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("class math:\n    floor = lambda _: 3", 3.0),
        ("len = lambda _: 4", 4.0),
        ("class math:\n    floor = lambda n: n\nlen = lambda _: 5", 5.0),
    ],
)
def test_a_name_of_a_library_is_seen(module, edit, expected):
    f = imprint.jit(module.f)
    assert f(1.0) == 1
    fill(module, edit)
    assert f(1.0) == expected
    for name in ("math", "len"):
        vars(module).pop(name, None)
    fill(module, "import math")
    assert f(1.0) == 1
    assert f._cache_size() == 2
