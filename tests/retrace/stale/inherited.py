"""Scenarios: a user class inherits from a library class, and later hides the attribute."""


def method_of_a_librarys_class():
    global Conf, conf, f

    class Conf(collections.UserDict):
        pass

    conf = Conf(rate=1.0)
    f = lambda x: x * conf.get("rate")
    yield
    Conf.get = lambda self, key: 2.0
    yield
    Conf.get = collections.UserDict.get
    yield
    conf.get = lambda key: 3.0
    yield
    del conf.get
    yield


def method_of_a_library_class_read_from_the_class():
    global Conf, conf, f

    class Conf(collections.UserDict):
        pass

    conf = Conf(rate=1.0)
    f = lambda x: x * type(conf).get(conf, "rate")
    yield
    Conf.get = lambda self, key: 2.0
    yield


def method_of_an_abstract_class():
    global Conf, conf, f

    class Conf(collections.abc.Mapping):
        def __getitem__(self, key):
            return 1.0

        def __iter__(self):
            return iter("a")

        def __len__(self):
            return 1

    conf = Conf()
    f = lambda x: x * conf.get("rate") * sum(conf.values())
    yield
    Conf.get = lambda self, key: 2.0
    yield
    Conf.values = lambda self: [3.0]
    yield
    conf.values = lambda: [4.0]
    yield


def attribute_of_a_librarys_class():
    global fractions, Half, half, f
    import fractions

    class Half(fractions.Fraction):
        pass

    half = Half(1, 2)
    f = lambda x: x * float(half.numerator) * float(half.limit_denominator(3))
    yield
    Half.numerator = 2.0
    yield
    Half.limit_denominator = lambda self, most: 3.0
    yield


def method_of_a_builtin_class():
    global Table, Row, Name, Count, table, row, name, count, f

    class Table(dict):
        pass

    class Row(list):
        pass

    class Name(str):
        pass

    class Count(int):
        pass

    table, row, name, count = Table(a=1.0), Row([1]), Name("a"), Count(1)

    def f(x):
        x = x * table.get("a") * row.count(1)
        return x * name.count("a") * count.bit_length()

    yield
    Table.get = lambda self, key: 2.0
    yield
    Row.count = lambda self, item: 3.0
    yield
    Name.count = lambda self, text: 4.0
    yield
    Count.bit_length = lambda self: 5.0
    yield


def method_of_an_array():
    global Array, array, f

    class Array(np.ndarray):
        pass

    array = np.ones(3).view(Array)
    f = lambda x: x * float(array.sum())
    yield
    Array.sum = lambda self: 2.0
    yield


def attribute_of_an_array():
    global Array, Number, array, number, f

    class Array(np.ndarray):
        scale = 1.0

    class Number(np.float64):
        pass

    array = np.ones(3).view(Array)
    array.rate = 1.0
    number = Number(1.0)
    number.rate = 1.0
    f = lambda x: x * array.rate * array.scale * number.rate
    yield
    array.rate = 2.0
    yield
    Array.scale = 3.0
    yield
    array.scale = 4.0
    yield
    number.rate = 5.0
    yield
    del array.scale
    yield


def operator_that_a_library_wrote():
    global Version, version, f

    @functools.total_ordering
    class Version:
        def __eq__(self, other):
            return True

        def __lt__(self, other):
            return False

    version = Version()
    f = lambda x: (
        x * (1 if version >= version else 2) * (1 if version <= version else 3)
    )
    yield
    Version.__ge__ = lambda self, other: False
    yield
    Version.__le__ = lambda self, other: False
    yield


def attributes_that_are_items_by_c():
    global Attributes, conf, f

    class Attributes(dict):
        __getattr__ = dict.__getitem__

    conf = Attributes(rate=1.0)
    f = lambda x: x * conf.rate
    yield
    Attributes.rate = 2.0
    yield
    del Attributes.rate
    yield
    object.__setattr__(conf, "rate", 3.0)
    yield
    object.__delattr__(conf, "rate")
    yield
    conf["rate"] = 4.0
    yield


def attribute_of_a_metaclass_by_the_class_of_an_object():
    global Meta, M, m, f

    class Meta(type):
        rate = 1.0

    class M(metaclass=Meta):
        pass

    m = M()
    f = lambda x: x * type(m).rate
    yield
    Meta.rate = 2.0
    yield
    M.rate = 3.0
    yield
    del M.rate
    yield


def attribute_of_a_metaclass_that_an_object_has_not():
    global Meta, M, m, f

    class Meta(type):
        rate = 1.0

    class M(metaclass=Meta):
        pass

    m = M()
    f = lambda x: x * getattr(m, "rate", 1.0) * M.rate
    yield
    Meta.rate = 2.0
    yield
    M.rate = 3.0
    yield


def descriptor_that_gives_nothing():
    global Takes, M, m, f

    class Takes:
        rate = 1.0

        def __float__(self):
            return self.rate

        def __set__(self, owner, value):
            vars(owner)["w"] = value

    class M:
        w = Takes()

    m = M()
    f = lambda x: x * float(m.w)
    yield
    m.w = 2.0
    yield
    del vars(m)["w"]
    Takes.rate = 3.0
    yield


def property_of_a_metaclass_that_comes_to_hide():
    global Meta, M, S, f

    class Meta(type):
        rate = 1.0

    class M(metaclass=Meta):
        pass

    S = M
    f = lambda x, s: x * s.rate
    yield
    Meta.rate = 2.0
    yield
    M.rate = 3.0
    yield
    Meta.rate = property(lambda cls: 4.0)
    yield
    Meta.rate = 5.0
    M.rate = 6.0
    yield
