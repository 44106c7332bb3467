"""A module is a frozen dataclass, a node of pytrees, and a value."""

import abc
import copy
import dataclasses
import functools
import gc
import inspect
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

import equinox as eqx
import jax
import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint import tree
from imprint.errors import ArgumentError
from imprint.module import AbstractClassVar, AbstractVar, Module, field
from tests.units.module.models import Activated, Layered, Linear, Pair

T = TypeVar("T")


def message(error, do):
    with pytest.raises(error) as caught:
        do()
    return str(caught.value)


# ---- a node ----


def test_children_are_the_fields_that_are_not_static_under_their_names():
    model = Linear(3)
    leaves, treedef = tree.flatten(model)
    assert leaves[0] is model.weight
    assert leaves[1] is model.bias
    assert treedef.paths() == [
        (tree.GetAttrKey("weight"),),
        (tree.GetAttrKey("bias"),),
    ]


@pytest.mark.parametrize("model", [Linear(2), Linear(2, bias=False), Pair(1)], ids=repr)
def test_unflatten_gives_an_equal_module_without_calling_init(model):
    leaves, treedef = tree.flatten(model)
    again = tree.unflatten(treedef, leaves)
    assert type(again) is type(model)
    assert again == model
    assert vars(again).keys() == vars(model).keys()


def test_unflatten_takes_placeholders_of_any_kind():
    assert tree.map(lambda _: None, Linear(2)).weight is None
    assert tree.structure(Linear(2)).unflatten("ab").bias == "b"


def test_leaves_and_paths_are_those_of_equinox():
    class Inner(eqx.Module):
        scale: Any
        name: str = eqx.field(static=True, default="s")

    class Outer(eqx.Module):
        parts: Any
        inner: Inner

    class OurInner(Module):
        scale: Any
        name: str = field(static=True, default="s")

    class OurOuter(Module):
        parts: Any
        inner: OurInner

    parts = [1.0, {"b": 2, "a": (3, None)}]
    theirs = jax.tree_util.tree_flatten_with_path(Outer(parts, Inner(4)))[0]
    ours = tree.flatten_with_path(OurOuter(parts, OurInner(4)))[0]
    assert [(jax.tree_util.keystr(path), x) for path, x in theirs] == [
        (tree.keystr(path), x) for path, x in ours
    ]


STATICS = [1, 1.0, True, 0.0, -0.0, "1", None, (1,), (1.0,), (True,), b"1"]


def test_static_values_are_compared_by_exact_type():
    class Box(Module):
        value: Any = field(static=True)

    structures = [tree.structure(Box(value)) for value in STATICS]
    assert len(set(structures)) == len(STATICS)
    assert [tree.structure(Box(value)) for value in STATICS] == structures
    matches = [tree.match_of(Box(value)) for value in STATICS]
    for i, match in enumerate(matches):
        assert match(Box(STATICS[i])) == []
        for j, other in enumerate(STATICS):
            if i != j:
                with pytest.raises(KeyError):
                    match(Box(other))


def test_static_values_are_compared_by_exact_type_inside_dataclasses_too():
    @dataclasses.dataclass(frozen=True)
    class Config:
        rate: Any

    class Box(Module):
        config: Config = field(static=True)

    one, other = (tree.structure(Box(Config(rate))) for rate in (1, 1.0))
    assert one != other
    assert one is tree.structure(Box(Config(1)))


class Named(Module):
    w: Any
    names: Any = field(static=True)


CONTAINERS = {
    "list": (lambda: ["a"], lambda x: x.append("b")),
    "dict": (lambda: {"a": 1}, lambda x: x.update(b=2)),
    "set": (lambda: {"a"}, lambda x: x.add("b")),
    "list in a tuple": (lambda: (1, [2]), lambda x: x[1].append(3)),
    "set in a dict": (lambda: {"a": {1}}, lambda x: x["a"].add(2)),
    "bytearray": (lambda: bytearray(b"a"), lambda x: x.append(1)),
    "list of functions": (lambda: [np.sin], lambda x: x.append(np.cos)),
}
TRANSFORMS = {
    "jit": (imprint.jit, jax.jit),
    "filter_jit": (imprint.filter_jit, eqx.filter_jit),
    "grad": (imprint.grad, jax.grad),
    "vmap": (imprint.vmap, jax.vmap),
}


