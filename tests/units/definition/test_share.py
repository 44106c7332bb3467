import collections
import copy
import dataclasses
import datetime
import decimal
import fractions
import functools
import gc
import itertools
import operator
import pathlib
import sys
import threading
import types
import weakref

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from imprint.definition import token as tokens
from imprint.definition.share import (
    definition_token,
    effects_of,
    read_definition,
    strict_token,
)
from tests.units.callables import (
    ARRAY,
    FAMILIES,
    MODEL,
    VALUES,
    Cached,
    Labelled,
    Metres,
    Model,
    Point,
    Scale,
    Slim,
    Speaking,
    attributed,
    decorated,
    scaled,
    with_default,
    with_list_default,
)

EACH_FAMILY = pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)


def again(value):
    """Return an equal value that is another object, if its kind counts by content."""
    plain = (
        int,
        float,
        str,
        tuple,
        list,
        dict,
        set,
        frozenset,
        Slim,
        Scale,
        Metres,
        Point,
    )
    return copy.deepcopy(value) if type(value) in plain else value


# ---- sharing ----


@EACH_FAMILY
def test_made_anew_is_the_same_definition(make):
    for value in VALUES:
        token = definition_token(make(value))
        assert definition_token(make(again(value))) is token, value


@EACH_FAMILY
def test_another_value_is_another_definition(make):
    made = [make(value) for value in VALUES]
    tokens = [definition_token(fun) for fun in made]
    assert len({*tokens}) == len(VALUES)


def test_families_differ():
    made = [make(1) for make in FAMILIES.values()]
    tokens = [definition_token(fun) for fun in made]
    assert len({*tokens}) == len(FAMILIES)


def test_a_thousand_made_anew_have_one_token():
    for make in FAMILIES.values():
        first = definition_token(make(1))
        assert all(definition_token(make(1)) is first for _ in range(1000))


def test_bound_methods_of_one_object_are_the_same():
    assert definition_token(MODEL.step) is definition_token(MODEL.step)


def test_globals_count_by_identity():
    source = "def f(x): return x + A"
    one, other = {"A": 1}, {"A": 1}
    exec(source, one)
    exec(source, other)
    token = definition_token(one["f"])
    assert definition_token(other["f"]) is not token
    exec(source, one)
    assert definition_token(one["f"]) is token


def test_patched_code_and_defaults_are_seen():
    fun = with_default(1)
    before = definition_token(fun)
    fun.__defaults__ = (2,)
    changed = definition_token(fun)
    fun.__defaults__ = (1,)
    assert changed is not before
    assert definition_token(fun) is before
    fun.__code__ = fun.__code__.replace(co_name="g")
    assert definition_token(fun) is not before


def test_an_array_counts_by_identity():
    token = definition_token(scaled(ARRAY))
    assert definition_token(scaled(ARRAY)) is token
    assert definition_token(scaled(ARRAY.copy())) is not token


def test_a_big_container_counts_by_identity():
    big, nested = list(range(257)), [list(range(9)) for _ in range(40)]
    for value in (big, nested, dict.fromkeys(big), {*big}):
        token = definition_token(scaled(value))
        assert definition_token(scaled(value)) is token
        assert definition_token(scaled(value.copy())) is not token


def test_a_huge_tuple_counts_by_identity():
    big = tuple(range(5000))
    token = definition_token(scaled(big))
    assert definition_token(scaled(big)) is token
    assert definition_token(scaled(tuple(range(5000)))) is not token


def test_a_cached_property_is_no_state():
    fun = Cached(2.0)
    token = definition_token(fun)
    fun(1.0)
    assert definition_token(fun) is token
    assert definition_token(Cached(2.0)) is token


def test_a_dataclass_with_more_state_than_its_fields_counts_by_identity():
    fun = Scale(1.0)
    object.__setattr__(fun, "extra", 1)
    assert definition_token(fun) is not definition_token(Scale(1.0))
    assert definition_token(fun) is definition_token(fun)


