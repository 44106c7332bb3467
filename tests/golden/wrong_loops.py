"""Programs whose control flow is wrong; the messages are golden files.

Each function is one program, of a library: JAX refuses it too, by an error of a class that
ours is of. The messages name lines of this file, so add at the end.
"""

import numpy as np

import imprint

X = np.ones(3, np.float32)


# ---- conditionals ----


def branches_of_other_trees(lib=imprint):
    pair = lambda x: {"a": x, "b": (x, x)}
    lib.jit(lambda x: lib.lax.cond(x > 0, pair, lambda x: {"a": x, "b": [x, x]}, x))(
        1.0
    )


def branches_of_other_dtypes(lib=imprint):
    whole = lambda x: x.astype("int32")
    lib.jit(lambda x: lib.lax.cond(x.sum() > 0, lambda x: x, whole, x))(X)


def branches_of_other_shapes(lib=imprint):
    branches = [lambda x: (x, x), lambda x: (x, x[:2])]
    lib.jit(lambda i, x: lib.lax.switch(i, branches, x))(0, X)


def branch_without_a_result(lib=imprint):
    lib.jit(lambda x: lib.lax.cond(x > 0, lambda x: x, lambda x: None, x))(1.0)


def branch_of_a_text(lib=imprint):
    lib.jit(lambda x: lib.lax.cond(x > 0, lambda x: "no", lambda x: "yes", x))(1.0)


def predicate_of_many(lib=imprint):
    lib.lax.cond(X > 0, lambda x: x, lambda x: -x, X)


def predicate_of_a_text(lib=imprint):
    lib.lax.cond("yes", lambda x: x, lambda x: -x, X)


def predicate_complex(lib=imprint):
    lib.lax.cond(1j, lambda x: x, lambda x: -x, X)


def branch_that_is_no_function(lib=imprint):
    lib.lax.cond(True, lambda x: x, 3.0, X)


def operand_that_is_no_array(lib=imprint):
    lib.jit(lambda x: lib.lax.cond(x > 0, lambda x: x, lambda x: x, {"name": "a"}))(1.0)


def operand_twice(lib=imprint):
    lib.lax.cond(True, lambda x: x, lambda x: -x, 1.0, operand=2.0)


def index_of_many(lib=imprint):
    lib.lax.switch(np.arange(2), [lambda x: x, lambda x: -x], X)


def index_of_a_float(lib=imprint):
    lib.lax.switch(1.0, [lambda x: x, lambda x: -x], X)


def no_branches(lib=imprint):
    lib.lax.switch(0, [], X)


def one_branch_for_a_list(lib=imprint):
    lib.lax.switch(0, lambda x: x, X)


# ---- loops ----


def scan_of_unequal_lengths(lib=imprint):
    xs = {"a": np.ones(3), "b": np.ones((4, 2))}
    lib.lax.scan(lambda c, x: (c, x), 0.0, xs)


def scan_of_another_length(lib=imprint):
    lib.lax.scan(lambda c, x: (c, x), 0.0, X, length=4)


def scan_of_a_negative_length(lib=imprint):
    lib.lax.scan(lambda c, x: (c, x), 0.0, None, length=-1)


def scan_without_a_length(lib=imprint):
    lib.lax.scan(lambda c, x: (c, x), 0.0)


def scan_over_a_number(lib=imprint):
    lib.lax.scan(lambda c, x: (c, x), 0.0, {"x": 1.0})


def scan_that_unrolls_less_than_nothing(lib=imprint):
    lib.lax.scan(lambda c, x: (c, x), 0.0, X, unroll=-2)


def scan_without_a_pair(lib=imprint):
    lib.lax.scan(lambda c, x: c, 0.0, X)


def scan_of_no_function(lib=imprint):
    lib.lax.scan(3, 0.0, X)


def carry_that_is_no_array(lib=imprint):
    lib.lax.scan(lambda c, x: (c, x), {"name": "a"}, X)


def carry_of_another_tree(lib=imprint):
    lib.lax.scan(lambda c, x: ({"a": c["a"]}, x), {"a": 1.0, "b": 2.0}, X)


def carry_of_another_dtype(lib=imprint):
    def step(carry, x):
        return {"n": carry["n"] + x, "y": carry["y"]}, None

    lib.lax.scan(step, {"n": np.int32(0), "y": X}, X)


def carry_of_another_shape(lib=imprint):
    lib.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1][:2]), (0, X))


def carry_of_another_dtype_in_a_counted_loop(lib=imprint):
    lib.lax.fori_loop(0, 3, lambda i, c: c * 0.5, np.int32(4))


def condition_of_many(lib=imprint):
    lib.lax.while_loop(lambda x: x > 0, lambda x: x - 1, X)


