"""Holders: objects of each kind with an attribute `w`, and the ways to change it.

`read` is the object; a way of `ways` reads its attribute, through keepers or directly.
`pieces` describes the parts of a piece.
"""

from tests.retrace.oracle.pieces import piece

HOLDERS = {
    "object": piece(
        """
        class K#: pass
        O# = K#(); O#.w = ?
        """,
        "O#",
        (
            *("O#.w = ?", "del O#.w", "O# = K#(); O#.w = ?", "K#.w = ?", "del K#.w"),
            *("O#.__dict__['w'] = ?", "vars(O#).update(w=?)", "setattr(O#, 'w', ?)"),
            *("O#.__dict__ = {'w': ?}", "K#.w = property(lambda self: ?)"),
            "K#.__getattr__ = lambda self, name: ?",
        ),
    ),
    "object of a class with it": piece(
        """
        class Base#: w = ?
        class K#(Base#): pass
        class L#: w = ?
        O# = K#()
        """,
        "O#",
        (
            *("Base#.w = ?", "K#.w = ?", "del K#.w", "del Base#.w", "O#.w = ?"),
            *("del O#.w", "O#.__class__ = L#", "L#.w = ?", "O#.__class__ = K#"),
            *("K#.__bases__ = (L#,)", "O# = L#()", "K#.w = property(lambda self: ?)"),
        ),
    ),
    "class": piece(
        """
        class Base#: w = ?
        class K#(Base#): pass
        class L#: w = ?
        """,
        "K#",
        (
            *("Base#.w = ?", "K#.w = ?", "del K#.w", "K# = L#", "L#.w = ?"),
            "K#.__bases__ = (L#,)",
        ),
    ),
    "class with a metaclass": piece(
        """
        class Meta#(type): w = ?
        class K#(metaclass=Meta#): pass
        """,
        "K#",
        ("Meta#.w = ?", "K#.w = ?", "del K#.w", "Meta#.w = property(lambda cls: ?)"),
    ),
    "module": piece(
        "cfg.w = ?; other.w = ?",
        "cfg",
        ("cfg.w = ?", "del cfg.w", "other.w = ?", "cfg = other"),
    ),
    "submodule": piece(
        "cfg.sub.w = ?; other.w = ?",
        "cfg.sub",
        ("cfg.sub.w = ?", "cfg.sub = other", "other.w = ?"),
    ),
    "slot": piece(
        """
        class K#: __slots__ = ("w",)
        O# = K#(); O#.w = ?
        """,
        "O#",
        ("O#.w = ?", "del O#.w", "O# = K#(); O#.w = ?", "K#.w = ?"),
    ),
    "slots with a class attribute": piece(
        """
        class K#:
            __slots__ = ()
            w = ?
        O# = K#()
        """,
        "O#",
        ("K#.w = ?", "del K#.w"),
    ),
    "dataclass by identity": piece(
        """
        @dataclass(eq=False)
        class P#:
            w: object = ?!
        O# = P#()
        """,
        "O#",
        ("O#.w = ?", "O# = P#(?)", "P#.w = ?", "del O#.w"),
    ),
    "frozen dataclass": piece(
        """
        @dataclass(frozen=True)
        class P#: w: object
        O# = P#(?!)
        """,
        "O#",
        ("O# = P#(?!)", "P#.w = ?", "P#.w = property(lambda self: ?)", "del P#.w"),
    ),
    "property": piece(
        """
        class K#:
            w = property(lambda self: self.v)
        O# = K#(); O#.v = ?
        """,
        "O#",
        (
            *("O#.v = ?", "del O#.v", "K#.v = ?", "K#.w = ?", "del K#.w"),
            "K#.w = property(lambda self: (self.v, ?))",
        ),
    ),
    "property of a global": piece(
        """
        V# = ?
        class K#:
            @property
            def w(self): return V#
        O# = K#()
        """,
        "O#",
        ("V# = ?", "del V#", "K#.w = property(lambda self: ?)"),
    ),
    "cached property": piece(
        """
        class K#:
            @functools.cached_property
            def w(self): return ?
        O# = K#(); O#.w
        """,
        "O#",
        ("O#.w = ?", "K#.w = ?", "O# = K#(); O#.w", "vars(O#)['w'] = ?"),
    ),
    "descriptor": piece(
        """
        class D#:
            def __init__(self): self.v = ?
            def __get__(self, o, cls): return self.v
        class K#: w = D#()
        O# = K#()
        """,
        "O#",
        ("vars(K#)['w'].v = ?", "O#.w = ?", "K#.w = ?", "D#.__get__ = lambda *a: ?"),
    ),
    "__getattr__": piece(
        """
        V# = ?
        class K#:
            def __getattr__(self, name):
                if name != "w": raise AttributeError(name)
                return V#
        O# = K#()
        """,
        "O#",
        ("V# = ?", "O#.w = ?", "del O#.w", "K#.w = ?", "del K#.w"),
    ),
    "__getattr__ of its state": piece(
        """
        class K#:
            def __init__(self, v): self.__dict__["d"] = {"w": v}
            def __getattr__(self, name):
                if name != "w": raise AttributeError(name)
                return self.d[name]
            def __setattr__(self, name, v): self.d[name] = v
        O# = K#(?)
        """,
        "O#",
        ("O#.w = ?", "O#.d['w'] = ?", "O#.__dict__['d'] = {'w': ?}", "O# = K#(?)"),
    ),
    "member of an enum": piece(
        """
        class E#(enum.Enum):
            A = 1
            B = 2
        E#.A.w = ?; E#.B.w = ?
        M# = E#.A
        """,
        "M#",
        ("E#.A.w = ?", "M# = E#.B", "E#.B.w = ?", "del E#.A.w"),
    ),
    "exception": piece("O# = ValueError(1); O#.w = ?", "O#", ("O#.w = ?", "del O#.w")),
    "int": piece(
        """
        class T#(int): pass
        O# = T#(1); O#.w = ?
        """,
        "O#",
        ("O#.w = ?", "T#.w = ?", "O# = T#(1); O#.w = ?", "del O#.w"),
    ),
    "str": piece(
        """
        class T#(str): pass
        O# = T#("a"); O#.w = ?
        """,
        "O#",
        ("O#.w = ?", "T#.w = ?", "O# = T#('a'); O#.w = ?"),
    ),
    "named tuple": piece(
        "N# = collections.namedtuple('N#', 'w')\nO# = N#(?!)",
        "O#",
        ("O# = N#(?!)", "N#.w = property(lambda self: ?)"),
    ),
    "function": piece(
        """
        def h#(): pass
        h#.w = ?
        """,
        "h#",
        (
            *("h#.w = ?", "del h#.w", "h# = lambda: 0; h#.w = ?", "vars(h#)['w'] = ?"),
            *("h#.v = ?", "del h#.v"),
        ),
    ),
    "class of a text": piece(
        """
        names# = {}
        exec("class X: pass", names#)
        names#["X"].w = ?
        X# = names#["X"]; O# = X#()
        """,
        "O#",
        ("X#.w = ?", "O#.w = ?", "del O#.w"),
    ),
    "class made by types": piece(
        "X# = types.new_class('X#', (), {}, lambda ns: ns.update(w=?)); O# = X#()",
        "O#",
        ("X#.w = ?", "O#.w = ?", "del O#.w"),
    ),
    "class made by type": piece(
        "O# = type('X#', (), {'w': ?})()",
        "O#",
        ("type(O#).w = ?", "O#.w = ?", "O# = type('X#', (), {'w': ?})()"),
    ),
    "module of imprint": piece(
        """
        class N#(Module):
            w: object = field(static=True)
        O# = N#(?!)
        """,
        "O#",
        ("O# = N#(?!)",),
    ),
    "object that counts": piece(
        """
        class K#:
            n = 0
            @property
            def w(self):
                self.n += 1
                self.log.append(1)
                return self.v
        O# = K#(); O#.v, O#.log = ?, []
        """,
        "O#",
        ("O#.v = ?", "K#.v = ?", "del O#.v", "O# = K#(); O#.v, O#.log = ?, []"),
    ),
    "object of a factory": piece(
        """
        def make#(v):
            class K:
                w = property(lambda self: (v, self.u))
                u = ?
            return K()
        O# = make#(?)
        """,
        "O#",
        ("O# = make#(?)", "O#.u = ?", "type(O#).u = ?", "type(O#).w = ?"),
    ),
}


