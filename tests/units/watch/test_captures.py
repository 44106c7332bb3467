"""What a callable captures: covered by its token, left out of the record of a trace."""

import dataclasses
import functools

import pytest

from imprint.watch.captures import captured_functions, captured_reads
from imprint.watch.guard import watch_definition
from tests.units.modules import names, run

PROGRAM = """
import functools
def make(k):
    n = [0]
    def inner(x): return x * k
    def outer(x, scale=inner, *, m=(1, 2)): return inner(x) + n[0]
    def put(v):
        nonlocal k
        k = v
    outer.tag = [inner]
    return outer, inner, put, n
outer, inner, put, n = make(2)
def root(x): return outer(x)
"""


def captured(fun):
    return {f.__name__ for f in captured_functions(fun).values()}


@pytest.fixture
def program(user):
    return user("program", PROGRAM)


def test_functions_in_closures_defaults_attributes_and_containers(program):
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        f: object

        def __call__(self):
            pass

    class Plain:
        def __init__(self, f):
            self.f = f

        def method(self):
            pass

    class Speaking(Plain):
        def __imprint_token__(self):
            return self.f

    outer, inner = program.outer, program.inner
    assert captured(outer) == {"outer", "inner"}
    assert captured(functools.partial(len, inner, k=[outer])) == {"outer", "inner"}
    assert captured(Frozen({"a": (inner,)})) == {"inner"}
    assert captured(Plain(inner).method) == {"method"}
    assert captured(Plain(inner)) == set()
    assert captured(Speaking(inner)) == {"inner"}
    assert captured(program.root) == {"root"}


def test_what_the_root_captures_is_not_in_the_record(program):
    watch = run(program.outer, 2)
    assert names(watch) == set()
    program.put(5)
    program.n[0] = 1
    assert watch.holds()


def test_a_variable_of_a_loop_does_not_part_closures_with_equal_values(user):
    module = user(
        "module",
        """
        def epoch():
            for i in range(3):
                def helper(x): return x + i
                yield lambda x: helper(x)
        """,
    )
    first = [run(fun, 1) for fun in module.epoch()]
    assert all(watch.holds() for watch in first)


def test_a_captured_function_that_has_a_name_too_is_in_the_record(program):
    program.named = program.inner
    program.both = eval("lambda f: lambda x: f(x) + named(x)", vars(program))(
        program.inner
    )
    watch = run(program.both, 2)
    assert "closure variable k of make.<locals>.inner" in names(watch)
    program.put(5)
    assert not watch.guard()


@pytest.mark.parametrize(
    "edit",
    [
        lambda p: p.put(5),
        lambda p: p.n.append(1),
        lambda p: p.n.__setitem__(0, 1),
        lambda p: setattr(p.outer, "__defaults__", (p.put,)),
        lambda p: setattr(p.outer, "__kwdefaults__", {"m": (1, 3)}),
        lambda p: setattr(p.outer, "__code__", p.outer.__code__.replace(co_name="f")),
        lambda p: setattr(p.inner, "__code__", p.inner.__code__.replace(co_name="f")),
    ],
)
def test_the_watch_over_a_definition(program, edit):
    watch = watch_definition(program.outer)
    assert watch.guard()
    edit(program)
    assert not watch.guard()


def test_the_watch_over_a_partial(program):
    fun = functools.partial(program.inner, k=[1])
    watch = watch_definition(fun)
    assert watch.guard()
    fun.keywords["k"].append(2)
    assert not watch.guard()
    fun.keywords["k"].pop()
    assert watch.guard()
    program.put(7)
    assert not watch.guard()


def test_equal_definitions_have_their_places_in_the_same_order(user):
    module = user("program", PROGRAM)
    one, two = module.make(2)[0], module.make(2)[0]
    places = [[str(r.place) for r in captured_reads(fun)] for fun in (one, two)]
    assert places[0] == places[1]


def test_what_captures_itself():
    def f():
        return f, loop

    loop = [f]
    loop.append(loop)
    assert captured(f) == {"f"}
    assert watch_definition(f).guard()


def test_an_object_whose_token_raises_is_left_alone():
    class Odd:
        def __imprint_token__(self):
            raise KeyError

    assert captured(Odd()) == set()
    assert watch_definition(Odd()).guard()
