"""Items under constant keys and contents of up to 256 items are seen when they change."""

import collections
import types

import pytest

import imprint
from tests.guards.programs import (
    BACK,
    Programs,
    check_call,
    check_edits,
    user_module,
)

stale = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@stale.each
def test_an_edit_is_seen(program):
    check_edits(program())


# ---- items under constant keys ----

# A container `c`, one of its keys, and the expression that reads the item there.
ITEMS = {
    "text": ({"lr": 2.0, "n": 0}, "lr", "c['lr']"),
    "text that is no identifier": ({"learning-rate": 2.0}, "learning-rate", None),
    "integer": ({3: 2.0, 4: 0}, 3, "c[3]"),
    "negative integer": ({-1: 2.0}, -1, "c[-1]"),
    "truth": ({True: 2.0, False: 0.0}, True, "c[True]"),
    "nothing": ({None: 2.0}, None, "c[None]"),
    "pair": ({("a", 1): 2.0}, ("a", 1), "c['a', 1]"),
    "bytes": ({b"lr": 2.0}, b"lr", "c[b'lr']"),
    "get": ({"lr": 2.0}, "lr", "c.get('lr', 1.0)"),
    "ordered": (collections.OrderedDict(lr=2.0), "lr", "c['lr']"),
    "default": (collections.defaultdict(float, lr=2.0), "lr", "c['lr']"),
    "list": ([1.0, 2.0, 3.0], 1, "c[1]"),
    "end of a list": ([1.0, 2.0], 1, "c[-1]"),
    "deque": (collections.deque([1.0, 2.0]), 1, "c[1]"),
    "first of a deque": (collections.deque([2.0, 1.0]), 0, "c[0]"),
    "among 1000": ({f"k{i}": 2.0 for i in range(1000)}, "k500", "c['k500']"),
}


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_under_a_constant_key_is_seen(name):
    container, key, expression = ITEMS[name]
    container = container.copy()
    expression = expression or f"c[{key!r}]"
    fun = imprint.jit(eval(f"lambda x: x * {expression}", {"c": container}))
    assert check_call(fun) == 4.0
    container[key] = 3.0
    assert check_call(fun) == 6.0
    container[key] = 2.0
    assert check_call(fun) == 4.0


@pytest.mark.parametrize(
    "expression", ["c.get('lr', 2.0)", "(5.0 if 'lr' in c else 2.0)"]
)
def test_an_item_that_was_missing_is_seen(expression):
    container = {"n": 1}
    fun = imprint.jit(eval(f"lambda x: x * {expression}", {"c": container}))
    assert check_call(fun) == 4.0
    container["lr"] = 3.0
    assert check_call(fun) != 4.0
    del container["lr"]
    assert check_call(fun) == 4.0


# ---- contents ----

LISTS = {
    "append": lambda c: c.append(5.0),
    "insert": lambda c: c.insert(0, 5.0),
    "replace": lambda c: c.__setitem__(1, 5.0),
    "remove": lambda c: c.remove(3.0),
    "extend": lambda c: c.extend([5.0, 7.0]),
    "clear": lambda c: c.clear(),
    "reverse": lambda c: c.reverse(),
}
SETS = {
    "add": lambda c: c.add(5.0),
    "discard": lambda c: c.discard(3.0),
    "clear": lambda c: c.clear(),
}
DICTS = {
    "replace": lambda c: c.__setitem__("b", 5.0),
    "add": lambda c: c.__setitem__("z", 5.0),
    "remove": lambda c: c.pop("b"),
    "order": lambda c: c.__setitem__("a", c.pop("a")),
    "rename": lambda c: c.__setitem__("z", c.pop("c")),
}
CHANGES = {
    "list": ([2.0, 3.0, 4.0], LISTS),
    "deque": (collections.deque([2.0, 3.0, 4.0]), LISTS),
    "set": ({2.0, 3.0, 4.0}, SETS),
    "dict": ({"a": 2.0, "b": 3.0, "c": 4.0}, DICTS),
    "ordered dict": (collections.OrderedDict(a=2.0, b=3.0, c=4.0), DICTS),
}


def numbers(container):
    """Return the numbers of a container in order."""
    if isinstance(container, dict):
        return [v * len(k) + (k == "z") for k, v in container.items()]
    return sorted(container) if isinstance(container, set) else list(container)


def folded(x, container):
    for number in numbers(container):
        x = x * 2.0 + number
    return x


@pytest.mark.parametrize(
    ("kind", "change"),
    [(kind, change) for kind, (_, changes) in CHANGES.items() for change in changes],
)
def test_a_change_of_contents_is_seen(kind, change):
    container, changes = CHANGES[kind]
    container, before = container.copy(), container.copy()
    fun = imprint.jit(lambda x: folded(x, container))
    first = check_call(fun)
    changes[change](container)
    assert check_call(fun) != first
    container.clear()
    add = container.update if hasattr(container, "update") else container.extend
    add(before)
    assert check_call(fun) == first


