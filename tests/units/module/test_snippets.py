"""Modules compared with Equinox: the same class bodies, run on both sides.

A snippet is text; `M` is the `Module` of a side, `mod` its library of modules, `api` its
library of arrays, `tree` its trees. Its `out` is compared, or the builtin class of its
error. `DIFFERENT` are those that differ on purpose, with reasons.
"""

import dataclasses
import re
import textwrap
import warnings

import equinox
import jax
import numpy
import pytest

import imprint

SNIPPETS = {
    "property over inherited field": """
        class A(M):
            x: int
        class B(A):
            @property
            def x(self): return 5
        B(3)
    """,
    "property over inherited field, no arg": """
        class A(M):
            x: int
        class B(A):
            @property
            def x(self): return 5
            def __init__(self): pass
        out = B().x
    """,
    "class attr over static field": """
        class A(M):
            x: int = field(static=True)
            y: int = 0
        class B(A):
            x = 7
        out = B().x, B().y
    """,
    "class attr over required field": """
        class A(M):
            x: int
        class B(A):
            x = 7
        out = B().x, tree.leaves(B()), inspect.signature(B)
    """,
    "abstract var method concrete": """
        class A(M):
            x: mod.AbstractVar[int]
        class B(A):
            x: int
        out = B(3).x
    """,
    "abstract var by property": """
        class A(M):
            x: mod.AbstractVar[int]
        class B(A):
            @property
            def x(self): return 4
        out = B().x
    """,
    "abstract var unfilled": """
        class A(M):
            x: mod.AbstractVar[int]
        class B(A): pass
        B()
    """,
    "abstract class var filled by field": """
        class A(M):
            x: mod.AbstractClassVar[int]
        class B(A):
            x: int = 3
        out = B().x
    """,
    "abstract class var filled by field without default": """
        class A(M):
            x: mod.AbstractClassVar[int]
        class B(A):
            x: int
        out = B(4).x
    """,
    "abstract class var by ClassVar": """
        class A(M):
            x: mod.AbstractClassVar[int]
        class B(A):
            x: ClassVar[int] = 3
        out = B().x, B.x
    """,
    "abstract class var by plain attribute": """
        class A(M):
            x: mod.AbstractClassVar[int]
        class B(A):
            x = 3
        out = B().x, B.x
    """,
    "isinstance of method": """
        class A(M):
            x: int
            def f(self): return self.x
        out = isinstance(A(1).f, M), type(A(1).f).__name__, A(1).f()
    """,
    "method equality and hash": """
        class A(M):
            x: int
            def f(self): return self.x
        out = A(1).f == A(1).f, A(1).f == A(2).f, hash(A(1).f) == hash(A(1).f)
    """,
    "signature": """
        class A(M):
            x: int
            y: float = 2.0
            z: int = field(default=3, static=True)
            w: list = field(default_factory=list, kw_only=True)
        out = str(inspect.signature(A))
    """,
    "signature with converter": """
        def conv(x: str) -> int: return int(x)
        class A(M):
            x: int = field(converter=conv)
        out = str(inspect.signature(A)), A('3').x
    """,
    "signature with plain converter": """
        class A(M):
            x: float = field(converter=float)
        out = str(inspect.signature(A)), A(3).x
    """,
    "signature own init": """
        class A(M):
            x: int
            def __init__(self, a, *, b=2): self.x = a
        out = str(inspect.signature(A))
    """,
    "check_init order": """
        log = []
        class A(M):
            x: int
            def __check_init__(self): log.append('A')
        class B(A):
            def __check_init__(self): log.append('B')
        B(1); out = log
    """,
    "check_init raises": """
        class A(M):
            x: int
            def __check_init__(self):
                if self.x < 0: raise ValueError('neg')
        A(-1)
    """,
    "check_init assign": """
        class A(M):
            x: int
            def __check_init__(self): self.x = 3
        A(1)
    """,
    "post_init": """
        class A(M):
            x: int
            y: int = field(init=False)
            def __post_init__(self): self.y = self.x + 1
        out = A(1).y, tree.leaves(A(1))
    """,
    "InitVar": """
        class A(M):
            x: int
            k: dataclasses.InitVar[int]
            def __post_init__(self, k): self.x = self.x + k
        out = A(1, 5).x, tree.leaves(A(1,5))
    """,
    "init false with default": """
        class A(M):
            x: int
            y: int = field(init=False, default=4)
        out = A(1).y, repr(A(1))
    """,
    "init false unset": """
        class A(M):
            x: int
            y: int = field(init=False)
        A(1)
    """,
    "default_factory": """
        class A(M):
            x: list = field(default_factory=lambda: [1])
        a = A(); out = a.x, A().x is a.x
    """,
    "mutable default": """
        class A(M):
            x: list = []
    """,
    "array default": """
        class A(M):
            x: Any = np.ones(2)
        out = A().x.sum()
    """,
    "generic": """
        T = TypeVar('T')
        class A(M, Generic[T]):
            x: T
        class B(A[int]):
            y: int
        out = A[int](3).x, B(1, 2), tree.leaves(B(1,2))
    """,
    "super init": """
        class A(M):
            x: int
            def __init__(self, x): self.x = x
        class B(A):
            y: int
            def __init__(self, x, y):
                super().__init__(x); self.y = y
        out = B(1,2)
    """,
    "init set static": """
        class A(M):
            x: int
            s: str = field(static=True)
            def __init__(self): self.x = 1; self.s = 'a'
        out = tree.leaves(A()), A()
    """,
    "inherit init add field": """
        class A(M):
            x: int
            def __init__(self): self.x = 1
        class B(A):
            y: int = 2
        out = B()
    """,
    "inherit init add field no default": """
        class A(M):
            x: int
            def __init__(self): self.x = 1
        class B(A):
            y: int
        B()
    """,
    "dataclass init after own init": """
        class A(M):
            x: int
            def __init__(self): self.x = 1
        class B(A):
            y: int
            def __init__(self, y): super().__init__(); self.y = y
        class C(B):
            z: int = 5
        out = C(3)
    """,
    "field order": """
        class A(M):
            x: int
            y: int = 1
        class B(A):
            x: int = 5
            z: int = 6
        out = str(inspect.signature(B)), B()
    """,
    "nondefault after default": """
        class A(M):
            x: int = 1
        class B(A):
            y: int
    """,
    "kw_only class": """
        class A(M, kw_only=True):
            x: int = 1
        class B(A):
            y: int
        out = B(2), str(inspect.signature(B))
    """,
    "slots": """
        class A(M):
            __slots__ = ('x',)
            x: int
        out = A(1).x
    """,
    "multiple inheritance": """
        class A(M):
            a: int
        class B(M):
            b: int
        class C(A, B):
            c: int
        out = C(1,2,3), tree.leaves(C(1,2,3))
    """,
    "mixin": """
        class Mix:
            def hello(self): return self.x
        class A(Mix, M):
            x: int
        out = A(1).hello()
    """,
    "mixin plain base with init": """
        class Base:
            def __init__(self): self.q = 1
        class A(M, Base):
            x: int
        out = A(1)
    """,
    "undeclared": """
        class A(M):
            def __init__(self): self.x = 1
        A()
    """,
    "missing": """
        class A(M):
            x: int
            def __init__(self): pass
        A()
    """,
    "frozen": """
        class A(M):
            x: int
        A(1).x = 2
    """,
    "del": """
        class A(M):
            x: int
        a = A(1)
        del a.x
    """,
    "eq arrays": """
        class A(M):
            x: Any
        out = bool(A(np.ones(2)) == A(np.ones(2))), bool(A(np.ones(2)) == A(np.zeros(2))), A(1) == A(1), A(1) == 1
    """,
    "hash": """
        class A(M):
            x: Any
        out = hash(A(1)) == hash(A(1)), len({A(1), A(1), A(2)})
    """,
    "hash array": """
        class A(M):
            x: Any
        hash(A(np.ones(2)))
    """,
    "repr": """
        class A(M):
            x: Any
            y: Any = field(repr=False)
            f: Callable
            s: str = field(static=True)
        def ff(x): return x
        out = repr(A(np.ones((2,3)), 1, ff, 'k')), repr(A({'a': [1, np.ones(2)]}, 2, len, 's')), repr(A(None, 1, functools.partial(ff, 1), (1,)))
    """,
    "repr lambda jit": """
        class A(M):
            x: Any
        out = repr(A(lambda x: x)), repr(A(numpy.ones(2))), repr(A(A(1))), repr(A(int)), repr(A('a'*10)), repr(A(1.5)), repr(A((1,))), repr(A([]))
    """,
    "repr long": """
        class A(M):
            weight: Any
            bias: Any
            name: str
        out = repr(A(np.ones((100,100)), np.ones((100,)), 'a long long long long long long long long name'))
    """,
    "str method": """
        class A(M):
            x: int
            def f(self): pass
        out = callable(A(1).f), A(1).f.__name__, A.f.__name__
    """,
    "staticmethod classmethod": """
        class A(M):
            x: int
            @staticmethod
            def s(y): return y
            @classmethod
            def c(cls): return cls(3)
            @property
            def p(self): return self.x
        out = A(1).s(2), A.c().x, A(1).p
    """,
    "cached_property": """
        class A(M):
            x: int
            @functools.cached_property
            def p(self): return self.x + 1
        out = A(1).p
    """,
    "jit method": """
        class A(M):
            x: Any
            @mod.filter_jit
            def f(self, y): return self.x * y
        out = float(A(np.array(2.)).f(3.))
    """,
    "call jit": """
        class A(M):
            x: Any
            @api.jit
            def __call__(self, y): return self.x * y
        out = float(A(np.array(2.))(3.))
    """,
    "method as leaf": """
        class A(M):
            x: Any
            def f(self, y): return self.x * y
        m = A(np.array(2.))
        out = tree.leaves(m.f), float(api.jit(lambda g, y: g(y))(m.f, 3.))
    """,
    "method in field": """
        class A(M):
            x: Any
            def f(self, y): return self.x * y
        class B(M):
            g: Any
        b = B(A(np.array(2.)).f)
        out = float(b.g(2.)), len(tree.leaves(b))
    """,
    "own method in field": """
        class A(M):
            x: Any
            g: Any
            def __init__(self): self.x = 1; self.g = self.f
            def f(self, y): return self.x * y
        A()
    """,
    "tree_at": """
        class A(M):
            x: Any
            y: Any = None
        out = mod.tree_at(lambda a: a.x, A(1), 5), mod.tree_at(lambda a: (a.x, a.y), A(1, 2), (5, 6)), mod.tree_at(lambda a: a.x, A(1), replace_fn=lambda v: v+1)
    """,
    "tree_at none": """
        class A(M):
            x: Any
            y: Any = None
        out = mod.tree_at(lambda a: a.y, A(1), 5, is_leaf=lambda x: x is None)
    """,
    "tree_at none without is_leaf": """
        class A(M):
            x: Any
            y: Any = None
        mod.tree_at(lambda a: a.y, A(1), 5)
    """,
    "tree_at static": """
        class A(M):
            x: Any
            y: Any = field(static=True)
        mod.tree_at(lambda a: a.y, A(1, 'k'), 5)
    """,
    "tree_at subtree": """
        class A(M):
            x: Any
        out = mod.tree_at(lambda a: a.x, A([1,2]), None), mod.tree_at(lambda a: a['k'][0].x, {'k': [A(1), A(2)]}, 'new')
    """,
    "tree_at twice": """
        class A(M):
            x: Any
        mod.tree_at(lambda a: (a.x, a.x), A(1), (1, 2))
    """,
    "tree_at wrong count": """
        class A(M):
            x: Any
            y: Any
        mod.tree_at(lambda a: (a.x, a.y), A(1, 2), (1,))
    """,
    "tree_at not in tree": """
        class A(M):
            x: Any
        mod.tree_at(lambda a: 3, A(1), 1)
    """,
    "tree_at tuple node": """
        class A(M):
            x: Any
        out = mod.tree_at(lambda a: a.x, A((1, 2)), (3, 4))
    """,
    "tree_at list replace": """
        out = mod.tree_at(lambda a: [a[0], a[2]], [1, 2, 3], [7, 8])
    """,
    "tree_at shared leaf": """
        x = np.ones(2)
        class A(M):
            x: Any
            y: Any
        out = mod.tree_at(lambda a: a.x, A(x, x), 1).y is x
    """,
    "tree_at both": """
        mod.tree_at(lambda a: a[0], [1], 2, replace_fn=lambda x: x)
    """,
    "tree_at check": """
        class A(M):
            x: Any
            def __check_init__(self): assert self.x == 1
        out = mod.tree_at(lambda a: a.x, A(1), 2)
    """,
    "dataclasses.replace": """
        class A(M):
            x: Any
            y: Any = 2
        out = dataclasses.replace(A(1), x=5)
    """,
    "dataclasses.fields": """
        class A(M):
            x: Any
            y: Any = field(static=True, default=2)
        out = [(f.name, f.metadata.get('static', False)) for f in dataclasses.fields(A)], dataclasses.is_dataclass(A), dataclasses.asdict(A(1))
    """,
    "copy": """
        class A(M):
            x: Any
        a = A([1])
        out = copy.copy(a) == a, copy.deepcopy(a) == a, copy.copy(a).x is a.x
    """,
    "abstract method": """
        class A(M):
            @abstractmethod
            def f(self): ...
        A()
    """,
    "abstract method filled": """
        class A(M):
            @abstractmethod
            def f(self): ...
        class B(A):
            def f(self): return 1
        out = B().f()
    """,
    "abstract property": """
        class A(M):
            @property
            @abstractmethod
            def f(self): ...
        class B(A):
            f: int
        out = B(3).f
    """,
    "filter spec": """
        class A(M):
            x: Any
            n: int
            f: Any
        a = A(np.ones(2), 3, len)
        d, st = mod.partition(a, mod.is_array)
        out = d.n, st.x, st.f is len, mod.combine(d, st).n, mod.filter(a, mod.is_array, inverse=True).x, mod.filter(a, mod.is_array, replace=0).n
    """,
    "filter tree spec": """
        out = mod.filter({'a': 1, 'b': [2, 3]}, {'a': True, 'b': False}), mod.partition([1, 2], [True, False]), mod.filter([1, None], lambda x: x is None, is_leaf=lambda x: x is None)
    """,
    "field in class twice": """
        class A(M):
            x: int
            x: float
        out = A(1).x
    """,
    "string annotations": """
        class A(M):
            x: 'int'
            y: 'ClassVar[int]' = 3
        out = tree.leaves(A(1)), A.y
    """,
    "ClassVar": """
        class A(M):
            x: int
            y: ClassVar[int] = 3
        out = tree.leaves(A(1)), A(1).y
    """,
    "no annotation attr": """
        class A(M):
            x: int
            y = 3
        out = tree.leaves(A(1)), A(1).y
    """,
    "nested class attr function default": """
        class A(M):
            f: Callable = np.sin
        out = float(A().f(0.)), len(tree.leaves(A()))
    """,
    "lambda default": """
        class A(M):
            f: Callable = lambda x: x + 1
        out = A().f(1)
    """,
    "converter default": """
        class A(M):
            x: Any = field(converter=float, default=1)
        out = A().x, A(2).x
    """,
    "converter own init": """
        class A(M):
            x: Any = field(converter=float)
            def __init__(self): self.x = 1
        out = A().x
    """,
    "converter inherited": """
        class A(M):
            x: Any = field(converter=float)
        class B(A):
            y: int = 1
        out = B(2).x
    """,
    "converter with post_init": """
        log = []
        class A(M):
            x: Any = field(converter=float)
            def __post_init__(self): log.append(type(self.x).__name__)
        A(2); out = log
    """,
    "converter None": """
        class A(M):
            x: Any = field(converter=lambda x: None)
        out = A(2).x
    """,
    "metadata": """
        class A(M):
            x: Any = field(metadata={'k': 1}, static=True)
        out = dict(dataclasses.fields(A)[0].metadata)
    """,
    "match args": """
        class A(M):
            x: Any
            y: Any
        match A(1, 2):
            case A(a, b): out = a, b
    """,
    "getattr missing": """
        class A(M):
            x: Any
        A(1).nothing
    """,
    "setattr in method during init": """
        class A(M):
            x: Any
            def __init__(self): self._set()
            def _set(self): self.x = 4
        out = A().x
    """,
    "init return other module nested": """
        class A(M):
            x: Any
            def __init__(self): self.x = B()
        class B(M):
            y: Any
            def __init__(self): self.y = 1
        out = A()
    """,
    "init raise then use": """
        class A(M):
            x: Any
            def __init__(self, bad):
                if bad: raise KeyError('k')
                self.x = 1
        try: A(True)
        except KeyError: pass
        out = A(False).x
    """,
    "delete in init": """
        class A(M):
            x: Any
            def __init__(self):
                self.x = 1; del self.x; self.x = 2
        out = A().x
    """,
    "overwrite in init": """
        class A(M):
            x: Any = 5
            def __init__(self): self.x = 1; self.x += 2
        out = A().x
    """,
    "default read in init": """
        class A(M):
            x: Any = 5
            y: Any = 0
            def __init__(self): self.y = self.x + 1
        out = A().y, A().x
    """,
    "issubclass of dataclass": """
        @dataclasses.dataclass
        class A(M):
            x: int
        out = A(1)
    """,
    "frozen dataclass decorator": """
        @dataclasses.dataclass(frozen=True)
        class A(M):
            x: int = 2
        out = A(1)
    """,
    "eqx module subclass of Protocol": """
        class P(Protocol):
            def f(self): ...
        class A(M):
            x: int
            def f(self): return 1
        out = A(1).f()
    """,
    "wrapper method functools.wraps": """
        def deco(fn):
            @functools.wraps(fn)
            def inner(self, *a): return fn(self, *a) + 1
            return inner
        class A(M):
            x: int
            @deco
            def f(self, y): return self.x + y
        out = A(1).f(2), A(1).f.__name__
    """,
    "partialmethod": """
        class A(M):
            x: int
            def f(self, y): return self.x + y
            g = functools.partialmethod(f, 5)
        out = A(1).g()
    """,
    "dunder methods": """
        class A(M):
            x: int
            def __len__(self): return 7
            def __getitem__(self, i): return i
            def __add__(self, o): return self.x + o
            def __call__(self): return 'c'
            def __contains__(self, i): return True
            def __iter__(self): return iter([1,2])
            def __bool__(self): return False
        a = A(1); out = len(a), a[3], a+1, a(), 3 in a, list(a), bool(a)
    """,
    "init_subclass": """
        log = []
        class A(M):
            def __init_subclass__(cls, **kw): super().__init_subclass__(); log.append((cls.__name__, kw))
        class B(A, tag=1): pass
        out = log
    """,
    "super method": """
        class A(M):
            x: int
            def f(self): return self.x
        class B(A):
            def f(self): return super().f() + 1
        out = B(1).f()
    """,
    "jit static module": """
        class A(M):
            x: int
            def __call__(self, y): return self.x*y
        out = float(api.jit(lambda m, y: m(y), static_argnums=0)(A(2), 3.))
    """,
    "is_array etc": """
        out = [mod.is_array(v) for v in (np.ones(1), numpy.ones(1), 1, numpy.float32(1), None)], [mod.is_array_like(v) for v in (np.ones(1), numpy.ones(1), 1, True, 1j, 'a', numpy.float32(1))], [mod.is_inexact_array(v) for v in (np.ones(1), np.arange(2), numpy.ones(1))], [mod.is_inexact_array_like(v) for v in (1, 1., 1j, numpy.float32(1), np.arange(2))]
    """,
    "grad module": """
        class A(M):
            w: Any
            n: int
            def __call__(self, x): return (self.w * x).sum()
        g = mod.filter_grad(lambda m: m(2.))(A(np.ones(2), 3))
        out = repr(g)
    """,
    "vmap module ensemble": """
        class A(M):
            w: Any
            def __call__(self, x): return self.w * x
        ms = mod.filter_vmap(lambda w: A(w))(np.arange(3.))
        out = repr(ms), mod.filter_vmap(lambda m, x: m(x))(ms, np.ones(3)).tolist()
    """,
    "abstract init subclass generic var": """
        class A(M):
            x: mod.AbstractVar[int]
            def f(self): return self.x
        class B(A):
            x: int = 5
        out = B().f()
    """,
    "abstract var then concrete over property": """
        class A(M):
            @property
            def x(self): return 1
        class B(A):
            x: int
        out = B(2).x
    """,
    "hidden field by ClassVar": """
        class A(M):
            x: int
        class B(A):
            x: ClassVar[int] = 3
        out = B().x
    """,
    "hidden field by method": """
        class A(M):
            x: Any
        class B(A):
            def x(self): return 3
        out = B(1)
    """,
    "class private": """
        class A(M):
            __x: int
            def __init__(self): self.__x = 3
            def get(self): return self.__x
        out = A().get()
    """,
    "tree_equal": """
        class A(M):
            x: Any
        out = bool(mod.tree_equal(A(np.ones(2)), A(np.ones(2)))), mod.tree_equal(A(1), A(2)), mod.tree_equal(A(1), A(1.0))
    """,
    "field kw_only default order": """
        class A(M):
            x: int = field(kw_only=True)
            y: int
        out = A(1, x=2)
    """,
    "map over module with None": """
        class A(M):
            x: Any
            y: Any
        out = tree.map(lambda v: v+1, A(1, None))
    """,
    "wrapped init": """
        class A(M):
            x: int
            def __init__(self, x): self.x = x
            __init__.__doc__ = 'doc'
        out = A.__init__.__doc__, A(x=1)
    """,
    "docstring": """
        class A(M):
            "Doc of A."
            x: int
        out = A.__doc__, A.__module__ is not None, A.__qualname__
    """,
    "new": """
        class A(M):
            x: int
            def __new__(cls, *a, **k): return super().__new__(cls)
        out = A(1)
    """,
    "new returns other": """
        class A(M):
            x: int
            def __new__(cls, *a, **k): return 5
        out = A(1)
    """,
    "object.__setattr__": """
        class A(M):
            x: int
        a = A(1)
        object.__setattr__(a, 'x', 2)
        out = a.x, tree.leaves(a)
    """,
    "set class attr after": """
        class A(M):
            x: int
        A.k = 3
        out = A(1).k
    """,
    "dict fields": """
        class A(M):
            x: int
            y: int = field(static=True)
        out = vars(A(1, 2))
    """,
    "enum": """
        import enum
        class E(enum.Enum):
            a = 1
        class A(M):
            x: Any = field(static=True)
        out = A(E.a).x is E.a, tree.leaves(A(E.a))
    """,
}

