"""A rule is part of the fingerprint: editing it makes a new version."""

import types

import pytest

import imprint
import imprint.numpy as inp

SOURCE = """
import imprint
import imprint.numpy as np

SCALE = 2.0

def helper(x):
    return x * SCALE

@imprint.custom_jvp
def by_jvp(x):
    return np.sin(x)

@by_jvp.defjvp
def rule(primals, tangents):
    return by_jvp(*primals), helper(tangents[0])

@imprint.custom_vjp
def by_vjp(x):
    return np.sin(x)

def fwd(x):
    return by_vjp(x), x

def bwd(_, ct):
    return (helper(ct),)

by_vjp.defvjp(fwd, bwd)

@imprint.jit
def inner(x):
    return FUNCTION(x) * 1.0

derivative = imprint.grad(inner)
compiled = imprint.jit(imprint.grad(inner))
direct = imprint.jit(imprint.grad(lambda x: FUNCTION(x)))
"""

NAMES = ("derivative", "compiled", "direct")


@pytest.fixture(params=["by_jvp", "by_vjp"])
def cell(request):
    """A notebook: a module whose code runs, and partly runs again."""
    module = types.ModuleType("a_notebook_of_rules")
    text = SOURCE.replace("FUNCTION", request.param)
    exec(compile(text, "<cell>", "exec"), module.__dict__)
    module.kind = request.param
    return module


def run(module, text):
    exec(compile(text, "<edit>", "exec"), module.__dict__)


def gradients(module):
    return {float(getattr(module, name)(1.0)) for name in NAMES}


EDITS = {
    "a global that a helper reads": "SCALE = 5.0",
    "a helper": "def helper(x): return x * 5.0",
    "code in place": "helper.__code__ = (lambda x: x * 5.0).__code__",
    "a rule": (
        "by_jvp.defjvp(lambda p, t: (by_jvp(*p), t[0] * 5.0))\n"
        "by_vjp.defvjp(fwd, lambda _, ct: (ct * 5.0,))"
    ),
    "a rule for each argument": (
        "by_jvp.defjvps(lambda t, out, x: t * 5.0)\n"
        "by_vjp.defvjp(fwd, lambda _, ct: (ct * 5.0,))"
    ),
    "code of the rule": (
        "rule.__code__ = (lambda p, t: (by_jvp(*p), t[0] * 5.0)).__code__\n"
        "bwd.__code__ = (lambda _, ct: (ct * 5.0,)).__code__"
    ),
    "how zeros are given": (
        "by_jvp.defjvp(lambda p, t: (by_jvp(*p), t[0] * 5.0), symbolic_zeros=True)\n"
        "by_vjp.defvjp(lambda x: (by_vjp(x.value), None),\n"
        "    lambda _, ct: (ct * 5.0,), symbolic_zeros=True)"
    ),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_an_edit_is_seen(cell, edit):
    assert gradients(cell) == {2.0}
    assert gradients(cell) == {2.0}
    run(cell, edit)
    assert gradients(cell) == {5.0}


def test_code_that_was_not_edited_is_not_traced_again(cell):
    assert gradients(cell) == {2.0}
    with imprint.testing.max_compiles(0):
        assert gradients(cell) == {2.0}
        run(cell, "def rule(primals, tangents): pass")  # not defined as the rule
        assert gradients(cell) == {2.0}


def test_a_rule_that_is_run_again_as_it_was_is_the_same():
    text = "@f.defjvp\ndef rule(primals, tangents):\n    return f(*primals), tangents[0] * 3.0"
    module = types.ModuleType("a_notebook_of_rules")
    run(module, "import imprint\nf = imprint.custom_jvp(lambda x: x)\n" + text)
    compiled = imprint.jit(imprint.grad(lambda x: module.f(x)))
    assert compiled(1.0) == 3.0
    with imprint.testing.max_compiles(0):
        run(module, text)
        assert compiled(1.0) == 3.0


def test_an_explanation_names_the_rule(cell):
    cell.compiled(1.0)
    run(cell, EDITS["a rule"])
    part = "jvp" if cell.kind == "by_jvp" else "bwd"
    assert f"{cell.kind}._rule['{part}']: function " in str(cell.compiled.explain(1.0))


def test_an_explanation_names_dependencies_of_the_rule(cell):
    cell.compiled(1.0)
    run(cell, EDITS["a global that a helper reads"])
    assert "global SCALE in a_notebook_of_rules: 2.0 → 5.0" in str(
        cell.compiled.explain(1.0)
    )


def test_recreated_functions_with_equal_rules_share_versions():
    traced = []

    def make(scale):
        f = imprint.custom_vjp(inp.sin)
        f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct * scale,))

        @imprint.jit
        def compiled(x):
            traced.append(scale)
            return imprint.grad(f)(x)

        return compiled

    got = [float(make(scale)(1.0)) for scale in (2.0, 2.0, 3.0, 2.0)]
    assert got == [2.0, 2.0, 3.0, 2.0]
    assert traced == [2.0, 3.0]


