"""Each line of the page `docs/explanation/what-is-not-tracked.md`, and its remedy.

A program here is a generator: it yields the function to jit, then makes one edit. A plain
jit answers from the old trace; the remedy that the line names gives the new answer.
"""

import collections.abc
import contextvars
import dataclasses
import functools
import operator
import pathlib
import queue
import random
import tempfile
import threading
import time
import weakref

import numpy as np
import pytest

import imprint
from imprint import tree_util
from tests.guards.programs import X, library_module

pytestmark = pytest.mark.unaudited  # they are stale on purpose

STRICT, AUDIT = "strict", "audit"


class Untracked:
    """A table of programs; decorate a generator with its remedies to add it."""

    def __init__(self):
        self.params = []

    def __call__(self, *remedies):
        def add(program):
            self.params += [
                pytest.param(program, remedy, id=f"{program.__name__}-{remedy}")
                for remedy in remedies
            ]
            return program

        return add

    @property
    def each(self):
        return pytest.mark.parametrize(("program", "remedy"), self.params)


untracked = Untracked()


@untracked.each
def test_an_edit_is_not_seen_without_the_remedy(program, remedy):
    steps = program()
    fun = next(steps)
    plain = imprint.jit(fun)
    strict = imprint.jit(fun, strict=True) if remedy == STRICT else None
    old = float(plain(X))
    assert strict is None or float(strict(X)) == old
    next(steps, None)
    with imprint.disable_jit():
        new = float(fun(X))
    assert new != old, "the edit changes no answer"
    assert float(plain(X)) == old
    if strict is not None:
        assert float(strict(X)) == new
        return
    with imprint.audit(1.0), pytest.raises(imprint.errors.StaleVersionError):
        plain(X)


# ---- contents ----


@untracked(STRICT, AUDIT)
def contents_of_an_array():
    table = np.ones(3)
    yield lambda x: x * table.sum()
    table[:] = 2.0


@untracked(STRICT, AUDIT)
def items_of_a_list_of_more_than_256():
    table = [1.0] * 300
    yield lambda x: x * sum(table)
    table[7] = 2.0


@untracked(AUDIT)
def objects_in_an_array_of_objects():
    class Rate:
        value = 2.0

    table = np.array([Rate(), Rate()], object)
    yield lambda x: x * table[0].value
    table[0].value = 3.0


# ---- names computed at run time ----


@untracked(AUDIT)
def name_from_an_f_string():
    class Settings:
        pass

    settings, day = Settings(), "day"
    settings.rate_day = 2.0
    yield lambda x: x * getattr(settings, f"rate_{day}")
    settings.rate_day = 3.0


@untracked(AUDIT)
def name_that_a_caller_passes():
    class Settings:
        rate = 2.0

    settings = Settings()

    def read(owner, name):
        return getattr(owner, name)

    yield lambda x: x * read(settings, "rate")
    settings.rate = 3.0


@untracked(AUDIT)
def variables_of_an_object():
    class Settings:
        def __init__(self):
            self.rate = 2.0

    settings = Settings()
    yield lambda x: x * sum(vars(settings).values())
    settings.rate = 3.0


@untracked(AUDIT)
def names_that_dir_lists():
    class Settings:
        rate = 2.0

    settings = Settings()
    yield lambda x: x * len(dir(settings))
    settings.more = 3.0


@untracked(AUDIT)
def text_that_is_evaluated():
    class Settings:
        rate = 2.0

    settings, text = Settings(), "settings.rate"
    yield lambda x: x * eval(text, {"settings": settings})
    settings.rate = 3.0


@untracked(AUDIT)
def name_from_an_attrgetter_of_a_computed_text():
    class Settings:
        rate = 2.0

    settings, parts = Settings(), ["ra", "te"]
    yield lambda x: x * operator.attrgetter("".join(parts))(settings)
    settings.rate = 3.0


# ---- reads by libraries ----


@untracked(AUDIT)
def settings_of_a_library():
    library = library_module("guards_lib", "rate = 2.0\ndef scaled(x): return x * rate")
    yield lambda x: library.scaled(x)
    library.rate = 3.0


@untracked(AUDIT)
def registry_of_a_library():
    library = library_module(
        "guards_lib",
        """
        registry = {}
        def get(): return registry["rate"]
        """,
    )
    library.registry["rate"] = 2.0
    yield lambda x: x * library.get()
    library.registry["rate"] = 3.0


@untracked(AUDIT)
def fields_that_asdict_reads():
    @dataclasses.dataclass(eq=False, repr=False)  # these two name the field
    class Config:
        rate: float = 2.0

    config = Config()
    yield lambda x: x * dataclasses.asdict(config)["rate"]
    config.rate = 3.0


