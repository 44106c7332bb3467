"""Scenarios: modules that a function imports or replaces, and names that hide others."""

MODULES = {
    "import inside": "def f(x):\n    import stale_cfg\n    return x * stale_cfg.W\n --- cfg.W = 2.0",
    "import as inside": "def f(x):\n    import stale_cfg as c\n    return x * c.W\n --- cfg.W = 2.0",
    "from import inside": "def f(x):\n    from stale_cfg import W\n    return x * W\n --- cfg.W = 2.0",
    "submodule inside": "def f(x):\n    import stale_pkg.sub\n    return x * stale_pkg.sub.W\n --- stale_pkg.sub.W = 2.0",
    "submodule as inside": """
        def f(x):
            import stale_pkg.sub as s
            return x * s.W
        --- stale_pkg.sub.W = 2.0
        --- stale_pkg.sub = stale_pkg.new; stale_pkg.new.W = 3.0
        """,
    "submodule from inside": """
        def f(x):
            from stale_pkg import sub
            return x * sub.W
        --- stale_pkg.sub.W = 2.0
        --- stale_pkg.sub = stale_pkg.new; stale_pkg.new.W = 3.0
        """,
    "name from a submodule": """
        def f(x):
            from stale_pkg.sub import W as w
            return x * w
        --- stale_pkg.sub.W = 2.0
        --- sys.modules["stale_pkg.sub"] = stale_pkg.new; stale_pkg.new.W = 3.0
        """,
    "submodule that the function loads first": """
        import atexit, pathlib, shutil, tempfile
        folder = tempfile.mkdtemp()
        _ = atexit.register(shutil.rmtree, folder)
        place = pathlib.Path(folder) / "stale_lazy"
        place.mkdir()
        _ = [(place / f"{n}.py").write_text("W = 1.0") for n in ("__init__", "a", "b", "c")]
        sys.path.insert(0, folder)
        def f(x):
            from stale_lazy import a
            from stale_lazy import b as other
            import stale_lazy.c
            return x * a.W * other.W * stale_lazy.c.W
        --- sys.modules["stale_lazy.a"].W = 2.0
        --- sys.modules["stale_lazy.b"].W = 3.0
        --- sys.modules["stale_lazy.c"].W = 4.0
        --- sys.modules["stale_lazy"].a = sys.modules["stale_lazy.c"]
        """,
    "relative": """
        __package__ = "stale_pkg"
        def f(x):
            from .sub import W
            return x * W
        --- stale_pkg.sub.W = 2.0
        """,
    "relative module": """
        __package__ = "stale_pkg"
        def f(x):
            from . import sub
            return x * sub.W
        --- stale_pkg.sub.W = 2.0
        --- stale_pkg.sub = stale_pkg.new; stale_pkg.new.W = 3.0
        """,
    "replaced in sys.modules": """
        def f(x):
            import stale_cfg as c
            return x * c.W
        --- sys.modules["stale_cfg"] = other
        --- other.W = 3.0
        """,
    "replaced in sys.modules, from import": """
        def f(x):
            from stale_cfg import W
            return x * W
        --- sys.modules["stale_cfg"] = other
        --- other.W = 3.0
        """,
    "taken out of sys.modules": """
        def f(x):
            try: import stale_cfg as c
            except ImportError: return -x
            return x * c.W
        --- sys.modules["stale_cfg"] = None
        """,
    "module that comes to be": """
        def f(x):
            try: import stale_later as c
            except ImportError: return x
            return x * c.W
        --- sys.modules["stale_later"] = other
        """,
    "sys.modules by hand": """
        f = lambda x: x * sys.modules["stale_cfg"].W
        --- cfg.W = 2.0
        """,
    "import in a nested function": """
        def f(x):
            import stale_cfg as c
            return (lambda: x * c.W)()
        --- cfg.W = 2.0
        """,
    "import in a helper, used by another": """
        def get():
            import stale_cfg
            return stale_cfg
        f = lambda x: x * get().W
        --- cfg.W = 2.0
        """,
    "import in a method": """
        class M:
            def w(self):
                from stale_cfg import W
                return W
        f = lambda x: x * M().w()
        --- cfg.W = 2.0
        """,
    "module that a function returns": "def get(): return cfg\nf = lambda x: x * get().W --- cfg.W = 2.0",
    "module in a dict": "A = {'a': cfg}\nf = lambda x: x * A['a'].W --- cfg.W = 2.0 --- A['a'] = other; other.W = 3.0",
    "module in an object": "O.m = cfg\nf = lambda x: x * O.m.W --- cfg.W = 2.0 --- O.m = other; other.W = 3.0",
    "module in a module": "cfg.m = other\nf = lambda x: x * cfg.m.W --- other.W = 3.0 --- cfg.m = cfg",
    "modules in a loop": """
        def f(x):
            for m in (cfg, other): x = x * m.W
            return x
        --- other.W = 3.0
        --- cfg.W = 4.0
        """,
    "getattr of a module": "f = lambda x: x * getattr(cfg, 'W') --- cfg.W = 2.0",
    "getattr with a default": "f = lambda x: x * getattr(cfg, 'V', 1.0) --- cfg.V = 2.0",
    "__getattr__ that comes to a module": """
        f = lambda x: x * getattr(cfg, "late", 1.0) * (2.0 if hasattr(other, "V") else 1.0)
        --- cfg.__getattr__ = lambda name: 3.0
        --- del cfg.__getattr__
        --- other.__getattr__ = lambda name: 4.0
        """,
    "__getattr__ of a module": """
        cfg.__getattr__ = lambda name: 1.0
        f = lambda x: x * cfg.V
        --- cfg.__getattr__ = lambda name: 2.0
        --- cfg.V = 3.0
        """,
    "helper of a module": """
        exec("W = 1.0\\ndef h(): return W", vars(cfg))
        f = lambda x: x * cfg.h()
        --- cfg.W = 2.0
        --- cfg.h = lambda: 3.0
        """,
    "class of a module": "cfg.K = K\nf = lambda x: x * cfg.K.rate --- K.rate = 2.0 --- cfg.K = L; L.rate = 3.0",
    "object of a module": "cfg.o = O\nf = lambda x: x * cfg.o.rate --- K.rate = 2.0 --- O.rate = 3.0",
    "class of the module": """
        class Lazy(types.ModuleType):
            W = 1.0
        cfg.__class__ = Lazy; del cfg.W
        f = lambda x: x * cfg.W
        --- Lazy.W = 2.0
        --- cfg.W = 3.0
        """,
    "one code in two modules": """
        a, b = types.ModuleType("stale_a"), types.ModuleType("stale_b")
        code = compile("def h(x): return x * W", "template.py", "exec")
        for m in (a, b):
            m.W = 1.0
            exec(code, vars(m))
        f = lambda x: a.h(x) + b.h(x)
        --- b.W = 3.0
        --- a.W = 4.0
        --- vars(a).pop("W"); a.W = 5.0
        """,
    "one code in two modules of a loop": """
        ms = [types.ModuleType("stale_a"), types.ModuleType("stale_b")]
        code = compile("def h(): return W", "template.py", "exec")
        for m in ms:
            m.W = 1.0
            exec(code, vars(m))
        f = lambda x: x * sum(m.h() for m in ms)
        --- ms[1].W = 3.0
        --- ms[0].W = 4.0
        """,
}

