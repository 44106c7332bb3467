"""Scenarios: the value of a name depends on the branch taken."""


def conditional_expression():
    global D, f
    D = True

    def f(x):
        c = K if D else L
        return x * c.rate

    yield
    K.rate = 3.0
    yield
    D = False
    yield
    L.rate = 4.0
    yield


def conditional_expression_the_other():
    global D, f
    D = False

    def f(x):
        c = K if D else L
        return x * c.rate

    yield
    L.rate = 3.0
    yield


def conditional_receiver():
    global D, f
    D = 0
    f = lambda x: x * (K if D else L).rate
    yield
    L.rate = 3.0
    yield


def a_or():
    global A, f
    A = None
    f = lambda x: x * (A or L).rate
    yield
    L.rate = 3.0
    yield


def or_the_first():
    global A, f
    A = K
    f = lambda x: x * (A or L).rate
    yield
    K.rate = 3.0
    yield


def a_and():
    global A, f
    A = 1
    f = lambda x: x * (A and K).rate
    yield
    K.rate = 3.0
    yield


def or_of_objects():
    global A, B, f
    A = None
    B = L()
    f = lambda x: x * (A or B).rate
    yield
    B.rate = 3.0
    yield


def or_of_modules():
    global A, f
    A = None
    f = lambda x: x * (A or cfg).W
    yield
    cfg.W = 3.0
    yield


def conditional_module():
    global D, f
    D = 0
    f = lambda x: x * (cfg if D else other).W
    yield
    other.W = 3.0
    yield


def reassigned_under_if():
    global A, f
    A = None

    def f(x):
        c = A
        if c is None:
            c = L
        return x * c.rate

    yield
    L.rate = 3.0
    yield


def parameter_reassigned_under_if():
    global g, f

    def g(x, c=None):
        if c is None:
            c = L
        return x * c.rate

    f = lambda x: g(x)
    yield
    L.rate = 3.0
    yield


def instance_reassigned_under_if():
    global B, g, f
    B = L()

    def g(x, c=None):
        if c is None:
            c = B
        return x * c.rate

    f = lambda x: g(x)
    yield
    B.rate = 3.0
    yield


def module_reassigned_under_if():
    global g, f

    def g(x, c=None):
        if c is None:
            c = cfg
        return x * c.W

    f = lambda x: g(x)
    yield
    cfg.W = 3.0
    yield


def if_and_else():
    global D, f
    D = False

    def f(x):
        if D:
            c = K
        else:
            c = L
        return x * c.rate

    yield
    L.rate = 3.0
    yield


def a_elif():
    global D, f
    D = 2

    def f(x):
        if D == 0:
            c = L
        elif D == 1:
            c = cfg
        else:
            c = K
        return x * c.rate

    yield
    K.rate = 3.0
    yield


def match():
    global D, f
    D = 2

    def f(x):
        match D:
            case 1:
                c = L
            case _:
                c = K
        return x * c.rate

    yield
    K.rate = 3.0
    yield


def try_and_except():
    global f

    def f(x):
        c = K
        try:
            raise ValueError
        except ValueError:
            c = L
        return x * c.rate

    yield
    L.rate = 3.0
    yield


def try_and_else():
    global f

    def f(x):
        c = L
        try:
            pass
        except ValueError:
            c = L
        else:
            c = K
        return x * c.rate

    yield
    K.rate = 3.0
    yield


def a_finally():
    global f

    def f(x):
        c = L
        try:
            c = L
        finally:
            c = K
        return x * c.rate

    yield
    K.rate = 3.0
    yield


def exception_that_is_held():
    global E, f

    class E(Exception):
        rate = 1.0

    def f(x):
        try:
            raise E
        except E as e:
            return x * e.rate

    yield
    E.rate = 2.0
    yield


def missing_attribute_tried():
    global M, f

    class M:
        pass

    def f(x):
        c = M
        try:
            return x * c.rate
        except AttributeError:
            return x

    yield
    M.rate = 2.0
    yield


def a_for():
    global f

    def f(x):
        c = None
        for c in (L, K):
            pass
        return x * c.rate

    yield
    K.rate = 3.0
    yield


def for_and_else():
    global f

    def f(x):
        for c in (L, L):
            if c is K:
                break
        else:
            c = K
        return x * c.rate

    yield
    K.rate = 3.0
    yield


def for_and_break():
    global f

    def f(x):
        for c in (K, L):
            if c.rate:
                break
        return x * c.rate

    yield
    K.rate = 3.0
    yield


