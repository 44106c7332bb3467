"""`primitives.ALL` lists every primitive of its package, once, under a name of its own."""

import importlib
import pkgutil
from collections import Counter

from imprint._src import primitives
from imprint._src.core.primitive import Primitive


def declared():
    for info in pkgutil.iter_modules(primitives.__path__, "imprint._src.primitives."):
        for value in vars(importlib.import_module(info.name)).values():
            if isinstance(value, Primitive):
                yield value


def test_every_declared_primitive_is_listed():
    listed = set(map(id, primitives.ALL))
    missing = {
        primitive.name for primitive in declared() if id(primitive) not in listed
    }
    assert not missing


def test_no_two_primitives_share_a_name():
    names = Counter(primitive.name for primitive in primitives.ALL)
    assert not [name for name, count in names.items() if count > 1]