def _settings(name, *edits):
    """Return a piece: an object in which a library keeps settings."""
    return piece(f"from oracle_settings import {name} as K#\nO# = K#(w=?)", "O#", edits)


HOLDERS["Config"] = _settings(
    "Config",
    *("O#.w = ?", "del O#.w", "O#.v = ?", "O# = K#(w=?)", "O#.w = K#(w=?)"),
)
HOLDERS["class of an object with a metaclass"] = piece(
    """
    class Meta#(type): w = ?
    class K#(metaclass=Meta#): pass
    O# = K#()
    """,
    "type(O#)",
    ("Meta#.w = ?", "K#.w = ?", "del K#.w", "O#.w = ?", "del Meta#.w"),
)

# Those that are static arguments, or fields of a node: by identity, or with a hash.
HASHED = dict(HOLDERS)

# An object with an attribute that no hash covers.
HOLDERS |= {
    "namespace": piece(
        "O# = types.SimpleNamespace(w=?)",
        "O#",
        (
            "O#.w = ?",
            "del O#.w",
            "O# = types.SimpleNamespace(w=?)",
            "vars(O#)['w'] = ?",
        ),
    ),
    "dataclass": piece(
        """
        @dataclass
        class P#:
            w: object = ?!
        O# = P#()
        """,
        "O#",
        ("O#.w = ?", "O# = P#(?)", "P#.w = ?", "del O#.w"),
    ),
    "partial": piece(
        "O# = functools.partial(max, 1); O#.w = ?",
        "O#",
        ("O#.w = ?", "del O#.w", "O# = functools.partial(max, 1); O#.w = ?"),
    ),
    "list": piece(
        """
        class L#(list): pass
        O# = L#(); O#.w = ?
        """,
        "O#",
        ("O#.w = ?", "L#.w = ?", "O# = L#(); O#.w = ?"),
    ),
    "validated attribute": piece(
        """
        class D#:
            def __set_name__(self, owner, name): self.name = name
            def __get__(self, o, _=None): return o.__dict__[self.name]
            def __set__(self, o, value): o.__dict__[self.name] = value
        class K#: w = D#()
        O# = K#(); O#.w = ?
        """,
        "O#",
        (
            *("O#.w = ?", "vars(O#)['w'] = ?", "O# = K#(); O#.w = ?"),
            *("O#.__dict__ = {'w': ?}", "D#.__get__ = lambda self, o, _=None: ?"),
            "K#.w = property(lambda self: ?)",
        ),
    ),
    "property over a slot": piece(
        """
        class S#: __slots__ = ("w",)
        P# = S#.w
        class K#(S#):
            __slots__ = ()
            @property
            def w(self): return super().w
        O# = K#(); P#.__set__(O#, ?)
        """,
        "O#",
        (
            *("P#.__set__(O#, ?)", "O# = K#(); P#.__set__(O#, ?)"),
            "K#.w = property(lambda self: ?)",
        ),
    ),
}
HOLDERS |= {
    name: _settings(
        name,
        *("O#.w = ?", "O#['w'] = ?", "del O#.w", "O#['v'] = ?", "O# = K#(w=?)"),
    )
    for name in ("Shown", "Hiding")
}
