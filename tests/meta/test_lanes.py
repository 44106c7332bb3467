"""The lanes leave nothing out: each test is in one half, and in the fast lane or the other."""

from types import SimpleNamespace

import pytest

from tests.lanes import HALVES, is_in_half, is_sampled_out

MARK = pytest.mark.sampled(2).mark
CASES = [
    SimpleNamespace(
        name=f"test[{i}]",
        nodeid=f"tests/some/test_file.py::test[{i}]",
        get_closest_marker=lambda name: MARK,
    )
    for i in range(1000)
]


def test_each_test_is_in_one_half_of_about_the_same_size():
    first, second = ([is_in_half(x, half) for x in CASES] for half in HALVES)
    assert second == [not x for x in first]
    assert 400 < sum(first) < 600


def test_a_half_has_cases_of_the_fast_lane_and_others():
    fast = [x for x in CASES if not is_sampled_out(x)]
    assert 400 < len(fast) < 600
    assert 0.4 < sum(is_in_half(x, "first") for x in fast) / len(fast) < 0.6
