"""Scenarios: code continues to read where an earlier or a nested trace has read."""

TAKEN = {
    "method": """
        O.other = 1.0
        class H:
            def first(self): return O.rate
            def second(self): return O.other
        h = H()
        j = jit(lambda y: y * h.first())
        j(1.0)
        f = lambda x: j(x) + h.second()
        --- O.other = 2.0 --- O.rate = 3.0
        """,
    "function in a dict": """
        O.other = 1.0
        def first(): return O.rate
        by_name = {"second": lambda: O.other}
        j = jit(lambda y: y * first())
        j(1.0)
        f = lambda x: j(x) + by_name["second"]()
        --- O.other = 2.0 --- O.rate = 3.0
        """,
    "function in a list": """
        O.other = 1.0
        def first(): return O.rate
        each = [lambda: O.other]
        j = jit(lambda y: y * first())
        j(1.0)
        f = lambda x: j(x) + [g() for g in each][0]
        --- O.other = 2.0 --- O.rate = 3.0
        """,
    "other key of a dict": """
        D = {"a": 1.0, "b": 1.0}
        class H:
            def first(self): return D["a"]
            def second(self): return D["b"]
        h = H()
        j = jit(lambda y: y * h.first())
        j(1.0)
        f = lambda x: j(x) + h.second()
        --- D["b"] = 2.0 --- D["a"] = 3.0
        """,
    "all of a dict": """
        D = {"a": 1.0, "b": 1.0}
        class H:
            def first(self): return D["a"]
            def second(self): return sum(D.values())
        h = H()
        j = jit(lambda y: y * h.first())
        j(1.0)
        f = lambda x: j(x) + h.second()
        --- D["b"] = 2.0 --- D["c"] = 3.0
        """,
    "a base, when a class came to hide it from all but super()": """
        class Base: rate = 1.0
        class C(Base):
            def m(self): return super().rate
        f = lambda x: x * C().m()
        --- C.rate = 5.0; Base.rate = 2.0 --- Base.rate = 3.0
        """,
    "a base that a class hides from all but super()": """
        class Base: rate = 1.0
        class Middle(Base): pass
        class C(Middle):
            rate = 5.0
            def m(self): return super().rate
        o = C()
        f = lambda x: x * o.m() + o.rate
        --- Base.rate = 2.0 --- Middle.rate = 3.0 --- C.rate = 4.0
        """,
}
