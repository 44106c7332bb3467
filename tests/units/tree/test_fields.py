"""Generated code for a class equals reading its attributes one by one."""

import pytest

from imprint._src.tree.fields import opener_for, restorer_for
from imprint._src.tree.statics import Static


class Node:
    def __init__(self, **held):
        self.__dict__.update(held)

    def __setattr__(self, name, value):
        raise AssertionError("unflattening runs no code of the class")


@pytest.mark.parametrize("data", [(), ("a",), ("a", "b")])
@pytest.mark.parametrize("meta", [(), ("m",), ("m", "n")])
def test_a_flattened_object_can_be_restored(data, meta):
    node = Node(**dict.fromkeys(data, 1.5), **dict.fromkeys(meta, "x"))
    children, _ = opener_for(data, meta)(node)
    static = Static(("x",) * len(meta)) if meta else None
    again = restorer_for(Node, data, meta)(static, children)
    assert vars(again) == vars(node)
    assert list(vars(again)) == [*data, *meta]


def static_of(value):
    return opener_for((), ("m",))(Node(m=value))[1]


VALUES = [1, True, 1.0, "1", b"1", None, (1,), (True,), 0.0, -0.0]


def test_static_data_is_distinguished_by_exact_type():
    found = [static_of(value) for value in VALUES]
    assert len({hash(x) for x in found}) > 1
    for i, a in enumerate(found):
        assert a == static_of(VALUES[i])
        assert not any(a == b for j, b in enumerate(found) if i != j)
