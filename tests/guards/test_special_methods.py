"""A special method of a user class that is replaced, removed or added is seen."""

import pytest

import imprint
from tests.guards.programs import check_call

pytestmark = pytest.mark.unaudited  # they count traces


def number(value):
    return lambda *_: value


def index(value):
    return lambda *_: int(value)


def truth(value):
    return lambda *_: value > 2.5


def items(value):
    return lambda *_: iter([value])


def text(value):
    return lambda *_: "a" * int(value)


# An expression with an object `o`, and the method for a number.
METHODS = {
    "__abs__": ("x * abs(o)", number),
    "__add__": ("x * (o + 1.0)", number),
    "__bool__": ("x * 3.0 if o else x", truth),
    "__call__": ("x * o()", number),
    "__contains__": ("x * 3.0 if 1 in o else x", truth),
    "__divmod__": ("x * divmod(o, 2)", number),
    "__enter__": ("entered(x, o)", number),
    "__eq__": ("x * 3.0 if o == 1 else x", truth),
    "__float__": ("x * float(o)", number),
    "__format__": ("x * len(f'{o}')", text),
    "__getattr__": ("x * o.missing", number),
    "__getitem__": ("x * o[0]", number),
    "__ge__": ("x * 3.0 if o >= 1 else x", truth),
    "__iadd__": ("x * added(o)", number),
    "__index__": ("x * (1.0, 2.0, 3.0, 4.0)[o]", index),
    "__int__": ("x * int(o)", index),
    "__invert__": ("x * ~o", number),
    "__iter__": ("x * sum(o)", items),
    "__len__": ("x * len(o)", index),
    "__lt__": ("x * 3.0 if o < 1 else x", truth),
    "__matmul__": ("x * (o @ 1)", number),
    "__mul__": ("x * (o * 1.0)", number),
    "__neg__": ("x * -o", number),
    "__next__": ("x * next(o)", number),
    "__pow__": ("x * o ** 2", number),
    "__radd__": ("x * (1.0 + o)", number),
    "__repr__": ("x * len(repr(o))", text),
    "__reversed__": ("x * sum(reversed(o))", items),
    "__rmul__": ("x * (1.0 * o)", number),
    "__round__": ("x * round(o)", number),
    "__rsub__": ("x * (1.0 - o)", number),
    "__str__": ("x * len(str(o))", text),
    "__sub__": ("x * (o - 1.0)", number),
    "__truediv__": ("x * (o / 1.0)", number),
}
# Without the method the trace works and gives another answer.
HAVE_FALLBACK = {"__bool__", "__eq__", "__format__", "__str__"}


def entered(x, owner):
    with owner as value:
        return x * value


def added(value):
    value += 1.0
    return value


def classes():
    class Base:
        def __repr__(self):
            return "an object"

        def __exit__(self, *_):
            pass

        __hash__ = object.__hash__

    class Derived(Base):
        pass

    return Base, Derived


def jitted(expression, owner):
    names = {"o": owner, "entered": entered, "added": added}
    return imprint.jit(eval(f"lambda x: {expression}", names))


@pytest.mark.parametrize("inherits", [False, True], ids=["own", "inherited"])
@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_is_replaced_or_removed_is_seen(name, inherits):
    expression, make = METHODS[name]
    base, derived = classes()
    edited = base if inherits else derived
    setattr(edited, name, make(2.0))
    fun = jitted(expression, derived())
    first = check_call(fun)
    setattr(edited, name, make(3.0))
    assert check_call(fun) != first
    setattr(edited, name, make(2.0))
    assert check_call(fun) == first
    delattr(edited, name)
    check_call(fun)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_hides_an_inherited_one_is_seen(name):
    expression, make = METHODS[name]
    base, derived = classes()
    setattr(base, name, make(2.0))
    fun = jitted(expression, derived())
    first = check_call(fun)
    setattr(derived, name, make(3.0))
    assert check_call(fun) != first
    delattr(derived, name)
    assert check_call(fun) == first


@pytest.mark.parametrize("inherits", [False, True], ids=["own", "inherited"])
@pytest.mark.parametrize("name", sorted(HAVE_FALLBACK))
def test_a_method_that_is_added_is_seen(name, inherits):
    expression, make = METHODS[name]
    base, derived = classes()
    edited = base if inherits else derived
    fun = jitted(expression, derived())
    first = check_call(fun)
    value = 2.0 if first == 6.0 else 3.0
    setattr(edited, name, make(value))
    assert check_call(fun) != first
    delattr(edited, name)
    assert check_call(fun) == first


def test_a_length_that_is_added_is_seen_by_a_truth_test():
    class Owner:
        pass

    owner = Owner()
    fun = imprint.jit(lambda x: x * 3.0 if owner else x)
    assert check_call(fun) == 6.0
    Owner.__len__ = lambda self: 0
    assert check_call(fun) == 2.0
    del Owner.__len__
    assert check_call(fun) == 6.0


def test_reads_of_a_special_method_are_tracked():
    class Owner:
        rate = 2.0

        def __add__(self, other):
            return self.rate + other

    owner = Owner()
    fun = imprint.jit(lambda x: x * (owner + 1.0))
    assert check_call(fun) == 6.0
    owner.rate = 3.0
    assert check_call(fun) == 8.0
    del owner.rate
    assert check_call(fun) == 6.0


def test_a_metaclass_call_that_is_added_is_seen():
    class Meta(type):
        pass

    class Owner(metaclass=Meta):
        rate = 2.0

    fun = imprint.jit(lambda x: x * Owner().rate)
    assert check_call(fun) == 4.0
    Meta.__call__ = lambda cls: type("Other", (), {"rate": 3.0})
    assert check_call(fun) == 6.0
    del Meta.__call__
    assert check_call(fun) == 4.0


def test_an_instance_check_that_is_added_is_seen():
    class Meta(type):
        pass

    class Owner(metaclass=Meta):
        pass

    value = object()
    fun = imprint.jit(lambda x: x * 3.0 if isinstance(value, Owner) else x)
    assert check_call(fun) == 2.0
    Meta.__instancecheck__ = lambda cls, value: True
    assert check_call(fun) == 6.0
    del Meta.__instancecheck__
    assert check_call(fun) == 2.0
