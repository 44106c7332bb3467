"""Scenarios: containers that a trace writes to, and that user code edits later."""

DICTS = {
    "dictionary that is its own __dict__ and says it has all": """
        class D(dict):
            def __init__(self, **held):
                super().__init__(held)
                self.__dict__ = self
            def __contains__(self, _): return True
            def __missing__(self, _): return 1.5
        d = D(a=1.0, b=2.0)
        f = lambda x: x * sum(d.values())
        --- d.a = 3.0
        --- d["c"] = 4.0
        """,
    "key that the trace sets": """
        CFG = {"rate": 1.0}
        def f(x):
            CFG["traced"] = True
            return x * CFG["rate"]
        --- CFG["rate"] = 2.0
        """,
    "key that the trace sets, then a new dict": """
        CFG = {"rate": 1.0}
        def f(x):
            CFG["traced"] = True
            return x * CFG["rate"]
        --- CFG = {"rate": 2.0}
        --- CFG["rate"] = 3.0
        """,
    "setdefault": """
        CFG = {}
        f = lambda x: x * CFG.setdefault("rate", 1.0)
        --- CFG["rate"] = 2.0
        """,
    "setdefault of another key": """
        CFG = {"rate": 1.0}
        def f(x):
            CFG.setdefault("seen", []).append(1)
            return x * CFG["rate"]
        --- CFG["rate"] = 2.0
        """,
    "update": """
        CFG = {"rate": 1.0}
        def f(x):
            CFG.update(traced=True)
            return x * CFG["rate"]
        --- CFG["rate"] = 2.0
        """,
    "or-equals": """
        CFG = {"rate": 1.0}
        def f(x):
            global CFG
            CFG |= {"traced": True}
            return x * CFG["rate"]
        --- CFG["rate"] = 2.0
        """,
    "defaultdict": """
        D = collections.defaultdict(lambda: 1.0)
        f = lambda x: x * D["rate"]
        --- D["rate"] = 2.0
        """,
    "defaultdict that gains another key": """
        D = collections.defaultdict(int, rate=1.0)
        def f(x):
            D["n"] += 1
            return x * D["rate"]
        --- D["rate"] = 2.0
        """,
    "counter": """
        C = collections.Counter(rate=1)
        def f(x):
            C["traced"] += 1
            return x * C["rate"]
        --- C["rate"] = 2
        """,
    "key that is popped": """
        CFG = {"rate": 1.0, "first": 1}
        def f(x):
            CFG.pop("first", None)
            return x * CFG["rate"]
        --- CFG["rate"] = 2.0
        """,
    "captured dict": """
        def make(c):
            def f(x):
                c["traced"] = True
                return x * c["rate"]
            return f
        CFG = {"rate": 1.0}; f = make(CFG)
        --- CFG["rate"] = 2.0
        """,
    "dict in an object": """
        O.cfg = {"rate": 1.0}
        def f(x):
            O.cfg["traced"] = True
            return x * O.cfg["rate"]
        --- O.cfg["rate"] = 2.0
        """,
    "dict of a class": """
        K.cfg = {"rate": 1.0}
        def f(x):
            K.cfg["traced"] = True
            return x * K.cfg["rate"]
        --- K.cfg["rate"] = 2.0
        """,
    "dict of a module": """
        cfg.C = {"rate": 1.0}
        def f(x):
            cfg.C["traced"] = True
            return x * cfg.C["rate"]
        --- cfg.C["rate"] = 2.0
        """,
    "default of a parameter": """
        def f(x, c={"rate": 1.0}):
            c["traced"] = True
            return x * c["rate"]
        --- f.__defaults__[0]["rate"] = 2.0
        """,
    "dict in a dict": """
        CFG = {"a": {"rate": 1.0}}
        def f(x):
            CFG["a"]["traced"] = True
            return x * CFG["a"]["rate"]
        --- CFG["a"]["rate"] = 2.0
        --- CFG["a"] = {"rate": 3.0}
        """,
    "attribute next to a dict that grows": """
        CFG = {"a": {"rate": 1.0}, "log": {}}
        def f(x):
            CFG["log"][len(CFG["log"])] = 1
            return x * CFG["a"]["rate"]
        --- CFG["a"]["rate"] = 2.0
        """,
    "memo by hand": """
        W = 1.0; MEMO = {}
        def get(k):
            if k not in MEMO: MEMO[k] = W
            return MEMO[k]
        f = lambda x: x * get("a")
        --- MEMO["a"] = 2.0
        """,
    "list that the trace appends to": """
        V = [1.0]
        def f(x):
            V.append(0)
            return x * V[0]
        --- V[0] = 2.0
        """,
    "list that the trace appends to, new": """
        V = [1.0]
        def f(x):
            V.append(0)
            return x * V[0]
        --- V = [2.0]
        --- V[0] = 3.0
        """,
    "list of an object that the trace appends to": """
        O.log = [1.0]
        def f(x):
            O.log.append(0)
            return x * O.log[0]
        --- O.log[0] = 2.0
        """,
    "set that the trace adds to": """
        V = set()
        def f(x):
            V.add("traced")
            return x * (2.0 if "fast" in V else 1.0)
        --- V.add("fast")
        """,
    "attribute next to one that the trace sets": """
        O.w = 1.0
        def f(x):
            O.traced = True
            return x * O.w
        --- O.w = 2.0
        """,
    "class attribute next to one that the trace sets": """
        def f(x):
            K.traced = True
            return x * K.rate
        --- K.rate = 2.0
        """,
    "module attribute next to one that the trace sets": """
        def f(x):
            cfg.traced = True
            return x * cfg.W
        --- cfg.W = 2.0
        """,
    "function attribute next to one that the trace sets": """
        def h(): return 1.0
        h.w = 1.0
        def f(x):
            h.traced = True
            return x * h.w
        --- h.w = 2.0
        """,
    "global next to one that the trace sets": """
        W = 1.0
        def f(x):
            global TRACED
            TRACED = True
            return x * W
        --- W = 2.0
        """,
    "deque that the trace appends to": """
        V = collections.deque([1.0])
        def f(x):
            V.append(0)
            return x * V[0]
        --- V[0] = 2.0
        """,
    "largest length of a deque": """
        V = collections.deque([1.0], 3)
        f = lambda x: x * V.maxlen
        --- V = collections.deque(V, 4)
        """,
    "largest length of a deque that is captured": """
        def make(q): return lambda x: x * q.maxlen
        g = make(collections.deque([O], 3))
        f = lambda x: g(x)
        compiled = lambda x: jit(g)(x)
        --- g = make(collections.deque([O], 4))
        """,
    "ordered dict that gains a key": """
        V = collections.OrderedDict(rate=1.0)
        def f(x):
            V["traced"] = 1
            return x * V["rate"]
        --- V["rate"] = 2.0
        """,
    "big dict that gains a key": """
        V = dict.fromkeys(range(100), 1.0)
        def f(x):
            V["traced"] = 1
            return x * V[7]
        --- V[7] = 2.0
        """,
    "object as a value of a dict that gains a key": """
        V = {"o": O}
        def f(x):
            V["traced"] = 1
            return x * V["o"].rate
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "whether a key is there": """
        CFG = {}
        def f(x):
            CFG["traced"] = True
            return x * (2.0 if "fast" in CFG else 1.0)
        --- CFG["fast"] = True
        """,
    "missing key tried": """
        CFG = {}
        def f(x):
            try: return x * CFG["rate"]
            except KeyError: return x
        --- CFG["rate"] = 2.0
        """,
    "view of values that is kept": """
        D = {"a": 1.0}
        V = D.values()
        f = lambda x: x * sum(V)
        --- D["a"] = 5.0
        --- D["b"] = 5.0
        --- D = {"a": 3.0}; V = D.values()
        """,
    "view of items in a closure": """
        D = collections.OrderedDict(a=1.0)
        def make():
            v = D.items()
            return lambda x: x * sum(b for _, b in v)
        f = make()
        --- D["a"] = 5.0
        --- D["c"] = 5.0
        """,
    "view as an attribute": """
        D = {"a": [1.0]}
        O.v = D.items()
        f = lambda x: x * sum(b[0] for a, b in O.v)
        --- D["a"][0] = 5.0
        --- D["z"] = [7.0]
        """,
    "methods of a list by names of their own": """
        Q = [1.0, 2.0]
        g = Q.__getitem__
        h = Q.count
        n = Q.__len__
        f = lambda x: x * g(0) + h(2.0) + n()
        --- Q[0] = 3.0
        --- Q.append(2.0)
        """,
    "method of a dict by a name of its own": """
        D = {"a": 1.0}
        g = D.get
        f = lambda x: x * g("a") + g("b", 0.0)
        --- D["a"] = 3.0
        --- D["b"] = 2.0
        --- D = {"a": 9.0}; g = D.get
        """,
    "method of a dict, of its items": """
        D = {"a": K()}
        g = D.get
        f = lambda x: x * g("a").rate
        --- K.rate = 3.0
        --- D["a"].rate = 4.0
        --- D["a"] = L
        """,
    "object that the trace keeps under a key": """
        POOL = {}
        def get(k):
            if k not in POOL:
                POOL[k] = K()
            return POOL[k]
        f = lambda x: x * get(3).rate
        --- POOL[3].rate = 5.0
        --- POOL[3] = L()
        --- POOL.clear()
        """,
    "object that the trace keeps under a key, captured": """
        def make():
            pool = {}
            def f(x):
                for key in (1, 2), None, enum:
                    pool[key] = pool.get(key) or K()
                return x * sum(each.rate for each in pool.values())
            return f, pool
        f, pool = make()
        --- pool[1, 2].rate = 3.0
        --- pool[None] = L()
        --- pool[enum].rate = 7.0
        """,
    "number that the trace keeps under keys of all kinds": """
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
        --- TABLE[2] = 2.0
        --- TABLE[2.5] = 2.0
        --- TABLE[True] = 2.0
        --- TABLE[b""] = 2.0
        --- TABLE[3, "a"] = 2.0
        --- TABLE[frozenset({1})] = 2.0
        --- TABLE[E.A] = 2.0
        --- TABLE[Key()] = 2.0
        --- TABLE[abs] = 2.0
        --- TABLE[K] = 2.0
        """,
    "objects that the trace keeps in a list": """
        LAYERS = []
        def f(x):
            if not LAYERS:
                LAYERS.extend([K(), K()])
            return x * (LAYERS[0].rate + LAYERS[1].rate)
        --- LAYERS[0].rate = 5.0
        --- LAYERS[1] = L()
        """,
    "object that the trace appends to earlier items": """
        LAYERS = [K()]
        def f(x):
            if len(LAYERS) < 2:
                LAYERS.append(L())
            return x * (LAYERS[0].rate + LAYERS[1].rate)
        --- LAYERS[1].rate = 5.0
        --- LAYERS[1] = K()
        --- LAYERS[0] = L()
        """,
    "object that the trace keeps for its class": """
        class Unit:
            known = {}
            def __new__(cls, n):
                if n not in cls.known:
                    cls.known[n] = object.__new__(cls)
                    cls.known[n].rate = 1.0
                return cls.known[n]
        f = lambda x: x * Unit(3).rate
        --- Unit(3).rate = 2.0
        """,
    "key that the trace sets if it is not there": """
        D = {}
        f = lambda x: x * D.setdefault("a", 2.0) * D.setdefault("b", K.rate * 2)
        compiled = jit(f)
        compiled(1.0)
        --- D["a"] = 3.0
        --- D["b"] = 5.0
        --- K.rate = 7.0; del D["b"]
        """,
    "key that the trace sets if it is not there, of a dict in it": """
        D = {}
        f = lambda x: x * D.setdefault("a", {"w": 2.0})["w"]
        compiled = jit(f)
        compiled(1.0)
        --- D["a"]["w"] = 3.0
        --- D["a"] = {"w": 5.0}
        """,
    "table that is emptied, filled again, and written into": """
        tables = {}
        rate = 2.0
        def table(n):
            if n not in tables: tables[n] = rate * n
            return tables[n]
        def f(x): return x * table(1)
        --- rate = 3.0; tables.clear()
        --- tables[1] = 100.0
        --- rate = 4.0; tables.clear()
        --- tables[1] = 50.0
        """,
    "attribute that is deleted, worked out again, and set": """
        class M: pass
        m = M()
        rate = 2.0
        def f(x):
            if not hasattr(m, "scale"): m.scale = rate
            return x * m.scale
        --- rate = 3.0; del m.scale
        --- m.scale = 100.0
        --- rate = 4.0; del m.scale
        --- m.scale = 50.0
        """,
}
