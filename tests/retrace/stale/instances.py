"""Scenarios: attributes of user objects, and static objects."""


def attribute_that_the_trace_makes_behind_a_flag():
    global Net, net, f

    class Net:
        built = False

    net = Net()

    def f(x):
        if not net.built:
            net.b = K.rate
            net.o, net.built = K(), True
        return x + net.b * net.o.rate

    yield
    net.b = 5.0
    yield
    net.o.rate = 7.0
    yield
    net.o = L()
    yield


def attribute_that_the_trace_makes_if_vars_has_it_not():
    global Net, net, f

    class Net:
        pass

    net = Net()

    def f(x):
        if "b" not in vars(net):
            vars(net)["b"] = K.rate
        return x + net.b

    yield
    net.b = 5.0
    yield


def attributes_that_the_trace_makes_of_a_class_and_of_a_function():
    global Net, made, done, f

    class Net:
        pass

    def made():
        pass

    done = []

    def f(x):
        if not done:
            Net.b, made.b = 1.0, 2.0
            done.append(True)
        return x + Net.b * made.b

    yield
    Net.b = 5.0
    yield
    made.b = 7.0
    yield


def attribute_of_an_object_where_the_profiler_is_taken_away():
    global Conf, conf, helper, f

    class Conf:
        rate = 1.0

    conf = Conf()

    def helper(x):
        return x * conf.rate

    def f(x):
        sys.setprofile(None)
        return helper(x)

    yield
    conf.rate = 2.0
    yield
    del conf.rate
    yield


def attribute():
    global f
    O.w = 1.0
    f = lambda x: x * O.w
    yield
    O.w = 2.0
    yield
    O.w = 1.0
    yield
    O.w = 3.0
    yield


def three_deep():
    global f, O
    O.a = K()
    O.a.b = K()
    O.a.b.w = 1.0
    f = lambda x: x * O.a.b.w
    yield
    O.a.b.w = 2.0
    yield
    O.a.b = types.SimpleNamespace(w=3.0)
    yield
    O.a = types.SimpleNamespace(b=types.SimpleNamespace(w=4.0))
    yield
    O = types.SimpleNamespace(a=types.SimpleNamespace(b=types.SimpleNamespace(w=5.0)))
    yield


def in_a_list():
    global A, f
    A = [O]
    O.w = 1.0
    f = lambda x: x * A[0].w
    yield
    A[0].w = 2.0
    yield


def setattr_of_a_name():
    global f
    O.w = 1.0
    f = lambda x: x * O.w
    yield
    setattr(O, "w", 2.0)
    yield


def object_setattr():
    global f
    O.w = 1.0
    f = lambda x: x * O.w
    yield
    object.__setattr__(O, "w", 2.0)
    yield


def deleted():
    global f
    O.rate = 2.0
    f = lambda x: x * O.rate
    yield
    del O.rate
    yield


def deleted_then_missing():
    global f
    O.w = 2.0
    f = lambda x: x * O.w
    yield
    del O.w
    yield
    O.w = 3.0
    yield


def hides_a_class_attribute():
    global f
    f = lambda x: x * O.rate
    yield
    O.rate = 2.0
    yield
    del O.rate
    yield


def hides_a_method():
    global M, m, f

    class M:
        def h(self):
            return 1.0

    m = M()
    f = lambda x: x * m.h()
    yield
    m.h = lambda: 2.0
    yield
    del m.h
    yield
    M.h = lambda self: 3.0
    yield


def method_made_by_methodtype():
    global M, m, f

    class M:
        w = 1.0

    m = M()
    m.h = types.MethodType(lambda self: self.w, m)
    f = lambda x: x * m.h()
    yield
    m.w = 2.0
    yield
    m.h = types.MethodType(lambda self: 3.0, m)
    yield


def dict_item():
    global f
    O.w = 1.0
    f = lambda x: x * O.w
    yield
    O.__dict__["w"] = 2.0
    yield


def attribute_whose_name_is_no_identifier():
    global f
    setattr(O, "a-b", 1.0)
    f = lambda x: x * getattr(O, "a-b")
    yield
    setattr(O, "a-b", 2.0)
    yield


