"""Static arguments, and how a caller changes them; static data of nodes.

`pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

# The root of a program with a static argument `n`.
ROOT_WITH_STATIC = piece(
    "def root(x, n):\n    return emit(x, <>)",
    "root",
    ("def root(x, n):\n    return emit(x, <>, ?)",),
)

# Values of `S`, the static argument of a call, and how a caller changes it.
STATICS = {
    "scalar": piece(
        "S = ?!",
        "n",
        ("S = ?!",),
    ),
    "tuple": piece(
        "S = (?!, (?!,))",
        "n",
        (
            "S = (?!, (?!,))",
            "S = (*S,)",
        ),
    ),
    "frozen dataclass": piece(
        """
        @dataclass(frozen=True)
        class Config:
            a: object
        S = Config(?!)
        """,
        "n.a",
        (
            "S = Config(?!)",
            "S = Config(S.a)",
        ),
    ),
    "frozen dataclass of a function": piece(
        """
        @dataclass(frozen=True)
        class Task:
            fn: object
        def h#(k=2): return k
        S = Task(h#)
        """,
        "n.fn()",
        (
            *("h#.__defaults__ = (?,)", "h#.__code__ = (lambda k: (k, ?)).__code__"),
            *("def h#(k=2): return k\nS = Task(h#)", "S = Task(h#)"),
        ),
    ),
    "function": piece(
        """
        W# = ?
        def make#(a):
            return lambda: (a, W#)
        S = make#(?)
        """,
        "n()",
        (
            "S = make#(?)",
            "W# = ?",
            "S.__closure__[0].cell_contents = ?",
            "S.__code__ = (lambda a: lambda: (a, ?))(1).__code__",
        ),
    ),
    "object": piece(
        """
        class State:
            rate = ?
            def m(self):
                return self.a, self.rate
        S = State(); S.a = ?
        """,
        "(n.m(), n.a)",
        (
            "S.a = ?",
            "S = State(); S.a = ?",
            "State.rate = ?",
            "S.rate = ?",
            "S.m = lambda: ?",
        ),
    ),
    "object that counts": piece(
        """
        class State:
            n = 0
            def m(self):
                self.n += 1
                self.log["n"] = self.n
                return self.a, self.log["w"]
        S = State(); S.a = ?; S.log = {"w": ?}
        """,
        "n.m()",
        (
            "S.a = ?",
            "S = State(); S.a = ?; S.log = {'w': ?}",
            "S.log['w'] = ?",
            "S.log = {'w': ?}",
        ),
    ),
    "number with attributes": piece(
        """
        class Length(float):
            pass
        S = Length(1); S.unit = ?
        """,
        "(float(n), n.unit)",
        (
            "S.unit = ?",
            "S = Length(1); S.unit = ?",
            "S = Length(2); S.unit = ?",
        ),
    ),
    "dtype": piece(
        "S = inp.float32",
        "(type(n).__name__, np.dtype(n).name)",
        (
            "S = np.float32",
            "S = np.dtype('float32')",
            "S = 'float32'",
            "S = inp.int32",
            "S = inp.float32",
        ),
    ),
    "object with a list": piece(
        """
        class State:
            pass
        S = State(); S.a = [?]
        """,
        "n.a",
        (
            "S.a.append(?)",
            "S.a[0] = ?",
            "S.a = [?]",
        ),
    ),
}

# Values of `S` as a tree: nodes whose static data can change.
NODES = {
    "module": piece(
        """
        class Node(Module):
            a: object = field(static=True)
        S = Node([?, (?, [?])])
        """,
        "(n.a, len(n.a))",
        (
            "S.a.append(?)",
            "S.a[0] = ?",
            "S.a[1][1].append(?)",
            "S = Node([*S.a])",
            "S = Node((*S.a, ?))",
            "object.__setattr__(S, 'a', [?, (?, [?])])",
        ),
    ),
    "module with a dictionary": piece(
        """
        class Node(Module):
            a: object = field(static=True)
        S = Node({"k": ?, "s": {?!}})
        """,
        "[*n.a.items()]",
        (
            "S.a['k'] = ?",
            "S.a['j'] = ?",
            "S.a.update(k=S.a.pop('k'))",
            "S.a['s'].add(?!)",
            "S = Node({**S.a})",
            "S.a.pop('j')",
        ),
    ),
    "module with an object": piece(
        """
        class State:
            pass
        class Node(Module):
            a: object = field(static=True)
        S = Node(State()); S.a.b = ?
        """,
        "n.a.b",
        (
            "S.a.b = ?",
            "S = Node(S.a)",
            "S = Node(State()); S.a.b = ?",
            "del S.a.b",
        ),
    ),
    "partial with a closure": piece(
        """
        W# = ?
        def make#(a, b):
            return lambda c: (a, b, c, W#)
        S = tree.Partial(make#(?, [?]), 1.0)
        """,
        "n.func(1)",
        (
            "S.func.__closure__[0].cell_contents = ?",
            "S.func.__closure__[1].cell_contents.append(?)",
            "S.func.__code__ = (lambda a, b: lambda c: (a, b, ?))(1, 2).__code__",
            "W# = ?",
            "S = tree.Partial(make#(?, [?]), 1.0)",
            "S = tree.Partial(S.func, 2.0)",
        ),
    ),
    "pullback": piece(
        """
        def pullback(k):
            return imprint.vjp(lambda y: k * y, inp.arange(3.0))[1]
        S = pullback(2.0)
        """,
        "str(imprint.make_jaxpr(n)(inp.ones(3)))",
        (
            "S = pullback(2.0)",
            "S = pullback(3.0)",
            "S = imprint.vjp(lambda y: y + 1, inp.arange(3.0))[1]",
            "S = imprint.linearize(lambda y: -y, inp.arange(3.0))[1]",
        ),
    ),
    "registered class": piece(
        """
        @tree.register_pytree_node_class
        class Node:
            def __init__(self, a):
                self.a = a
            def tree_flatten(self):
                return (), self.a
            @classmethod
            def tree_unflatten(cls, a, _):
                return cls(a)
        S = Node({"k": [?]})
        """,
        "[*n.a.items()]",
        (
            "S.a['k'].append(?)",
            "S.a['j'] = ?",
            "S.a = bytearray(b'a')",
            "S = Node({'k': [?]})",
            "S = Node({'k': [*S.a['k']]})",
        ),
    ),
}

# Static arguments that hold a holder's object, `<>`: `read` is that object.
STATIC_HOLDERS = {
    "itself": piece("S = <>", "n", ("S = <>",)),
    "in a tuple": piece("S = (<>, 1)", "n[0]", ("S = (<>, 1)", "S = (<>, 2)")),
    "attribute": piece(
        """
        class H#: pass
        S = H#(); S.o = <>
        """,
        "n.o",
        ("S.o = <>", "S = H#(); S.o = <>", "S.n = 1", "H#.o = <>; S = H#()"),
    ),
    "list in an attribute": piece(
        """
        class H#: pass
        S = H#(); S.o = [<>]
        """,
        "n.o[0]",
        ("S.o[0] = <>", "S.o = [<>]", "S.o.append(1)", "S.o.insert(0, <>)"),
    ),
    "slot": piece(
        """
        class H#: __slots__ = ("o",)
        S = H#(); S.o = <>
        """,
        "n.o",
        ("S.o = <>",),
    ),
    "default of a function": piece(
        """
        def s#(o=<>): return o
        S = s#
        """,
        "n()",
        ("S.__defaults__ = (<>,)", "S = lambda: <>"),
    ),
    "bound method": piece(
        """
        class H#:
            def m(self):
                self.n = getattr(self, "n", 0) + 1
                return self.o
        S = H#().m; S.__self__.o = <>
        """,
        "n()",
        ("S.__self__.o = <>", "S = H#().m; S.__self__.o = <>", "S.__self__.o_ = 1"),
    ),
}

# Nodes that hold it.
NODE_HOLDERS = {
    "field": piece(
        """
        class Node#(Module):
            a: object = field(static=True)
        S = Node#(<>)
        """,
        "n.a",
        ("S = Node#(<>)",),
    ),
    "attribute of a field": piece(
        """
        class H#: pass
        class Node#(Module):
            a: object = field(static=True)
        S = Node#(H#()); S.a.o = <>
        """,
        "n.a.o",
        ("S.a.o = <>", "S.a.n = 1", "S = Node#(S.a)"),
    ),
}
