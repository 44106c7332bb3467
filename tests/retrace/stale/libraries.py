"""Scenarios: code of libraries reads for the user's, heard or not.

Where nobody tells what runs, their names are not known: what their objects hold, what
their closures lead to and what a `__getattr__` answers has to be enough.
"""

LIBRARIES = {
    "chain map": """
        base, over = {"lr": 1.0}, {}
        C = collections.ChainMap(over, base)
        f = lambda x: x * C["lr"]
        --- over["lr"] = 3.0
        --- del over["lr"]; base["lr"] = 4.0
        --- C.maps.insert(0, {"lr": 5.0})
        """,
    "child of a chain map": """
        base = {"lr": 1.0}
        C = collections.ChainMap({}, base)
        def f(x):
            c = C.new_child({"z": 1})
            return x * c["lr"]
        --- base["lr"] = 4.0
        --- C["lr"] = 5.0
        """,
    "user list": """
        class U(collections.UserList):
            scale = 2.0
            def total(self): return sum(self) * self.scale
        c = U([1.0, 2.0])
        f = lambda x: x * c.total()
        --- c.append(3.0)
        --- c[0] = 5.0
        --- U.scale = 7.0
        --- c.data[1] = 0.5
        """,
    "singledispatch, of what a choice reads": """
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
    "option of a ConfigParser": """
        import configparser
        C = configparser.ConfigParser()
        C.read_string("[t]\\nrate = 2")
        f = lambda x: x * C.getfloat("t", "rate")
        --- C.set("t", "rate", "3")
        --- C["t"]["rate"] = "4"
        --- C.read_string("[t]\\nrate = 5")
        --- C.remove_section("t"); C.read_dict({"t": {"rate": "6"}})
        """,
    "section of a ConfigParser": """
        import configparser
        C = configparser.ConfigParser()
        C.read_string("[DEFAULT]\\nscale = 2\\n[t]\\nrate = 3")
        s = C["t"]
        f = lambda x: x * s.getfloat("rate") * s.getfloat("scale") + len(C.sections())
        --- C.set("t", "rate", "4")
        --- C["DEFAULT"]["scale"] = "5"
        --- C.add_section("u")
        """,
    "event": """
        import threading
        O.stop = threading.Event()
        f = lambda x: x * 2 if O.stop.is_set() else x
        --- O.stop.set()
        --- O.stop.clear()
        """,
    "event of a static object": """
        import threading
        S = O
        O.stop = threading.Event()
        f = lambda x, o: x * 2 if o.stop.is_set() else x
        --- O.stop.set()
        """,
    "future": """
        from concurrent.futures import Future
        F = Future()
        f = lambda x: x * (F.result() if F.done() else 1.0)
        --- F.set_result(3.0)
        --- F = Future()
        """,
    "defaults of a parser": """
        import argparse
        P = argparse.ArgumentParser()
        P.add_argument("--rate", default=2.0)
        f = lambda x: x * P.get_default("rate")
        --- P.set_defaults(rate=3.0)
        """,
    "text of a template": """
        import string
        T = string.Template("$a")
        f = lambda x: x * len(T.substitute(a="bc"))
        --- T.template = "$a $a"
        """,
    "settings of what writes texts": """
        import json, pprint, reprlib, textwrap
        J, P, R = json.JSONEncoder(), pprint.PrettyPrinter(), reprlib.Repr()
        T = textwrap.TextWrapper(width=9)
        l = [*range(40)]
        def f(x):
            texts = J.encode(l), P.pformat(l), R.repr(l), T.fill("aaa bbb ccc ddd")
            return x * sum(text.count(chr(10)) + len(text) for text in texts)
        --- J.indent = 4
        --- P._compact = True
        --- R.maxlist = 3
        --- T.width = 4
        """,
    "first day of a calendar": """
        import calendar
        C = calendar.Calendar(0)
        f = lambda x: x + list(C.iterweekdays())[0]
        --- C.setfirstweekday(3)
        """,
    "header of a message": """
        import email.message
        M = email.message.EmailMessage()
        M["rate"] = "2"
        f = lambda x: x * float(M["rate"])
        --- M.replace_header("rate", "3")
        """,
    "sorted containers": """
        from sortedcontainers import SortedDict, SortedList
        l, d = SortedList([3.0, 1.0]), SortedDict(a=1.0)
        f = lambda x: x * l[0] + sum(d.values())
        --- l.add(0.5)
        --- d["a"] = 4.0
        --- d["b"] = 5.0
        """,
}

HEARD = {
    "function in a registry of nodes": """
        class Pair:
            def __init__(self, a, b): self.a, self.b = a, b
        def take(p): return (p.a, p.b), None
        def put(_, parts): return Pair(*parts)
        imprint.tree_util.register_pytree_node(Pair, take, put)
        p = Pair(1.0, 2.0)
        def f(x):
            q = imprint.tree_util.tree_map(lambda leaf: leaf * x, p)
            return q.a + 10 * q.b
        --- take.__code__ = (lambda p: ((p.b, p.a), None)).__code__
        --- put.__code__ = (lambda _, parts: Pair(parts[0], 5.0)).__code__
        """,
    "function in a registry of Python": """
        import copy, copyreg
        class P:
            def __init__(self, rate): self.rate = rate
        def reduced(p): return P, (p.rate * 2,)
        copyreg.pickle(P, reduced)
        p = P(1.0)
        f = lambda x: x * copy.copy(p).rate
        --- reduced.__code__ = (lambda p: (P, (5.0,))).__code__
        """,
    "default of an argument": """
        import argparse
        P = argparse.ArgumentParser()
        A = P.add_argument("--rate", type=float, default=2.0)
        l = []
        f = lambda x: x * P.parse_args(l).rate
        --- A.default = 3.0
        --- P.set_defaults(rate=4.0)
        --- l += ["--rate", "5"]
        """,
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
    "protocol that is checked": """
        @typing.runtime_checkable
        class P(typing.Protocol):
            def go(self): ...
        def f(x): return x * (2.0 if isinstance(O, P) else 5.0)
        --- K.go = lambda self: 1
        --- del K.go
        --- O.go = lambda: 1
        """,
}
"""These need to be heard."""