def dict_replaced():
    global f
    O.w = 1.0
    f = lambda x: x * O.w
    yield
    O.__dict__ = {"w": 2.0}
    yield
    O.w = 3.0
    yield


def vars_update():
    global f
    O.w = 1.0
    f = lambda x: x * O.w
    yield
    vars(O).update(w=2.0)
    yield


def vars_update_of_a_hiding_attribute():
    global f
    f = lambda x: x * O.rate
    yield
    vars(O).update(rate=2.0)
    yield


def attribute_of_self():
    global M, m, f

    class M:
        def __init__(self):
            self.w = 1.0

        def h(self, x):
            return x * self.w

    m = M()
    f = m.h
    yield
    m.w = 2.0
    yield
    m.__dict__["w"] = 3.0
    yield


def attribute_of_a_captured_self():
    global M, m, f

    class M:
        def __init__(self):
            self.w = 1.0
            self.h = lambda x: x * self.w

    m = M()
    f = m.h
    yield
    m.w = 2.0
    yield


def method_of_a_method():
    global M, m, f

    class M:
        def __init__(self):
            self.w = 1.0

        def a(self):
            return self.w

        def b(self):
            return self.a()

    m = M()
    f = lambda x: x * m.b()
    yield
    m.w = 2.0
    yield
    m.a = lambda: 3.0
    yield


def part_of_self():
    global Opt, Trainer, t, f

    class Opt:
        def __init__(self):
            self.lr = 1.0

    class Trainer:
        def __init__(self):
            self.opt = Opt()

        def step(self, x):
            return x * self.opt.lr

    t = Trainer()
    f = t.step
    yield
    t.opt.lr = 2.0
    yield
    t.opt = Opt()
    t.opt.lr = 3.0
    yield


def callable_object():
    global M, f

    class M:
        def __init__(self):
            self.w = 1.0

        def __call__(self, x):
            return x * self.w

    f = M()
    yield
    f.w = 2.0
    yield


def callable_object_inside():
    global M, m, f

    class M:
        def __init__(self):
            self.w = 1.0

        def __call__(self, x):
            return x * self.w

    m = M()
    f = lambda x: m(x)
    yield
    m.w = 2.0
    yield


def list_of_an_object():
    global f
    O.l = [1.0]
    f = lambda x: x * O.l[0]
    yield
    O.l[0] = 2.0
    yield
    O.l = [3.0]
    yield


def dict_of_an_object():
    global f
    O.d = {"a": 1.0}
    f = lambda x: x * O.d["a"]
    yield
    O.d["a"] = 2.0
    yield
    O.d = {"a": 3.0}
    yield


def array_of_an_object():
    global f
    O.a = np.ones(1)
    f = lambda x: x * O.a.sum()
    yield
    O.a = np.ones(2)
    yield


def closure_of_an_object():
    global f
    O.h = (lambda w: lambda: w)(1.0)
    f = lambda x: x * O.h()
    yield
    O.h = (lambda w: lambda: w)(2.0)
    yield
    O.h.__closure__[0].cell_contents = 3.0
    yield


def two_objects_of_a_class():
    global a, b, f
    a, b = K(), K()
    a.w = b.w = 1.0
    f = lambda x: x * a.w * b.w
    yield
    b.w = 2.0
    yield
    a.w = 3.0
    yield


def object_rebound_to_an_equal_one():
    global f, O
    O.w = 1.0
    f = lambda x: x * O.w
    yield
    O = K()
    O.w = 2.0
    yield
    O.w = 3.0
    yield


def object_with_eq():
    global M, m, f

    class M:
        def __init__(self, w):
            self.w = w

        def __eq__(self, b):
            return True

        def __hash__(self):
            return 1

    m = M(1.0)
    f = lambda x: x * m.w
    yield
    m.w = 2.0
    yield
    m = M(3.0)
    yield


def object_with_a_strange_setattr():
    global M, m, f

    class M:
        def __init__(self):
            self.__dict__["d"] = {}

        def __setattr__(self, name, v):
            self.d[name] = v

        def __getattr__(self, name):
            return self.d[name]

    m = M()
    m.w = 1.0
    f = lambda x: x * m.w
    yield
    m.w = 2.0
    yield


