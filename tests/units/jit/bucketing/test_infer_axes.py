"""Inferred names of axes, from the shapes of the calls so far."""

import pytest

from imprint._src.jit.bucketing.infer_axes import named_axes


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([((5, 3),), ((6, 3),)], {}),  # two sizes are not three
        ([((5, 3),), ((6, 3),), ((6, 3),)], {}),
        ([((5, 3),), ((6, 3),), ((7, 3),)], {(0, 0): "n"}),
        ([((5,), (5,)), ((6,), (6,)), ((7,), (7,))], {(0, 0): "n", (1, 0): "n"}),
        ([((5,), (9,)), ((6,), (8,)), ((7,), (7,))], {(0, 0): "n", (1, 0): "m"}),
        # Sizes that were equal, but in one call, are two.
        ([((5, 5),), ((6, 6),), ((7, 7),), ((8, 9),)], {(0, 0): "n", (0, 1): "m"}),
        ([((4, 5),), ((4, 6),), ((8, 7),)], {(0, 1): "n"}),  # of one axis only two
        ([((5,),), ((0,),), ((1,),), ((6,),)], {}),  # 0 and 1 are none of the three
        ([((5,),), ((6,),), ((7,),), ((1,),)], {}),  # nor is a call with them named
        # A call that broadcasts does not part two axes.
        (
            [((5,), (5,)), ((6,), (1,)), ((7,), (7,)), ((8,), (8,))],
            {(0, 0): "n", (1, 0): "n"},
        ),
        ([((), (2, 2)), ((), (2, 3)), ((), (2, 4))], {(1, 1): "n"}),
        ([()] * 3, {}),
    ],
)
def test_an_axis_with_three_sizes_has_a_name(rows, names):
    assert {(e.leaf, e.axis): e.name for e in named_axes(rows)} == names


def test_each_group_of_axes_has_a_name_of_its_own():
    rows = [(tuple([i * 10 + k + 2 for i in range(5)]),) for k in range(3)]
    assert [e.name for e in named_axes(rows)] == ["n", "m", "k", "n3", "n4"]
