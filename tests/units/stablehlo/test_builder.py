"""The builder: operations with regions are such as the engine takes."""

import numpy as np
import pytest

from imprint._src import runtime
from imprint._src.core.aval import get_aval
from imprint._src.interpreters.lowering import ir_type
from imprint._src.stablehlo import Builder, ModuleWriter, Value
from imprint._src.stablehlo.builder import function_text


def run(write, *args):
    """Compile and run a function that `write` writes."""
    module = ModuleWriter("test")
    b = Builder(module)
    avals = [get_aval(x) for x in args]
    values = [Value(f"%arg{i}", ir_type(aval)) for i, aval in enumerate(avals)]
    results = write(b, *values)
    module.add(
        function_text("main", b, [(v, "") for v in values], results, public=True)
    )
    outs = [get_aval(np.zeros(v.shape, v.dtype)) for v in results]
    program = runtime.compile(module.text(), outs)
    buffers = [runtime.put(x, a, copy=True) for x, a in zip(args, avals, strict=True)]
    return list(map(runtime.read, program.run(buffers), outs))


X = np.array([1.0, 2.0], "float32")


@pytest.mark.parametrize(
    ("index", "want"), [(0, X + X), (1, X * X), (2, -X), (3, -X), (-1, -X)]
)
def test_a_case_runs_the_branch_of_its_number_or_the_last(index, want):
    def write(b, index, x):
        branches = (
            lambda b, _: (b.add(x, x), index),
            lambda b, _: (b.multiply(x, x), index),
            lambda b, _: (b.negate(x), index),
        )
        return b.case(index, branches, [x.type, index.type])

    out, same = run(write, np.int32(index), X)
    np.testing.assert_array_equal(out, want)
    assert same == index


def test_a_while_loop_runs_as_long_as_its_condition_is_true():
    def write(b, limit, x):
        def condition(b, carry):
            count, _ = carry
            return (b.compare(count, limit, "LT"),)

        def body(b, carry):
            count, y = carry
            return b.add(count, b.constant(1, "int32")), b.add(y, y)

        return b.while_loop((b.constant(0, "int32"), x), condition, body)

    count, y = run(write, np.int32(3), X)
    assert count == 3
    np.testing.assert_array_equal(y, X * 8)


def test_nested_loops_and_branches():
    def write(b, limit, x):
        def body(b, carry):
            count, y = carry
            is_first = b.compare(count, b.constant(0, "int32"), "EQ")
            (z,) = b.case(
                b.convert(is_first, "int32"),
                (
                    lambda b, _: (b.add(y, y),),
                    lambda b, _: b.while_loop(
                        (y,),
                        lambda b, c: (b.constant(False),),
                        lambda b, c: c,
                    ),
                ),
                [y.type],
            )
            return b.add(count, b.constant(1, "int32")), z

        def condition(b, carry):
            return (b.compare(carry[0], limit, "LT"),)

        return b.while_loop((b.constant(0, "int32"), x), condition, body)

    _, y = run(write, np.int32(3), X)
    np.testing.assert_array_equal(y, X * 4)