def a_while():
    global f

    def f(x):
        c, todo = None, [K, L]
        while todo:
            c = todo.pop()
        return x * c.rate

    yield
    K.rate = 3.0
    yield


def while_with_a_shift():
    global f

    def f(x):
        a, b, n = L, K, 0
        while n < 1:
            a, b, n = b, a, n + 1
        return x * a.rate

    yield
    K.rate = 3.0
    yield


def walrus():
    global f

    def f(x):
        if (c := K) is not None:
            return x * c.rate

    yield
    K.rate = 3.0
    yield


def walrus_in_or():
    global A, f
    A = None

    def f(x):
        return x * (c := A or K).rate + c.rate

    yield
    K.rate = 3.0
    yield


def swap():
    global f

    def f(x):
        a, b = K, L
        a, b = b, a
        return x * a.rate

    yield
    L.rate = 3.0
    yield


def unpacking_a_global_tuple():
    global P, f
    P = (K, L)

    def f(x):
        a, b = P
        return x * b.rate

    yield
    L.rate = 3.0
    yield


def star_unpacking():
    global f

    def f(x):
        a, *b = K, K, L
        return x * b[1].rate

    yield
    L.rate = 3.0
    yield


def nested_unpacking():
    global f

    def f(x):
        (a, (b, c)) = K, (K, L)
        return x * c.rate

    yield
    L.rate = 3.0
    yield


def chained_assignment():
    global f

    def f(x):
        a = b = O
        return x * b.rate

    yield
    O.rate = 3.0
    yield


def subscript_of_a_display():
    global f
    f = lambda x: x * [K, L][1].rate
    yield
    L.rate = 3.0
    yield


def subscript_by_a_global():
    global I, f
    I = 1
    f = lambda x: x * (K, L)[I].rate
    yield
    L.rate = 3.0
    yield


def dict_display():
    global f
    f = lambda x: x * {"a": K}["a"].rate
    yield
    K.rate = 3.0
    yield


def dict_get():
    global f
    f = lambda x: x * {"a": K}.get("b", L).rate
    yield
    L.rate = 3.0
    yield


def value_that_min_gives():
    global f
    f = lambda x: x * min([K, L], key=lambda c: c.rate).rate
    yield
    K.rate = 1.5
    yield


def next_of_a_genexpr():
    global P, f
    P = [K, L]

    def f(x):
        return x * next(c for c in P if c.rate > 1.0).rate

    yield
    L.rate = 3.0
    yield
    K.rate = 4.0
    yield


def next_with_a_default():
    global f
    f = lambda x: x * next(iter(()), K).rate
    yield
    K.rate = 3.0
    yield


def deleted_and_bound_again():
    global f

    def f(x):
        c = L
        del c
        c = K
        return x * c.rate

    yield
    K.rate = 3.0
    yield


def a_with():
    global using, f

    @contextlib.contextmanager
    def using():
        yield K

    def f(x):
        with using() as c:
            return x * c.rate

    yield
    K.rate = 3.0
    yield


def with_nullcontext():
    global f

    def f(x):
        with contextlib.nullcontext(O) as c:
            return x * c.rate

    yield
    K.rate = 3.0
    yield


def early_return_of_a_helper():
    global D, pick, f
    D = False

    def pick():
        if D:
            return K
        return L

    f = lambda x: x * pick().rate
    yield
    L.rate = 3.0
    yield
    D = True
    yield


def comparison_of_attributes():
    global f

    def f(x):
        return x if O.rate < L.rate < 5 else -x

    yield
    L.rate = 7.0
    yield


def a_assert():
    global f

    def f(x):
        c = O
        assert c.rate < 3, "too fast"
        return x

    yield
    O.rate = 3.0
    yield


def isinstance_of_a_name():
    global A, f
    A = O

    def f(x):
        return x * A.rate if isinstance(A, K) else -x

    yield
    A.rate = 5.0
    yield
    A = L()
    yield


def augmented():
    global f

    def f(x):
        w = 0.0
        for c in (K, L):
            w += c.rate
        return x * w

    yield
    L.rate = 3.0
    yield


def local_rebound_in_a_loop_of_attributes():
    global N, a, f

    class N:
        pass

    a = N()
    a.next = N()
    a.next.next = None
    a.w = a.next.w = 1.0

    def f(x):
        n = a
        while n is not None:
            x = x * n.w
            n = n.next
        return x

    yield
    a.next.w = 2.0
    yield
    a.next = None
    yield
