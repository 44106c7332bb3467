"""Tests of the picture of growth, and of the part of the demo that draws it."""

import pytest

from examples.demo import show_costs
from examples.drawings import draw_column, draw_growth
from examples.performance import measure


def test_a_power_of_the_length_is_a_straight_line():
    drawn = draw_growth({"s": {n: 1e-5 * n * n for n in (1, 10, 100)}, "f": {1: 1e-5}})
    lines = drawn.splitlines()
    places = [
        (y, x)
        for y, line in enumerate(lines)
        for x, c in enumerate(line)
        if c in "sf" and x > 8
    ]
    assert places == [(0, 64), (8, 37), (16, 9)]
    assert lines[0].startswith(" 100 ms |")
    assert lines[8].startswith("   1 ms |")
    assert lines[16] == "  10 µs |f"
    assert lines[18].split() == ["1", "10", "100"]


def test_cells_of_a_column_have_one_width():
    lines = ["┌───────┐", "│   a   │", "├───────┤", "│ a few │", "└───────┘"]
    assert draw_column(["a", "a few"]).splitlines() == lines


def test_one_length_is_drawn():
    assert "i" in draw_growth({"i": {5: 0.02}})


@pytest.mark.slow
def test_the_demo_draws_the_costs_of_programs(capsys):
    show_costs((2, 4))
    shown = capsys.readouterr().out
    assert shown.count("+---") == 2
    assert "to compile" in shown


def test_long_twins_are_left_out():
    costs = measure((100,), cuts=False)
    assert costs == ({}, {})