def test_functions_in_a_deep_stack_of_decorators_are_read_once_each():
    fun = scaled(1)
    for _ in range(40):  # each holds the next in a cell and in __wrapped__
        fun = decorated(fun)
    assert definition_token(fun) is definition_token(fun)


def test_values_of_the_standard_library_count_by_content():
    makes = [
        lambda: decimal.Decimal("1.0"),
        lambda: decimal.Decimal("1.00"),
        lambda: decimal.Decimal("-0.0"),
        lambda: fractions.Fraction(1, 3),
        lambda: datetime.date(2026, 1, 1),
        lambda: datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        lambda: datetime.time(1, 2),
        lambda: datetime.time(1, 2, fold=1),
        lambda: datetime.timedelta(1),
        lambda: operator.itemgetter("a"),
        lambda: operator.methodcaller("a", k=1),
        lambda: pathlib.PurePosixPath("a/b"),
        lambda: collections.OrderedDict(a=1),
        lambda: collections.defaultdict(int, a=1),
        lambda: collections.defaultdict(list, a=1),
        lambda: collections.deque([1], maxlen=2),
        lambda: collections.deque([1]),
    ]
    tokens = [definition_token(scaled(make())) for make in makes]
    assert tokens == [definition_token(scaled(make())) for make in makes]
    assert len({*tokens}) == len(makes)


# ---- what can change in place ----


def test_a_changed_container_is_another_definition_until_it_changes_back():
    for value, change, undo in [
        ([1], lambda v: v.append(2), lambda v: v.pop()),
        ({"a": [1]}, lambda v: v["a"].append(2), lambda v: v["a"].pop()),
        ({1}, lambda v: v.add(2), lambda v: v.remove(2)),
        ((1, [2]), lambda v: v[1].append(3), lambda v: v[1].pop()),
    ]:
        fun = scaled(value)
        before = definition_token(fun)
        assert before.volatile
        change(value)
        assert definition_token(fun) is not before
        undo(value)
        assert definition_token(fun) is before


def test_tokens_say_what_can_change():
    assert not definition_token(len).volatile
    assert not definition_token(again).has_cells
    assert definition_token(scaled(1)).has_cells
    assert not definition_token(scaled(1)).volatile
    assert definition_token(attributed(1)).volatile
    assert not definition_token(decorated(len)).volatile


def test_what_is_inside_another_function_can_change_too():
    fixed = scaled((1,))
    for fun in (
        decorated(scaled([1])),
        scaled(scaled([1])),
        scaled(([1], fixed)),
        Speaking(scaled([1]), fixed),
    ):
        assert definition_token(fun).volatile
        assert definition_token(fun).has_cells


def test_an_empty_cell_is_volatile():
    def make():
        def f(x):
            return x + later

        empty = definition_token(f)
        later = 1
        return empty, definition_token(f)

    empty, full = make()
    assert empty.volatile
    assert not full.volatile
    assert empty is not full


def test_a_rebound_cell_is_another_definition():
    a = 1

    def f(x):
        return x + a

    one = definition_token(f)
    a = 2
    assert definition_token(f) is not one
    a = 1
    assert definition_token(f) is one


# ---- effects ----


def counting():
    """Yield functions that count how often they run, each in another way."""
    n, calls, table = 0, [], {}

    def by_cell():
        nonlocal n
        n += 1

    def by_list():
        calls.append(1)

    def by_dict():
        table["n"] = table.get("n", 0) + 1

    def by_attribute():
        by_attribute.n += 1

    by_attribute.n = 0
    return [
        *(by_cell, by_list, by_dict, by_attribute, lambda: by_list()),
        *(with_list_default(), functools.partial(with_list_default())),
    ]


@pytest.mark.parametrize("fun", counting())
def test_what_a_trace_wrote_does_not_count(fun):
    before = read_definition(fun)
    fun()
    effects = effects_of(before, read_definition(fun))
    assert effects
    settled = definition_token(fun, effects)
    for _ in range(3):
        fun()
        assert definition_token(fun, effects) is settled