NAMES = {
    "name that comes to be builtin": """
        import builtins
        def f(x):
            try: return x * STALE_LATER
            except NameError: return x
        --- builtins.STALE_LATER = 2.0
        --- builtins.STALE_LATER = 3.0
        --- STALE_LATER = 4.0
        --- del STALE_LATER
        --- del builtins.STALE_LATER
        """,
    "imported function": "from imprint.numpy import negative\nf = lambda x: negative(x) --- negative = lambda x: x * 2.0",
    "imported function of math": "from math import floor\nf = lambda x: x * floor(1.5) --- floor = lambda x: 2.0",
    "np": """
        f = lambda x: x * np.float32(1)
        --- np = types.SimpleNamespace(float32=lambda v: 2.0)
        """,
    "np, after a helper": """
        def h(): return np.ones(1).sum()
        f = lambda x: x * h()
        --- np = types.SimpleNamespace(ones=lambda n: np_.zeros(n)); import numpy as np_
        """,
    "inp": "f = lambda x: inp.negative(x) --- inp = types.SimpleNamespace(negative=lambda x: x * 2.0)",
    "inp becomes np": "f = lambda x: x * len(inp.__name__) --- inp = np",
    "math": "f = lambda x: x * math.floor(1.5) --- math = types.SimpleNamespace(floor=lambda v: 2.0)",
    "functools.reduce": """
        from functools import reduce
        f = lambda x: reduce(lambda a, b: a * b, [x, 2.0])
        --- reduce = lambda g, a: a[0]
        """,
    "functools": "f = lambda x: functools.reduce(max, [1, 2]) * x --- functools = types.SimpleNamespace(reduce=lambda g, a: 1.0)",
    "constant of a library": "from math import inf\nf = lambda x: x * inf --- inf = 3.0",
    "library's name deleted": "from math import inf\nf = lambda x: x * inf --- del inf --- inf = 3.0",
    "library's value under another name": "area = math.inf\nf = lambda x: x * area --- area = 3.0",
    "library's name in another module": "cfg.op = inp.negative\nf = lambda x: cfg.op(x) --- cfg.op = lambda x: x * 2.0",
    "library's function in a dict": "D = {'op': inp.negative}\nf = lambda x: D['op'](x) --- D['op'] = lambda x: x * 2.0",
    "library's function on a class": "K.op = staticmethod(inp.negative)\nf = lambda x: K.op(x) --- K.op = staticmethod(lambda x: x * 2.0)",
    "library's function on an object": "O.op = inp.negative\nf = lambda x: O.op(x) --- O.op = lambda x: x * 2.0",
    "library's function as a default": "def f(x, op=inp.negative): return op(x)\n --- f.__defaults__ = (lambda x: x * 2.0,)",
    "library's function in a cell": """
        def make(op):
            def put(v):
                nonlocal op
                op = v
            return lambda x: op(x), put
        f, put = make(inp.negative)
        --- put(lambda x: x * 2.0)
        """,
    "library's class": """
        from collections import OrderedDict
        f = lambda x: x * len(OrderedDict(a=1))
        --- OrderedDict = lambda **k: [1, 2]
        """,
    "grad": "f = lambda x: grad(lambda y: y * y)(x) --- grad = lambda g: lambda x: g(x) * 5",
    "vmap": "f = lambda x: vmap(lambda y: y * 2)(inp.ones(1))[0] * x --- vmap = lambda g: lambda x: x",
    "nested jit": "f = lambda x: jit(lambda y: y * 2)(x) --- jit = lambda g: lambda x: x",
    "len": "f = lambda x: x * len('a') --- len = lambda _: 2.0 --- del len",
    "range": "f = lambda x: sum(x for _ in range(2)) --- range = lambda n: [1] --- del range",
    "abs": "f = lambda x: x * abs(-1.0) --- abs = lambda v: v --- del abs",
    "float": "f = lambda x: x * float('1') --- float_, float = float, lambda v: 2.0 --- del float",
    "max": "f = lambda x: x * max(1.0, 2.0) --- max = min --- del max",
    "isinstance": "f = lambda x: x if isinstance(1, int) else -x --- isinstance = lambda *a: False --- del isinstance",
    "print": "def f(x):\n    y = [x]\n    print('', end='')\n    return y[0]\n --- print = lambda *a, **k: y_()",
    "super": """
        class M(K):
            def h(self): return super().rate
        m = M()
        f = lambda x: x * m.h()
        --- super = lambda *a: L
        """,
    "exception": """
        def f(x):
            try: raise KeyError
            except LookupError: return x
            except Exception: return -x
        --- LookupError = ZeroDivisionError
        """,
    "builtin of a helper": "def h(): return len('a')\nf = lambda x: x * h() --- len = lambda _: 2.0 --- del len",
    "builtin in a lambda": "f = lambda x: (lambda: x * len('a'))() --- len = lambda _: 2.0 --- del len",
    "builtin that is hidden, then not": "len = lambda _: 2.0\nf = lambda x: x * len('a') --- del len --- len = lambda _: 3.0",
    "builtin of another module": """
        exec("def h(): return len('a')", vars(cfg))
        f = lambda x: x * cfg.h()
        --- cfg.len = lambda _: 2.0
        --- del cfg.len
        """,
    "operator": "half = operator.truediv\nf = lambda x: half(x, 2.0) --- half = operator.mul",
    "global that comes to be": """
        def f(x):
            try: return x * NEW
            except NameError: return x
        --- NEW = 2.0
        --- del NEW
        """,
    "global deleted": "W = 1.0\nf = lambda x: x * W --- del W --- W = 2.0",
    "ufunc": "from numpy import add\nf = lambda x: x * add(1, 1) --- add = lambda a, b: 3.0",
    "dtype": "from numpy import float32 as t\nf = lambda x: x * t(1.5) --- t = int",
    "global that a builtin answers for when it is gone": """
        cfg.max, cfg.a, cfg.b, cfg.c = max, 1.0, 1.0, 1.0
        f = lambda x: x * cfg.a * cfg.b * cfg.c * cfg.max(1, 2)
        --- del cfg.max
        --- cfg.max = max
        """,
    "global that a builtin replaces when it is deleted": """
        cfg.max, cfg.a, cfg.b, cfg.c = max, 1.0, 1.0, 1.0
        f = lambda x: x * cfg.a * cfg.b * cfg.c * (2.0 if hasattr(cfg, "max") else 1.0)
        --- del cfg.max
        --- cfg.max = max
        """,
}