def condition_of_a_number(lib=imprint):
    lib.lax.while_loop(lambda x: x, lambda x: x - 1, 3)


def condition_of_a_tree(lib=imprint):
    lib.lax.while_loop(lambda x: (x > 0, x), lambda x: x - 1, 3)


def condition_that_is_no_function(lib=imprint):
    lib.lax.while_loop(True, lambda x: x, 3)


def while_of_no_step(lib=imprint):
    lib.lax.while_loop(lambda x: x > 0, None, 3)


def while_backwards(lib=imprint):
    halved = lambda x: lib.lax.while_loop(lambda x: x > 1, lambda x: x / 2, x)
    lib.grad(halved)(5.0)


def bounds_of_other_dtypes(lib=imprint):
    lib.lax.fori_loop(0, 2.5, lambda i, c: c, 1.0)


def bounds_of_many(lib=imprint):
    lib.lax.fori_loop(0, np.arange(2), lambda i, c: c, 1.0)


def unknown_trips_unrolled(lib=imprint):
    lib.jit(lambda n: lib.lax.fori_loop(0, n, lambda i, c: c, 1.0, unroll=2))(3)


def counted_loop_of_no_function(lib=imprint):
    lib.lax.fori_loop(0, 3, 1.0, 1.0)


def map_of_unequal_lengths(lib=imprint):
    lib.lax.map(lambda x: x, (np.ones(3), np.ones(4)))


def map_in_batches_of_less_than_nothing(lib=imprint):
    lib.lax.map(lambda x: x, X, batch_size=-2)


def map_over_a_number(lib=imprint):
    lib.lax.map(lambda x: x, 1.0)


def map_of_no_function(lib=imprint):
    lib.lax.map(None, X)


def associative_scan_of_unequal_lengths(lib=imprint):
    lib.lax.associative_scan(lambda a, b: a, (np.ones(3), np.ones(4)))


def associative_scan_of_no_function(lib=imprint):
    lib.lax.associative_scan("add", X)


# ---- solutions ----


def _same(x):
    return x


def _given(_, b):
    return b


def matvec_of_another_shape(lib=imprint):
    lib.lax.custom_linear_solve(lambda x: x[:2], X, _given)


def matvec_of_another_tree(lib=imprint):
    other = lambda x: {"a": x["a"], "b": (x["a"],)}
    lib.lax.custom_linear_solve(other, {"a": X, "b": X}, _given)


def matvec_that_is_no_function(lib=imprint):
    lib.lax.custom_linear_solve(np.eye(3), X, _given)


def solve_of_another_shape(lib=imprint):
    lib.lax.custom_linear_solve(_same, {"a": X}, lambda _, b: {"a": b["a"][0]})


def solve_that_is_no_function(lib=imprint):
    lib.lax.custom_linear_solve(_same, X, None)


def solve_with_aux_that_is_not_told_of(lib=imprint):
    lib.lax.custom_linear_solve(_same, X, lambda _, b: (b, 1))


def solve_without_aux(lib=imprint):
    lib.lax.custom_linear_solve(_same, X, _given, has_aux=True)


def transpose_solve_of_another_shape(lib=imprint):
    lib.lax.custom_linear_solve(_same, X, _given, lambda _, b: b[:1])


def solution_of_a_text(lib=imprint):
    lib.lax.custom_linear_solve(_same, "b", _given)


def solution_backwards_without_a_transpose(lib=imprint):
    lib.grad(lambda b: lib.lax.custom_linear_solve(_same, b, _given))(1.0)


def root_of_no_function(lib=imprint):
    lib.lax.custom_root(3, 1.0, _given, _given)


def root_of_another_tree(lib=imprint):
    lib.lax.custom_root(_same, {"a": X}, lambda _, x: [x["a"]], _given)


def root_of_a_function_of_another_tree(lib=imprint):
    lib.lax.custom_root(lambda x: (x,), 1.0, _given, _given)


def root_without_aux(lib=imprint):
    lib.lax.custom_root(_same, 1.0, _given, _given, has_aux=True)


def tangent_solve_of_another_tree(lib=imprint):
    lib.lax.custom_root(_same, 1.0, _given, lambda _, y: (y, y))


def transpose_by_what_a_solution_closes_over(lib=imprint):
    solved = lambda a: lib.lax.custom_linear_solve(lambda x: a * x, X, _given, _given)
    lib.linear_transpose(solved, X)(X)


def transpose_of_auxiliary_data(lib=imprint):
    twice = lambda _, b: (b, b)
    solved = lambda b: lib.lax.custom_linear_solve(_same, b, twice, twice, has_aux=True)
    lib.linear_transpose(solved, X)((X, X))
