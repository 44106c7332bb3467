"""Sizes with names as plain data: a round trip keeps their values."""

import json

import pytest

from imprint._src.dynamic_shapes.decisions import SizeComparison
from imprint._src.dynamic_shapes.expression import SizeScope
from imprint._src.dynamic_shapes.values import evaluate
from imprint._src.jit.load_bucket_from_disk import (
    comparisons_hold,
    deserialize_comparisons,
    deserialize_size,
    serialize_comparisons,
    serialize_size,
)

SIZES = {
    "number": lambda n, m: 3,
    "name": lambda n, m: n,
    "sum": lambda n, m: n * m * 2 - m + 5,
    "parts": lambda n, m: n // 3 + m % 2,
    "extremes": lambda n, m: (n - 7).maximum(m).minimum(n * m),
    "both": lambda n, m: ((n + m) // 2) ** 2,
}


def carried(x):
    return json.loads(json.dumps(x))


@pytest.mark.parametrize("name", SIZES)
def test_a_size_comes_back(name):
    scope, other = SizeScope(), SizeScope()
    size = SIZES[name](scope.name("n"), scope.name("m"))
    plain = carried(serialize_size(size))
    again = deserialize_size(plain, {x: other.name(x) for x in "nm"})
    assert str(again) == str(size)
    for n in range(1, 12):
        for m in range(1, 6):
            at = {"n": n, "m": m}
            assert (
                deserialize_size(plain, at) == evaluate(size, at) == evaluate(again, at)
            )


def test_questions_hold_where_they_did():
    scope, other = SizeScope(), SizeScope()
    n = scope.name("n")
    asked = [
        SizeComparison(n, ">", 4, answer=True),
        SizeComparison(n % 2, "==", 0, answer=False),
    ]
    plain = carried(serialize_comparisons(asked))
    again = deserialize_comparisons(plain, {"n": other.name("n")})
    assert [*map(str, again)] == [*map(str, asked)]
    assert [k for k in range(1, 12) if comparisons_hold(plain, {"n": k})] == [
        5,
        7,
        9,
        11,
    ]
