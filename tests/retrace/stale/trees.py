"""Scenarios: trees as arguments, with keys and static data that `==` takes for equal.

`f` gets its tree from `made()`; `compiled` is one jitted function of a tree. `Node` is a
node with a static value.
"""

HEAD = """
class Node:
    def __init__(self, a, b): self.a = a; self.b = b
imprint.tree.register_pytree_node(Node, lambda n: ((n.a,), n.b), lambda b, a: Node(a[0], b))
def key(d): return next(iter(d))
"""
TAIL = """
by_tree = jit(g)
f = lambda x: g(made(inp.asarray(x)))
compiled = lambda x: by_tree(made(inp.asarray(x)))
"""


def of(made, g, edits):
    """Return a scenario of a function `g` of `made(x)`, for an array `x`."""
    head, _, rest = edits.partition("---")
    lines = [line.strip() for line in head.strip().splitlines()]
    start = "\n".join([*lines, f"made = lambda x: {made}", f"g = lambda t: {g}"])
    return f"{HEAD}{start}\n{TAIL}--- {rest.strip()}"


TREES = {
    "key that is a text of the user's": of(
        "{k: x}",
        "t[key(t)] * key(t).rate",
        """
        class Text(str): pass
        k = Text("a"); k.rate = 2.0
        --- k.rate = 3.0
        --- k = Text("a"); k.rate = 4.0
        """,
    ),
    "key that is a member of an enum": of(
        "{E.A: x}",
        "t[key(t)] * key(t).rate",
        """
        class E(enum.Enum): A = 1
        E.A.rate = 2.0
        --- E.A.rate = 3.0
        """,
    ),
    "sign of a key that is zero": of(
        "{(k, 1): x}",
        "t[key(t)] * math.copysign(1.0, key(t)[0])",
        "k = 0.0\n--- k = -0.0",
    ),
    "type of a key's field": of(
        "{Key(k): x}",
        "t[key(t)] * (2.0 if key(t).k is True else 3.0)",
        """
        Key = dataclasses.make_dataclass("Key", ["k"], frozen=True, order=True)
        k = 1
        --- k = True
        """,
    ),
    "class of a model that is filtered": """
        class Layer(Module):
            w: object
            rate = 2.0
        class Model(Module):
            layers: list
        def run(m, x):
            for layer in m.layers: x = x * layer.rate
            return x
        m = Model([Layer(1.0), Layer(inp.ones(()))])
        f = lambda x: run(m, x)
        filtered = filter_jit(run)
        compiled = lambda x: filtered(m, x)
        --- Layer.rate = 3.0
        """,
    "registered dataclass given to a function that was traced": """
        @imprint.tree_util.register_dataclass
        @dataclasses.dataclass
        class P: w: object
        p = P(2.0)
        g = jit(lambda q, x: q.w * x)
        g(p, 1.0)
        f = lambda x: g(p, x)
        --- p.w = 3.0
        --- p.w = 4.0
        """,
}
