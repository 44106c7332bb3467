"""Enumerations are Equinox's: each program runs with both, and gives the same texts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, CheckError

SIDES = (eqx, jax, jnp), (imprint, imprint, inp)


def enums(mod):
    class Results(mod.Enumeration):
        success = "Hurrah!"
        linear = "Linear solve failed"
        nothing = ""

    class More(Results):
        over = "Run"

    class Other(mod.Enumeration):
        other = "other"
        success = "Hurrah!"

    class Both(Other, More):
        last = "last"

    return Results, More, Other, Both


def table(enum):
    return {
        n: int(i._value) for n, i in enum._name_to_item.items()
    }, enum._index_to_message


PROGRAMS = {
    "length": lambda mod, api, np, e: [len(x) for x in e],
    "tables": lambda mod, api, np, e: [table(x) for x in e],
    "message": lambda mod, api, np, e: e[0][e[0].linear] + e[0][e[0].nothing],
    "repr": lambda mod, api, np, e: repr(e[1].over).split(">.")[-1],
    "isinstance": lambda mod, api, np, e: [
        isinstance(x, kind)
        for kind in (*e, mod.Enumeration)
        for x in (e[0].success, e[1].success, 3, kind)
    ],
    "equal": lambda mod, api, np, e: [
        bool(e[0].success == e[0].success),
        bool(e[0].success != e[0].linear),
        bool(api.jit(lambda x: x == e[0].success)(e[0].success)),
    ],
    "static while traced": lambda mod, api, np, e: int(
        api.jit(lambda x: x + (1 if e[0].success == e[0].linear else 2))(1)
    ),
    "jit": lambda mod, api, np, e: e[0][api.jit(lambda x: x)(e[0].linear)],
    "traced": lambda mod, api, np, e: seen(api, e[0]),
    "where": lambda mod, api, np, e: [
        e[0][api.jit(lambda p: e[0].where(p, e[0].success, e[0].linear))(p)]
        for p in (True, False)
    ],
    "where eager": lambda mod, api, np, e: e[0][
        e[0].where(np.array(False), e[0].success, e[0].linear)
    ],
    "vmap": lambda mod, api, np, e: e[0][
        api.vmap(lambda p: e[0].where(p, e[0].success, e[0].linear))(
            np.array([True, False])
        )
    ],
    "promote": lambda mod, api, np, e: [
        e[3][e[3].promote(item)] for item in (e[0].linear, e[1].over, e[2].other)
    ],
    "promote traced": lambda mod, api, np, e: e[3][
        api.jit(e[3].promote)(e[0].where(np.array(False), e[0].success, e[0].linear))
    ],
    "promote mapped": lambda mod, api, np, e: e[1][
        api.vmap(lambda p: e[1].promote(e[0].where(p, e[0].success, e[0].linear)))(
            np.array([True, False])
        )
    ],
    "leaves": lambda mod, api, np, e: [
        int(x) for x in api.tree.leaves([e[0].linear, e[1].over])
    ],
    "unknown": lambda mod, api, np, e: e[0][api.tree.map(str, e[0].linear)],
    "doc": lambda mod, api, np, e: "`linear`: Linear solve failed" in e[0].__doc__,
    "error": lambda mod, api, np, e: float(
        mod.filter_jit(lambda x: e[0].linear.error_if(x, x < 0))(np.array(2.0))
    ),
    "scan": lambda mod, api, np, e: e[0][
        api.lax.scan(
            lambda r, x: (e[0].where(x > 1, e[0].linear, r), None),
            e[0].promoted
            if False
            else e[0].where(np.array(True), e[0].success, e[0].linear),
            np.arange(3),
        )[0]
    ],
}


def seen(api, enum):
    found = []

    def f(x):
        found.append((enum[x], x.is_traced()))
        return x

    api.jit(f)(enum.linear)
    return found, enum.linear.is_traced()


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_as_equinox_s(name):
    found = [PROGRAMS[name](*side, enums(side[0])) for side in SIDES]
    assert found[0] == found[1]


BAD = {
    "compare with a number": lambda mod, np, e: e[0].success == 0,
    "differ from another": lambda mod, np, e: e[0].success != e[1].success,
    "message of another": lambda mod, np, e: e[0][e[1].success],
    "message of a number": lambda mod, np, e: e[0][0],
    "promote itself": lambda mod, np, e: e[0].promote(e[0].success),
    "promote to a base": lambda mod, np, e: e[0].promote(e[1].success),
    "promote a number": lambda mod, np, e: e[0].promote(0),
    "where of arrays": lambda mod, np, e: e[0].where(
        np.array([True]), e[0].success, e[0].linear
    ),
    "where of numbers": lambda mod, np, e: e[0].where(1, e[0].success, e[0].linear),
    "where of others": lambda mod, np, e: e[0].where(True, e[0].success, e[1].success),
    "item where": lambda mod, np, e: type(e[0])("A", (mod.Enumeration,), {"where": ""}),
    "item promote": lambda mod, np, e: type(e[0])(
        "A", (mod.Enumeration,), {"promote": ""}
    ),
    "another base": lambda mod, np, e: type(e[0])("A", (e[0], Deep), {}),
}


class Plain:
    pass


class Deep(Plain):
    pass


@pytest.mark.parametrize("name", BAD)
def test_operations_that_are_refused(name):
    for mod, _, lib_np in SIDES:
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - Equinox has other words
            BAD[name](mod, lib_np, enums(mod))
    assert "expected" in str(caught.value)
    assert isinstance(caught.value, ArgumentError)


def test_an_item_raises_its_message():
    for mod, _, lib_np in SIDES:
        linear = enums(mod)[0].linear
        with pytest.raises(RuntimeError, match="Linear solve failed"):
            mod.filter_jit(lambda x, linear=linear: linear.error_if(x, x < 0))(
                lib_np.array(-2.0)
            )
    results = enums(imprint)[0]
    with pytest.raises(CheckError, match="Linear solve failed"):
        imprint.jit(
            lambda x: results.where(x < -1, results.linear, results.success).error_if(
                x, x < 0
            )
        )(np.float32(-2))


def test_a_message_that_changes_warns():
    for mod, _, _ in SIDES:
        results = enums(mod)[0]
        with pytest.warns(UserWarning, match="success"):
            type(results)("Again", (results,), {"success": "Yes"})


def test_items_are_attributes_and_no_others():
    for mod, _, _ in SIDES:
        with pytest.raises(AttributeError):
            enums(mod)[0].missing  # noqa: B018 - asking is the test
        with pytest.raises(TypeError, match="unhashable"):
            hash(enums(mod)[0].success)


# ---- filter_pure_callback ----


def test_any_leaf_passes_through_as_in_equinox():
    found = []
    for mod, api, lib_np in SIDES:
        seen = []

        def describe(x, how, *, scale, seen=seen):
            seen.append((float(x["a"].sum()), how, scale))
            return {"y": x["a"] * scale, "how": how, "none": None}

        def f(x, mod=mod, api=api, describe=describe):
            struct = api.ShapeDtypeStruct((2,), "float32")
            return mod.filter_pure_callback(
                describe,
                {"a": x, "text": "b"},
                "how",
                scale=2.0,
                result_shape_dtypes={"y": struct, "how": "how", "none": None},
            )

        x = lib_np.ones(2)
        for call in (f, mod.filter_jit(f)):
            out = call(x)
            found.append(
                (np.asarray(out["y"]).tolist(), out["how"], out["none"], seen[-1])
            )
    assert found[:2] == found[2:]


def test_results_that_differ_from_the_declared():
    for mod, api, lib_np in SIDES:
        wanted = (api.ShapeDtypeStruct((), "float32"), "text")
        with pytest.raises(Exception, match=r"matching static|and its arrays"):
            mod.filter_pure_callback(
                lambda x: (x, "other"), lib_np.array(1.0), result_shape_dtypes=wanted
            )
    with pytest.raises(ArgumentError, match="expected no vectorized"):
        imprint.filter_pure_callback(abs, 1, result_shape_dtypes=1, vectorized=True)


def test_it_is_mapped_by_a_method():
    found = []
    for mod, api, lib_np in SIDES:
        struct = api.ShapeDtypeStruct((), "float32")

        def f(x, mod=mod, struct=struct):
            return mod.filter_pure_callback(
                lambda x, name: x * 2,
                x,
                "name",
                result_shape_dtypes=struct,
                vmap_method="sequential",
            )

        found.append(np.asarray(api.vmap(f)(lib_np.arange(3.0))).tolist())
    assert found[0] == found[1] == [0, 2, 4]