def test_what_a_trace_did_not_write_counts_still():
    calls, rates = [], [1]

    def fun():
        calls.append(rates[0])

    before = read_definition(fun)
    fun()
    effects = effects_of(before, read_definition(fun))
    settled = definition_token(fun, effects)
    fun()
    assert definition_token(fun, effects) is settled
    rates[0] = 2
    assert definition_token(fun, effects) is not settled


def test_without_a_write_there_are_no_effects():
    fun = scaled([1, {"a": 2}])
    assert not effects_of(read_definition(fun), read_definition(fun))


def test_attributes_and_small_arrays_that_a_trace_wrote_do_not_count():
    model, array = Model(), np.ones(3)

    def fun():
        model.rate += 1
        array[0] += 1

    before = read_definition(fun, strict=True)
    fun()
    effects = effects_of(before, read_definition(fun, strict=True))
    settled = strict_token(fun, effects)
    fun()
    assert strict_token(fun, effects) is settled
    array[1] += 1
    assert strict_token(fun, effects) is settled  # the whole array is an effect
    model.other = 1
    assert strict_token(fun, effects) is not settled


def test_attributes_are_no_part_of_what_is_read_to_find_effects():
    model = Model()
    before = read_definition(model.step)
    model.rate = 2
    assert not effects_of(before, read_definition(model.step))


def test_what_holds_something_that_a_trace_wrote_still_counts():
    def make(helper, state):
        def fun():
            helper()
            state["calls"].append(1)

        return fun

    def make_helper(step):
        n = 0

        def helper():
            nonlocal n
            n += step

        return helper

    state = {"calls": [], "rate": 1}
    fun = make(make_helper(1), state)
    before = read_definition(fun)
    fun()
    effects = effects_of(before, read_definition(fun))
    settled = definition_token(fun, effects)
    fun()
    assert definition_token(fun, effects) is settled
    state["rate"] = 2
    assert definition_token(fun, effects) is not settled
    state["rate"] = 1
    fun.__closure__[0].cell_contents = make_helper(2)
    assert definition_token(fun, effects) is not settled


# ---- strict ----


def test_strict_reads_arrays_objects_and_big_containers():
    for value, change in [
        (np.ones(3), lambda v: v.__setitem__(0, 2)),
        (np.ones(3000), lambda v: v.__setitem__(0, 2)),
        (Model(), lambda v: setattr(v, "rate", 2)),
        (list(range(1000)), lambda v: v.append(1)),
    ]:
        fun = scaled(value)
        relaxed, strict = definition_token(fun), strict_token(fun)
        assert strict.volatile
        change(value)
        assert definition_token(fun) is relaxed
        assert strict_token(fun) is not strict


# ---- what is alive ----


def test_a_token_keeps_no_capture_alive():
    model = Model()
    token = definition_token(scaled(model))
    assert token.alive
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert not token.alive


def test_a_dead_capture_never_matches():
    tokens = [definition_token(scaled(Model())) for _ in range(50)]
    assert len({*tokens}) == 50


def test_a_token_keeps_no_class_alive():
    cls = dataclasses.make_dataclass("Made", ["a"], frozen=True)
    token = definition_token(scaled(cls(1)))
    gone = weakref.ref(cls)
    del cls
    gc.collect()
    assert gone() is None
    assert not token.alive


