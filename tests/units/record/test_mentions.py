"""What a code object mentions: each opcode that carries a name, and each text that may."""

import dis
import functools
import gc
import opcode
import weakref
from types import CodeType

import pytest

from imprint.record.mentions import (
    instructions,
    is_function_code,
    mentions_of,
    words_of,
)


def code_of(body, *header):
    """Return the code of the function `f` whose body is given, by lines."""
    text = "\n".join((*header, "def f(x=0, i=0):", *("  " + b for b in body)))
    scope = {}
    exec(compile(text, "/a_project/m.py", "exec"), scope)
    return scope["f"].__code__


def read(text):
    """Return what a function mentions whose body is given in one line."""
    return mentions_of(code_of(text.split("; ")))


def with_nested(code):
    """Return what code and the functions in it mention, as from 3.12 some are inlined."""
    yield mentions_of(code)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from with_nested(const)


# ---- globals and attributes ----

# The body of a function, the globals and the names that it mentions.
CASES = [
    ("SCALE", "SCALE", ""),
    ("cfg.SCALE", "cfg", "SCALE"),
    ("pkg.sub.deep.x", "pkg", "sub deep x"),
    ("g(x)", "g", ""),
    ("cfg.g(x, A)", "cfg A", "g"),
    ("x.y.z", "", "y z"),
    ("x.step(1)", "", "step"),
    ("A if B else C.d", "A B C", "d"),
    ("(A or B).rate", "A B", "rate"),
    ("A[i].b", "A", "b"),
    ("A[i]['b']", "A", "b"),
    ("[l.rate for l in A]", "A", "rate"),
    ("(lambda: A.b)()", "A", "b"),
    ("print(f'{A!r} {cfg.b}')", "print A cfg", "b"),
    ("g(x, rate=1)", "g", "rate"),
    ("getattr(x, 'rate')", "getattr", "rate"),
    ("attrgetter('net.rate')(x)", "attrgetter", "net rate net.rate"),
]


@pytest.mark.parametrize(("text", "variables", "names"), CASES)
def test_globals_and_attributes(text, variables, names):
    every = list(with_nested(code_of([f"return {text}"])))
    assert {n for m in every for n in m.globals} == set(variables.split())
    found = {n for m in every for n in m.names}
    locals_of = {"<lambda>", "<listcomp>"} | {"f"}  # names of what is made here
    assert {n for n in found if n not in locals_of and "." not in n} == {
        n for n in names.split() if "." not in n
    }
    assert {n for n in found if "." in n and "<" not in n} == {
        n for n in names.split() if "." in n
    }


def test_a_global_is_listed_once_in_the_order_of_its_reading():
    assert read("B; A.c; B; return C").globals == ("B", "A", "C")


def test_every_branch_counts():
    body = ["cfg = A", "if x:", "  cfg = B", "else:", "  cfg = C", "return cfg.rate"]
    found = mentions_of(code_of(body))
    assert found.globals == ("A", "B", "C")
    assert "rate" in found.names


def test_names_past_the_256th_are_read_whole():
    many = [f"a{i}.b{i}" for i in range(300)]
    found = mentions_of(code_of(many))
    assert found.globals == tuple(f"a{i}" for i in range(300))
    assert {f"b{i}" for i in range(300)} <= found.names


def test_super_mentions_the_attribute():
    text = "class K(B):\n  def m(self): return super().rate + super().step(1)\n"
    scope = {"B": object}
    exec(compile(text, "/a_project/m.py", "exec"), scope)
    found = mentions_of(scope["K"].m.__code__)
    assert {"rate", "step"} <= found.names
    assert found.globals == ("super",)


def test_patterns_mention_their_keywords_and_what_positions_stand_for():
    body = ["match x:", "  case K(rate=r): return r", "  case K(a, b): return a"]
    found = mentions_of(code_of(body))
    assert {"rate", "__match_args__"} <= found.names
    assert "K" in found.globals


def test_texts_that_are_no_names_are_not_taken_for_some():
    found = read("return x['two words'], x['1st'], x['a-b'], x['rate']")
    assert found.names == {"rate"}


