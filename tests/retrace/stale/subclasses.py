"""Scenarios: containers of user classes, whose items change."""


def list_of_a_name():
    global M, l, f

    class M(list):
        def total(self):
            return sum(self)

    l = M([1.0, 2.0])
    f = lambda x: x * l.total()
    yield
    l.append(3.0)
    yield
    l[0] = 5.0
    yield
    l.reverse()
    l.pop()
    yield


def list_of_layers():
    global Sequence, net, f

    class Sequence(list):
        def __call__(self, x):
            for layer in self:
                x = layer(x)
            return x

    net = Sequence([lambda x: x * 2])
    f = lambda x: net(x)
    yield
    net.append(lambda x: x + 5)
    yield
    net[0] = lambda x: x * O.rate
    yield
    O.rate = 7.0
    yield


def list_in_an_object():
    global M, f

    class M(list):
        pass

    O.l = M([K(), M([1.0])])
    f = lambda x: x * O.l[0].rate + O.l[1][0]
    yield
    O.l[0].rate = 8.0
    yield
    O.l[1][0] = 3.0
    yield
    O.l[0] = L()
    yield
    O.l = M([O, [5.0]])
    yield
    O.l[1][0] = 6.0
    yield


def list_in_a_closure():
    global M, make, f, l

    class M(list):
        pass

    def make():
        l = M([1.0])
        return lambda x: x * l[0], l

    f, l = make()
    yield
    l[0] = 2.0
    yield
    l.insert(0, 3.0)
    yield


def list_to_which_the_trace_appends():
    global Log, log, rate, f

    class Log(list):
        pass

    log, rate = Log([1.0]), 2.0

    def f(x):
        log.append(1.0)
        return x * rate

    yield
    log.append(4.0)
    rate = 3.0
    yield
    rate = 4.0
    yield


def set_of_a_name():
    global M, v, f

    class M(set):
        pass

    v = M([1])
    f = lambda x: x * len(v)
    yield
    v.add(2)
    yield
    v.clear()
    yield


def deque():
    global M, d, f

    class M(collections.deque):
        pass

    d = M([1.0, 2.0])
    f = lambda x: x * d[0]
    yield
    d[0] = 3.0
    yield
    d.appendleft(4.0)
    yield
    d.rotate()
    yield


def ordered_dict():
    global M, d, f

    class M(collections.OrderedDict):
        def first(self):
            return next(iter(self.values()))

    d = M(a=1.0, b=2.0)
    f = lambda x: x * d.first()
    yield
    d.move_to_end("a")
    yield
    d["b"] = 5.0
    yield
    d["c"] = 6.0
    d.move_to_end("c", last=False)
    yield


def dict_with_classes_as_keys():
    global Registry, r, f, O

    class Registry(dict):
        def of(self, value):
            return self[type(value)](value)

    r = Registry({K: lambda o: o.rate})
    f = lambda x: x * r.of(O)
    yield
    r[K] = lambda o: 5.0
    yield
    r[L] = lambda o: o.rate + 7.0
    O = L()
    yield


def counter():
    global c, f
    c = collections.Counter([1, 2])
    f = lambda x: x * c[1]
    yield
    c[1] += 1
    yield
    c.update([1, 1])
    yield


def default_dict_with_numbers_as_keys():
    global M, d, f

    class M(collections.defaultdict):
        pass

    d = M(list)
    d[1].append(2.0)
    f = lambda x: x * d[1][0]
    yield
    d[1][0] = 3.0
    yield
    d[1] = [4.0]
    yield
