"""The table of definitions: what goes when it is full."""

import gc
import threading

from imprint.calls.options import JitOptions
from imprint.calls.signature import Signature
from imprint.versions import definitions
from imprint.versions.definitions import Definition, Definitions


def definition_of(fun, table):
    token = table.token_of(fun, strict=False)
    return token, Definition(token, Signature(fun), JitOptions())


def filled(limit, count):
    """Return a full table, and the keys and definitions that were put into it."""
    table = Definitions(limit)
    made = [definition_of(lambda x, i=i: x * i, table) for i in range(count)]
    for key, definition in made:
        assert table.add(key, definition) is definition
    return table, made


def found(table, made):
    return [table.find(key) is definition for key, definition in made]


def test_the_oldest_goes_first():
    table, made = filled(3, 5)
    assert found(table, made) == [False, False, True, True, True]


def test_what_was_found_since_gets_a_second_chance():
    table, made = filled(3, 4)
    table.find(made[1][0])
    late = definition_of(lambda x: x - 1, table)
    table.add(*late)
    assert found(table, [*made, late]) == [False, True, False, True, True]


def test_where_all_were_found_the_oldest_goes():
    table, made = filled(3, 3)
    assert all(found(table, made))
    late = definition_of(lambda x: x - 2, table)
    table.add(*late)
    assert len(list(table)) == 3
    assert found(table, made).count(False) == 1


def test_of_a_big_table_a_part_is_dropped_at_once():
    table, made = filled(128, 129)
    assert len(list(table)) == 126
    assert found(table, made[:4]) == [False, False, False, True]
    for number in range(3):
        table.add(*definition_of(lambda x, number=number: x - number, table))
    assert found(table, made[:8]) == [False] * 3 + [True] + [False] * 3 + [True]


def test_who_adds_second_gets_what_was_there():
    table, made = filled(3, 1)
    key, first = made[0]
    assert table.add(key, Definition(key, first.signature, first.options)) is first


class Cyclic:
    """Something that only a collection frees."""

    def __init__(self):
        self.itself = self


def capturing(captured):
    return lambda x: (x, captured)


def test_a_collection_may_come_while_room_is_made(monkeypatch):
    """What is captured dies in it, and takes the definition out of the table.

    To CPython 3.11, whose collector runs where an object is made, and not between lines.
    """
    full = 2 * gc.get_threshold()[0]  # so many objects made start a collection
    table = Definitions(full + 1)
    monkeypatch.setattr(definitions, "DEFINITIONS", table)
    key, definition = definition_of(lambda x: x, table)
    for number in range(full):
        table.add(number, definition)
    definition.is_wanted = False
    gc.collect()  # so that what follows is young
    table.add(*definition_of(capturing(Cyclic()), table))
    table.add(key, definition)


def test_what_left_while_room_was_made_has_made_room():
    """As in a collection that comes between two lines."""
    table = Definitions(2)

    class TakesAnother:
        tie = staticmethod(lambda key: None)

        @property
        def is_wanted(self):
            table.drop("another")
            return True

        @is_wanted.setter
        def is_wanted(self, value):
            pass

    first = TakesAnother()
    table.add("first", first)
    late, definition = definition_of(lambda x: x, table)
    table.add("another", definition)
    table.add(late, definition)
    assert [table.find("first"), table.find(late)] == [first, definition]


def test_what_dies_while_another_thread_is_at_work_is_dropped_later():
    """A weak reference may die in a thread that holds what the other waits for."""
    table, made = filled(3, 2)
    begun, end = threading.Event(), threading.Event()

    def work():
        with table._lock:
            begun.set()
            end.wait()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    table.drop(made[0][0])
    end.set()
    thread.join()
    late = definition_of(lambda x: x - 3, table)
    table.add(*late)
    assert found(table, [*made, late]) == [False, True, True]