@pytest.mark.parametrize("kind", TRANSFORMS)
@pytest.mark.parametrize("name", CONTAINERS)
def test_static_containers_pass_through_transforms_as_in_equinox(name, kind):
    class TheirNamed(eqx.Module):
        w: Any
        names: Any = eqx.field(static=True)

    def weighed(model):
        return (model.w * len(repr(model.names))).sum()

    make, _ = CONTAINERS[name]
    ours, theirs = TRANSFORMS[kind]
    found = ours(weighed)(Named(np.ones(2), make()))
    wanted = theirs(weighed)(TheirNamed(jax.numpy.ones(2), make()))
    for x, y in zip(tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        numpy.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("jit", [imprint.jit, imprint.filter_jit])
@pytest.mark.parametrize("name", CONTAINERS)
def test_a_static_container_that_is_changed_is_another_version(name, jit):
    make, change = CONTAINERS[name]

    def sized(model):
        return model.w * len(repr(model.names))

    f = jit(sized)
    before = f._cache_size()  # leftovers of the other cases
    model = Named(np.ones(2), make())
    for _ in range(3):  # the third call takes the match
        f(model)
        f(Named(np.ones(2), make()))
    assert f._cache_size() == before + 1
    change(model.names)
    for _ in range(3):
        numpy.testing.assert_array_equal(f(model), sized(model))
    f(Named(np.ones(2), make()))
    assert f._cache_size() == before + 2


@pytest.mark.parametrize("jit", [imprint.jit, imprint.filter_jit])
def test_an_object_in_a_static_field_that_is_changed_is_another_version(jit):
    class Config:
        rate = 1

    f = jit(lambda model: model.w * model.names.rate)
    model = Named(np.ones(2), Config())
    for _ in range(4):
        f(model)
    model.names.rate = 5
    numpy.testing.assert_array_equal(f(model), [5, 5])


@pytest.mark.parametrize("jit", [imprint.jit, imprint.filter_jit])
def test_no_result_shares_a_static_container_with_another(jit):
    def made(x):
        return Named(x, ["a", {"b"}])

    f = jit(made)
    first = f(np.ones(2))
    first.names.append(1)
    first.names[1].add(2)
    assert f(np.ones(2)).names == ["a", {"b"}]

    names = ["a"]
    g = jit(lambda model: model)
    result = g(Named(np.ones(2), names))
    names.append("b")
    assert result.names == ["a"]
    assert g(Named(np.ones(2), ["a"])).names == ["a"]


def test_no_result_shares_a_leaf_that_can_change_with_another():
    f = imprint.filter_jit(lambda x: (x, {"a"}, bytearray(b"a")))
    for _ in range(2):
        _, found, text = f(np.ones(2))
        assert (found, text) == ({"a"}, b"a")
        found.add("b")
        text.append(0)


def test_equality_of_static_containers_is_by_content_and_exact():
    for name, (make, change) in CONTAINERS.items():
        model, changed = Named(1, make()), Named(1, make())
        assert model == changed, name
        change(changed.names)
        assert model != changed, name
    assert Named(1, [1]) != Named(1, [1.0])
    assert Named(1, {"a": 1, "b": 2}) != Named(1, {"b": 2, "a": 1})


class Loose:
    """Equal by its rate, without a hash, and changed in place."""

    def __init__(self, rate):
        self.rate = rate

    def __eq__(self, other):
        return isinstance(other, Loose) and self.rate == other.rate


def test_static_values_without_a_hash_are_compared():
    traces = []

    @imprint.jit
    def f(model):
        traces.append(model.names)
        return model.w * model.names.rate

    held = Loose(2.0)
    assert tree.structure(Named(1, held)) == tree.structure(Named(1, Loose(2.0)))
    assert [f(Named(1.0, x)) for x in (held, Loose(2.0), Loose(3.0))] == [2, 2, 3]
    assert len(traces) == 2
    held.rate = 5.0
    assert [f(Named(1.0, x)) for x in (held, Loose(2.0), Loose(3.0))] == [5, 2, 3]


def test_static_containers_of_a_class_of_their_own_are_no_key():
    class Names(list):
        pass

    assert tree.structure(Named(1, Names())) == tree.structure(Named(1, Names()))
    with pytest.raises(ArgumentError, match="static data that can be hashed") as caught:
        hash(tree.structure(Named(1, Names())))
    assert "(static field: expected a hashable value, got Names." in str(caught.value)


@pytest.mark.parametrize("make", [lambda: (1, 2.0), lambda: lambda x: x])
def test_a_match_takes_static_values_that_are_equal_and_not_the_same(make):
    match = tree.match_of(Activated(1, make()))
    assert match(Activated(2, make())) == [2]


def fresh(kind, k):
    if kind == "lambda":
        return lambda x: x + k
    if kind == "partial":
        return functools.partial(lambda k, x: x + k, k)
    if kind == "method":
        return Activated(None, k).shifted
    if kind == "jit":
        return imprint.jit(lambda x: x + k)
    return Adder(k)


class Adder(Module):
    k: int = field(static=True)

    def __call__(self, x):
        return x + self.k

    def shifted(self, x):
        return x + self.k


Activated.shifted = Adder.shifted


@pytest.mark.parametrize("kind", ["lambda", "partial", "jit", "module"])
def test_a_recreated_module_with_an_equal_static_function_is_not_traced_again(kind):
    traces = []

    @imprint.jit
    def run(model, x):
        traces.append(None)
        return model(x)

    outs = [float(run(Activated(np.ones(()), fresh(kind, k)), 2.0)) for k in (1, 2, 1)]
    assert outs == [3.0, 4.0, 3.0]
    assert len(traces) == 2


def test_a_changed_static_closure_is_not_reused_for_an_equal_one():
    def make():
        def act(x):
            return x + k

        def change(new):
            nonlocal k
            k = new

        k = 1.0
        return Activated(np.ones(()), act), change

    run = imprint.jit(lambda model, x: model(x))
    first, change = make()
    assert [float(run(first, 1.0)) for _ in range(3)] == [2.0] * 3
    change(5.0)
    assert [float(run(first, 1.0)) for _ in range(3)] == [6.0] * 3
    assert [float(run(make()[0], 1.0)) for _ in range(3)] == [2.0] * 3
    change(1.0)
    assert float(run(first, 1.0)) == 2.0
    assert tree.structure(first) == tree.structure(make()[0])


def test_a_method_of_an_equal_module_is_an_equal_static_function():
    structures = [
        tree.structure(Activated(np.ones(()), Adder(k).shifted)) for k in (1, 1, 2)
    ]
    assert structures[0] is structures[1]
    assert structures[0] is not structures[2]


def test_the_example_of_the_document_shares_one_version():
    traces = []

    class MyModule(Module):
        fn: Callable

        def __init__(self, fn):
            self.fn = imprint.jit(fn)

        def __call__(self, x):
            traces.append(None)
            return self.fn(x)

    def make():
        model = MyModule(lambda x: x * 2)
        return imprint.jit(lambda x: model(x))

    assert [float(make()(3.0)) for _ in range(4)] == [6.0] * 4
    assert len(traces) == 1


def test_a_captured_module_is_compared_by_its_fields():
    weight = np.ones(2)
    traces = []

    def make(k):
        model = Activated(weight, lambda x: x + k)

        def call(x):
            traces.append(None)
            return model(x).sum()

        return imprint.jit(call)

    assert [float(make(k)(1.0)) for k in (1, 1, 2)] == [4.0, 4.0, 6.0]
    assert len(traces) == 2


def test_modules_go_through_transforms():
    model, x = Linear(2), np.arange(2.0)
    grads = imprint.grad(Linear.loss)(model, x)
    assert isinstance(grads, Linear)
    numpy.testing.assert_allclose(grads.weight, [[0, 0], [0, 2]])
    stacked = imprint.vmap(lambda k: tree.map(lambda w: w * k, model))(x)
    assert stacked.weight.shape == (2, 2, 2)
    assert stacked.size == 2
    jitted = imprint.jit(lambda m: tree.map(lambda w: w + 1, m))(model)
    assert jitted == tree.map(lambda w: w + 1, model)


def test_a_shared_array_is_a_leaf_at_each_place():
    shared = np.ones(2)
    assert len(tree.leaves(Pair(Pair(shared), shared))) == 2


def test_a_module_inside_itself_is_refused_by_name():
    items = []
    model = Pair(items, 1)
    items.append(model)
    assert repr(model) == "Pair(first=[...], second=1)"
    for take_apart in (
        tree.flatten,
        tree.leaves,
        tree.structure,
        lambda m: tree.flatten(m, lambda x: False),
    ):
        assert message(RecursionError, lambda f=take_apart: f(model)) == (
            "pytree: expected a tree of at most 1000 levels, got one that contains "
            "itself: tree.first[0]. A tree has an end: refer to what is above by a name "
            "or a number."
        )
    for use in (hash, imprint.jit(lambda m: m.second), lambda m: m == Pair([], 1)):
        with pytest.raises(RecursionError):
            use(model)


def test_a_tree_of_too_many_levels_is_refused():
    deep = 1
    for _ in range(3000):
        deep = [deep]
    assert message(RecursionError, lambda: tree.flatten(deep)) == (
        "pytree: expected a tree of at most 1000 levels, got more levels. A tree has an "
        "end: refer to what is above by a name or a number."
    )


# ---- frozen ----


def test_assigning_after_init_raises_with_the_remedy():
    model = Linear(2)
    text = message(dataclasses.FrozenInstanceError, lambda: setattr(model, "weight", 1))
    assert text == (
        "Linear.weight: expected no assignment after __init__, for a module is frozen "
        "then, got `module.weight = ...`. Make a changed copy: "
        "imprint.tree_at(lambda m: m.weight, module, value), or "
        "imprint.replace(module, weight=value)."
    )
    assert message(AttributeError, lambda: delattr(model, "weight")) == text
    assert message(AttributeError, lambda: setattr(model, "other", 1)) == (
        "Linear.other: expected no assignment after __init__, for a module is frozen "
        "then, got `module.other = ...`. Declare it as a field, and assign it in "
        "__init__."
    )


def test_a_module_is_frozen_after_an_init_that_failed():
    kept = []

    class Failing(Module):
        x: int

        def __init__(self):
            kept.append(self)
            self.x = 1
            raise KeyError

    with pytest.raises(KeyError):
        Failing()
    with pytest.raises(dataclasses.FrozenInstanceError):
        kept[0].x = 2


def test_only_the_module_whose_init_runs_is_open():
    done = Pair(1)

    class Meddler(Module):
        x: int

        def __init__(self):
            self.x = 1
            done.first = 2

    with pytest.raises(dataclasses.FrozenInstanceError):
        Meddler()
    assert done.first == 1


def test_fields_can_be_assigned_twice_and_deleted_in_init():
    class Twice(Module):
        x: int

        def __init__(self):
            self.x = 1
            del self.x
            self.x = 2

    assert Twice().x == 2


@pytest.mark.parametrize(
    ("value", "annotation", "where"),
    [
        (lambda x: x, "Callable", " (from collections.abc import Callable)"),
        (max, "Callable", " (from collections.abc import Callable)"),
        (imprint.jit(abs), "Callable", " (from collections.abc import Callable)"),
        (np.ones(2), "imprint.Array", ""),
        (numpy.ones(2), "numpy.ndarray", ""),
        (3, "int", ""),
        ("a", "str", ""),
        ([1], "list", ""),
        (None, "Any", " (from typing import Any)"),
        (Linear(2), "Linear", ""),
    ],
)
def test_assigning_an_undeclared_field_shows_the_line_to_add(value, annotation, where):
    class MyModule(Module):
        def __init__(self, fn):
            self.fn = fn

    assert message(dataclasses.FrozenInstanceError, lambda: MyModule(value)) == (
        "MyModule.fn: expected every attribute to be declared as a field, got "
        "`self.fn = ...` in __init__ without a declaration. Add its line"
        f"{where}:\n\n    class MyModule(Module):\n        fn: {annotation}\n"
    )


# ---- duties of __init__ ----


def test_missing_fields_are_listed():
    class Forgetful(Module):
        a: int
        b: int
        c: int = field(converter=int)

        def __init__(self):
            self.b = 1

    assert message(ArgumentError, Forgetful) == (
        "Forgetful.__init__: expected a value for each field, got none for 'a' and 'c'. "
        "Assign to self in __init__, or give a default where the field is declared."
    )


def test_a_written_init_may_leave_defaults_alone():
    class Defaulted(Module):
        a: int
        b: int = field(static=True, default=2)

        def __init__(self, a):
            self.a = a

    model = Defaulted(1)
    assert vars(model) == {"a": 1, "b": 2}
    assert tree.map(lambda x: x, model) == model


def test_a_written_init_is_inherited_and_calls_its_parent():
    class Child(Linear):
        extra: int = 5

    class Caller(Linear):
        extra: int

        def __init__(self):
            super().__init__(2, bias=False)
            self.extra = 7

    assert Child(2).extra == 5
    assert list(vars(Child(2))) == ["weight", "bias", "size", "extra"]
    assert Caller().extra == 7
    assert tree.structure(Caller()).num_leaves == 2


def test_init_and_post_init_together_are_refused():
    def define():
        class Both(Module):
            def __init__(self):
                pass

            def __post_init__(self):
                pass

    assert message(ArgumentError, define) == (
        "Both: expected __init__ or __post_init__, got both; only the __init__ that "
        "dataclasses write calls __post_init__. Do its work in __init__, or in "
        "__check_init__, which is always called."
    )


def test_post_init_assigns():
    class Doubled(Module):
        x: int
        y: int = field(init=False)

        def __post_init__(self):
            self.y = 2 * self.x

    assert Doubled(2).y == 4


def test_check_init_of_every_class_is_called_once_fields_are_as_they_stay():
    calls = []

    class Base(Module):
        x: float = field(converter=float)

        def __check_init__(self):
            calls.append(("base", self.x))

    class Child(Base):
        def __check_init__(self):
            calls.append(("child", self.x))
            if self.x < 0:
                raise ValueError("negative")

    class Silent(Child):
        pass

    Silent(1)
    assert calls == [("child", 1.0), ("base", 1.0)]
    with pytest.raises(ValueError, match="negative"):
        Silent(-1)


def test_check_init_cannot_assign():
    class Checked(Module):
        x: int

        def __check_init__(self):
            self.x = 2

    with pytest.raises(dataclasses.FrozenInstanceError):
        Checked(1)


def test_a_module_does_not_hold_its_own_method():
    class Cyclic(Module):
        apply: Callable

        def __init__(self):
            self.apply = self.compute

        def compute(self):
            pass

    assert message(ArgumentError, Cyclic) == (
        "Cyclic.apply: expected a value that does not hold the module itself, got its "
        "method compute. Make apply a property that returns self.compute, which is no "
        "field and needs no declaration."
    )


@pytest.mark.parametrize(
    ("value", "place", "shown"),
    [
        (np.ones((2, 3)), "", "f32[2,3]"),
        (numpy.ones(2), "", "f64[2](numpy)"),
        ({"a": [1, np.zeros(2, bool)]}, "['a'][1]", "bool[2]"),
    ],
)
def test_arrays_in_static_fields_are_refused(value, place, shown):
    class Fixed(Module):
        table: Any = field(static=True)

    assert message(ArgumentError, lambda: Fixed(value)) == (
        f"Fixed.table{place}: expected no array in a static field, for static values are "
        f"compared by each call, got {shown}. Leave static=True out of the declaration "
        "of table: arrays are traced, as children."
    )


def test_tracers_in_static_fields_are_refused():
    class Fixed(Module):
        table: Any = field(static=True)

    with pytest.raises(ArgumentError, match="no array in a static field"):
        imprint.jit(lambda x: Fixed(x).table)(1.0)


# ---- classes ----


def test_abstract_fields_and_methods_are_named():
    class Layer(Module):
        width: AbstractVar[int]
        kind: AbstractClassVar[str]
        text: "AbstractVar[str]"

        @abc.abstractmethod
        def apply(self): ...

    class Half(Layer):
        width: int

    assert message(TypeError, Layer) == (
        "Layer: expected a class that gives all that its bases left abstract, got one "
        "without AbstractVar 'width', AbstractClassVar 'kind', AbstractVar 'text' and "
        "method 'apply'. Make an instance of a subclass that does."
    )
    assert message(TypeError, lambda: Half(1)) == (
        "Half: expected a class that gives all that its bases left abstract, got one "
        "without AbstractClassVar 'kind', AbstractVar 'text' and method 'apply'. Make "
        "an instance of a subclass that does."
    )


def test_a_class_with_an_abstract_method_alone_is_refused_in_the_same_words():
    class Layer(Module):
        @abc.abstractmethod
        def apply(self): ...

    assert message(TypeError, Layer) == (
        "Layer: expected a class that gives all that its bases left abstract, got one "
        "without method 'apply'. Make an instance of a subclass that does."
    )


def test_abstract_fields_are_given_by_fields_properties_and_class_attributes():
    class Layer(Module):
        a: AbstractVar[int]
        b: AbstractVar[int]
        c: AbstractVar[int]
        k: AbstractClassVar[int]

    class Given(Layer):
        b: int
        a: int
        c: ClassVar[int] = 3
        k: ClassVar[int] = 4

        @property
        def d(self):
            return self.a + self.b

    assert (Given(2, 1).a, Given(2, 1).d, Given(2, 1).c) == (1, 3, 3)
    assert tree.leaves(Given(2, 1)) == [2, 1]


def test_a_class_variable_may_become_a_field():
    class Layer(Module):
        k: AbstractClassVar[int]

    class Given(Layer):
        k: int

    assert Given(3).k == 3
    with pytest.raises(TypeError, match="AbstractClassVar 'k'"):
        Layer()


def test_class_keywords_are_those_of_dataclasses():
    class Named(Module, kw_only=True):
        a: int = 1
        b: int

    assert Named(b=2).b == 2
    with pytest.raises(TypeError):
        Named(1, 2)


def test_generic_modules():
    class Box(Module, Generic[T]):
        x: T

    assert Box[int](3) == Box(3)
    assert vars(Box[int](3)) == {"x": 3}


def test_mutable_defaults_are_refused_with_the_way_out():
    def define(value):
        class Stack(Module):
            layers: list = value

    text = (
        "Stack.layers: expected a default that cannot change, for all instances would "
        "share it, got {}. Give what makes one: layers: ... = "
        "imprint.field(default_factory=...)."
    )
    assert message(ArgumentError, lambda: define([])) == text.format("list")
    assert message(ArgumentError, lambda: define(field(default={}))) == (
        text.format("dict")
    )
    assert message(ArgumentError, lambda: define(np.ones(2))) == text.format(
        "ArrayImpl"
    )


def test_default_factories_make_one_for_each_instance():
    class Stack(Module):
        layers: list = field(default_factory=list)
        bias: imprint.Array = field(default_factory=lambda: np.zeros(2))

    assert Stack().layers is not Stack().layers
    assert Stack().bias.shape == (2,)


def test_properties_class_methods_and_cached_properties():
    class Rich(Module):
        x: int

        @property
        def twice(self):
            return 2 * self.x

        @functools.cached_property
        def thrice(self):
            return 3 * self.x

        @classmethod
        def make(cls, x):
            return cls(x)

        @staticmethod
        def one():
            return 1

    model = Rich.make(2)
    assert (model.twice, model.thrice, model.thrice, model.one()) == (4, 6, 6, 1)
    assert tree.map(lambda x: x, model) == model


def test_other_libraries_see_a_module_as_a_dataclass():
    assert dataclasses.is_dataclass(Linear)
    assert [f.name for f in dataclasses.fields(Linear)] == ["weight", "bias", "size"]
    assert dataclasses.replace(Pair(1, 2), second=3) == Pair(1, 3)
    assert str(inspect.signature(Pair)) == (
        "(first: object, second: object = None) -> None"
    )
    assert Pair.__match_args__ == ("first", "second")
    match Pair(1, 2):
        case Pair(first, second):
            assert (first, second) == (1, 2)


def test_modules_of_a_class_can_be_made_in_many_threads():
    found = []

    def make():
        found.extend([Linear(2, bias=False).size for _ in range(200)])

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2] * 800


