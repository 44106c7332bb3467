"""Counters in trainers, logs and traced code cause no new version.

The opposite of `test_stale`: no value that a fresh trace reads has changed, so a loop of
many steps must trace once. Each program is a trainer class, or a function, that does the
usual bookkeeping of a training step.
"""

import dataclasses
import functools
import inspect
import itertools
import sys
import types

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.filter_jit import filter_jit
from imprint.module import Module, field
from tests.lanes import exhaustive
from tests.retrace.counted import unread, writes
from tests.retrace.marks import executed_code_is_known
from tests.units.modules import make_module

STEPS = 50
X = inp.float32(2)


pytestmark = [
    pytest.mark.unaudited,  # they count traces
    # A strict function warns of unreadable values.
]


def traces_of(action):
    before = COUNTERS.traces
    action()
    return COUNTERS.traces - before


# ---- trainers ----


class Trainer:
    """Each subclass compiles `compute` in a way of its own; `step` is as users write it."""

    steps = 0

    def __init__(self):
        self.lr = 1.0
        self.t = 0
        self.losses = []
        self.best = None
        self.cfg = {"log": [], "width": 3, "seen": {}}
        self.part = types.SimpleNamespace(scale=1.0, calls=0)
        self.prepare()

    def prepare(self):
        pass

    def compute(self, x):
        return x * self.lr * self.part.scale * self.cfg["width"]

    def run(self, x):
        raise NotImplementedError

    def expected(self):
        return 2.0 * self.lr * self.part.scale * self.cfg["width"]

    def step(self):
        found = self.run(X)
        assert found == self.expected()
        self.t += 1
        self.losses.append(float(found))
        self.best = found
        self.part.calls += 1


class StaticSelf(Trainer):
    @functools.partial(imprint.jit, static_argnums=0)
    def run(self, x):
        return self.compute(x)


class StaticName(Trainer):
    @functools.partial(imprint.jit, static_argnames="self")
    def run(self, x):
        return self.compute(x)


class StaticInMethod(Trainer):
    @functools.partial(imprint.jit, static_argnums=0)
    def run(self, x):
        return imprint.grad(lambda y: self.compute(y))(x) * 2.0


class CapturedSelf(Trainer):
    def prepare(self):
        self.run = imprint.jit(lambda x: self.compute(x))


class BoundMethod(Trainer):
    def prepare(self):
        self.run = imprint.jit(self.compute)


class JitEachStep(Trainer):
    def run(self, x):
        return imprint.jit(self.compute)(x)


class LambdaEachStep(Trainer):
    def run(self, x):
        return imprint.jit(lambda y: self.compute(y))(x)


class DefinedEachStep(Trainer):
    def run(self, x):
        @imprint.jit
        def compute(y):
            return y * self.lr * self.part.scale * self.cfg["width"]

        return compute(x)


class NestedJit(Trainer):
    def prepare(self):
        self.run = imprint.jit(lambda x: imprint.jit(self.compute)(x))


class NestedStatic(StaticSelf):
    def prepare(self):
        self.run = imprint.jit(lambda x: StaticSelf.run(self, x))


class FilterJit(Trainer):
    def prepare(self):
        self.run = filter_jit(self.compute)


class FilterEachStep(Trainer):
    def run(self, x):
        return filter_jit(self.compute)(x)


class FilterOfSelf(Trainer):
    def run(self, x):
        return filtered(self, x)


filtered = filter_jit(lambda trainer, x: trainer.compute(x))


class Partial(Trainer):
    def prepare(self):
        self.run = imprint.jit(functools.partial(type(self).compute, self))


class InAContainer(Trainer):
    def prepare(self):
        self.run = imprint.jit(lambda x, of=[self]: next(t.compute(x) for t in of))


class Gradient(Trainer):
    def prepare(self):
        def loss(x):
            return self.compute(x) * 2.0

        self.run = imprint.jit(lambda x: imprint.grad(loss)(x))


