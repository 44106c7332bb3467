"""Why a function differs from an earlier one: re-created, edited, or written into."""

import gc
import re
import sys
import types
import warnings

import pytest

import imprint
import imprint.numpy as inp

# ---- functions that are re-created ----


def made(i, n=1):
    return imprint.jit(lambda x, k=n: x * i + k)


def test_a_recreated_function_is_compared_with_the_one_before():
    made(3)(1.0)
    first = made(4).explain(1.0)
    assert [str(d) for d in first.differences] == ["closure variable i: 3 → 4"]
    assert str(first).endswith(
        "compiles: it was re-created, with closure variable i: 3 → 4. "
        "Make i an argument: `def f(..., i)`."
    )
    made(4)(1.0)
    assert made(4).explain(1.0).hit
    assert made(4).last_miss.differences == first.differences
    (default,) = made(4, n=2).explain(1.0).differences
    assert str(default) == "default of k: 1 → 2"
    assert default.remedy == "Keep one default, and pass k where it is another."


class Silent:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        raise RuntimeError("a call that misses must not print what is captured")


class Scaled:
    def __init__(self, rates):
        self.rates = rates

    def __call__(self, x):
        return x * self.rates["w"]


def held(value):
    return imprint.jit(lambda x: (value, x)[1])


MADE = {
    "closure variable value['w']: 1.0 → 2.0": (
        *(lambda: held({"w": 1.0}), lambda: held({"w": 2.0})),
        "Make value['w'] an argument: `def f(..., w)`.",
    ),
    "closure variable value: function sin at .* → function cos at .*": (
        *(lambda: held(inp.sin), lambda: held(inp.cos)),
        "<lambda> is compiled for each function that it holds: make few.",
    ),
    "code in closure variable value: <lambda> at .* → another <lambda> at .*": (
        *(lambda: held(lambda x: -x - 7), lambda: held(lambda x: -x + 7)),
        "<lambda> is compiled for each function that it holds: make few.",
    ),
    "closure variable value: array → array of float32[3]": (
        *(lambda: held(inp.ones(3)), lambda: held(inp.zeros(3))),
        "Make value an argument: `def f(..., value)`.",
    ),
    "closure variable value: Silent object → another Silent object": (
        *(lambda: held(Silent(1)), lambda: held(Silent(2))),
        "Make <lambda> once, or pass what differs as an argument.",
    ),
    "self.rates['w']: 1.0 → 2.0": (
        *(lambda: imprint.jit(Scaled({"w": 1.0})),),
        lambda: imprint.jit(Scaled({"w": 2.0})),
        "Make Scaled once, or pass what differs as an argument.",
    ),
}


@pytest.mark.parametrize("change", MADE)
def test_a_recreated_capture_is_named_with_a_remedy(change):
    one, other, remedy = MADE[change]
    imprint.clear_caches()
    one()(1.0)
    gc.collect()  # its captures are freed, and are named all the same
    found = other().explain(1.0).differences[0]
    pattern = change if ".*" in change else re.escape(change)
    assert re.fullmatch(pattern, str(found))
    assert found.remedy == remedy


def test_an_edited_function_is_compared_with_its_former_code(monkeypatch):
    cell = module_of(monkeypatch, "cell")
    run(cell, "@jit\ndef f(x):\n    return x * 2.5\n", "<cell 1>")
    cell.f(1.0)
    run(cell, "@jit\ndef f(x):\n    return x * 7.5\n", "<cell 2>")
    explanation = cell.f.explain(1.0)
    (edit,) = explanation.differences
    assert (edit.kind, str(edit)) == ("edited", "constant in f at line 1: 2.5 → 7.5")
    assert "it was edited, with constant in f" in str(explanation)
    cell.f(1.0)  # so that the first one, which is freed, is no reason any more
    run(cell, "@jit\ndef f(x):\n    y = x - 1\n    return y * 7.5\n", "<cell 3>")
    assert [d.slot for d in cell.f.explain(1.0).differences] == ["code"]


def test_code_that_was_replaced_is_compared_with_the_former():
    def f(x):
        return x * 2.5

    fun = imprint.jit(f)
    fun(1.0)
    f.__code__ = (lambda x: x * 7.5).__code__
    fun(1.0)
    (edit,) = fun.last_miss.differences
    assert (edit.kind, edit.old, edit.new) == ("edited", "2.5", "7.5")


def module_of(monkeypatch, name):
    """Return a module that can be imported under a name, as `__main__` can."""
    module = types.ModuleType(name)
    module.jit = imprint.jit
    monkeypatch.setitem(sys.modules, name, module)
    return module


def run(module, text, file):
    """Run a text in a module, as a notebook runs a cell."""
    exec(compile(text, str(file), "exec"), vars(module))


def test_an_edit_restarts_the_count_of_versions(monkeypatch):
    cell = module_of(monkeypatch, "cell")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(12):
            run(cell, f"@jit\ndef f(x):\n    return x * 3.25 - {n}.5\n", f"<cell {n}>")
            cell.f(1.0)


def test_functions_of_one_name_in_two_files_are_not_edits(monkeypatch, tmp_path):
    for n in range(2):
        script = tmp_path / f"script{n}.py"
        text = f"@jit\ndef step(x):\n    return x * 4.25 - {n}.5\n"
        script.write_text(text)
        main = module_of(monkeypatch, "__main__")  # each runs as the program
        run(main, text, script)
        assert main.step.explain(1.0).differences == ()
        main.step(1.0)


