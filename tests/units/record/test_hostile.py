"""Recording calls no hook of the user's, whatever the values that it meets."""

import sys
import threading
import types

import pytest

from imprint.record.recorder import Recording

HOOKS = [
    "__eq__",
    "__ne__",
    "__hash__",
    "__getattr__",
    "__getattribute__",
    "__setattr__",
    "__bool__",
    "__len__",
    "__iter__",
    "__repr__",
    "__str__",
    "__contains__",
    "__getitem__",
    "__fspath__",
]
META_HOOKS = ["__instancecheck__", "__subclasscheck__", "__call__"]
PROGRAM = """
A = 1
def uses(*a): return A
def by_name(): return uses(V)
def captured(v):
    def inner(): return uses(v)
    return inner
def parameter(v): return uses(v)
"""


@pytest.fixture
def called():
    return []


@pytest.fixture
def values(called):
    """Return hostile values by name; what they are asked is noted in `called`."""

    def hook(name):
        def refuse(*_, **__):
            called.append(name)
            raise RuntimeError(name)

        return refuse

    hooks = {name: hook(name) for name in HOOKS}
    liar = {name: property(hook(name)) for name in ("__class__", "__dict__")}
    hostile = type("Hostile", (), hooks | liar | {"__module__": "hostile"})
    meta_hooks = {name: hook(name) for name in META_HOOKS}
    meta = type("Meta", (type,), hooks | meta_hooks)
    made = type.__new__(meta, "Made", (), {"__module__": "hostile", "k": 1})
    containers = {
        kind.__name__: type("Hostile", (kind,), {**hooks, "get": hook("get")})([])
        for kind in (dict, list, tuple)
    }
    held = types.SimpleNamespace(a=hostile(), b=made)
    return containers | {
        "instance": hostile(),
        "class": hostile,
        "made class": made,
        "instance of it": object.__new__(made),
        "text": type("Text", (str,), hooks)("a"),
        "inside": [{"a": hostile(), "b": made}, held],
    }


KINDS = ["dict", "list", "tuple", "instance", "class", "text", "inside"]


@pytest.mark.parametrize("kind", [*KINDS, "made class", "instance of it"])
@pytest.mark.parametrize("by_names", [False, True])
def test_no_hook_of_a_value_is_called(user, values, called, kind, by_names):
    value = values[kind]
    module = user("hostile", PROGRAM)
    module.V = value
    for fun, args in (
        (module.by_name, ()),
        (module.captured(value), ()),
        (module.parameter, (value,)),
    ):
        with Recording(fun, (("v", value),)) as recording:
            if by_names:
                recording.record.walk()
            fun(*args)
    assert called == []


@pytest.mark.parametrize("name", ["__name__", "__file__", "__spec__", "__package__"])
@pytest.mark.parametrize("kind", ["instance", "text"])
def test_no_hook_of_what_a_module_says_of_itself_is_called(values, called, name, kind):
    code = compile("def f(): return A", "<cell>", "exec").co_consts[0]
    namespace = {"__name__": "hostile", "A": 1, "__builtins__": __builtins__}
    fun = types.FunctionType(code, namespace | {name: values[kind]})
    with Recording(fun):
        fun()
    assert called == []


# ---- what changes while it is read ----


@pytest.mark.parametrize("by_names", [False, True])
def test_a_class_that_changes_while_it_is_read(user, by_names):
    module = user("hostile", "class C:\n  k = 1\ndef root(): return C.k\n")
    stop = threading.Event()

    def change():
        while not stop.is_set():
            for i in range(60):
                setattr(module.C, f"y{i}", int)
            for i in range(60):
                delattr(module.C, f"y{i}")

    thread = threading.Thread(target=change)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(200):
            with Recording(module.root) as recording:
                if by_names:
                    recording.record.walk()
                module.root()
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()


def test_a_namespace_of_a_class_of_the_users_is_not_asked():
    def refuse(*_):
        raise RuntimeError

    hooks = dict.fromkeys(("get", "__getitem__", "__contains__"), refuse)
    namespace = type("Namespace", (dict,), hooks)(A=1, __builtins__=__builtins__)
    code = compile("def f(): return 1", "<cell>", "exec").co_consts[0]
    with Recording(types.FunctionType(code, namespace)) as recording:
        recording.record.walk()
    code = compile("def f(): return A", "<cell>", "exec").co_consts[0]
    with Recording(types.FunctionType(code, namespace)) as recording:
        recording.record.walk()
