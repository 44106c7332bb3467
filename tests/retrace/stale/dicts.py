"""Scenarios: containers that a trace writes to, and that user code edits later."""


def dictionary_that_is_its_own_dict_and_says_it_has_all():
    global D, d, f

    class D(dict):
        def __init__(self, **held):
            super().__init__(held)
            self.__dict__ = self

        def __contains__(self, _):
            return True

        def __missing__(self, _):
            return 1.5

    d = D(a=1.0, b=2.0)
    f = lambda x: x * sum(d.values())
    yield
    d.a = 3.0
    yield
    d["c"] = 4.0
    yield


def key_that_the_trace_sets():
    global CFG, f
    CFG = {"rate": 1.0}

    def f(x):
        CFG["traced"] = True
        return x * CFG["rate"]

    yield
    CFG["rate"] = 2.0
    yield


def key_that_the_trace_sets_then_a_new_dict():
    global CFG, f
    CFG = {"rate": 1.0}

    def f(x):
        CFG["traced"] = True
        return x * CFG["rate"]

    yield
    CFG = {"rate": 2.0}
    yield
    CFG["rate"] = 3.0
    yield


def setdefault():
    global CFG, f
    CFG = {}
    f = lambda x: x * CFG.setdefault("rate", 1.0)
    yield
    CFG["rate"] = 2.0
    yield


def setdefault_of_another_key():
    global CFG, f
    CFG = {"rate": 1.0}

    def f(x):
        CFG.setdefault("seen", []).append(1)
        return x * CFG["rate"]

    yield
    CFG["rate"] = 2.0
    yield


def update():
    global CFG, f
    CFG = {"rate": 1.0}

    def f(x):
        CFG.update(traced=True)
        return x * CFG["rate"]

    yield
    CFG["rate"] = 2.0
    yield


def or_equals():
    global CFG, f
    CFG = {"rate": 1.0}

    def f(x):
        global CFG
        CFG |= {"traced": True}
        return x * CFG["rate"]

    yield
    CFG["rate"] = 2.0
    yield


def defaultdict():
    global D, f
    D = collections.defaultdict(lambda: 1.0)
    f = lambda x: x * D["rate"]
    yield
    D["rate"] = 2.0
    yield


def defaultdict_that_gains_another_key():
    global D, f
    D = collections.defaultdict(int, rate=1.0)

    def f(x):
        D["n"] += 1
        return x * D["rate"]

    yield
    D["rate"] = 2.0
    yield


def counter():
    global C, f
    C = collections.Counter(rate=1)

    def f(x):
        C["traced"] += 1
        return x * C["rate"]

    yield
    C["rate"] = 2
    yield


def key_that_is_popped():
    global CFG, f
    CFG = {"rate": 1.0, "first": 1}

    def f(x):
        CFG.pop("first", None)
        return x * CFG["rate"]

    yield
    CFG["rate"] = 2.0
    yield


def captured_dict():
    global make, CFG, f

    def make(c):
        def f(x):
            c["traced"] = True
            return x * c["rate"]

        return f

    CFG = {"rate": 1.0}
    f = make(CFG)
    yield
    CFG["rate"] = 2.0
    yield


def dict_in_an_object():
    global f
    O.cfg = {"rate": 1.0}

    def f(x):
        O.cfg["traced"] = True
        return x * O.cfg["rate"]

    yield
    O.cfg["rate"] = 2.0
    yield


def dict_of_a_class():
    global f
    K.cfg = {"rate": 1.0}

    def f(x):
        K.cfg["traced"] = True
        return x * K.cfg["rate"]

    yield
    K.cfg["rate"] = 2.0
    yield


def dict_of_a_module():
    global f
    cfg.C = {"rate": 1.0}

    def f(x):
        cfg.C["traced"] = True
        return x * cfg.C["rate"]

    yield
    cfg.C["rate"] = 2.0
    yield


def default_of_a_parameter():
    global f

    def f(x, c={"rate": 1.0}):
        c["traced"] = True
        return x * c["rate"]

    yield
    f.__defaults__[0]["rate"] = 2.0
    yield


def dict_in_a_dict():
    global CFG, f
    CFG = {"a": {"rate": 1.0}}

    def f(x):
        CFG["a"]["traced"] = True
        return x * CFG["a"]["rate"]

    yield
    CFG["a"]["rate"] = 2.0
    yield
    CFG["a"] = {"rate": 3.0}
    yield


def attribute_next_to_a_dict_that_grows():
    global CFG, f
    CFG = {"a": {"rate": 1.0}, "log": {}}

    def f(x):
        CFG["log"][len(CFG["log"])] = 1
        return x * CFG["a"]["rate"]

    yield
    CFG["a"]["rate"] = 2.0
    yield


def memo_by_hand():
    global W, MEMO, get, f
    W = 1.0
    MEMO = {}

    def get(k):
        if k not in MEMO:
            MEMO[k] = W
        return MEMO[k]

    f = lambda x: x * get("a")
    yield
    MEMO["a"] = 2.0
    yield


