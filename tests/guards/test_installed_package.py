"""A project that is installed: the package of the jitted function counts as user code."""

import importlib
import sys

import pytest

import imprint
from tests.guards.programs import X, check_call, check_steps

FILES = {
    "guards_project/__init__.py": "",
    "guards_project/settings.py": """
rate = 2.0
table = {"lr": 2.0}
scales = [2.0, 3.0]

class Settings:
    rate = 2.0

settings = Settings()
""",
    "guards_project/layers.py": """
from guards_project import settings

def scaled(x, rate=2.0):
    return x * rate

class Layer:
    default = 2.0
    def __init__(self):
        self.rate = self.default
        self.steps = 0
    @property
    def factor(self):
        return self.rate * settings.rate
    def __call__(self, x):
        return x * self.factor
    def __len__(self):
        return 2
""",
    "guards_project/train.py": """
import imprint
import guards_helpers
from guards_project import layers, settings
from guards_project.layers import Layer, scaled

RATE = 2.0
layer = Layer()

class Trainer:
    def __init__(self):
        self.lr, self.step, self.losses = 2.0, 0, []
        self.layer = Layer()
        self.run = imprint.jit(self.compute)
    def compute(self, x):
        return self.layer(x) * self.lr

trainer = Trainer()

@imprint.jit
def read_global(x):
    return x * RATE

@imprint.jit
def read_other_module(x):
    return x * settings.rate

@imprint.jit
def call_helper(x):
    return scaled(x)

@imprint.jit
def call_object(x):
    return layer(x) * len(layer)

@imprint.jit
def read_item(x):
    return x * settings.table["lr"]

@imprint.jit
def read_items(x):
    for scale in settings.scales:
        x = x * scale
    return x

@imprint.jit
def read_attribute(x):
    return x * settings.settings.rate

@imprint.jit
def call_other_package(x):
    return guards_helpers.shifted(x) * guards_helpers.settings.rate

@imprint.jit
def call_nested(x):
    return read_global(x) + call_object(x)

jitted_again = imprint.jit(lambda x: trainer.compute(x))
""",
    # Another installed package: its own reads are ignored.
    "guards_helpers/__init__.py": """
import types
calls = 0
settings = types.SimpleNamespace(rate=2.0)

def shifted(x):
    global calls
    calls += 1
    return x + 1.0
""",
}
# The function to call, the edit as a statement in `train`, and the edit that undoes it.
EDITS = {
    "global": ("read_global", "RATE = 3.0", "RATE = 2.0"),
    "global of another module": (
        *("read_other_module", "settings.rate = 3.0"),
        "settings.rate = 2.0",
    ),
    "default of a helper": (
        *("call_helper", "scaled.__defaults__ = (3.0,)"),
        "scaled.__defaults__ = (2.0,)",
    ),
    "code of a helper": (
        "call_helper",
        "scaled.__code__ = (lambda x, rate: x + rate + 9.0).__code__",
        None,
    ),
    "helper that is replaced": ("call_helper", "scaled = lambda x: -x", None),
    "attribute": ("call_object", "layer.rate = 3.0", "layer.rate = 2.0"),
    "what a property reads": (
        *("call_object", "settings.rate = 3.0"),
        "settings.rate = 2.0",
    ),
    "special method": ("call_object", "Layer.__len__ = lambda self: 3", None),
    "method": ("call_object", "Layer.__call__ = lambda self, x: x", None),
    "property": ("call_object", "Layer.factor = 3.0", None),
    "item": (
        *("read_item", "settings.table['lr'] = 3.0"),
        "settings.table['lr'] = 2.0",
    ),
    "items": ("read_items", "settings.scales.append(3.0)", "settings.scales.pop()"),
    "attribute of an object": (
        *("read_attribute", "settings.settings.rate = 3.0"),
        "del settings.settings.rate",
    ),
    "attribute of a class": (
        *("read_attribute", "settings.Settings.rate = 3.0"),
        "settings.Settings.rate = 2.0",
    ),
    "trainer": ("trainer.run", "trainer.lr = 3.0", "trainer.lr = 2.0"),
    "part of a trainer": (
        *("trainer.run", "trainer.layer.rate = 3.0"),
        "trainer.layer.rate = 2.0",
    ),
    "trainer in a lambda": ("jitted_again", "trainer.lr = 3.0", "trainer.lr = 2.0"),
    "nested": ("call_nested", "RATE = 3.0", "RATE = 2.0"),
    "attribute under nested": ("call_nested", "layer.rate = 3.0", "layer.rate = 2.0"),
    "function of another package": (
        *("call_other_package", "guards_helpers.shifted = lambda x: x - 1.0"),
        None,
    ),
    "attribute of another package": (
        *("call_other_package", "guards_helpers.settings.rate = 3.0"),
        "guards_helpers.settings.rate = 2.0",
    ),
}
# The function to call, and the statement between its 20 calls.
STEPS = {
    "counter of the trainer": ("trainer.run", "trainer.step += 1"),
    "list of the trainer": ("trainer.run", "trainer.losses.append(trainer.step)"),
    "counter of a layer": ("trainer.run", "trainer.layer.steps += 1"),
    "global that is not read": ("read_item", "settings.rate += 1"),
    "state of another package": (*("call_other_package", "guards_helpers.calls += 1"),),
}
pytestmark = pytest.mark.unaudited  # they count traces


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Return a module of a project that lies in a folder of installed packages."""
    folder = tmp_path / "site-packages"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    return importlib.import_module("guards_project.train")


def jitted_in(module, name):
    return eval(name, vars(module))


def edit(module, text):
    exec(text, vars(module))


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_seen(name, train):
    called, change, undo = EDITS[name]
    fun = jitted_in(train, called)
    first = check_call(fun)
    edit(train, change)
    assert check_call(fun) != first
    if undo is not None:
        edit(train, undo)
        assert check_call(fun) == first


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_no_retrace(name, train):
    called, change = STEPS[name]
    check_steps(jitted_in(train, called), lambda: edit(train, change))


def test_a_namespace_package_is_installed_too(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages" / "guards_space" / "part"
    folder.mkdir(parents=True)
    (folder / "module.py").write_text(
        "count = 0\ndef shifted(x):\n    return x + 1.0\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    importlib.invalidate_caches()
    module = importlib.import_module("guards_space.part.module")
    space = sys.modules["guards_space"]

    def step():
        module.count += 1
        space.anything = module.count

    check_steps(lambda x: space.part.module.shifted(x), step)


def test_the_functions_of_a_script_see_the_globals_of_a_script(tmp_path):
    text = "rate = 2.0\ndef f(x):\n    return x * rate\n"
    names = {"__name__": "__main__", "__file__": str(tmp_path / "script.py")}
    exec(compile(text, names["__file__"], "exec"), names)
    fun = imprint.jit(names["f"])
    assert fun(X) == 4.0
    names["rate"] = 3.0
    assert fun(X) == 6.0


def test_a_notebook_cell_that_runs_again_is_seen():
    names = {"__name__": "__main__"}
    cell = "rate = {}\ndef helper(x):\n    return x * rate\n"
    exec(compile(cell.format(2.0), "<ipython-input-1>", "exec"), names)
    exec(compile("def f(x): return helper(x)", "<ipython-input-2>", "exec"), names)
    fun = imprint.jit(names["f"])
    assert fun(X) == 4.0
    exec(compile(cell.format(3.0), "<ipython-input-3>", "exec"), names)
    assert fun(X) == 6.0
    changed = cell.replace("x * rate", "x + rate").format(3.0)
    exec(compile(changed, "<ipython-input-4>", "exec"), names)
    assert fun(X) == 5.0
