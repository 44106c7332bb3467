"""Scenarios: modules that a function imports or replaces, and names that hide others."""


def import_inside():
    global f

    def f(x):
        import stale_cfg

        return x * stale_cfg.W

    yield
    cfg.W = 2.0
    yield


def import_as_inside():
    global f

    def f(x):
        import stale_cfg as c

        return x * c.W

    yield
    cfg.W = 2.0
    yield


def from_import_inside():
    global f

    def f(x):
        from stale_cfg import W

        return x * W

    yield
    cfg.W = 2.0
    yield


def submodule_inside():
    global f

    def f(x):
        import stale_pkg.sub

        return x * stale_pkg.sub.W

    yield
    stale_pkg.sub.W = 2.0
    yield


def submodule_as_inside():
    global f

    def f(x):
        import stale_pkg.sub as s

        return x * s.W

    yield
    stale_pkg.sub.W = 2.0
    yield
    stale_pkg.sub = stale_pkg.new
    stale_pkg.new.W = 3.0
    yield


def submodule_from_inside():
    global f

    def f(x):
        from stale_pkg import sub

        return x * sub.W

    yield
    stale_pkg.sub.W = 2.0
    yield
    stale_pkg.sub = stale_pkg.new
    stale_pkg.new.W = 3.0
    yield


def name_from_a_submodule():
    global f

    def f(x):
        from stale_pkg.sub import W as w

        return x * w

    yield
    stale_pkg.sub.W = 2.0
    yield
    sys.modules["stale_pkg.sub"] = stale_pkg.new
    stale_pkg.new.W = 3.0
    yield


def submodule_that_the_function_loads_first():
    global atexit, pathlib, shutil, tempfile, folder, place, f
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

    yield
    sys.modules["stale_lazy.a"].W = 2.0
    yield
    sys.modules["stale_lazy.b"].W = 3.0
    yield
    sys.modules["stale_lazy.c"].W = 4.0
    yield
    sys.modules["stale_lazy"].a = sys.modules["stale_lazy.c"]
    yield


def relative():
    global __package__, f
    __package__ = "stale_pkg"

    def f(x):
        from .sub import W

        return x * W

    yield
    stale_pkg.sub.W = 2.0
    yield


def relative_module():
    global __package__, f
    __package__ = "stale_pkg"

    def f(x):
        from . import sub

        return x * sub.W

    yield
    stale_pkg.sub.W = 2.0
    yield
    stale_pkg.sub = stale_pkg.new
    stale_pkg.new.W = 3.0
    yield


def replaced_in_sys_modules():
    global f

    def f(x):
        import stale_cfg as c

        return x * c.W

    yield
    sys.modules["stale_cfg"] = other
    yield
    other.W = 3.0
    yield


def replaced_in_sys_modules_from_import():
    global f

    def f(x):
        from stale_cfg import W

        return x * W

    yield
    sys.modules["stale_cfg"] = other
    yield
    other.W = 3.0
    yield


def taken_out_of_sys_modules():
    global f

    def f(x):
        try:
            import stale_cfg as c
        except ImportError:
            return -x
        return x * c.W

    yield
    sys.modules["stale_cfg"] = None
    yield


def module_that_comes_to_be():
    global f

    def f(x):
        try:
            import stale_later as c
        except ImportError:
            return x
        return x * c.W

    yield
    sys.modules["stale_later"] = other
    yield


def sys_modules_by_hand():
    global f
    f = lambda x: x * sys.modules["stale_cfg"].W
    yield
    cfg.W = 2.0
    yield


def import_in_a_nested_function():
    global f

    def f(x):
        import stale_cfg as c

        return (lambda: x * c.W)()

    yield
    cfg.W = 2.0
    yield


def import_in_a_helper_used_by_another():
    global get, f

    def get():
        import stale_cfg

        return stale_cfg

    f = lambda x: x * get().W
    yield
    cfg.W = 2.0
    yield


