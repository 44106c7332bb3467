"""A process that finds programs of another one on the disk, and edits between the two."""

import importlib
import sys
import warnings

import numpy as np
import pytest

import imprint
from imprint._src.config import audit
from imprint._src.jit.manifest import trace_manifest as manifest
from imprint.errors import StaleVersionError
from tests.lanes import exhaustive
from tests.spec import edited, reborn

TEXTS = {
    "consts": """
import os, numpy
RATE = 0.5
COUNT = 1
TABLE = {"a": 1.0, "b": 2.0}
ARRAY = numpy.array([1.0, 2.0, 3.0], "float32")
START = float(os.environ.get("AT_START", "1"))
""",
    "helpers": """
import functools, os, threading, time, numpy
import imprint.numpy as np
import consts
from consts import RATE

LOCK = threading.Lock()
LOG = []

def helper(x, rate=2.0):
    return np.sin(x) * rate * RATE

def unused(x):
    return x

class Model:
    width = 3.0
    def run(self, x):
        return x * self.width

REGISTRY = {"run": helper}

@functools.lru_cache
def remembered(n):
    return n + time.time()
""",
    "main": """
import functools, os, time, numpy
from numpy import load as LOAD
import imprint
import imprint.numpy as np
import consts, helpers
from helpers import Model, helper

def decorate(fun):
    @functools.wraps(fun)
    def wrapped(x):
        return fun(x) + 1.0
    return wrapped

@imprint.jit
@decorate
def f(x):
    x = helper(x) + Model().run(x) + consts.COUNT + consts.START
    for key, value in consts.TABLE.items():
        x = x * value if key == "a" else x + value
    return helpers.REGISTRY["run"](x) + consts.ARRAY + numpy.mean(consts.ARRAY)
""",
}
X = np.array([0.1, 0.2, 0.3], np.float32)


@pytest.fixture
def life(tmp_path, imprint_store):
    """Return how a life begins, with texts of its own, on one store."""

    def begin(**texts):
        return reborn.begin({**TEXTS, **texts}, tmp_path)

    return begin


def edit(name, old, new):
    assert old in TEXTS[name]
    return {name: TEXTS[name].replace(old, new)}


# ---- unchanged programs ----


@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"helpers": "\n\n# words\n" + TEXTS["helpers"]},
        edit(
            "helpers", "def unused(x):\n    return x", "def unused(x):\n    return -x"
        ),
        edit("consts", "COUNT = 1", "COUNT = 1\nNEW = 2"),
    ],
    ids=["all", "lines", "unused", "new name"],
)
def test_an_unchanged_program_is_not_traced(life, texts):
    first, count = reborn.traces(life().main.f, X)
    assert count == 1
    fun = life(**texts).main.f
    again, count = reborn.traces(fun, X)
    assert count == 0
    np.testing.assert_array_equal(first, again)
    (version,) = fun.versions
    assert (version.origin, version.restarts) == ("disk", "without a trace")


def test_a_version_that_started_warm_can_be_looked_at(life):
    cold = life().main.f
    cold(X)
    (first,) = cold.versions
    text, jaxpr = first.stablehlo, str(first.jaxpr)
    warm = life().main.f
    warm(X)
    (version,) = warm.versions
    assert sorted(version.watched) == sorted(first.watched)
    assert (version.stablehlo, str(version.jaxpr)) == (text, jaxpr)
    assert str(version) == "f(x: float32[3])"


@pytest.mark.unaudited  # an audit has traced its program
def test_a_warm_version_sees_later_changes(life):
    life().main.f(X)
    here = life()
    here.main.f(X)
    here.consts.COUNT = 5
    result, count = reborn.traces(here.main.f, X)
    assert count == 1
    np.testing.assert_allclose(result, here.main.f.__wrapped__(X), rtol=1e-6)
    with pytest.raises(imprint.errors.ArgumentError) as raised:
        str(here.main.f.versions[1].jaxpr)
    assert str(raised.value) == (
        "f: expected what it reads to be as it was when it started from the disk, got "
        "another: nobody has traced its program. Ask before that changes, or with "
        "IMPRINT_CACHE=off."
    )


