"""Scenarios: a user class inherits from a library class, and later hides the attribute."""

INHERITED = {
    "method of a library's class": """
        class Conf(collections.UserDict): pass
        conf = Conf(rate=1.0)
        f = lambda x: x * conf.get("rate")
        --- Conf.get = lambda self, key: 2.0
        --- Conf.get = collections.UserDict.get
        --- conf.get = lambda key: 3.0
        --- del conf.get
        """,
    "method of a library class, read from the class": """
        class Conf(collections.UserDict): pass
        conf = Conf(rate=1.0)
        f = lambda x: x * type(conf).get(conf, "rate")
        --- Conf.get = lambda self, key: 2.0
        """,
    "method of an abstract class": """
        class Conf(collections.abc.Mapping):
            def __getitem__(self, key): return 1.0
            def __iter__(self): return iter("a")
            def __len__(self): return 1
        conf = Conf()
        f = lambda x: x * conf.get("rate") * sum(conf.values())
        --- Conf.get = lambda self, key: 2.0
        --- Conf.values = lambda self: [3.0]
        --- conf.values = lambda: [4.0]
        """,
    "attribute of a library's class": """
        import fractions
        class Half(fractions.Fraction): pass
        half = Half(1, 2)
        f = lambda x: x * float(half.numerator) * float(half.limit_denominator(3))
        --- Half.numerator = 2.0
        --- Half.limit_denominator = lambda self, most: 3.0
        """,
    "method of a builtin class": """
        class Table(dict): pass
        class Row(list): pass
        class Name(str): pass
        class Count(int): pass
        table, row, name, count = Table(a=1.0), Row([1]), Name("a"), Count(1)
        def f(x):
            x = x * table.get("a") * row.count(1)
            return x * name.count("a") * count.bit_length()
        --- Table.get = lambda self, key: 2.0
        --- Row.count = lambda self, item: 3.0
        --- Name.count = lambda self, text: 4.0
        --- Count.bit_length = lambda self: 5.0
        """,
    "method of an array": """
        class Array(np.ndarray): pass
        array = np.ones(3).view(Array)
        f = lambda x: x * float(array.sum())
        --- Array.sum = lambda self: 2.0
        """,
    "attribute of an array": """
        class Array(np.ndarray): scale = 1.0
        class Number(np.float64): pass
        array = np.ones(3).view(Array); array.rate = 1.0
        number = Number(1.0); number.rate = 1.0
        f = lambda x: x * array.rate * array.scale * number.rate
        --- array.rate = 2.0
        --- Array.scale = 3.0
        --- array.scale = 4.0
        --- number.rate = 5.0
        --- del array.scale
        """,
    "operator that a library wrote": """
        @functools.total_ordering
        class Version:
            def __eq__(self, other): return True
            def __lt__(self, other): return False
        version = Version()
        f = lambda x: x * (1 if version >= version else 2) * (1 if version <= version else 3)
        --- Version.__ge__ = lambda self, other: False
        --- Version.__le__ = lambda self, other: False
        """,
    "attributes that are items, by C": """
        class Attributes(dict):
            __getattr__ = dict.__getitem__
        conf = Attributes(rate=1.0)
        f = lambda x: x * conf.rate
        --- Attributes.rate = 2.0
        --- del Attributes.rate
        --- object.__setattr__(conf, "rate", 3.0)
        --- object.__delattr__(conf, "rate")
        --- conf["rate"] = 4.0
        """,
    "attribute of a metaclass, by the class of an object": """
        class Meta(type): rate = 1.0
        class M(metaclass=Meta): pass
        m = M()
        f = lambda x: x * type(m).rate
        --- Meta.rate = 2.0
        --- M.rate = 3.0
        --- del M.rate
        """,
    "attribute of a metaclass that an object has not": """
        class Meta(type): rate = 1.0
        class M(metaclass=Meta): pass
        m = M()
        f = lambda x: x * getattr(m, "rate", 1.0) * M.rate
        --- Meta.rate = 2.0
        --- M.rate = 3.0
        """,
    "descriptor that gives nothing": """
        class Takes:
            rate = 1.0
            def __float__(self): return self.rate
            def __set__(self, owner, value): vars(owner)["w"] = value
        class M: w = Takes()
        m = M()
        f = lambda x: x * float(m.w)
        --- m.w = 2.0
        --- del vars(m)["w"]; Takes.rate = 3.0
        """,
    "property of a metaclass that comes to hide": """
        class Meta(type): rate = 1.0
        class M(metaclass=Meta): pass
        S = M
        f = lambda x, s: x * s.rate
        --- Meta.rate = 2.0
        --- M.rate = 3.0
        --- Meta.rate = property(lambda cls: 4.0)
        --- Meta.rate = 5.0; M.rate = 6.0
        """,
}