@pytest.mark.parametrize("file", ["x" * 5000, "", "<cell>\n"])
def test_code_may_be_of_a_file_of_any_name(file, monkeypatch):
    cell = module_of(monkeypatch, "cell")
    run(cell, "@jit\ndef f(x):\n    return x * 14.25\n", file)
    assert cell.f(1.0) == 14.25
    run(cell, "@jit\ndef f(x):\n    return x * 14.75\n", file)
    assert [d.kind for d in cell.f.explain(1.0).differences] == ["edited"]


def test_functions_of_one_name_that_live_together_are_not_edits(monkeypatch):
    cell = module_of(monkeypatch, "cell")
    kept = []
    for n in range(2):
        text = "\n" * n + f"@jit\ndef _(x):\n    return x * 5.25 - {n}.5\n"
        run(cell, text, "rules.py")
        kept.append(cell._)
        assert cell._.explain(1.0).differences == ()
        cell._(1.0)


def one_table():
    return [lambda x: x * 6.25 - 1.5, lambda x: x * 6.25 - 2.5, lambda x: x + 1.5]


def test_functions_of_other_code_from_one_line_are_not_edits():
    for op in one_table():
        jitted = imprint.jit(op)
        assert jitted.explain(1.0).differences == ()
        jitted(1.0)


def test_functions_of_other_code_from_one_factory_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(12):
            namespace = {}
            exec(f"def f(x):\n    return x * 7.25 - {n}.5\n", namespace)
            f = imprint.jit(namespace["f"])
            assert f.explain(1.0).differences == ()
            f(1.0)
            g = imprint.jit(eval(f"lambda x: x * 8.25 - {n}.5"))
            assert g.explain(1.0).differences == ()
            g(1.0)


# ---- functions that are changed ----


def captures(value):
    def reads(x):
        return (value, x)[1]

    return reads


def test_a_function_whose_list_was_written_is_not_called_recreated():
    rates = [0.125]
    f = imprint.jit(captures(rates))
    f(1.0)
    rates[0] = 0.375
    explanation = f.explain(1.0)
    (written,) = explanation.differences
    assert (written.kind, written.slot) == ("closure", "closure variable value[0]")
    words = "it differs from version 0 in closure variable value[0]: 0.125 → 0.375. "
    assert words in str(explanation)
    again = imprint.jit(captures([0.625])).explain(1.0)
    assert "it was re-created, with closure variable value" in str(again)


def test_a_changed_function_is_compared_with_itself():
    rates = [0.25, 1.0]
    f = imprint.jit(captures(rates))
    f(1.0)
    imprint.jit(captures([0.5, 2.0]))(1.0)
    rates[:] = 0.75, 3.0
    shown = [str(d) for d in f.explain(1.0).differences]
    assert shown == [
        "closure variable value[0]: 0.25 → 0.75",
        "closure variable value[1]: 1.0 → 3.0",
    ]


def test_a_method_of_a_changed_object_is_not_called_recreated():
    class Model:
        rate = 1.0

        def __init__(self):
            self.rates = [1.0]

        def step(self, x):
            return x * self.rates[0]

    model = Model()
    imprint.jit(model.step, strict=True)(1.0)
    model.rates[0] = 2.0
    found = imprint.jit(model.step, strict=True).explain(1.0).differences
    assert [(d.kind, str(d)) for d in found] == [("state", "self.rates[0]: 1.0 → 2.0")]


def test_code_that_was_replaced_is_an_edit(monkeypatch):
    cell = module_of(monkeypatch, "cell")
    run(cell, "def f(x):\n    return x * 9.5\ndef g(x):\n    return x + 9.5\n", "c")
    f = imprint.jit(cell.f)
    f(1.0)
    cell.f.__code__ = cell.g.__code__
    assert str(f.explain(1.0).differences[0]) == "code: f at c:1 → g at c:3"


def test_other_options_are_named():
    def given(x, k=1):
        return x * 10.25

    imprint.jit(given)(inp.ones(2))
    f = imprint.jit(given, static_argnames="k", keep_unused=True)
    found = f.explain(inp.ones(2)).differences
    assert [str(d) for d in found] == [
        "keep_unused: False → True",
        "static_argnames: None → 'k'",
    ]
    assert "it was jitted with other options: keep_unused" in str(f.explain(1.0))


# ---- writes by a trace ----

COUNTERS_OF = {
    "a global": (
        "n = 0\n@jit\ndef f(x):\n    global n\n    n += 1\n    return x * RATE\n"
    ),
    "an attribute": (
        "class C:\n    n = 0\nc = C()\n"
        "@jit\ndef f(x):\n    c.n += 1\n    return x * RATE\n"
    ),
    "a list": "log = []\n@jit\ndef f(x):\n    log.append(1)\n    return x * RATE\n",
    "a closure": (
        "def make():\n    n = 0\n    def f(x):\n        nonlocal n\n        n += 1\n"
        "        return x * RATE\n    return jit(f)\nf = make()\n"
    ),
}


@pytest.mark.parametrize("what", COUNTERS_OF)
def test_a_write_by_the_trace_is_no_reason_for_a_miss(what, monkeypatch):
    cell = module_of(monkeypatch, "counting")
    run(cell, f"RATE = 2.0\n{COUNTERS_OF[what]}", f"<{what}>")
    cell.f(1.0)
    assert cell.f.explain(1.0).hit
    cell.f(1)
    assert [str(d) for d in cell.f.last_miss.differences] == [
        "x.dtype: float32 → int32"
    ]
    assert cell.f.explain(1.0).hit
    cell.RATE = 3.0
    assert [str(d) for d in cell.f.explain(1.0).differences] == [
        "global RATE in counting: 2.0 → 3.0"
    ]
