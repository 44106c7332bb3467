"""Scenarios: the value of a name depends on the branch taken."""

BRANCHES = {
    "conditional expression": """
        D = True
        def f(x):
            c = K if D else L
            return x * c.rate
        --- K.rate = 3.0
        --- D = False
        --- L.rate = 4.0
        """,
    "conditional expression, the other": """
        D = False
        def f(x):
            c = K if D else L
            return x * c.rate
        --- L.rate = 3.0
        """,
    "conditional receiver": "D = 0\nf = lambda x: x * (K if D else L).rate --- L.rate = 3.0",
    "or": "A = None\nf = lambda x: x * (A or L).rate --- L.rate = 3.0",
    "or, the first": "A = K\nf = lambda x: x * (A or L).rate --- K.rate = 3.0",
    "and": "A = 1\nf = lambda x: x * (A and K).rate --- K.rate = 3.0",
    "or of objects": "A = None; B = L()\nf = lambda x: x * (A or B).rate --- B.rate = 3.0",
    "or of modules": "A = None\nf = lambda x: x * (A or cfg).W --- cfg.W = 3.0",
    "conditional module": "D = 0\nf = lambda x: x * (cfg if D else other).W --- other.W = 3.0",
    "reassigned under if": """
        A = None
        def f(x):
            c = A
            if c is None: c = L
            return x * c.rate
        --- L.rate = 3.0
        """,
    "parameter reassigned under if": """
        def g(x, c=None):
            if c is None: c = L
            return x * c.rate
        f = lambda x: g(x)
        --- L.rate = 3.0
        """,
    "instance reassigned under if": """
        B = L()
        def g(x, c=None):
            if c is None: c = B
            return x * c.rate
        f = lambda x: g(x)
        --- B.rate = 3.0
        """,
    "module reassigned under if": """
        def g(x, c=None):
            if c is None: c = cfg
            return x * c.W
        f = lambda x: g(x)
        --- cfg.W = 3.0
        """,
    "if and else": """
        D = False
        def f(x):
            if D: c = K
            else: c = L
            return x * c.rate
        --- L.rate = 3.0
        """,
    "elif": """
        D = 2
        def f(x):
            if D == 0: c = L
            elif D == 1: c = cfg
            else: c = K
            return x * c.rate
        --- K.rate = 3.0
        """,
    "match": """
        D = 2
        def f(x):
            match D:
                case 1: c = L
                case _: c = K
            return x * c.rate
        --- K.rate = 3.0
        """,
    "try and except": """
        def f(x):
            c = K
            try: raise ValueError
            except ValueError: c = L
            return x * c.rate
        --- L.rate = 3.0
        """,
    "try and else": """
        def f(x):
            c = L
            try: pass
            except ValueError: c = L
            else: c = K
            return x * c.rate
        --- K.rate = 3.0
        """,
    "finally": """
        def f(x):
            c = L
            try: c = L
            finally: c = K
            return x * c.rate
        --- K.rate = 3.0
        """,
    "exception that is held": """
        class E(Exception): rate = 1.0
        def f(x):
            try: raise E
            except E as e: return x * e.rate
        --- E.rate = 2.0
        """,
    "missing attribute tried": """
        class M: pass
        def f(x):
            c = M
            try: return x * c.rate
            except AttributeError: return x
        --- M.rate = 2.0
        """,
    "for": """
        def f(x):
            c = None
            for c in (L, K): pass
            return x * c.rate
        --- K.rate = 3.0
        """,
    "for and else": """
        def f(x):
            for c in (L, L):
                if c is K: break
            else: c = K
            return x * c.rate
        --- K.rate = 3.0
        """,
    "for and break": """
        def f(x):
            for c in (K, L):
                if c.rate: break
            return x * c.rate
        --- K.rate = 3.0
        """,
    "while": """
        def f(x):
            c, todo = None, [K, L]
            while todo: c = todo.pop()
            return x * c.rate
        --- K.rate = 3.0
        """,
    "while with a shift": """
        def f(x):
            a, b, n = L, K, 0
            while n < 1: a, b, n = b, a, n + 1
            return x * a.rate
        --- K.rate = 3.0
        """,
    "walrus": """
        def f(x):
            if (c := K) is not None: return x * c.rate
        --- K.rate = 3.0
        """,
    "walrus in or": """
        A = None
        def f(x): return x * (c := A or K).rate + c.rate
        --- K.rate = 3.0
        """,
    "swap": """
        def f(x):
            a, b = K, L
            a, b = b, a
            return x * a.rate
        --- L.rate = 3.0
        """,
    "unpacking a global tuple": """
        P = (K, L)
        def f(x):
            a, b = P
            return x * b.rate
        --- L.rate = 3.0
        """,
    "star-unpacking": """
        def f(x):
            a, *b = K, K, L
            return x * b[1].rate
        --- L.rate = 3.0
        """,
    "nested unpacking": """
        def f(x):
            (a, (b, c)) = K, (K, L)
            return x * c.rate
        --- L.rate = 3.0
        """,
    "chained assignment": """
        def f(x):
            a = b = O
            return x * b.rate
        --- O.rate = 3.0
        """,
    "subscript of a display": "f = lambda x: x * [K, L][1].rate --- L.rate = 3.0",
    "subscript by a global": "I = 1\nf = lambda x: x * (K, L)[I].rate --- L.rate = 3.0",
    "dict display": "f = lambda x: x * {'a': K}['a'].rate --- K.rate = 3.0",
    "dict get": "f = lambda x: x * {'a': K}.get('b', L).rate --- L.rate = 3.0",
    "value that min gives": "f = lambda x: x * min([K, L], key=lambda c: c.rate).rate --- K.rate = 1.5",
    "next of a genexpr": """
        P = [K, L]
        def f(x): return x * next(c for c in P if c.rate > 1.0).rate
        --- L.rate = 3.0
        --- K.rate = 4.0
        """,
    "next with a default": "f = lambda x: x * next(iter(()), K).rate --- K.rate = 3.0",
    "deleted and bound again": """
        def f(x):
            c = L
            del c
            c = K
            return x * c.rate
        --- K.rate = 3.0
        """,
    "with": """
        @contextlib.contextmanager
        def using(): yield K
        def f(x):
            with using() as c: return x * c.rate
        --- K.rate = 3.0
        """,
    "with nullcontext": """
        def f(x):
            with contextlib.nullcontext(O) as c: return x * c.rate
        --- K.rate = 3.0
        """,
    "early return of a helper": """
        D = False
        def pick():
            if D: return K
            return L
        f = lambda x: x * pick().rate
        --- L.rate = 3.0
        --- D = True
        """,
    "comparison of attributes": """
        def f(x): return x if O.rate < L.rate < 5 else -x
        --- L.rate = 7.0
        """,
    "assert": """
        def f(x):
            c = O
            assert c.rate < 3, "too fast"
            return x
        --- O.rate = 3.0
        """,
    "isinstance": """
        A = O
        def f(x): return x * A.rate if isinstance(A, K) else -x
        --- A.rate = 5.0
        --- A = L()
        """,
    "augmented": """
        def f(x):
            w = 0.0
            for c in (K, L): w += c.rate
            return x * w
        --- L.rate = 3.0
        """,
    "local rebound in a loop of attributes": """
        class N: pass
        a = N(); a.next = N(); a.next.next = None; a.w = a.next.w = 1.0
        def f(x):
            n = a
            while n is not None:
                x = x * n.w
                n = n.next
            return x
        --- a.next.w = 2.0
        --- a.next = None
        """,
}