def list_that_the_trace_appends_to():
    global V, f
    V = [1.0]

    def f(x):
        V.append(0)
        return x * V[0]

    yield
    V[0] = 2.0
    yield


def list_that_the_trace_appends_to_new():
    global V, f
    V = [1.0]

    def f(x):
        V.append(0)
        return x * V[0]

    yield
    V = [2.0]
    yield
    V[0] = 3.0
    yield


def list_of_an_object_that_the_trace_appends_to():
    global f
    O.log = [1.0]

    def f(x):
        O.log.append(0)
        return x * O.log[0]

    yield
    O.log[0] = 2.0
    yield


def set_that_the_trace_adds_to():
    global V, f
    V = set()

    def f(x):
        V.add("traced")
        return x * (2.0 if "fast" in V else 1.0)

    yield
    V.add("fast")
    yield


def attribute_next_to_one_that_the_trace_sets():
    global f
    O.w = 1.0

    def f(x):
        O.traced = True
        return x * O.w

    yield
    O.w = 2.0
    yield


def class_attribute_next_to_one_that_the_trace_sets():
    global f

    def f(x):
        K.traced = True
        return x * K.rate

    yield
    K.rate = 2.0
    yield


def module_attribute_next_to_one_that_the_trace_sets():
    global f

    def f(x):
        cfg.traced = True
        return x * cfg.W

    yield
    cfg.W = 2.0
    yield


def function_attribute_next_to_one_that_the_trace_sets():
    global h, f

    def h():
        return 1.0

    h.w = 1.0

    def f(x):
        h.traced = True
        return x * h.w

    yield
    h.w = 2.0
    yield


def global_next_to_one_that_the_trace_sets():
    global W, f
    W = 1.0

    def f(x):
        global TRACED
        TRACED = True
        return x * W

    yield
    W = 2.0
    yield


def deque_that_the_trace_appends_to():
    global V, f
    V = collections.deque([1.0])

    def f(x):
        V.append(0)
        return x * V[0]

    yield
    V[0] = 2.0
    yield


def ordered_dict_that_gains_a_key():
    global V, f
    V = collections.OrderedDict(rate=1.0)

    def f(x):
        V["traced"] = 1
        return x * V["rate"]

    yield
    V["rate"] = 2.0
    yield


def big_dict_that_gains_a_key():
    global V, f
    V = dict.fromkeys(range(100), 1.0)

    def f(x):
        V["traced"] = 1
        return x * V[7]

    yield
    V[7] = 2.0
    yield


def object_as_a_value_of_a_dict_that_gains_a_key():
    global V, f
    V = {"o": O}

    def f(x):
        V["traced"] = 1
        return x * V["o"].rate

    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def whether_a_key_is_there():
    global CFG, f
    CFG = {}

    def f(x):
        CFG["traced"] = True
        return x * (2.0 if "fast" in CFG else 1.0)

    yield
    CFG["fast"] = True
    yield


def missing_key_tried():
    global CFG, f
    CFG = {}

    def f(x):
        try:
            return x * CFG["rate"]
        except KeyError:
            return x

    yield
    CFG["rate"] = 2.0
    yield


def view_of_values_that_is_kept():
    global D, V, f
    D = {"a": 1.0}
    V = D.values()
    f = lambda x: x * sum(V)
    yield
    D["a"] = 5.0
    yield
    D["b"] = 5.0
    yield
    D = {"a": 3.0}
    V = D.values()
    yield


def view_of_items_in_a_closure():
    global D, make, f
    D = collections.OrderedDict(a=1.0)

    def make():
        v = D.items()
        return lambda x: x * sum(b for _, b in v)

    f = make()
    yield
    D["a"] = 5.0
    yield
    D["c"] = 5.0
    yield


def view_as_an_attribute():
    global D, f
    D = {"a": [1.0]}
    O.v = D.items()
    f = lambda x: x * sum(b[0] for a, b in O.v)
    yield
    D["a"][0] = 5.0
    yield
    D["z"] = [7.0]
    yield


def methods_of_a_list_by_names_of_their_own():
    global Q, g, h, n, f
    Q = [1.0, 2.0]
    g = Q.__getitem__
    h = Q.count
    n = Q.__len__
    f = lambda x: x * g(0) + h(2.0) + n()
    yield
    Q[0] = 3.0
    yield
    Q.append(2.0)
    yield


def method_of_a_dict_by_a_name_of_its_own():
    global D, g, f
    D = {"a": 1.0}
    g = D.get
    f = lambda x: x * g("a") + g("b", 0.0)
    yield
    D["a"] = 3.0
    yield
    D["b"] = 2.0
    yield
    D = {"a": 9.0}
    g = D.get
    yield


def method_of_a_dict_of_its_items():
    global D, g, f
    D = {"a": K()}
    g = D.get
    f = lambda x: x * g("a").rate
    yield
    K.rate = 3.0
    yield
    D["a"].rate = 4.0
    yield
    D["a"] = L
    yield