def import_in_a_method():
    global M, f

    class M:
        def w(self):
            from stale_cfg import W

            return W

    f = lambda x: x * M().w()
    yield
    cfg.W = 2.0
    yield


def module_that_a_function_returns():
    global get, f

    def get():
        return cfg

    f = lambda x: x * get().W
    yield
    cfg.W = 2.0
    yield


def module_in_a_dict():
    global A, f
    A = {"a": cfg}
    f = lambda x: x * A["a"].W
    yield
    cfg.W = 2.0
    yield
    A["a"] = other
    other.W = 3.0
    yield


def module_in_an_object():
    global f
    O.m = cfg
    f = lambda x: x * O.m.W
    yield
    cfg.W = 2.0
    yield
    O.m = other
    other.W = 3.0
    yield


def module_in_a_module():
    global f
    cfg.m = other
    f = lambda x: x * cfg.m.W
    yield
    other.W = 3.0
    yield
    cfg.m = cfg
    yield


def modules_in_a_loop():
    global f

    def f(x):
        for m in (cfg, other):
            x = x * m.W
        return x

    yield
    other.W = 3.0
    yield
    cfg.W = 4.0
    yield


def getattr_of_a_module():
    global f
    f = lambda x: x * getattr(cfg, "W")
    yield
    cfg.W = 2.0
    yield


def getattr_with_a_default():
    global f
    f = lambda x: x * getattr(cfg, "V", 1.0)
    yield
    cfg.V = 2.0
    yield


def getattr_that_comes_to_a_module():
    global f
    f = lambda x: x * getattr(cfg, "late", 1.0) * (2.0 if hasattr(other, "V") else 1.0)
    yield
    cfg.__getattr__ = lambda name: 3.0
    yield
    del cfg.__getattr__
    yield
    other.__getattr__ = lambda name: 4.0
    yield


def dunder_getattr_of_a_module():
    global f
    cfg.__getattr__ = lambda name: 1.0
    f = lambda x: x * cfg.V
    yield
    cfg.__getattr__ = lambda name: 2.0
    yield
    cfg.V = 3.0
    yield


def helper_of_a_module():
    global f
    exec("W = 1.0\ndef h(): return W", vars(cfg))
    f = lambda x: x * cfg.h()
    yield
    cfg.W = 2.0
    yield
    cfg.h = lambda: 3.0
    yield


def class_of_a_module():
    global f
    cfg.K = K
    f = lambda x: x * cfg.K.rate
    yield
    K.rate = 2.0
    yield
    cfg.K = L
    L.rate = 3.0
    yield


def object_of_a_module():
    global f
    cfg.o = O
    f = lambda x: x * cfg.o.rate
    yield
    K.rate = 2.0
    yield
    O.rate = 3.0
    yield


def class_of_the_module():
    global Lazy, f

    class Lazy(types.ModuleType):
        W = 1.0

    cfg.__class__ = Lazy
    del cfg.W
    f = lambda x: x * cfg.W
    yield
    Lazy.W = 2.0
    yield
    cfg.W = 3.0
    yield


def one_code_in_two_modules():
    global a, b, code, m, f
    a, b = types.ModuleType("stale_a"), types.ModuleType("stale_b")
    code = compile("def h(x): return x * W", "template.py", "exec")
    for m in (a, b):
        m.W = 1.0
        exec(code, vars(m))
    f = lambda x: a.h(x) + b.h(x)
    yield
    b.W = 3.0
    yield
    a.W = 4.0
    yield
    vars(a).pop("W")
    a.W = 5.0
    yield


def one_code_in_two_modules_of_a_loop():
    global ms, code, m, f
    ms = [types.ModuleType("stale_a"), types.ModuleType("stale_b")]
    code = compile("def h(): return W", "template.py", "exec")
    for m in ms:
        m.W = 1.0
        exec(code, vars(m))
    f = lambda x: x * sum(m.h() for m in ms)
    yield
    ms[1].W = 3.0
    yield
    ms[0].W = 4.0
    yield