@pytest.mark.parametrize("edit", ["Model.width = 4.0", "MODEL.width = 5.0"])
def test_an_attribute_set_before_the_call_starts_warm(life, edit):
    held = {
        "helpers": TEXTS["helpers"] + "MODEL = Model()\n",
        "main": TEXTS["main"].replace("Model().run", "helpers.MODEL.run"),
    }
    for traces in (1, 0):
        here = life(**held)
        here.main.f(X)
        exec(edit, vars(here.helpers))
        result, count = reborn.traces(here.main.f, X)
        assert count == traces
        np.testing.assert_allclose(result, here.main.f.__wrapped__(X), rtol=1e-6)


MEMO = """
import imprint
MEMO, SEED = {}, 2.0
@imprint.jit
def f(x):
    t = MEMO.get(3)
    if t is None:
        t = MEMO[3] = SEED
    return x + t
"""


def test_a_memo_of_a_trace_is_watched_after_a_hit_on_the_disk(life):
    here = life(main=MEMO)
    here.main.MEMO[3] = 1.0
    assert here.main.f(0.0) == 1.0  # it is kept: this trace writes nothing
    here = life(main=MEMO)
    assert here.main.f(0.0) == 2.0
    for value in (1.0, 7.0):
        here.main.MEMO[3] = value
        assert here.main.f(0.0) == value


@pytest.mark.parametrize(
    "text",
    [
        "def make(memo):\n    def f(x):\n        if not memo: memo.append(2.0)\n"
        "        return x + memo[0]\n    return f\nf = imprint.jit(make([]))",
        "@imprint.jit\ndef f(x, *, memo=[]):\n    if not memo: memo.append(2.0)\n"
        "    return x + memo[0]",
    ],
)
def test_a_program_that_memoizes_in_a_list_can_be_stored(life, text):
    here = life(main=f"import imprint\n{text}")
    assert here.main.f(1.0) == 3.0
    np.testing.assert_array_equal(here.main.f(X), X + 2.0)


KEPT_BY_NAMESPACES = """
import functools
import imprint
class Namespace:
    def __init__(self, **given):
        self.__dict__.update(given)
    def __getattr__(self, name):
        return 2.0
CFG = Namespace(size=3.0)
@functools.lru_cache
def table(n):
    return n * 2.0
@imprint.jit
def named(x):
    return x * CFG.size * CFG.rate
@imprint.jit
def memoized(x):
    return x * table(3)
"""


@pytest.mark.parametrize("name", ["named", "memoized"])
def test_namespaces_and_memos_of_pure_functions_start_warm(life, name):
    edited = KEPT_BY_NAMESPACES.replace("2.0", "4.0")
    for text in (KEPT_BY_NAMESPACES, edited):
        for traces in (1, 0):
            fun = getattr(life(main=text).main, name)
            result, count = reborn.traces(fun, X)
            assert count == traces
            np.testing.assert_allclose(result, fun.__wrapped__(X), rtol=1e-6)


# ---- changed programs ----

