"""Scenarios: containers of user classes, whose items change."""

SUBCLASSES = {
    "list": """
        class M(list):
            def total(self): return sum(self)
        l = M([1.0, 2.0])
        f = lambda x: x * l.total()
        --- l.append(3.0)
        --- l[0] = 5.0
        --- l.reverse(); l.pop()
        """,
    "list of layers": """
        class Sequence(list):
            def __call__(self, x):
                for layer in self: x = layer(x)
                return x
        net = Sequence([lambda x: x * 2])
        f = lambda x: net(x)
        --- net.append(lambda x: x + 5)
        --- net[0] = lambda x: x * O.rate
        --- O.rate = 7.0
        """,
    "list in an object": """
        class M(list): pass
        O.l = M([K(), M([1.0])])
        f = lambda x: x * O.l[0].rate + O.l[1][0]
        --- O.l[0].rate = 8.0
        --- O.l[1][0] = 3.0
        --- O.l[0] = L()
        --- O.l = M([O, [5.0]])
        --- O.l[1][0] = 6.0
        """,
    "list in a closure": """
        class M(list): pass
        def make():
            l = M([1.0])
            return lambda x: x * l[0], l
        f, l = make()
        --- l[0] = 2.0
        --- l.insert(0, 3.0)
        """,
    "list to which the trace appends": """
        class Log(list): pass
        log, rate = Log([1.0]), 2.0
        def f(x):
            log.append(1.0)
            return x * rate
        --- log.append(4.0); rate = 3.0
        --- rate = 4.0
        """,
    "set": """
        class M(set): pass
        v = M([1])
        f = lambda x: x * len(v)
        --- v.add(2)
        --- v.clear()
        """,
    "deque": """
        class M(collections.deque): pass
        d = M([1.0, 2.0])
        f = lambda x: x * d[0]
        --- d[0] = 3.0
        --- d.appendleft(4.0)
        --- d.rotate()
        """,
    "ordered dict": """
        class M(collections.OrderedDict):
            def first(self): return next(iter(self.values()))
        d = M(a=1.0, b=2.0)
        f = lambda x: x * d.first()
        --- d.move_to_end("a")
        --- d["b"] = 5.0
        --- d["c"] = 6.0; d.move_to_end("c", last=False)
        """,
    "dict with classes as keys": """
        class Registry(dict):
            def of(self, value): return self[type(value)](value)
        r = Registry({K: lambda o: o.rate})
        f = lambda x: x * r.of(O)
        --- r[K] = lambda o: 5.0
        --- r[L] = lambda o: o.rate + 7.0; O = L()
        """,
    "counter": """
        c = collections.Counter([1, 2])
        f = lambda x: x * c[1]
        --- c[1] += 1
        --- c.update([1, 1])
        """,
    "default dict with numbers as keys": """
        class M(collections.defaultdict): pass
        d = M(list)
        d[1].append(2.0)
        f = lambda x: x * d[1][0]
        --- d[1][0] = 3.0
        --- d[1] = [4.0]
        """,
}