def test_a_token_keeps_no_module_alive(monkeypatch):
    module = types.ModuleType("made_for_this_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("def f(x): return x + A", vars(module))
    token = definition_token(module.f)
    assert definition_token(module.f) is token
    monkeypatch.undo()
    gone, fun = weakref.ref(module), module.f
    del module
    gc.collect()
    assert gone() is None
    assert not token.alive
    assert definition_token(fun) is not token


def test_a_token_keeps_no_function_alive():
    fun = scaled(1)
    token = definition_token(fun)
    gone = weakref.ref(fun)
    del fun
    gc.collect()
    assert gone() is None
    assert token.alive


# ---- hostile values ----


class Hostile:
    """Raises whatever is asked of it."""

    def _raise(self, *args):
        raise RuntimeError("hostile")

    __eq__ = __ne__ = __lt__ = __bool__ = __len__ = __iter__ = __repr__ = _raise
    __hash__ = __getattr__ = __getattribute__ = __call__ = _raise
    __class__ = property(_raise)
    __dict__ = property(_raise)


class HostileMeta(type):
    def _raise(cls, *args):
        raise RuntimeError("hostile")

    __eq__ = __hash__ = __getattribute__ = __instancecheck__ = _raise
    __subclasscheck__ = _raise


def made_by_hostile_metaclass():
    return HostileMeta.__call__(HostileMeta, "Made", (), {})


class Slotted:
    __slots__ = ("a",)


class MuteSpeaker:
    def __imprint_token__(self):
        raise RuntimeError("hostile")


def huge():
    shared = (1, 2)
    for _ in range(40):
        shared = (shared, shared)
    return shared


def deep():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return nested


HOSTILE = {
    "hostile": lambda: Hostile(),
    "class": lambda: Hostile,
    "class of metaclass": made_by_hostile_metaclass,
    "instance of it": lambda: type.__call__(made_by_hostile_metaclass()),
    "slots": Slotted,
    "speaker": MuteSpeaker,
    "lock": threading.Lock,
    "generator": lambda: (i for i in range(3)),
    "iterator": lambda: iter([]),
    "builtin": lambda: open,
    "module": lambda: types,
    "huge": huge,
    "count": itertools.count,
    "memoryview": lambda: memoryview(b"a"),
    "property": property,
    "weak reference": lambda: weakref.ref(MODEL),
    "generator of numpy": lambda: np.random.default_rng(0),
    "objects": lambda: np.array([object()]),
    "record": lambda: np.zeros(1, [("a", object)])[0],
    "namespace": lambda: types.SimpleNamespace(a=1),
    "proxy": lambda: types.MappingProxyType({}),
    "lru_cache": lambda: functools.lru_cache(len),
    "counter": lambda: collections.Counter("aab"),
    "super": lambda: super(Scale, Scale(1.0)),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("token_of", [definition_token, strict_token])
def test_hostile_values_count_by_identity(token_of, name):
    value = HOSTILE[name]()
    token = token_of(scaled(value))
    assert token_of(scaled(value)) is token
    assert token_of(value) is token_of(value)
    assert token_of(scaled((value, 1))) is not token
    fun = scaled(value)
    assert not effects_of(read_definition(fun), read_definition(fun))


def test_a_deep_list_counts_by_identity_below_some_level():
    nested = deep()
    token = definition_token(scaled(nested))
    assert definition_token(scaled(nested)) is token
    while nested:  # the interpreter frees it level by level, or overflows
        nested = nested.pop()


def test_mutual_recursion_through_containers():
    def make(a):
        table = {}
        table["f"] = scaled(table)
        table["a"] = a
        return table["f"]

    token = definition_token(make(1))
    assert definition_token(make(1)) is token
    assert definition_token(make(2)) is not token


def test_what_leads_back_to_one_is_not_what_leads_back_to_another():
    def join(one, other):
        one.__closure__[0].cell_contents = other
        return one

    def pair(g, h):
        return lambda x: (g(x), h(x))

    def make(*, same):
        g, h, g2 = linked(), linked(), linked()
        f = pair(g, h)
        join(g, f)
        join(h, g if same else g2)
        join(g2, h)
        return f

    def linked():
        target = None
        return lambda x: target(x)

    one, other = definition_token(make(same=True)), definition_token(make(same=False))
    assert one is not other
    assert definition_token(make(same=True)) is one


def test_a_property_over_a_slot_is_not_asked():
    class Over(Slotted):
        __slots__ = ()

        @property
        def a(self):
            raise RuntimeError("hostile")

    value = Over()
    assert strict_token(scaled(value)) is strict_token(scaled(value))
    assert strict_token(scaled(value)) is not strict_token(scaled(Over()))


def test_subclasses_of_tuple_with_attributes_count_by_identity():
    one = Labelled((1,), "a")
    assert definition_token(scaled(one)) is definition_token(scaled(one))
    assert definition_token(scaled(one)) is not definition_token(
        scaled(Labelled((1,), "a"))
    )


def test_many_threads_get_one_token():
    found = []
    ready = threading.Barrier(8)

    def ask():
        ready.wait()
        found.extend([definition_token(scaled((1, "a", [2.0]))) for _ in range(200)])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1600
    assert len({*found}) == 1


# ---- any program ----

SCALARS = st.one_of(
    st.integers(-3, 3),
    st.floats(width=16),
    st.booleans(),
    st.none(),
    st.text(max_size=2),
    st.binary(max_size=2),
    st.complex_numbers(max_magnitude=2),
)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=1), inner, max_size=3),
        st.frozensets(st.integers(0, 3), max_size=3),
        st.sets(st.integers(0, 3), max_size=3),
        inner.map(Scale),
        inner.map(Slim),
    ),
    max_leaves=6,
)
SOURCE = """
def make(cell, default, keyword, wrap):
    @wrap
    def f(x, d=default, *, k=keyword):
        inner = lambda y: (y, {constant}, cell)
        return inner(x), d, k, {name}
    f.mark = cell
    return f
"""
PLACES = {
    "cell": PLAIN,
    "default": PLAIN,
    "keyword": PLAIN,
    "constant": SCALARS.filter(lambda v: "inf" not in repr(v) and "nan" not in repr(v)),
    "name": st.sampled_from(["abs", "len", "max"]),
    "wrap": st.sampled_from([decorated, lambda fun: fun]),
}