@untracked(AUDIT)
def fields_that_a_format_reads():
    class Config:
        rate = 2.0

    config = Config()
    yield lambda x: x * float("{c.rate}".format(c=config))  # noqa: UP032 - it is the case
    config.rate = 3.0


@untracked(AUDIT)
def class_that_an_abstract_one_registers():
    class Row:
        pass

    row = Row()
    yield lambda x: x * isinstance(row, collections.abc.Sequence)
    collections.abc.Sequence.register(Row)


@untracked(AUDIT)
def subclasses_of_a_class():
    class Base:
        pass

    yield lambda x: x * len(Base.__subclasses__())

    class Derived(Base):
        pass

    yield Derived  # it lives until here


@untracked(AUDIT)
def object_that_a_library_hands_to_a_callback():
    class Settings:
        rate = 2.0

    library = library_module(
        "guards_lib", "registry = []\ndef visit(fun): return fun(registry[0])"
    )
    library.registry.append(Settings())
    yield lambda x: x * library.visit(lambda settings: settings.rate)
    library.registry[0].rate = 3.0


@untracked(AUDIT)
def object_that_a_library_returns():
    class Settings:
        rate = 2.0

    library = library_module(
        "guards_lib", "registry = []\ndef get(): return registry[0]"
    )
    library.registry.append(Settings())
    yield lambda x: x * library.get().rate
    library.registry[0].rate = 3.0


@untracked(AUDIT)
def node_class_that_is_registered_again():
    class Pair:
        pass

    yield lambda x: x * len(tree_util.tree_leaves(Pair()))
    tree_util.register_pytree_node(Pair, lambda p: ((1.0, 2.0), None), Pair)


@untracked(AUDIT)
def memo_that_is_cleared():
    rates = iter((2.0, 3.0))

    @functools.lru_cache
    def rate():
        return next(rates)

    yield lambda x: x * rate()
    rate.cache_clear()
    assert rate() == 3.0


# ---- state that C keeps ----


@untracked(AUDIT)
def context_variable():
    rate = contextvars.ContextVar("rate", default=2.0)
    yield lambda x: x * rate.get()
    rate.set(3.0)


@untracked(AUDIT)
def random_generator():
    generator = random.Random(0)
    yield lambda x: x * generator.random()


@untracked(AUDIT)
def file():
    path = pathlib.Path(tempfile.mkdtemp()) / "rate.txt"
    path.write_text("2.0", encoding="utf-8")
    yield lambda x: x * float(path.read_text(encoding="utf-8"))
    path.write_text("3.0", encoding="utf-8")


@untracked(AUDIT)
def clock():
    zero = time.perf_counter()
    yield lambda x: x + (time.perf_counter() - zero > 0.5)
    time.sleep(0.6)


@untracked(AUDIT)
def object_behind_a_weak_reference():
    class Settings:
        rate = 2.0

    settings = Settings()
    table = weakref.WeakValueDictionary(settings=settings)
    yield lambda x: x * table["settings"].rate
    settings.rate = 3.0
    yield  # the object lives until here


# ---- other threads ----


@untracked(AUDIT)
def code_that_a_worker_thread_runs():
    class Settings:
        rate = 2.0

    def work():
        while jobs.get():
            answers.put(Settings.rate)

    def ask():
        jobs.put(True)
        return answers.get()

    jobs, answers = queue.SimpleQueue(), queue.SimpleQueue()
    threading.Thread(target=work, daemon=True).start()
    yield lambda x: x * ask()
    Settings.rate = 3.0


@untracked(AUDIT)
def write_of_another_thread_during_the_trace():
    class Settings:
        rate = 2.0

    def write():
        begin.wait()
        Settings.rate = 3.0
        end.set()

    def f(x):
        y = x * Settings.rate
        begin.set()
        end.wait()
        return y

    begin, end = threading.Event(), threading.Event()
    threading.Thread(target=write, daemon=True).start()
    yield f


# ---- a class with its own == ----


def test_a_static_value_that_its_own_eq_calls_equal_is_the_same_value():
    class Config:
        def __init__(self, rate, sizes):
            self.rate, self.sizes = rate, sizes

        def __eq__(self, other):
            return self.rate == other.rate

        def __hash__(self):
            return hash(self.rate)

    f = imprint.jit(lambda x, c: x * len(str(c.rate)), static_argnums=1)
    assert float(f(X, Config(2, []))) == float(f(X, Config(2, [1])))
    assert f._cache_size() == 1


# ---- the remedy for all of them ----


def test_a_value_that_is_passed_as_an_argument_is_no_input_of_the_trace():
    table = np.ones(3, np.float32)
    f = imprint.jit(lambda x, table: x * table.sum())
    assert float(f(X, table)) == 6.0
    table[:] = 2.0
    assert float(f(X, table)) == 12.0
    assert f._cache_size() == 1