READS = {
    "loop": "x * sum(v for v in c)",
    "length": "x * len(c)",
    "truth": "x * 3.0 if c else x",
    "membership": "x * 3.0 if 9.0 in c else x",
    "sum": "x * sum(c)",
    "largest": "x * max(c, default=0.0)",
    "unpacked": "x * sum((*c,))",
    "slice": "x * sum(c[:3])",
    "sorted": "x * sorted(c)[-1] if c else x",
    "zip": "x * sum(a * b for a, b in zip(c, c))",
    "enumerate": "x * sum(i + v for i, v in enumerate(c))",
    "map": "x * sum(map(abs, c))",
    "count": "x * c.count(9.0)",
    "array": "(x * np.asarray(c)).sum()",
    "comparison": "x * 3.0 if c == [2.0] else x",
    "copy": "x * sum(list(c))",
}


@pytest.mark.parametrize("name", READS)
def test_each_way_to_read_a_list_sees_its_contents(name):
    container = [2.0]
    names = {"c": container, "np": imprint.numpy}
    fun = imprint.jit(eval(f"lambda x: {READS[name]}", names))
    first = check_call(fun)
    container.append(9.0)
    seen = [check_call(fun)]
    container.clear()
    seen.append(check_call(fun))
    assert {first} != set(seen)
    container.append(2.0)
    assert check_call(fun) == first


@pytest.mark.parametrize("size", [1, 255, 256])
@pytest.mark.parametrize("make", [list, collections.deque, dict.fromkeys, set])
def test_the_last_of_up_to_256_items_is_seen(make, size):
    container = make(range(size))
    fun = imprint.jit(lambda x: x * sum(container))
    first = check_call(fun)
    last = size - 1
    if isinstance(container, set | dict):
        replaced = make([*range(last), 1000])
        container.clear()
        container.update(replaced)
    else:
        container[last] = 1000
    assert check_call(fun) != first


@stale
def tuple_that_is_rebound():
    rates = (2.0, 3.0)

    def f(x):
        for rate in rates:
            x = x * rate
        return x

    yield f
    rates = (2.0, 5.0)
    yield
    rates = (2.0, 3.0)
    yield BACK


@stale
def object_in_a_tuple():
    layers = (types.SimpleNamespace(rate=2.0), types.SimpleNamespace(rate=3.0))

    def f(x):
        for layer in layers:
            x = x * layer.rate
        return x

    yield f
    layers[1].rate = 5.0
    yield
    layers[1].rate = 3.0
    yield BACK


@stale
def nested_containers():
    config = {"layers": [{"rate": 2.0}, {"rate": 3.0}], "names": ("a", "b")}

    def f(x):
        for layer in config["layers"]:
            x = x * layer["rate"]
        return x + len(config["names"])

    yield f
    config["layers"][1]["rate"] = 5.0
    yield
    config["layers"][1]["rate"] = 3.0
    yield BACK
    config["layers"].append({"rate": 7.0})
    yield
    config["layers"].pop()
    yield BACK
    config["names"] = ()
    yield


@stale
def dictionary_passed_to_a_helper():
    config = {"rate": 2.0}

    def helper(x, settings):
        return x * settings["rate"]

    def f(x):
        return helper(x, config)

    yield f
    config["rate"] = 3.0
    yield
    config["rate"] = 2.0
    yield BACK


@stale
def dictionary_passed_as_keywords():
    config = {"rate": 2.0}

    def helper(x, rate=1.0, more=0.0):
        return x * rate + more

    def f(x):
        return helper(x, **config)

    yield f
    config["rate"] = 3.0
    yield
    config["rate"] = 2.0
    yield BACK
    config["more"] = 5.0
    yield
    config.clear()
    yield


@stale
def list_in_an_attribute():
    class Model:
        def __init__(self):
            self.rates = [2.0, 3.0]

        def run(self, x):
            for rate in self.rates:
                x = x * rate
            return x

    model = Model()

    def f(x):
        return model.run(x)

    yield f
    model.rates.append(5.0)
    yield
    model.rates.pop()
    yield BACK
    model.rates[0] = 7.0
    yield


@stale
def item_of_a_list_of_a_class():
    class Rates(list):
        factor = 2.0

    rates = Rates([2.0])

    def f(x):
        return x * sum(rates) * rates.factor

    yield f
    rates.append(3.0)
    yield
    rates.pop()
    yield BACK
    rates.factor = 5.0
    yield


@stale
def number_that_becomes_one_of_another_type():
    rates = [2]

    def f(x):
        return x * 5.0 if isinstance(rates[0], int) else x

    yield f
    rates[0] = 2.0
    yield
    rates[0] = 2
    yield BACK


# ---- imported by name in a function ----


@stale
def dictionary_imported_where_it_is_used():
    module = user_module("guards_imported", config={"lr": 2.0})

    def config():
        from guards_imported import config as found  # noqa: PLC0415 - what is tested

        return found

    def scale(held):
        return held["lr"]

    def f(x):
        return x * scale(config())

    yield f
    module.config["lr"] = 3.0
    yield
    module.config["lr"] = 2.0
    yield BACK


# ---- reached by two names ----


@stale
def dictionary_of_two_names_of_which_one_is_bound_anew():
    outer = {"n": {"b": 2.0}}
    inner = outer["n"]

    def f(x):
        return x * (10 * outer["n"]["b"] + inner.get("b"))

    yield f
    inner["b"] = 3.0
    yield
    outer = {"n": {"b": 2.0}}
    yield
    inner["b"] = 4.0
    yield
