"""Scenarios: trees as arguments, with keys and static data that `==` takes for equal.

`g` gets its tree from `made(x)`, for an array `x`; `compiled` is one jitted `g`.
"""


def key_that_is_a_text_of_the_users():
    global Text, k, made, g, by_tree, f, compiled

    class Text(str):
        pass

    k = Text("a")
    k.rate = 2.0
    made = lambda x: {k: x}
    g = lambda t: t[next(iter(t))] * next(iter(t)).rate
    by_tree = jit(g)
    f = lambda x: g(made(inp.asarray(x)))
    compiled = lambda x: by_tree(made(inp.asarray(x)))
    yield
    k.rate = 3.0
    yield
    k = Text("a")
    k.rate = 4.0
    yield


def key_that_is_a_member_of_an_enum():
    global E, made, g, by_tree, f, compiled

    class E(enum.Enum):
        A = 1

    E.A.rate = 2.0
    made = lambda x: {E.A: x}
    g = lambda t: t[next(iter(t))] * next(iter(t)).rate
    by_tree = jit(g)
    f = lambda x: g(made(inp.asarray(x)))
    compiled = lambda x: by_tree(made(inp.asarray(x)))
    yield
    E.A.rate = 3.0
    yield


def sign_of_a_key_that_is_zero():
    global k, made, g, by_tree, f, compiled
    k = 0.0
    made = lambda x: {(k, 1): x}
    g = lambda t: t[next(iter(t))] * math.copysign(1.0, next(iter(t))[0])
    by_tree = jit(g)
    f = lambda x: g(made(inp.asarray(x)))
    compiled = lambda x: by_tree(made(inp.asarray(x)))
    yield
    k = -0.0
    yield


def type_of_a_keys_field():
    global Key, k, made, g, by_tree, f, compiled
    Key = dataclasses.make_dataclass("Key", ["k"], frozen=True, order=True)
    k = 1
    made = lambda x: {Key(k): x}
    g = lambda t: t[next(iter(t))] * (2.0 if next(iter(t)).k is True else 3.0)
    by_tree = jit(g)
    f = lambda x: g(made(inp.asarray(x)))
    compiled = lambda x: by_tree(made(inp.asarray(x)))
    yield
    k = True
    yield


def registered_dataclass_given_to_a_function_that_was_traced():
    global P, p, g, f

    @imprint.tree_util.register_dataclass
    @dataclasses.dataclass
    class P:
        w: object

    p = P(2.0)
    g = jit(lambda q, x: q.w * x)
    g(p, 1.0)
    f = lambda x: g(p, x)
    yield
    p.w = 3.0
    yield
    p.w = 4.0
    yield


def class_of_a_model_that_is_filtered():
    global Layer, Model, run, m, f, filtered, compiled

    class Layer(Module):
        w: object
        rate = 2.0

    class Model(Module):
        layers: list

    def run(m, x):
        for layer in m.layers:
            x = x * layer.rate
        return x

    m = Model([Layer(1.0), Layer(inp.ones(()))])
    f = lambda x: run(m, x)
    filtered = filter_jit(run)
    compiled = lambda x: filtered(m, x)
    yield
    Layer.rate = 3.0
    yield
