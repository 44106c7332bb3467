"""Every message about a wrong use of `jit`, compared whole."""

import inspect

import pytest

import imprint
from tests.spec import wrong_calls

PROGRAMS = [
    name
    for name, program in inspect.getmembers(wrong_calls, inspect.isfunction)
    if program.__module__ == wrong_calls.__name__
    and name not in ("identity", "device", "call_with_static", "batched")
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_whole_message(name, golden):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the text is compared
        getattr(wrong_calls, name)()
    golden(f"{name}.error.txt", f"{caught.type.__name__}: {caught.value}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_error_has_a_class_that_jax_users_catch(name):
    with pytest.raises((TypeError, ValueError, RuntimeError, OverflowError)):
        getattr(wrong_calls, name)()
    assert imprint.jit(lambda x: x + 1)(1.0) == 2.0