def dot_dict():
    global M, m, f

    class M(dict):
        __getattr__ = dict.__getitem__
        __setattr__ = dict.__setitem__

    m = M(w=1.0)
    f = lambda x: x * m.w
    yield
    m.w = 2.0
    yield
    m["w"] = 3.0
    yield


def dict_as_its_own_namespace():
    global M, m, f

    class M(dict):
        def __init__(self, **k):
            super().__init__(k)
            self.__dict__ = self

    m = M(w=1.0)
    f = lambda x: x * m.w
    yield
    m["w"] = 2.0
    yield
    m.w = 3.0
    yield


def object_in_a_cycle():
    global f
    O.me = O
    O.w = 1.0
    f = lambda x: x * O.me.me.me.w
    yield
    O.w = 2.0
    yield


def registry():
    global M, f

    class M:
        all = []

        def __init__(self, w):
            self.w = w
            M.all.append(self)

    M(1.0)
    M(1.0)
    f = lambda x: x * sum(m.w for m in M.all)
    yield
    M.all[1].w = 2.0
    yield
    M(3.0)
    yield


def singleton():
    global M, f

    class M:
        one = None

        @classmethod
        def get(cls):
            if cls.one is None:
                cls.one = cls()
                cls.one.w = 1.0
            return cls.one

    f = lambda x: x * M.get().w
    yield
    M.get().w = 2.0
    yield


def attribute_that_an_init_inside_sets():
    global M, f

    class M:
        def __init__(self, o):
            self.w = o.rate

    f = lambda x: x * M(O).w
    yield
    O.rate = 2.0
    yield


def mangled_name():
    global M, m, f

    class M:
        def __init__(self):
            self.__w = 1.0

        def get(self):
            return self.__w

    m = M()
    f = lambda x: x * m.get()
    yield
    m._M__w = 2.0
    yield


def type_of_an_attribute():
    global f
    O.w = 1
    f = lambda x: x * (1.0 if type(O.w) is int else 2.0)
    yield
    O.w = 1.0
    yield
    O.w = True
    O.w = 1
    yield


def sign_of_zero():
    global f
    O.w = 0.0
    f = lambda x: x * math.copysign(1.0, O.w)
    yield
    O.w = -0.0
    yield


def nested_jit_over_an_object():
    global g, f
    O.w = 1.0

    @jit
    def g(x):
        return x * O.w

    f = lambda x: g(x) + 1
    yield
    O.w = 2.0
    yield


def nested_jit_of_a_method():
    global M, m, f

    class M:
        def __init__(self):
            self.w = 1.0

        def step(self, x):
            return jit(self.inner)(x)

        def inner(self, x):
            return x * self.w

    m = M()
    f = m.step
    yield
    m.w = 2.0
    yield


def nested_jit_with_a_static_self():
    global M, m, f

    class M:
        def __init__(self):
            self.w = 1.0

        @functools.partial(jit, static_argnums=0)
        def step(self, x):
            return x * self.w

    m = M()
    f = lambda x: m.step(x)
    yield
    m.w = 2.0
    yield


def method_compiled_with_a_static_self():
    global M, m, f, step, compiled

    class M:
        def __init__(self):
            self.w = 1.0

        def step(self, x):
            return x * self.w

    m = M()
    f = m.step
    step = jit(M.step, static_argnums=0)
    compiled = lambda x: step(m, x)
    yield
    m.w = 2.0
    yield
    m.step_ = 1
    m.w = 3.0
    yield


def jit_re_created_at_each_call():
    global f, compiled
    O.w = 1.0
    f = lambda x: x * O.w
    compiled = lambda x: jit(lambda y: y * O.w)(x)
    yield
    O.w = 2.0
    yield


def method_of_filter_jit():
    global M, m, f, compiled

    class M:
        def __init__(self):
            self.w = 1.0

        def step(self, x):
            return x * self.w

    m = M()
    f = m.step
    compiled = filter_jit(m.step)
    yield
    m.w = 2.0
    yield