def test_formats_mention_the_attributes_in_their_fields():
    found = read("return 'the rate: {0.rate:{i.width}}'.format(x, i=i)")
    assert {"rate", "width"} <= found.names
    assert "the" not in found.names


def test_texts_in_constants_that_hold_others():
    assert {"a", "b"} <= read("return x in ('a', ('b', 1))").names
    assert {"c", "d"} <= read("return x in {'c', 'd'}").names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rate", ["rate"]),
        ("net.rate", ["net", "rate"]),
        ("größe", ["größe"]),
        ("", []),
        ("a b", []),
        ("1st", []),
        ("a" * 101, []),
        ("a" * 100, ["a" * 100]),
    ],
)
def test_words_of_a_text(text, words):
    assert list(words_of(text)) == words


# ---- imports ----


@pytest.mark.parametrize(
    ("line", "imports", "names"),
    [
        ("import cfg; cfg.SCALE", "cfg", "SCALE"),
        ("import pkg.cfg; pkg.cfg.SCALE", "pkg", "cfg SCALE"),
        ("import pkg.cfg as c; c.SCALE", "pkg", "cfg SCALE"),
        ("from pkg.cfg import A, B as b; b.c", "pkg.cfg", "A B c"),
        ("from .cfg import A", ".cfg", "A"),
        ("from .. import cfg; cfg.A", "..", "cfg A"),
        ("import a; import b.c", "a b", ""),
        ("importlib.import_module('pkg.cfg')", "", "import_module pkg cfg pkg.cfg"),
        ("importlib.import_module('.cfg', x)", "", "import_module cfg .cfg"),
    ],
)
def test_imports_inside_a_function(line, imports, names):
    found = read(line)
    assert found.imports == tuple(imports.split())
    assert set(names.split()) <= found.names


# ---- what is stored ----


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("global COUNT; COUNT += 1", "COUNT"),
        ("global COUNT; del COUNT", "COUNT"),
        ("x.calls += 1", "calls"),
        ("cfg.net.last = x", "last"),
        ("del cfg.a", "a"),
        ("y = x; return y.rate", ""),
        ("setattr(x, 'rate', 1)", "rate"),
        ("x.__dict__['rate'] = 1", "rate"),
    ],
)
def test_stored_names(text, stored):
    assert read(text).stored >= set(stored.split())
    assert bool(read(text).stored) is bool(stored)


def test_a_global_that_is_only_bound_is_mentioned():
    found = read("global NEW; NEW = x")
    assert found.globals == ("NEW",)
    assert found.stored == {"NEW"}


def test_closure_variables_that_are_bound():
    def outer(own):
        a = b = c = 1

        def f():
            nonlocal c
            c = 2
            own.x = a
            return b

        b = 3
        return f, lambda: own

    assert mentions_of(outer(1)[0].__code__).stored == {"c", "x"}
    assert {"a", "b", "c"} <= mentions_of(outer.__code__).stored


FLAGS = [
    ("setattr(x, i, 1)", "stores_any"),
    ("delattr(x, i)", "stores_any"),
    ("vars(x).update(a=1)", "stores_any reads_any reads_module changes_items"),
    ("x.__dict__.update(i)", "stores_any reads_any changes_items"),
    ("object.__setattr__(x, 'a', 1)", "stores_any"),
    ("globals()[i] = 1", "stores_any changes_items reads_module"),
    ("exec(i)", "stores_any reads_module"),
    ("eval(i)", "stores_any reads_module"),
    ("locals()", "stores_any reads_module"),
    ("importlib.import_module(i)", "stores_any"),
    ("x[i] = 1", "changes_items"),
    ("x[1:2] = i", "changes_items"),
    ("del x[i]", "changes_items"),
    ("x.append(1)", "changes_items"),
    ("heappush(x, 1)", "changes_items"),
    ("x += 1", ""),
    ("return x[i]", ""),
    ("dir(x)", "reads_any"),
    ("json.dumps(x)", "reads_any"),
    ("x.__getstate__()", "reads_any"),
    ("getattr(x, '__dict__')", "reads_any expects_absence"),
    ("getattr(x, i)", "reads_any expects_absence"),
    ("getattr(x, 'a' + i)", "reads_any expects_absence"),
    ("getattr(x, 'a')", "expects_absence"),
    ("getattr(x, 'a', 1)", "expects_absence"),
    ("hasattr(x, 'a')", "expects_absence"),
    ("return map(getattr, x, i)", "reads_any expects_absence"),
    ("return x.a", ""),
]