@dataclasses.dataclass(eq=False)
class Fields:
    lr: float = 1.0
    t: int = 0
    losses: list = dataclasses.field(default_factory=list)


class InAField(Trainer):
    """The static value is a field of a node of trees."""

    class Net(Module):
        state: object = field(static=True)
        w: object

        def __call__(self, x):
            return x * self.state.compute(self.w)

    def prepare(self):
        self.net = self.Net(self, inp.float32(1))
        self.run = imprint.jit(lambda x: self.net(x))


class PassedField(InAField):
    def prepare(self):
        self.net = self.Net(self, inp.float32(1))

    def run(self, x):
        return called(self.net, x)


called = imprint.jit(lambda net, x: net(x))

TRAINERS = [
    *(StaticSelf, StaticName, StaticInMethod, CapturedSelf, BoundMethod, JitEachStep),
    *(LambdaEachStep, DefinedEachStep, NestedJit, NestedStatic, FilterJit),
    *(FilterEachStep, FilterOfSelf, Partial, InAContainer, Gradient),
    *(InAField, PassedField),
]
NESTED = {NestedJit, NestedStatic}  # a new version of the outer traces the inner too


def traces_a_version(kind):
    return 2 if kind in NESTED else 1


@pytest.mark.parametrize("kind", TRAINERS)
def test_a_trainer_with_a_counter_and_a_log_is_traced_once(kind):
    trainer = kind()
    steps = traces_of(lambda: [trainer.step() for _ in range(STEPS)])
    assert steps == traces_a_version(kind)


@pytest.mark.parametrize("kind", TRAINERS)
def test_a_setting_that_changes_three_times_is_four_versions(kind):
    trainer = kind()

    def train():
        for t in range(STEPS):
            if t and t % 12 == 0 and t < 48:
                trainer.lr = trainer.lr + 1.0
            trainer.step()

    assert traces_of(train) == 4 * traces_a_version(kind)
    trainer.lr = 1.0
    assert traces_of(trainer.step) == 0


@pytest.mark.parametrize("kind", TRAINERS)
def test_a_setting_of_a_part_and_of_a_dictionary_is_a_version(kind):
    trainer = kind()
    trainer.step()
    trainer.part.scale = 3.0
    assert traces_of(trainer.step) == traces_a_version(kind)
    trainer.cfg["width"] = 5
    assert traces_of(trainer.step) == traces_a_version(kind)
    assert traces_of(lambda: [trainer.step() for _ in range(STEPS)]) == 0


# Bookkeeping that users do next to a step.
BOOKS = {
    "new attributes": lambda t: setattr(t, f"at_{t.t}", t.t),
    "attribute that is deleted": lambda t: (
        setattr(t, "extra", 1) or delattr(t, "extra")
    ),
    "step of the class": lambda t: setattr(Trainer, "steps", Trainer.steps + 1),
    "step of the own class": lambda t: setattr(type(t), "steps", type(t).steps + 1),
    "list in a dictionary": lambda t: t.cfg["log"].append(t.t),
    "dictionary in a dictionary": lambda t: t.cfg["seen"].update({t.t: 1}),
    "item between steps": lambda t: t.cfg.update(last=t.t),
    "new items between steps": lambda t: t.cfg.update({f"step {t.t}": t.t}),
}


@pytest.mark.parametrize("kind", [StaticSelf, CapturedSelf, JitEachStep, FilterOfSelf])
@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_bookkeeping_of_a_trainer_is_no_version(kind, book):
    trainer = kind()
    trainer.step()
    book(trainer)
    assert traces_of(trainer.step) <= 1  # where a watch was too wide, it learns once

    def train():
        for _ in range(STEPS):
            book(trainer)
            trainer.step()

    assert traces_of(train) == 0


def test_a_thousand_steps_are_one_version():
    trainer = StaticSelf()
    assert traces_of(lambda: [trainer.step() for _ in range(1000)]) == 1
    assert StaticSelf.run._cache_size() == 1