def build(parts):
    text = SOURCE.format(constant=repr(parts["constant"]), name=parts["name"])
    names = {}
    exec(text, globals(), names)
    given = [
        copy.deepcopy(parts[name]) for name in ("cell", "default", "keyword", "wrap")
    ]
    return names["make"](*given)


def exact(value):
    """Return what tells apart whatever a token must tell apart."""
    if isinstance(value, dict):
        return "dict", [(exact(k), exact(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [exact(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, sorted(map(repr, value))
    if dataclasses.is_dataclass(value):
        return type(value).__name__, exact(dataclasses.astuple(value))
    return type(value).__name__, value.hex() if type(value) is float else repr(value)


@given(st.fixed_dictionaries(PLACES))
def test_equal_content_is_an_equal_token(parts):
    token = definition_token(build(parts))
    assert definition_token(build(parts)) is token


@given(st.data(), st.fixed_dictionaries(PLACES), st.sampled_from(sorted(PLACES)))
def test_any_edit_is_another_token(data, parts, place):
    edited = {**parts, place: data.draw(PLACES[place])}
    assume(exact(edited[place]) != exact(parts[place]))
    one, other = build(parts), build(edited)
    assert definition_token(one) is not definition_token(other)


class Elsewhere(dict):
    """A table of tokens in which another thread does something once one looked it up."""

    act = None

    def get(self, key, default=None):
        found = super().get(key, default)
        act, self.act = self.act, None
        if act is not None:
            act(key)
        return found


@pytest.mark.parametrize("is_put_back", [False, True])
def test_a_token_that_another_thread_forgets_or_makes_anew_meanwhile(
    monkeypatch, is_put_back
):
    table = Elsewhere()
    monkeypatch.setattr(tokens, "_tokens", table)
    content = ("a content", is_put_back)
    made = []

    def meanwhile(key):
        dict.pop(table, key)
        if is_put_back:
            made.append(tokens.token_of(content, volatile=False, has_cells=False))

    first = tokens.token_of(content, volatile=False, has_cells=False)
    table.act = meanwhile
    del first  # in whose callback an error would be unraisable, which fails the test
    gc.collect()
    assert [*table] == [content] * is_put_back
    if is_put_back:
        assert tokens.find_token(content) is made[0]