def object_that_the_trace_keeps_under_a_key():
    global POOL, get, f
    POOL = {}

    def get(k):
        if k not in POOL:
            POOL[k] = K()
        return POOL[k]

    f = lambda x: x * get(3).rate
    yield
    POOL[3].rate = 5.0
    yield
    POOL[3] = L()
    yield
    POOL.clear()
    yield


def object_that_the_trace_keeps_under_a_key_captured():
    global make, f, pool

    def make():
        pool = {}

        def f(x):
            for key in (1, 2), None, enum:
                pool[key] = pool.get(key) or K()
            return x * sum(each.rate for each in pool.values())

        return f, pool

    f, pool = make()
    yield
    pool[1, 2].rate = 3.0
    yield
    pool[None] = L()
    yield
    pool[enum].rate = 7.0
    yield


def number_that_the_trace_keeps_under_keys_of_all_kinds():
    global E, Key, TABLE, KEYS, f

    class E(enum.Enum):
        A = 1

    @dataclasses.dataclass(frozen=True)
    class Key:
        n: int = 1

    TABLE, KEYS = {}, [2, 2.5, True, b"", (3, "a"), frozenset({1}), E.A, Key(), abs, K]

    def f(x):
        for key in KEYS:
            TABLE.setdefault(key, 1.0)
        return x * sum(2.0**i * TABLE[key] for i, key in enumerate(KEYS))

    yield
    TABLE[2] = 2.0
    yield
    TABLE[2.5] = 2.0
    yield
    TABLE[True] = 2.0
    yield
    TABLE[b""] = 2.0
    yield
    TABLE[3, "a"] = 2.0
    yield
    TABLE[frozenset({1})] = 2.0
    yield
    TABLE[E.A] = 2.0
    yield
    TABLE[Key()] = 2.0
    yield
    TABLE[abs] = 2.0
    yield
    TABLE[K] = 2.0
    yield


def objects_that_the_trace_keeps_in_a_list():
    global LAYERS, f
    LAYERS = []

    def f(x):
        if not LAYERS:
            LAYERS.extend([K(), K()])
        return x * (LAYERS[0].rate + LAYERS[1].rate)

    yield
    LAYERS[0].rate = 5.0
    yield
    LAYERS[1] = L()
    yield


def object_that_the_trace_appends_to_earlier_items():
    global LAYERS, f
    LAYERS = [K()]

    def f(x):
        if len(LAYERS) < 2:
            LAYERS.append(L())
        return x * (LAYERS[0].rate + LAYERS[1].rate)

    yield
    LAYERS[1].rate = 5.0
    yield
    LAYERS[1] = K()
    yield
    LAYERS[0] = L()
    yield


def object_that_the_trace_keeps_for_its_class():
    global Unit, f

    class Unit:
        known = {}

        def __new__(cls, n):
            if n not in cls.known:
                cls.known[n] = object.__new__(cls)
                cls.known[n].rate = 1.0
            return cls.known[n]

    f = lambda x: x * Unit(3).rate
    yield
    Unit(3).rate = 2.0
    yield


def key_that_the_trace_sets_if_it_is_not_there():
    global D, f, compiled
    D = {}
    f = lambda x: x * D.setdefault("a", 2.0) * D.setdefault("b", K.rate * 2)
    compiled = jit(f)
    compiled(1.0)
    yield
    D["a"] = 3.0
    yield
    D["b"] = 5.0
    yield
    K.rate = 7.0
    del D["b"]
    yield


def key_that_the_trace_sets_if_it_is_not_there_of_a_dict_in_it():
    global D, f, compiled
    D = {}
    f = lambda x: x * D.setdefault("a", {"w": 2.0})["w"]
    compiled = jit(f)
    compiled(1.0)
    yield
    D["a"]["w"] = 3.0
    yield
    D["a"] = {"w": 5.0}
    yield


def table_that_is_emptied_filled_again_and_written_into():
    global tables, rate, table, f
    tables = {}
    rate = 2.0

    def table(n):
        if n not in tables:
            tables[n] = rate * n
        return tables[n]

    def f(x):
        return x * table(1)

    yield
    rate = 3.0
    tables.clear()
    yield
    tables[1] = 100.0
    yield
    rate = 4.0
    tables.clear()
    yield
    tables[1] = 50.0
    yield


def attribute_that_is_deleted_worked_out_again_and_set():
    global M, m, rate, f

    class M:
        pass

    m = M()
    rate = 2.0

    def f(x):
        if not hasattr(m, "scale"):
            m.scale = rate
        return x * m.scale

    yield
    rate = 3.0
    del m.scale
    yield
    m.scale = 100.0
    yield
    rate = 4.0
    del m.scale
    yield
    m.scale = 50.0
    yield


def largest_length_of_a_deque():
    global V, f
    V = collections.deque([1.0], 3)
    f = lambda x: x * V.maxlen
    yield
    V = collections.deque(V, 4)
    yield


def largest_length_of_a_deque_that_is_captured():
    global make, g, f, compiled

    def make(q):
        return lambda x: x * q.maxlen

    g = make(collections.deque([O], 3))
    f = lambda x: g(x)
    compiled = lambda x: jit(g)(x)
    yield
    g = make(collections.deque([O], 4))
    yield
