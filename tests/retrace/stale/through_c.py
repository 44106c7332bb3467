"""Scenarios: values reached through objects of C, and data of classes and functions."""


def types_of_a_union():
    global U, f
    U = K | int
    f = lambda x: x * U.__args__[0].rate
    yield
    K.rate = 3.0
    yield


def end_of_a_slice():
    global part, f
    part = slice(O, None)
    f = lambda x: x * part.start.rate
    yield
    O.rate = 3.0
    yield
    K.rate = 4.0
    del O.rate
    yield


def array_inside_of_a_strict_function_that_another_calls():
    global A, inner, f
    A = np.ones(3)
    inner = jit(lambda x: x * float(A.sum()), strict=True)
    f = lambda x: inner(x) + 1.0
    yield
    A[0] = 5.0
    yield
    inner(1.0)
    A[1] = 5.0
    yield
