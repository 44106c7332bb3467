"""A project that is installed and jits its own functions is watched like a script."""

import importlib
import sys

import numpy as np
import pytest

import imprint
from imprint._src.core import user_code

X = np.ones(3, np.float32)
FILES = {
    "__init__": "",
    "settings": "RATE = 2.0\nclass Options:\n    bias = 0.0\noptions = Options()",
    "training": """
import functools
import imprint
from . import settings

RATE = 2.0
OTHER = 0.0

def scaled(x):
    return x * RATE + settings.options.bias

def helper(x):
    return x * settings.RATE

@imprint.jit
def decorated(x):
    return helper(x) + OTHER

class Trainer:
    def __init__(self):
        self.lr = 2.0

    def update(self, x):
        return x * self.lr

    def __call__(self, x):
        return x * self.lr

    @classmethod
    def made(cls, x):
        return x * RATE

def scanned(xs):
    return imprint.lax.scan(lambda c, x: (c, x * RATE), 0.0, xs)[1]

def mapped(xs):
    return imprint.lax.map(lambda x: x * RATE, xs)

def counted(xs):
    return imprint.lax.fori_loop(0, 1, lambda i, x: x * RATE, xs)

def repeated(xs):
    start = xs, 0
    step = lambda s: (s[0] * RATE, s[1] + 1)
    return imprint.lax.while_loop(lambda s: s[1] < 1, step, start)[0]

trainer = Trainer()
plus = functools.partial(lambda a, x: x * RATE + a, 0.0)
""",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a package that is installed, whose functions nothing has jitted yet."""
    site = tmp_path / "lib" / "python3" / "site-packages"
    (site / "a_project").mkdir(parents=True)
    for name, text in FILES.items():
        (site / "a_project" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield importlib.import_module("a_project.training")
    for name in [n for n in sys.modules if n.partition(".")[0] == "a_project"]:
        del sys.modules[name]


def check(f, edit, before=2.0, after=5.0):
    """Check that an edit retraces a jitted function once, and gives another result."""
    assert [float(f(X)[0]) for _ in range(4)] == [before] * 4
    assert len(f.versions) == 1
    edit()
    assert [float(f(X)[0]) for _ in range(4)] == [after] * 4
    assert len(f.versions) == 2


JITTED = {
    "function": lambda p: p.scaled,
    "partial": lambda p: p.plus,
    "class method": lambda p: p.Trainer.made,
    "batched": lambda p: imprint.vmap(p.scaled),
    "jitted": lambda p: imprint.jit(p.scaled),
}


@pytest.mark.parametrize("name", JITTED)
def test_a_global_of_an_installed_project_is_seen(project, name):
    f = imprint.jit(JITTED[name](project))
    check(f, lambda: setattr(project, "RATE", 5.0))


def test_a_module_of_the_same_project_is_seen(project):
    settings = sys.modules["a_project.settings"]
    check(project.decorated, lambda: setattr(settings, "RATE", 5.0))


def test_a_global_of_a_decorated_function_is_seen(project):
    check(project.decorated, lambda: setattr(project, "OTHER", 3.0))


def test_a_function_of_the_same_project_is_seen(project):
    check(project.decorated, lambda: setattr(project, "helper", lambda x: x * 5.0))


@pytest.mark.parametrize("pick", [lambda t: t.update, lambda t: t])
def test_an_attribute_of_a_trainer_is_seen(project, pick):
    trainer = project.trainer
    check(imprint.jit(pick(trainer)), lambda: setattr(trainer, "lr", 5.0))


def test_an_attribute_of_a_class_is_seen(project):
    options = sys.modules["a_project.settings"].Options
    f = imprint.jit(project.scaled)
    check(f, lambda: setattr(options, "bias", 3.0))


@pytest.mark.parametrize("name", ["scanned", "mapped", "counted", "repeated"])
def test_a_global_of_the_step_of_an_eager_loop_is_seen(project, name):
    loop = getattr(project, name)
    assert [float(loop(X)[0]) for _ in range(4)] == [2] * 4
    project.RATE = 5.0
    assert float(loop(X)[0]) == 5


def test_another_installed_package_is_no_user_code(project, tmp_path):
    site = tmp_path / "lib" / "python3" / "site-packages"
    (site / "a_project_of_others.py").write_text("RATE = 2.0")
    other = importlib.import_module("a_project_of_others")
    imprint.jit(project.scaled)(X)
    assert user_code.is_user(project)
    assert not user_code.is_user(other)
    del sys.modules["a_project_of_others"]
