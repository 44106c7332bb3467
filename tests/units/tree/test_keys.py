import jax
import pytest

from imprint import tree

KEYS = [
    ("SequenceKey", 3),
    ("DictKey", "w"),
    ("DictKey", (1, None)),
    ("GetAttrKey", "bias"),
    ("FlattenedIndexKey", 2),
]


@pytest.mark.parametrize(("name", "part"), KEYS)
def test_a_key_shows_as_in_jax(name, part):
    ours, theirs = getattr(tree, name)(part), getattr(jax.tree_util, name)(part)
    assert str(ours) == str(theirs)
    assert repr(ours) == repr(theirs)
    assert ours == getattr(tree, name)(part)
    assert hash(ours) == hash(getattr(tree, name)(part))


def test_keystr_writes_a_path_as_jax_does():
    ours = tuple(getattr(tree, name)(part) for name, part in KEYS)
    theirs = tuple(getattr(jax.tree_util, name)(part) for name, part in KEYS)
    assert tree.keystr(ours) == "[3]['w'][(1, None)].bias[<flat index 2>]"
    assert tree.keystr(ours) == jax.tree_util.keystr(theirs)
    simple = {"simple": True, "separator": "/"}
    assert tree.keystr(ours, **simple) == "3/w/(1, None)/bias/2"
    assert tree.keystr(ours, **simple) == jax.tree_util.keystr(theirs, **simple)
    assert tree.keystr(()) == ""
    assert tree.keystr(("own",), simple=True) == "own"