EDITS = {
    "helper": edit("helpers", "np.sin(x)", "np.cos(x)"),
    "default": edit("helpers", "rate=2.0", "rate=2.5"),
    "constant": edit("consts", "COUNT = 1", "COUNT = 2"),
    "type": edit("consts", "COUNT = 1", "COUNT = True"),
    "imported": edit("consts", "RATE = 0.5", "RATE = 0.25"),
    "attribute": edit("helpers", "width = 3.0", "width = 4.0"),
    "method": edit("helpers", "x * self.width", "x + self.width"),
    "order": edit("consts", '{"a": 1.0, "b": 2.0}', '{"b": 2.0, "a": 1.0}'),
    "array": edit("consts", "1.0, 2.0, 3.0]", "1.0, 9.0, 3.0]"),
    "layout": edit(
        "consts", '[1.0, 2.0, 3.0], "float32")', '[1, 0, 2, 0, 3], "f4")[::2]'
    ),
    "registry": edit("helpers", '{"run": helper}', '{"run": unused}'),
    "decorator": edit("main", "fun(x) + 1.0", "fun(x) + 1.5"),
    "alias": edit("main", "import Model, helper", "import Model, unused as helper"),
}
PATCHES = {
    "helper": "main.helper = helpers.unused",
    "method": "helpers.Model.run = lambda self, x: x - 1.0",
    "attribute": "helpers.Model.width = 9.0",
    "dict": "consts.TABLE['a'] = 8.0",
    "new key": "consts.TABLE['c'] = 8.0",
    "array": "consts.ARRAY[1] = 7.0",
    "registry": "helpers.REGISTRY['run'] = helpers.unused",
    "defaults": "helpers.helper.__defaults__ = (5.0,)",
    "code": "helpers.helper.__code__ = helpers.unused.__code__",
    "numpy": "monkeypatch.setattr(main.numpy, 'mean', lambda x: 3.0)",
    "library": "monkeypatch.setattr(helpers.np, 'sin', helpers.np.cos)",
    "environment": "monkeypatch.setenv('AT_START', '4')",
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_seen(life, name):
    life().main.f(X)
    fun = life(**EDITS[name]).main.f
    result, count = reborn.traces(fun, X)
    assert count == 1
    np.testing.assert_allclose(result, fun.__wrapped__(X), rtol=1e-6)
    _, count = reborn.traces(life().main.f, X)
    assert count == 0  # a manifest has more than one result


@pytest.mark.parametrize("name", PATCHES)
def test_a_write_before_the_call_is_seen(life, name, monkeypatch):
    life().main.f(X)
    at_start = name == "environment"
    given = {"monkeypatch": monkeypatch}
    if at_start:
        exec(PATCHES[name], given)
    here = life()
    if not at_start:
        exec(PATCHES[name], given | here.modules)
    result, count = reborn.traces(here.main.f, X)
    assert count == 1
    np.testing.assert_allclose(result, here.main.f.__wrapped__(X), rtol=1e-6)


def test_a_strict_function_that_started_warm_is_strict(life):
    old, new = "@imprint.jit\n@decorate", "@imprint.jit(strict=True)\n@decorate"
    main = TEXTS["main"].replace(old, new).replace(" + numpy.mean(consts.ARRAY)", "")
    text = {"main": main}
    life(**text).main.f(X)
    here = life(**text)
    assert reborn.traces(here.main.f, X)[1] == 0
    here.consts.ARRAY[0] = 7.0
    result, count = reborn.traces(here.main.f, X)
    assert count == 1
    np.testing.assert_allclose(result, here.main.f.__wrapped__(X), rtol=1e-6)


HEAD = """
import functools, imprint, numpy
import imprint.numpy as np
from imprint import Module, filter_jit, jit, optim, random, tree
"""
PROGRAMS = {
    "draws": (
        """
@jit
def f(x):
    key = random.fold_in(random.key(1), 2)
    return x * random.randint(key, (), 0, 5) + random.normal(key, (3,))
""",
        ("0, 5", "0, 50"),
    ),
    "modules": (
        """
class Layer(Module):
    weight: object
    def scaled(self, x):
        return self.weight * x
    def __call__(self, x):
        return self.scaled(x)

layer = Layer(2.0)
called = filter_jit(lambda layer, x: layer(x))
f = functools.partial(called, layer)
f.__wrapped__ = lambda x: layer(x)
""",
        ("self.weight * x", "self.weight - x"),
    ),
    "optimizers": (
        """
optimizer = optim.adam(1e-1)
@jit
def f(x):
    updates, _ = optimizer.update(x, optimizer.init(x), x)
    return optim.apply_updates(x, updates)
""",
        ("1e-1", "1e-2"),
    ),
    "linear algebra": (
        "f = jit(lambda x: np.linalg.inv(np.eye(3) * 2.0) @ x)",
        ("2.0", "3.0"),
    ),
    "nodes": (
        """
class Node:
    def __init__(self, x):
        self.x = x
def flat(node):
    return (node.x * 2.0,), None
def made(_, parts):
    return Node(*parts)
tree.register_pytree_node(Node, flat, made)
f = jit(lambda x: tree.leaves(Node(x))[0] + 1.0)
""",
        ("x * 2.0", "x * 3.0"),
    ),
    "sentinels": (
        """
LEFT_OUT = object()
def scaled(x, rate=LEFT_OUT):
    return x * 2.0 if rate is LEFT_OUT else x * 3.0
f = jit(lambda x: scaled(x))
""",
        ("rate=LEFT_OUT", "rate=object()"),
    ),
    "partials": (
        """
class Named(functools.partial):
    pass
scaled = Named(lambda x, rate: x * rate, rate=2.0)
f = jit(lambda x: scaled(x))
""",
        ("rate=2.0", "rate=3.0"),
    ),
    "limits": (
        "f = jit(lambda x: x + np.finfo(x.dtype).eps + numpy.iinfo('int8').max)",
        ("int8", "int16"),
    ),
    "NotImplemented": (
        """
class Rate:
    value = 2.0
    def __eq__(self, other):
        return self is other or NotImplemented
    __hash__ = object.__hash__
rate = Rate()
f = jit(lambda x: x * rate.value)
""",
        ("2.0", "3.0"),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_ordinary_program_starts_warm_until_it_is_edited(life, name):
    text, (old, new) = PROGRAMS[name]
    assert old in text
    for main, warm in ((text, False), (text, True), (text.replace(old, new), False)):
        f = life(main=HEAD + main).main.f
        result, count = reborn.traces(f, X)
        assert (count == 0) == warm
        np.testing.assert_allclose(result, f.__wrapped__(X), rtol=1e-5)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Give the folder of a package that is imported when a function is traced."""
    folder = tmp_path / "lazy_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "part.py").write_text("RATE = 2.0")
    monkeypatch.syspath_prepend(tmp_path)
    # Bytecode counts as new by its second and its length, and these texts have both.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield folder
    forget()


def forget():
    importlib.invalidate_caches()
    for name in [n for n in sys.modules if n.partition(".")[0] == "lazy_package"]:
        del sys.modules[name]


IMPORTS = {
    "from package import part": "part.RATE",
    "import package.part as part": "part.RATE",
    "from package.part import RATE": "RATE",
    "import package.part": "package.part.RATE",
}


@pytest.mark.parametrize("line", IMPORTS)
def test_an_import_in_a_function_starts_warm_until_it_is_edited(life, line, package):
    text = f"{HEAD}@jit\ndef f(x):\n    {line}\n    return x * {IMPORTS[line]}\n"
    main = text.replace("package", "lazy_package")
    for rate, expected in ((2.0, 1), (2.0, 0), (3.5, 1), (2.0, 0)):
        (package / "part.py").write_text(f"RATE = {rate}")
        forget()
        f = life(main=main).main.f
        result, count = reborn.traces(f, X)
        assert count == expected
        np.testing.assert_allclose(result, X * rate, rtol=1e-6)
    sys.modules["lazy_package.part"].RATE = 5.0  # and in this process
    np.testing.assert_allclose(f(X), X * 5.0 if "import RATE" not in line else f(X))


def test_a_user_wrapper_of_a_library_function_is_tracked(life, monkeypatch):
    main = """
mean = numpy.mean
numpy.mean = functools.wraps(mean)(lambda *args: mean(*args) * 2.0)
f = jit(lambda x: x * numpy.mean(numpy.ones(3)))
"""
    for factor in (2.0, 7.0):
        with monkeypatch.context() as undone:
            undone.setattr(np, "mean", np.mean)
            f = life(main=HEAD + main.replace("2.0", str(factor))).main.f
            np.testing.assert_allclose(f(X), X * factor)


# ---- programs that are not stored ----

LINES = {
    "load": ("x = x + (numpy.load is None)", "E-IMPURE", "`load`"),
    "load by a name": ("x = x + (LOAD is None)", "E-IMPURE", "`load`"),
    "time": ("import time; x = x + time.time() * 0", "E-IMPURE", "`time`"),
    "global time": ("x = x + helpers.time.time() * 0", "E-IMPURE", "`time`"),
    "draws": ("x = x + numpy.random.normal()", "E-IMPURE", "random numbers"),
    "files": ("open(os.devnull).close()", "E-IMPURE", "`open`"),
    "print": ("print('once')", "E-IMPURE", "`print`"),
    "processes": ("x = x + os.getpid() * 0", "E-IMPURE", "`getpid`"),
    "object": ("x = x + bool(helpers.LOCK)", "E-VALUE", "lock"),
    "memo": ("x = x + helpers.remembered(2)", "E-IMPURE", "`time`"),
    "effect": ("helpers.LOG.append(1)", "E-EFFECT", "wrote"),
    "variable": ("x = x * float(os.environ.get('W', 1))", "E-IMPURE", "`environ`"),
    "callback": ("imprint.debug.print('{}', x)", "E-EFFECT", "calls"),
}
if sys.version_info >= (3, 12):  # before, it is not known which code ran
    LINES["hash"] = ("x = x + hash('a') * 0", "E-IMPURE", "`hash`")


@pytest.mark.parametrize("name", LINES)
def test_values_without_a_stable_hash_are_not_stored(life, name, capsys):
    line, code, word = LINES[name]
    texts = edit("main", "return helpers.R", f"{line}\n    return helpers.R")
    for _ in range(2):
        fun = life(**texts).main.f
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", imprint.errors.CaptureWarning)
            _, count = reborn.traces(fun, X)
        assert count == 1
    said = fun.versions[0].restarts
    assert said.startswith("with a trace: ")
    assert (code in said, word in said) == (True, True), said


def test_persist_is_off_for_one_function(life):
    texts = edit("main", "@imprint.jit\n", "@imprint.jit(persist=False)\n")
    for _ in range(2):
        fun = life(**texts).main.f
        assert reborn.traces(fun, X)[1] == 1
    assert fun.versions[0].restarts == "with a trace: its jit has persist=False"


def test_a_read_only_store_is_read(life, imprint_store):
    life().main.f(X)
    imprint.cache.configure(mode="read")
    assert reborn.traces(life().main.f, X)[1] == 0
    fun = life(**EDITS["constant"]).main.f
    assert reborn.traces(fun, X)[1] == 1
    assert fun.versions[0].restarts == "with a trace: the store is only read"
    imprint.cache.configure(mode="off")
    assert reborn.traces(life().main.f, X)[1] == 1


# ---- calls ----

CALLS = """
import imprint, imprint.numpy as np, dataclasses
from imprint.module import Module, field

@dataclasses.dataclass(frozen=True)
class Settings:
    gain: float = 2.0

def plain(x, settings):
    return {"a": x * settings.gain, "b": [x, (None, x + 1)]}

static = imprint.jit(plain, static_argnums=1)

class Net(Module):
    weight: object
    depth: int = field(static=True)
    def __call__(self, x):
        for _ in range(self.depth):
            x = np.tanh(x @ self.weight)
        return x

@imprint.jit
def step(net, x):
    def loss(weight, x):
        return (Net(weight, net.depth)(x) ** 2).sum()
    value, slope = imprint.value_and_grad(loss)(net.weight, x)
    return value, Net(net.weight - slope, net.depth)

donating = imprint.jit(lambda x: x + 1.0, donate_argnums=0)

def made(c):
    return imprint.jit(lambda x: x * c)

@imprint.jit
def outer(x):
    return static(x, Settings())["a"] + made(2.0)(x)

@imprint.custom_jvp
def root(x):
    return np.sqrt(x)
root.defjvp(lambda primals, tangents: (root(*primals), tangents[0] * 7.0))
slope = imprint.jit(imprint.grad(lambda x: root(x)))
"""
DRAWN = [
    lambda m: m.static(X, m.Settings())["b"][1][1],
    lambda m: m.static(X, m.Settings(3.0))["a"],
    lambda m: m.step(m.Net(np.eye(3, dtype="float32"), 2), X)[1].weight,
    lambda m: m.step(m.Net(np.eye(3, dtype="float32"), 3), X)[1].weight,
    lambda m: m.donating(imprint.numpy.asarray(X)),
    lambda m: m.made(2.0)(X),
    lambda m: m.made(3.0)(X),
    lambda m: m.outer(X),
    lambda m: m.slope(4.0),
    lambda m: m.slope(np.float32(4.0)),
]


def test_all_call_signatures_start_warm(tmp_path, imprint_store):
    first = reborn.begin({"calls": CALLS}, tmp_path).calls
    before = [np.asarray(call(first)) for call in DRAWN]
    for made in (first.static, first.step, first.donating, first.outer, first.slope):
        assert {v.restarts for v in made.versions} == {"without a trace"}
    again = reborn.begin({"calls": CALLS}, tmp_path).calls
    for i, call in enumerate(DRAWN):
        result, count = reborn.traces(call, again)
        assert (i, count) == (i, 0)
        np.testing.assert_array_equal(before[i], np.asarray(result))


# ---- audits, and damage ----


@pytest.mark.unaudited
def test_an_audit_traces_a_program_of_the_disk(life, monkeypatch):
    life().main.f(X)
    verify = manifest.verify

    def blind(key, plain):
        return verify(key, {**plain, "reads": []})

    with audit(1.0):
        assert reborn.traces(life().main.f, X)[1] == 0
        monkeypatch.setattr(manifest, "verify", blind)
        with pytest.raises(StaleVersionError) as raised:
            life(**EDITS["constant"]).main.f(X)
    assert "expected the program on the disk to be what a fresh trace gives" in str(
        raised.value
    )
    assert "global COUNT" in str(raised.value)


def test_a_manifest_that_fits_nothing_is_a_miss(life, monkeypatch):
    life().main.f(X)
    for wrong in ([{}], [{"files": 3}], {}, None, [None], [[]]):
        body = {"traces": wrong}
        monkeypatch.setattr(manifest, "parse_manifest", lambda *_, body=body: body)
        assert reborn.traces(life().main.f, X)[1] == 1


# ---- drawn edits ----


@pytest.mark.parametrize(("seed", "count"), [(0, 12), *exhaustive((1, 400), (2, 400))])
def test_no_edit_gets_an_earlier_answer(
    seed, count, tmp_path, imprint_store, monkeypatch
):
    recent = []
    for chosen in edited.edits(seed, count):
        with monkeypatch.context() as undone:
            undone.setenv("WEIGHT", chosen["environment"])
            for owner, name in ((np, "mean"), (imprint.numpy, "cos")):
                undone.setattr(owner, name, getattr(owner, name))
            main = reborn.begin(edited.texts(chosen), tmp_path).main
        np.testing.assert_allclose(main.result, main.expected, 1e-4, 1e-4)
        traced = main.after.traces - main.before.traces
        counts = edited.program_part(chosen)
        assert not (traced and counts in recent), chosen
        if traced:  # a manifest has room for 16
            recent = [counts, *recent][:12]
