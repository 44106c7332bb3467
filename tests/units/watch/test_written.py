"""What traces of one function are known to write: shared, taken over, and bounded."""

import weakref

from imprint.definition.walk import NO_EFFECTS
from imprint.watch import written
from imprint.watch.classes import MISSING
from imprint.watch.places import ItemPlace
from imprint.watch.seen import Seen
from imprint.watch.written import Written, written_by


def test_what_the_traces_of_a_function_write_is_shared_while_something_holds_it():
    def fun():
        pass

    known = written_by(fun)
    assert written_by(fun) is known
    assert written_by(lambda: None) is not known
    value = Seen([1], known)
    del known
    assert written_by(fun) is value._written
    alive = weakref.ref(fun)
    del fun
    assert alive() is None


def test_what_is_left_counts_until_traces_have_written_there_three_times():
    known, place = Written(NO_EFFECTS), ItemPlace({}, 1, "d")
    for before in (MISSING, None, MISSING):
        assert not known.is_effect(place.key, before)
    assert known.is_effect(place.key, MISSING)
    assert known.is_effect(ItemPlace({}, 2, "d").key, 5)


def test_what_is_left_counts_until_a_later_trace_writes_into_it():
    known, place = Written(NO_EFFECTS), ItemPlace({}, 1, "d")
    known.write_inside(place.key)
    assert not known.is_effect(place.key, MISSING)
    assert not known.places
    known.write_inside(place.key)
    assert known.places == {place.key}


def test_what_is_left_goes_with_a_trace_that_does_not_count():
    known, place = Written(NO_EFFECTS), ItemPlace({}, 1, "d")
    known.leave(place)
    mark = known.mark()
    known.leave(ItemPlace(place.container, 2, "d"))
    known.leave(ItemPlace({}, 2, "d"))
    known.reset(mark)
    assert known.left == {id(place.container): {place.key: place}}


def test_what_is_left_is_taken_over_and_of_many_dicts_the_oldest_goes(monkeypatch):
    monkeypatch.setattr(written, "_LEFT", 2)
    known, other = Written(NO_EFFECTS), Written(NO_EFFECTS)
    places = [ItemPlace({}, key, "d") for key in range(3)]
    for place in places:
        known.leave(place)
    other.take(known)
    for each in known, other:
        assert [*each.left] == [id(place.container) for place in places[1:]]
