"""A wrapper is called by its own parameters, not by those of what it wraps."""

import functools

import jax
import pytest

import imprint as imp


def _sum(a, b, x=1):
    return a + b + x


def _packed(args, x):
    return _sum(*args, x=x)


class Packed:
    def __init__(self):
        functools.update_wrapper(self, _sum)

    def __call__(self, args, x):
        return _packed(args, x)


def _unpacks_first(*args, **kwargs):
    return _sum(*args[0], **kwargs)


def packs():
    return functools.wraps(_sum)(lambda args, x: _packed(args, x))


def forwards_otherwise():
    return functools.wraps(_sum)(lambda *args, **kw: _unpacks_first(*args, **kw))


WRAPPERS = {"packs": packs, "object": Packed, "forwards otherwise": forwards_otherwise}


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("transform", ["jit", "eval_shape", "make_jaxpr"])
def test_wrappers_are_bound_by_their_own_parameters(name, transform):
    def run(lib):
        fun = WRAPPERS[name]()
        if transform == "jit":
            return int(lib.jit(fun)((1, 2), x=3))
        if transform == "eval_shape":
            return lib.eval_shape(fun, (1, 2), x=3).dtype.name
        return len(lib.make_jaxpr(fun)((1, 2), x=3).jaxpr.invars)

    assert run(imp) == run(jax)


@pytest.mark.parametrize("static", [{"static_argnames": "b"}, {"static_argnums": 1}])
def test_options_name_parameters_of_the_wrapped_function(static):
    def parameters(lib):
        forwarder = functools.wraps(_sum)(lambda *args: _sum(*args))
        return lib.jit(forwarder, **static).lower(1, 2).as_text().count("%arg0:")

    assert parameters(imp) == parameters(jax) == 1


def test_a_call_that_no_parameters_fit_is_still_refused():
    bad = functools.wraps(_sum)(lambda args, x: _packed(args, x))
    with pytest.raises(
        imp.errors.ArgumentError, match=r"expected arguments \(args, x\)"
    ):
        imp.jit(bad)((1, 2))
