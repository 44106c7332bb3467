"""Fields of slots, dataclasses, named tuples and enums are seen when they change."""

import dataclasses
import enum
from typing import NamedTuple

import pytest

from tests.guards.programs import BACK, GLOBALS, Programs, check_edits

stale = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@stale.each
def test_an_edit_is_seen(program):
    check_edits(program())


@stale
def slots():
    class Settings:
        __slots__ = ("more", "rate")

        def __init__(self):
            self.rate = 2.0

    settings = Settings()

    def f(x):
        return x * settings.rate + getattr(settings, "more", 0.0)

    yield f
    settings.rate = 3.0
    yield
    settings.rate = 2.0
    yield BACK
    settings.more = 1.0
    yield
    del settings.more
    yield BACK


@stale
def dataclass():
    @dataclasses.dataclass
    class Settings:
        rate: float = 2.0
        steps: list = dataclasses.field(default_factory=list)

    settings = Settings()

    def f(x):
        return x * settings.rate + len(settings.steps)

    yield f
    settings.rate = 3.0
    yield
    settings.rate = 2.0
    yield BACK
    settings.steps.append(1)
    yield


@stale
def frozen_dataclass():
    @dataclasses.dataclass(frozen=True)
    class Settings:
        rate: float = 2.0

    settings = Settings()

    def f(x):
        return x * settings.rate

    yield f
    settings = Settings(3.0)
    yield
    settings = Settings(2.0)
    yield BACK


@stale
def frozen_dataclass_that_is_set_by_force():
    @dataclasses.dataclass(frozen=True)
    class Settings:
        rate: float = 2.0

    settings = Settings()

    def f(x):
        return x * settings.rate

    yield f
    object.__setattr__(settings, "rate", 3.0)
    yield
    object.__setattr__(settings, "rate", 2.0)
    yield BACK


@stale.only(GLOBALS)
def named_tuple():
    class Layer:
        rate = 3.0

    class Settings(NamedTuple):
        rate: float
        layer: object

    settings = Settings(2.0, Layer())

    def f(x):
        return x * settings.rate * settings.layer.rate

    yield f
    settings = settings._replace(rate=5.0)
    yield
    settings = settings._replace(rate=2.0)
    yield BACK
    settings.layer.rate = 7.0
    yield


@stale
def enumeration():
    class Mode(enum.Enum):
        SLOW = 2.0
        FAST = 3.0

        @property
        def factor(self):
            return self.value + more

    mode, more = Mode.SLOW, 0.0

    def f(x):
        return x * mode.factor if mode is Mode.SLOW else x * mode.value

    yield f
    mode = Mode.FAST
    yield
    mode = Mode.SLOW
    yield BACK
    more = 1.0
    yield


@stale
def class_pattern():
    class Point:
        __match_args__ = ("a", "b")

        def __init__(self):
            self.a, self.b = 2.0, 3.0

    point = Point()

    def f(x):
        match point:
            case Point(2.0, b=rate):
                return x * rate
            case Point(a=rate):
                return x * rate

    yield f
    point.b = 5.0
    yield
    point.b = 3.0
    yield BACK
    point.a = 7.0
    yield
    point.a = 2.0
    yield BACK
    Point.__match_args__ = ("b", "c")
    yield


@stale
def mapping_pattern():
    table = {"kind": "scale", "rate": 2.0}

    def f(x):
        match table:
            case {"kind": "scale", "rate": rate}:
                return x * rate
            case {"kind": "shift"}:
                return x + 10.0
            case _:
                return x

    yield f
    table["rate"] = 3.0
    yield
    table["rate"] = 2.0
    yield BACK
    table["kind"] = "shift"
    yield
    del table["kind"]
    yield