HEAD = """\
import abc, copy, dataclasses, enum, functools, inspect
from abc import abstractmethod
from typing import *
"""
SHARED = {"numpy": numpy}
OURS = {
    **SHARED,
    "M": imprint.Module,
    "mod": imprint,
    "field": imprint.field,
    "np": imprint.numpy,
    "api": imprint,
    "tree": imprint.tree,
}
THEIRS = {
    **SHARED,
    "M": equinox.Module,
    "mod": equinox,
    "field": equinox.field,
    "np": jax.numpy,
    "api": jax,
    "tree": jax.tree,
}
DIFFERENT = {
    **dict.fromkeys(
        (
            *("init false with default", "inherit init add field", "field order"),
            *("dataclass init after own init", "tree_at", "dataclasses.replace"),
        ),
        "fields at their default are shown",
    ),
    "repr": "a builtin function is shown as a function",
    "kw_only class": "the options of dataclasses are taken",
    "del": "a module is frozen against that too",
    "tree_at twice": "it would be unclear which replacement counts",
    "issubclass of dataclass": "a module is a frozen dataclass, theirs is none",
    "frozen dataclass decorator": "a module is a frozen dataclass, theirs is none",
    "new returns other": "as for any class; theirs fails",
}


def outcome(side, snippet):
    names = dict(side)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(HEAD + textwrap.dedent(snippet), names)
    except Exception as err:
        return err
    return plain(names.get("out"))


def plain(x):
    if type(x) in (tuple, list):
        return type(x)(map(plain, x))
    return re.sub(r" at 0x\w+|imprint\.|jax\.", "", repr(x))


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_does_the_same_as_with_equinox(name):
    ours, theirs = outcome(OURS, SNIPPETS[name]), outcome(THEIRS, SNIPPETS[name])
    if isinstance(ours, Exception) and isinstance(theirs, Exception):
        kinds = {k for k in type(theirs).__mro__ if k is not Exception} & BUILTIN
        same = isinstance(ours, tuple(kinds - {Exception}))
    else:
        same = ours == theirs
    assert same != (name in DIFFERENT), (ours, theirs)


BUILTIN = {
    *(TypeError, ValueError, AttributeError, KeyError),
    dataclasses.FrozenInstanceError,
}