# ---- differences from Equinox ----


def both(define):
    return define(Module, field), define(eqx.Module, eqx.field)


def test_static_types_and_static_lambdas_differ_in_equinox():
    def define(base, field):
        class Box(base):
            value: Any = field(static=True)

        return Box

    ours, theirs = both(define)
    structures = tree.structure, jax.tree_util.tree_structure
    for cls, structure, differ in zip((ours, theirs), structures, (1, 0), strict=True):
        assert (structure(cls(1)) != structure(cls(1.0))) == differ
        assert (structure(cls(lambda: 1)) == structure(cls(lambda: 1))) == differ


def test_a_default_that_init_leaves_alone_is_no_leaf_in_equinox():
    def define(base, _):
        class Defaulted(base):
            x: int = 3

            def __init__(self):
                pass

        return Defaulted

    ours, theirs = both(define)
    assert tree.leaves(ours()) == [3]
    assert 3 not in jax.tree_util.tree_leaves(theirs())


def test_an_array_in_a_static_field_is_a_warning_in_equinox():
    def define(base, field):
        class Fixed(base):
            table: Any = field(static=True)

        return Fixed

    ours, theirs = both(define)
    with pytest.raises(ArgumentError):
        ours(np.ones(2))
    with pytest.warns(UserWarning, match="static"):
        theirs(jax.numpy.ones(2))