@pytest.mark.parametrize(("text", "flags"), FLAGS)
def test_flags(text, flags):
    found = read(text)
    every = (
        *("stores_any", "changes_items", "reads_any", "reads_module"),
        "expects_absence",
    )
    assert [f for f in every if getattr(found, f)] == [f for f in every if f in flags]


@pytest.mark.parametrize(
    ("text", "is_computed"),
    [
        ("return getattr(x, 'a')", False),
        ("return getattr(x, 'a', 0)", False),
        ("return getattr(g(x, i), 'a')", False),
        ("return getattr(getattr(x, 'a'), 'b')", False),
        ("return getattr(x[g(i)], 'a', g(x, i, x))", True),  # not told from a name
        ("return getattr(getattr(x, i), 'b')", True),
        ("return getattr(x, f'a{i}')", True),
        ("return getattr(x, *i)", True),
        ("return getattr(x, i) if i else getattr(x, 'a')", True),
        ("return [getattr(x, n) for n in i]", True),
        ("h = getattr; return h(x, 'a')", True),
    ],
)
def test_a_getattr_of_a_constant_name_reads_that_name_alone(text, is_computed):
    every = with_nested(code_of(text.split("; ")))
    assert any(m.reads_any for m in every) is is_computed


def test_a_handler_expects_absence():
    body = ["try:", "  return x.a", "except AttributeError:", "  return 1"]
    assert mentions_of(code_of(body)).expects_absence


def test_code_that_reads_its_module_mentions_every_word_of_its_texts():
    assert {"rate", "cfg"} <= read("return eval('rate * cfg.net[0]')").names
    assert "rate" not in read("return x['rate * cfg.net[0]']").names


def test_a_docstring_reads_nothing():
    text = "'{x.rate}'"
    assert "rate" not in mentions_of(code_of([text, "return x.w"])).names
    assert "rate" in mentions_of(code_of([text, f"return {text}.format(x=x)"])).names
    assert "rate" in mentions_of(code_of([f"return {text}.format(x=x)"])).names
    assert "rate" in mentions_of(code_of([text, "return eval(f.__doc__)"])).names


# ---- all of it ----


def test_the_body_of_a_class_is_no_function():
    code = compile("class K:\n  y = x\n", "/a_project/m.py", "exec")
    (body,) = (c for c in code.co_consts if hasattr(c, "co_code"))
    assert not is_function_code(body)
    assert "x" in mentions_of(body).globals
    assert is_function_code(test_every_branch_counts.__code__)


def test_the_body_of_a_class_in_a_function_reads_the_globals():
    body = ["class K:", "  y = A", "  z = x", "return K"]
    every = list(with_nested(code_of(body)))
    assert "A" in {n for m in every for n in m.globals}


def library_codes():
    for module in (functools, gc, weakref, pytest, dis):
        for value in vars(module).values():
            if hasattr(value, "__code__"):
                yield value.__code__


def test_instructions_are_those_of_dis():
    for code in library_codes():
        expected = [
            (i.opcode, i.arg or 0)
            for i in dis.get_instructions(code)
            if i.opname not in ("EXTENDED_ARG", "CACHE")
        ]
        found = [
            (op, arg if op >= opcode.HAVE_ARGUMENT else 0)
            for op, arg in instructions(code)
        ]
        assert found == expected


def test_no_name_of_an_instruction_is_left_out():
    for code in library_codes():
        found = mentions_of(code)
        for each in dis.get_instructions(code):
            if each.opname == "IMPORT_NAME" or each.opcode not in dis.hasname:
                continue
            assert each.argval in found.names.union(found.globals)


def test_what_code_mentions_is_read_once():
    code = code_of(["return A.b"])
    assert mentions_of(code) is mentions_of(code)


def test_the_memo_does_not_keep_code_alive():
    code = code_of(["return A_name_of_this_test"])
    mentions_of(code)
    gone = weakref.ref(code)
    del code
    gc.collect()
    assert gone() is None
