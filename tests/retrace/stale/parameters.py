"""Scenarios: attributes of objects that reach a helper by parameter, loop or container."""

PARAMETERS = {
    "parameter": "def h(o, x): return x * o.rate\nf = lambda x: h(O, x) --- K.rate = 2.0",
    "parameter, class": "def h(c, x): return x * c.rate\nf = lambda x: h(K, x) --- K.rate = 2.0",
    "parameter, module": "def h(m, x): return x * m.W\nf = lambda x: h(cfg, x) --- cfg.W = 2.0",
    "keyword": "def h(x, *, o): return x * o.rate\nf = lambda x: h(x, o=O) --- K.rate = 2.0",
    "star": "def h(x, *a): return x * a[0].rate\nf = lambda x: h(x, O) --- K.rate = 2.0",
    "star, in a loop": """
        def h(x, *a):
            for o in a: x = x * o.rate
            return x
        f = lambda x: h(x, O, K())
        --- K.rate = 2.0
        """,
    "double star": "def h(x, **k): return x * k['o'].rate\nf = lambda x: h(x, o=O) --- K.rate = 2.0",
    "double star, values": """
        def h(x, **k): return x * sum(o.rate for o in k.values())
        f = lambda x: h(x, o=O)
        --- K.rate = 2.0
        """,
    "star at the call": "A = (O,)\ndef h(o, x): return x * o.rate\nf = lambda x: h(*A, x) --- K.rate = 2.0",
    "double star at the call": """
        A = {"o": O}
        def h(x, o): return x * o.rate
        f = lambda x: h(x, **A)
        --- K.rate = 3.0
        --- A["o"] = L()
        """,
    "default": "def h(x, o=O): return x * o.rate\nf = lambda x: h(x) --- K.rate = 2.0",
    "default of f": "def f(x, o=O): return x * o.rate\n --- K.rate = 2.0",
    "keyword-only default": "def h(x, *, o=O): return x * o.rate\nf = lambda x: h(x) --- K.rate = 2.0",
    "default of a lambda": "h = lambda x, c=K: x * c.rate\nf = lambda x: h(x) --- K.rate = 2.0",
    "passed on": """
        def a(o, x): return x * o.rate
        def b(*args): return a(*args)
        def c(*args, **k): return b(*args, **k)
        f = lambda x: c(O, x)
        --- K.rate = 2.0
        """,
    "layers": """
        class Layer:
            def __init__(self): self.w = 1.0
        LAYERS = [Layer(), Layer()]
        def f(x):
            for l in LAYERS: x = x * l.w
            return x
        --- LAYERS[1].w = 2.0
        --- LAYERS[0].w = 3.0
        """,
    "layers that are called": """
        class Layer:
            w = 1.0
            def __call__(self, x): return x * self.w
        LAYERS = [Layer(), Layer()]
        def f(x):
            for l in LAYERS: x = l(x)
            return x
        --- Layer.w = 2.0
        --- LAYERS[1].w = 3.0
        """,
    "layers as a parameter": """
        def h(layers, x):
            for l in layers: x = x * l.rate
            return x
        A = [O, K()]
        f = lambda x: h(A, x)
        --- K.rate = 2.0
        --- A[1].rate = 3.0
        """,
    "layers by reduce": """
        A = [O, K()]
        f = lambda x: functools.reduce(lambda y, l: y * l.rate, A, x)
        --- K.rate = 2.0
        --- A[1].rate = 3.0
        """,
    "tuple": """
        A = (O, K())
        def f(x):
            for o in A: x = x * o.rate
            return x
        --- K.rate = 2.0
        --- A[1].rate = 3.0
        """,
    "dict": """
        A = {"a": O}
        def f(x):
            for k, o in A.items(): x = x * o.rate
            return x
        --- K.rate = 2.0
        --- A["a"].rate = 3.0
        """,
    "keys of a dict": """
        A = {O: 1}
        def f(x):
            for o in A: x = x * o.rate
            return x
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "set": """
        A = {O}
        def f(x):
            for o in A: x = x * o.rate
            return x
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "frozenset": """
        A = frozenset({O})
        f = lambda x: x * sum(o.rate for o in A)
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "deque": """
        A = collections.deque([O])
        f = lambda x: x * sum(o.rate for o in A)
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "nested containers": """
        A = {"a": [({"b": (O,)},)]}
        f = lambda x: x * A["a"][0][0]["b"][0].rate
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "item with an object": """
        items = [types.SimpleNamespace(l=O)]
        f = lambda x: x * items[0].l.rate
        --- K.rate = 2.0
        --- L.rate = 5.0; items[0].l = L()
        """,
    "objects in objects": """
        O.parts = [K(), {"a": K()}]
        def f(x): return x * O.parts[0].rate * O.parts[1]["a"].rate
        --- K.rate = 2.0
        --- O.parts[1]["a"].rate = 3.0
        --- O.parts[1]["a"] = L()
        """,
    "zip": """
        A = [O]
        f = lambda x: x * sum(o.rate * i for o, i in zip(A, [1]))
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "enumerate": """
        A = [K(), O]
        f = lambda x: x * sum(o.rate * i for i, o in enumerate(A))
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "map of a lambda": """
        A = [O]
        f = lambda x: x * sum(map(lambda o: o.rate, A))
        --- K.rate = 2.0
        --- O.rate = 3.0
        """,
    "map of a method": """
        class M:
            w = 1.0
            def h(self): return self.w
        A = [M()]
        f = lambda x: x * sum(map(M.h, A))
        --- M.w = 2.0
        --- A[0].w = 3.0
        --- M.h = lambda self: 4.0
        """,
    "filter": """
        A = [O, L()]
        f = lambda x: x * len(list(filter(lambda o: o.rate > 1, A)))
        --- K.rate = 2.0
        --- O.rate = 0.5
        """,
    "sorted by key": """
        A = [O, L()]
        f = lambda x: x * (1.0 if sorted(A, key=lambda o: o.rate)[0] is O else 2.0)
        --- K.rate = 3.0
        --- O.rate = 0.5
        """,
    "sorted by attrgetter": """
        A = [O, L()]
        f = lambda x: x * (1.0 if sorted(A, key=operator.attrgetter("rate"))[0] is O else 2.0)
        --- K.rate = 3.0
        --- O.rate = 0.5
        """,
    "max by key": """
        A = [O, L()]
        def speed(o): return o.rate
        f = lambda x: x * max(A, key=speed).rate
        --- K.rate = 3.0
        --- O.rate = 5.0
        """,
    "reversed": """
        A = [O, K()]
        def f(x):
            for o in reversed(A): x = x * o.rate
            return x
        --- O.rate = 3.0
        """,
    "itertools.chain": """
        A = [O]; B = [K()]
        f = lambda x: x * sum(o.rate for o in itertools.chain(A, B))
        --- B[0].rate = 3.0
        --- K.rate = 2.0
        """,
    "itertools.starmap": """
        A = [(O, 1.0)]
        f = lambda x: x * sum(itertools.starmap(lambda o, i: o.rate * i, A))
        --- K.rate = 2.0
        """,
    "slice": "A = [K(), O]\nf = lambda x: x * A[1:][0].rate --- O.rate = 2.0",
    "pop of a copy": "A = [K(), O]\nf = lambda x: x * list(A).pop().rate --- O.rate = 2.0",
    "iterator by hand": "A = [O]\nf = lambda x: x * next(iter(A)).rate --- O.rate = 2.0",
    "any": "A = [O]\nf = lambda x: -x if any(o.rate > 1 for o in A) else x --- O.rate = 2.0",
    "matrix of objects": "A = [[O, O], [O, L()]]\nf = lambda x: x * A[1][1].rate --- L.rate = 5.0 --- A[1][1].rate = 6.0",
    "object behind an index": """
        class Box:
            def __init__(self, *a): self.items = a
            def __getitem__(self, i): return self.items[i]
        A = Box(O)
        f = lambda x: x * A[0].rate
        --- O.rate = 2.0
        --- L.rate = 5.0; A.items = (L(),)
        """,
    "object that is iterated": """
        class Box:
            def __init__(self, *a): self.items = a
            def __iter__(self): return iter(self.items)
        A = Box(O)
        f = lambda x: x * sum(o.rate for o in A)
        --- O.rate = 2.0
        --- A.items = (L(), L())
        """,
    "linked list": """
        class N:
            def __init__(self, w, then=None): self.w, self.then = w, then
        A = N(1.0, N(1.0, N(1.0)))
        def total(n): return n.w + (total(n.then) if n.then else 0.0)
        f = lambda x: x * total(A)
        --- A.then.then.w = 2.0
        --- A.then.then = None
        """,
    "visitor": """
        class Node:
            def __init__(self, *kids): self.kids, self.w = kids, 1.0
            def accept(self, v): return v.visit(self)
        class Sum:
            scale = 1.0
            def visit(self, n): return self.scale * n.w + sum(k.accept(self) for k in n.kids)
        A = Node(Node(), Node(Node())); V = Sum()
        f = lambda x: x * A.accept(V)
        --- A.kids[1].kids[0].w = 2.0
        --- V.scale = 3.0
        --- Sum.scale = 4.0; del V.scale
        """,
    "callback": """
        def apply(g, *a): return g(*a)
        f = lambda x: apply(lambda o, y: y * o.rate, O, x)
        --- O.rate = 2.0
        """,
    "method given as a function": """
        class M:
            w = 1.0
            def h(self, x): return x * self.w
        m = M()
        def apply(g, x): return g(x)
        f = lambda x: apply(m.h, x)
        --- m.w = 2.0
        """,
    "returned": "def get(): return O\nf = lambda x: x * get().rate --- K.rate = 2.0 --- O.rate = 3.0",
    "returned in a tuple": "def get(): return O, 1\nf = lambda x: x * get()[0].rate --- O.rate = 2.0",
    "object that an object gives": """
        class M:
            def __init__(self): self.part = K()
            def get(self): return self.part
        m = M()
        f = lambda x: x * m.get().rate
        --- m.part.rate = 2.0
        --- L.rate = 5.0; m.part = L()
        """,
}
