"""Run each program of these tests in two forms: its names are cells, or globals.

A program is a function. A program with edits is a generator: it yields the function to
jit, then makes one edit before each further `yield`. A program without edits returns
that function and a function `step`, which changes nothing that the first one reads.

Called as it is, the names of a program are cells of its frame. In the other form its
statements run as the body of a module, so that the same names are globals.
"""

import ast
import functools
import inspect
import itertools
import sys
import textwrap
from types import ModuleType

import pytest

import imprint

X = imprint.numpy.float32(2)
BACK = "back"  # yielded where the edits so far cancel out
STEPS = 20
CELLS, GLOBALS = "cells", "globals"
_numbers = itertools.count()


class Programs:
    """A table of programs; decorate a function to add it."""

    def __init__(self):
        self.params = []

    def __call__(self, program, *, forms=(CELLS, GLOBALS)):
        self.params += [
            pytest.param(
                functools.partial(FORMS[form], program),
                id=f"{program.__name__}-{form}",
            )
            for form in forms
        ]
        return program

    def only(self, form):
        """Add a program that makes sense in one form only."""
        return functools.partial(self, forms=(form,))

    @property
    def each(self):
        """Return the mark that runs a test with each program."""
        return pytest.mark.parametrize("program", self.params)


# ---- the two forms ----


class _Globalize(ast.NodeTransformer):
    """Turn `nonlocal` into `global` for the names of the program itself."""

    def __init__(self, names):
        self.names = names

    def visit_Nonlocal(self, node):
        if self.names.isdisjoint(node.names):
            return node
        return ast.copy_location(ast.Global(node.names), node)


def as_cells(program):
    return program()


def as_globals(program):
    lines, first = inspect.getsourcelines(program)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    names = set(program.__code__.co_cellvars)
    (function,) = _Globalize(names).visit(tree).body
    return _run(function.body, _module_for(program), inspect.getsourcefile(program))


def _module_for(program):
    """Return a new user module with the imports of the program's module."""
    name = f"guards_program_{next(_numbers)}"
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = inspect.getsourcefile(program)
    shared = {k: v for k, v in program.__globals__.items() if not k.startswith("__")}
    vars(module).update(shared)
    return module


def _run(body, module, path):
    def run(statements):
        tree = ast.Module(statements, type_ignores=[])
        exec(compile(tree, path, "exec"), vars(module))

    def evaluate(expression):
        expression = expression or ast.Constant(None)
        tree = ast.fix_missing_locations(ast.Expression(expression))
        return eval(compile(tree, path, "eval"), vars(module))

    if isinstance(body[-1], ast.Return):
        run(body[:-1])
        return evaluate(body[-1].value)
    return _edits(body, run, evaluate)


def _edits(body, run, evaluate):
    chunk = []
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            run(chunk)
            chunk = []
            yield evaluate(statement.value.value)
        else:
            chunk.append(statement)


FORMS = {CELLS: as_cells, GLOBALS: as_globals}


# ---- modules that programs import ----


def user_module(name, **names):
    """Return a new module of user code in `sys.modules`."""
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = f"/a_project/{name}.py"
    vars(module).update(names)
    return module


def library_module(name, text):
    """Return a new module of an installed package in `sys.modules`."""
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = f"/env/lib/python3/site-packages/{name}.py"
    code = compile(textwrap.dedent(text), module.__file__, "exec")
    exec(code, vars(module))
    return module


# ---- assertions ----


def traces():
    return imprint.debug.counters().traces


def jitted(fun):
    return fun if hasattr(fun, "explain") else imprint.jit(fun)


def as_it_is(fun):
    """Mark a function that calls `jit` itself: it is called without another `jit`."""
    fun.explain = fun.last_miss = None
    return fun


def outcome(fun):
    """Return the answer of a call, or the text of its error."""
    try:
        return float(fun(X))
    except (ArithmeticError, AttributeError, LookupError, NameError, TypeError) as err:
        return f"{type(err).__name__}: {err}"


def check_answer(fun):
    """Return the answer of a call, which is that without jit."""
    found = outcome(fun)
    with imprint.disable_jit():
        expected = outcome(fun)
    assert found == expected, f"stale: {found} instead of {expected}"
    return found


def check_call(fun):
    """Return the answer of a call; the third call with that answer is not traced."""
    found = check_answer(fun)
    assert outcome(fun) == found
    before = traces()
    assert outcome(fun) == found
    assert traces() == before or isinstance(found, str), "it is traced at each call"
    return found


def check_edits(steps):
    """Run a program with edits: after each one the jitted function gives a new answer."""
    fun = jitted(next(steps))
    answer = first = check_call(fun)
    count = 0
    for count, mark in enumerate(steps, 1):  # noqa: B007 - counted for the last line
        before, answer = answer, check_call(fun)
        assert answer != before, "the edit changes no answer"
        assert mark is None or answer == first
    assert count, "the program has no edit"


def check_steps(fun, step, *, allowed=0):
    """Call a function 20 times, with a step in between; it is traced at its first call."""
    fun = jitted(fun)
    expected = outcome(fun)
    assert not isinstance(expected, str), expected
    before = traces()
    for _ in range(STEPS - 1):
        step()
        assert outcome(fun) == expected
    assert traces() - before <= allowed, fun.last_miss