def test_two_trainers_that_take_turns_are_two_versions():
    first, second = StaticSelf(), StaticSelf()
    second.lr = 3.0

    def train():
        for _ in range(STEPS):
            first.step()
            second.step()

    assert traces_of(train) == 2


@executed_code_is_known
def test_a_static_dataclass_with_a_counter_is_traced_once():
    @functools.partial(imprint.jit, static_argnums=0)
    def run(state, x):
        return x * state.lr

    state = Fields()

    def train():
        for t in range(STEPS):
            state.t = t
            state.losses.append(float(run(state, X)))

    assert traces_of(train) == 1
    state.lr = 2.0
    assert run(state, X) == 4.0


def test_a_static_argument_with_changing_arrays_is_traced_once():
    class State:
        def __init__(self):
            self.scale, self.weights, self.history = 2.0, np.zeros(1000), {}

    @functools.partial(imprint.jit, static_argnums=1)
    def run(x, state):
        return x * state.scale

    state = State()

    def train():
        for t in range(STEPS):
            state.weights += float(run(X, state))
            state.history[t] = state.weights.copy()

    assert traces_of(train) == 1


# ---- changes that a function does not read ----

HEAD = "import functools, types\nimport counted_cfg as cfg\nimport imprint\n"


def programs_of(module):
    """Return the cases of the functions of a module."""
    return [
        pytest.param(
            fun,
            id=name,
            marks=[executed_code_is_known]
            if name == "branch_that_is_not_taken"
            else [],
        )
        for name, fun in vars(module).items()
        if inspect.isfunction(fun)
    ]


def run_in_a_module(program):
    """Run a function with a new module as its globals; return both, and its result."""
    module = make_module("counted", HEAD)
    return module, types.FunctionType(program.__code__, vars(module))()


@pytest.mark.parametrize("program", programs_of(unread))
@pytest.mark.parametrize(
    "way", ["jit", "re-created", *exhaustive("filter_jit", "nested")]
)
def test_an_unread_change_makes_no_version(program, way, monkeypatch):
    import_of(monkeypatch)
    module, edits = run_in_a_module(program)
    next(edits)
    f = {
        "jit": lambda: imprint.jit(module.f),
        "filter_jit": lambda: filter_jit(module.f),
        "nested": lambda: imprint.jit(lambda x: imprint.jit(module.f)(x)),
        "re-created": lambda: lambda x: imprint.jit(lambda y: module.f(y))(x),
    }[way]()

    def calls():
        for _ in range(STEPS):
            assert f(X) == 2.0
            next(edits)

    # A watch that was too wide fires once, and is dropped then.
    assert traces_of(calls) <= (4 if way == "nested" else 2)
    assert traces_of(calls) == 0


def import_of(monkeypatch):
    for name in ("counted_cfg", "counted"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    make_module("counted_cfg", "")


# ---- writes by the trace ----

GRADIENTS = {"attribute_in_grad", "property_of_a_backward_rule"}


@pytest.mark.parametrize("program", programs_of(writes))
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
def test_a_counter_in_the_traced_code_counts_traces(program, strict, monkeypatch):
    import_of(monkeypatch)
    module, _ = run_in_a_module(program)
    f = imprint.jit(module.f, strict=strict)
    assert [module.count() for _ in range(STEPS) if f(X) == 2.0] == [1] * STEPS


@pytest.mark.parametrize("program", programs_of(writes))
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
def test_two_shapes_that_take_turns_are_two_traces(program, strict, monkeypatch):
    import_of(monkeypatch)
    module, _ = run_in_a_module(program)
    f = imprint.jit(module.f, strict=strict)
    if program.__name__ in GRADIENTS:
        f = imprint.jit(lambda x: module.f(x.sum()), strict=strict)
    shapes = itertools.cycle([inp.ones(2), inp.ones(3)])
    assert traces_of(lambda: [f(next(shapes)) for _ in range(STEPS)]) == 2
    assert f._cache_size() == 2