def test_a_rule_depends_on_contents_of_its_python_arguments():
    class Config:
        scale = 2.0

    config = Config()
    f = imprint.custom_vjp(lambda config, x: x, nondiff_argnums=(0,))
    f.defvjp(lambda config, x: (x, None), lambda config, _, ct: (ct * config.scale,))
    compiled = imprint.jit(lambda x: f(config, x))
    derivative = imprint.grad(compiled)
    assert derivative(1.0) == 2.0
    config.scale = 3.0
    assert derivative(1.0) == 3.0
    Config.scale = 4.0
    del config.scale
    assert derivative(1.0) == 4.0


def test_an_object_that_holds_a_function_with_a_rule_shows_its_edits():
    class Layer:
        def __init__(self):
            self.act = imprint.custom_jvp(lambda x: x)
            self.act.defjvp(lambda p, t: (self.act(*p), t[0] * 2.0))

        def __call__(self, x):
            return self.act(x)

    layer = Layer()
    derivative = imprint.grad(imprint.jit(lambda x: layer(x)))
    assert derivative(1.0) == 2.0
    layer.act.defjvp(lambda p, t: (p[0], t[0] * 7.0))
    assert derivative(1.0) == 7.0


@pytest.mark.parametrize(
    "kind", ["attribute", "by a helper", "of a module", "by a property"]
)
def test_a_name_that_a_failed_rule_lacked_is_found_when_it_is_set(kind):
    module = types.ModuleType("a_module_of_rules")
    exec(
        """
import imprint, types
class K:
    @property
    def w(self): return box.value
box = types.SimpleNamespace()
k = K()
def helper(): return box.value
def rule(p, t): return p[0], t[0] * READ
def h(y):
    g = imprint.custom_jvp(lambda y: y)
    g.defjvp(rule)
    return g(y)
inner = imprint.jit(h)
f = imprint.jit(lambda x: imprint.grad(lambda y: inner(y))(x))
""".replace(
            "READ",
            {
                "attribute": "box.value",
                "by a helper": "helper()",
                "of a module": "extra.value",
                "by a property": "k.w",
            }[kind],
        ),
        module.__dict__,
    )
    owner = module.box
    if kind == "of a module":
        owner = module.extra = types.ModuleType("a_module_with_a_value")
    with pytest.raises(AttributeError):
        module.f(1.0)
    for value in (1.0, 2.0, 3.0):
        owner.value = value
        assert module.f(1.0) == value


class Calls:
    """Counts of calls, as user code keeps them."""

    count = 0


def _jvp_rule(made):
    @imprint.custom_jvp
    def f(x):
        return inp.sin(x)

    @f.defjvp
    def _(primals, tangents):
        made()
        return inp.sin(primals[0]), 3.0 * tangents[0]

    return f


def _vjp_rule(made):
    @imprint.custom_vjp
    def f(x):
        return inp.sin(x)

    def fwd(x):
        made()
        return inp.sin(x), None

    f.defvjp(fwd, lambda _, ct: (3.0 * ct,))
    return f


@pytest.mark.parametrize("make", [_jvp_rule, _vjp_rule])
@pytest.mark.parametrize("kind", ["list", "attribute", "append"])
def test_a_rule_that_counts_runs_once_for_the_gradient_of_a_jitted_function(make, kind):
    counts, calls = [0], Calls()

    def made():
        if kind == "list":
            counts[0] += 1
        elif kind == "append":
            counts.append(1)
        else:
            calls.count += 1

    def total():
        return sum(counts) + calls.count

    jitted = imprint.jit(make(made))
    for _ in range(4):
        assert float(imprint.grad(jitted)(1.0)) == 3
    assert total() == 1


def test_a_rule_that_counts_and_reads_another_value_runs_again_for_another():
    counts, rate = [0], [3.0]

    @imprint.custom_jvp
    def f(x):
        return inp.sin(x)

    @f.defjvp
    def _(primals, tangents):
        counts[0] += 1
        return inp.sin(primals[0]), rate[0] * tangents[0]

    jitted = imprint.jit(f)
    for rate[0] in (3.0, 3.0, 5.0, 5.0):
        assert float(imprint.grad(jitted)(1.0)) == rate[0]
    assert counts == [2]
