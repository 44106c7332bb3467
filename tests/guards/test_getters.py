"""A getter of the user is evaluated where the traced code reads it, and nowhere else."""

import types

import pytest

import imprint
from tests.guards.programs import check_steps

pytestmark = pytest.mark.unaudited  # they count traces


class Getters:
    """Counts how often its properties are evaluated."""

    evaluated = 0

    def _count(self):
        Getters.evaluated += 1
        raise RuntimeError("a property of an unrelated object was evaluated")

    mean = shape = dtype = T = sum = property(_count)


READS = {
    "T": "x.T",
    "dtype": "x.astype(x.dtype)",
    "mean": "x.mean()",
    "shape": "x + len(x.shape)",
    "sum": "x.sum()",
}
HEADS = {
    "variable": "unrelated is None",
    "list": "holder.items is None",
    "attribute": "holder.part is None",
    "nested function": "(lambda: unrelated)() is None",
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("head", HEADS)
def test_a_property_of_an_unrelated_object_is_never_evaluated(name, head):
    unrelated = Getters()
    holder = types.SimpleNamespace(part=unrelated, items=[unrelated], count=0)
    names = {"unrelated": unrelated, "holder": holder}
    text = f"lambda x: {READS[name]} + (1.0 if {HEADS[head]} else 2.0)"
    Getters.evaluated = 0

    def step():
        holder.count += 1

    check_steps(eval(text, names), step)
    assert Getters.evaluated == 0


def test_a_getter_that_was_read_is_not_evaluated_by_later_calls():
    class Model:
        evaluated = 0

        @property
        def rate(self):
            Model.evaluated += 1
            return 2.0

        def __getattr__(self, name):
            Model.evaluated += 1
            return 3.0

    model = Model()
    fun = imprint.jit(lambda x: x * model.rate * model.other)
    fun(1.0)
    before = Model.evaluated
    for _ in range(5):
        fun(1.0)
    assert Model.evaluated == before