# ---- values ----


def test_equal_modules():
    assert Linear(2) == Linear(2)
    assert Linear(2) != Linear(3)
    assert Linear(2) != Linear(2, bias=False)
    assert Pair(np.ones(2)) == Pair(np.ones(2))
    assert Pair(np.ones(2)) == Pair(numpy.ones(2, numpy.float32))
    assert Pair(np.ones(2)) != Pair(np.ones(2, np.int32))
    assert Pair(np.ones(2)) != Pair(np.ones((2, 1)))
    assert Pair(np.ones(2)) != Pair(1.0)
    assert Pair(1) == Pair(1.0)
    assert Pair([1]) != Pair((1,))
    assert Pair(1) != 1
    assert Activated(1, lambda x: x) == Activated(1, lambda x: x)
    assert Activated(1, lambda x: x) != Activated(1, lambda x: -x)
    assert isinstance(Linear(2) == Linear(2), bool)


@pytest.mark.parametrize(
    ("a", "b"),
    [((1,), (1,)), ((1,), (2,)), ((1,), (1.0,)), (([1],), ((1,),)), ((None,), (None,))],
    ids=str,
)
def test_equality_is_that_of_equinox(a, b):
    class Theirs(eqx.Module):
        x: Any

    class Ours(Module):
        x: Any

    assert (Ours(*a) == Ours(*b)) == bool(Theirs(*a) == Theirs(*b))


