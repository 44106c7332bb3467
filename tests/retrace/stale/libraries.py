"""Scenarios: library code reads user state, executed visibly or not.

Where executed code is not known, the names in it are not known either. The values of the
objects, closures and `__getattr__` must be enough.
"""

LIBRARIES = {
    "singledispatch, of a value that a choice reads": """
        @functools.singledispatch
        def h(o): return 1.0
        @h.register
        def _(o: K): return o.rate * L.rate
        f = lambda x: x * h(O)
        --- L.rate = 5.0
        --- O.rate = 7.0
        """,
    "__getattr__ of a module, of what it reads": """
        cfg.V = 1.0
        def answer(name):
            if name == "lazy": return cfg.V
            raise AttributeError(name)
        cfg.__getattr__ = answer
        f = lambda x: x * cfg.lazy
        --- cfg.V = 2.0
        --- cfg.lazy = 3.0
        --- del cfg.lazy; cfg.__getattr__ = lambda n: 9.0
        """,
    "missing item by __getattr__": """
        class D(dict):
            def __getattr__(self, n):
                try: return self[n]
                except KeyError: raise AttributeError(n)
        c = D(s=D(v=2.0))
        f = lambda x: x + getattr(c.s, "u", c.s.v)
        --- c.s["v"] = 3.0
        --- c.s["u"] = 9.0
        """,
    "missing item by __getattr__ in C": """
        class D(dict):
            __getattr__ = dict.__getitem__
        c = D(w=1.0)
        def f(x):
            try: return x * c.u
            except KeyError: return x
        --- c["u"] = 9.0
        --- c["u"] = 8.0
        --- del c["u"]
        """,
    "missing item by a method": """
        class D(dict):
            def opt(self, n): return self.get(n, 1.0)
        c = D(w=1.0)
        f = lambda x: x * c.opt("u")
        --- c["u"] = 9.0
        --- c["u"] = 8.0
        --- del c["u"]
        """,
}

OBSERVED = {
    "flags": """
        from absl import flags
        F = flags.FlagValues()
        flags.DEFINE_float("rate", 2.0, "", flag_values=F)
        F(["program"])
        f = lambda x: x * F.rate
        --- F.rate = 3.0
        --- F["rate"].value = 4.0
        --- F(["program", "--rate=5"])
        """,
}
"""These are seen only by observing the code that runs."""