def test_hash_goes_with_equality():
    assert hash(Pair(1, "a")) == hash(Pair(1.0, "a"))
    assert hash(Pair(1)) != hash(Pair(2))
    assert hash(Adder(1)) != hash(Adder(2))
    assert hash(Activated(1, lambda x: x)) == hash(Activated(1, lambda x: x))
    assert {Pair((1, Pair(2))): 3}[Pair((1, Pair(2)))] == 3
    assert message(TypeError, lambda: hash(Layered((Linear(2),), abs))) == (
        "hash: expected a module whose leaves can be hashed, got ArrayImpl in "
        "Layered.layers[0].weight. Compare modules by ==; for a key, take id(module)."
    )


def test_copies_are_equal_and_frozen():
    model = Layered((Linear(2), Linear(2, bias=False)), np.abs)
    for again in (
        copy.copy(model),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ):
        assert again == model
        assert again is not model
        with pytest.raises(dataclasses.FrozenInstanceError):
            again.layers = ()
    assert copy.copy(model).layers is model.layers


@pytest.mark.slow
def test_modules_take_weak_references_and_are_let_go():
    model = Linear(2)
    tree.flatten(model)
    dead = weakref.ref(model)
    del model
    gc.collect()
    assert dead() is None


def test_users_may_compare_as_they_like():
    class ById(Module):
        x: int

        __eq__ = object.__eq__
        __hash__ = object.__hash__

        def __repr__(self):
            return "by id"

    assert ById(1) != ById(1)
    assert len({ById(1), ById(1)}) == 2
    assert repr(Pair(ById(1))) == "Pair(first=by id, second=None)"
