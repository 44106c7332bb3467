"""What a code object reads by name."""

import functools
import gc
import weakref

import pytest

from imprint.record.mentions import Base, is_function_code, mentions_of

CASES = [
    ("SCALE", "SCALE"),
    ("cfg.SCALE", "cfg.SCALE"),
    ("pkg.sub.deep.x", "pkg.sub.deep.x"),
    ("g(x)", "g"),
    ("cfg.g(x, A)", "cfg.g A"),
    ("[x * A for x in range(N)]", "range N A"),
    ("x.y.z", ""),
    ("A if B else C.d", "A B C.d"),
    ("A[i].b", "A"),
    ("(lambda: A)", ""),
    ("print(f'{A!r} {cfg.b}')", "print A cfg.b"),
    ("A.b + A.c", "A.b A.c"),
]


def chains(code, base=Base.GLOBAL):
    found = [c for c in mentions_of(code).chains if c.base is base]
    return {".".join((c.name, *c.attributes)) for c in found}


def code_of(body, *header):
    """Return the code of the function `f` whose body is given."""
    text = "\n".join((*header, "def f(x=0, i=0):", *("  " + b for b in body)))
    scope = {}
    exec(compile(text, "/a_project/m.py", "exec"), scope)
    return scope["f"].__code__


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_globals_and_their_attributes(text, expected):
    code = code_of([f"return {text}"])
    inlined = [c for c in code.co_consts if getattr(c, "co_name", "") == "<listcomp>"]
    found = chains(code).union(*map(chains, inlined))  # from 3.12 there are none
    assert found == set(expected.split())


def test_a_name_past_the_256th_is_read_whole():
    many = [f"a{i}.b{i}" for i in range(300)]
    found = chains(code_of(many))
    assert found == set(many)


def test_a_local_name_bound_once_stands_for_its_chain():
    body = ["c = cfg.section", "return c.SCALE + c.depth"]
    expected = {"cfg.section.SCALE", "cfg.section.depth"}
    assert chains(code_of(body)) == expected


def test_a_local_name_bound_twice_does_not():
    body = ["c = cfg", "if x: c = other", "return c.SCALE"]
    assert chains(code_of(body)) == {"cfg", "other"}


def test_arguments_stand_for_nothing():
    assert chains(code_of(["y = x", "return y.SCALE"])) == set()


def test_written_names():
    body = ["global COUNT", "COUNT += 1", "cfg.calls += 1", "cfg.last = x", "del cfg.a"]
    reads = mentions_of(code_of(body))
    written = {".".join((c.name, *c.attributes)) for c in reads.written}
    assert written == {"COUNT", "cfg.last"}
    assert {"COUNT", "cfg.calls"} <= chains(code_of(body))  # read before


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("import cfg; cfg.SCALE", "cfg.SCALE"),
        ("import pkg.cfg; pkg.cfg.SCALE", "pkg.cfg.SCALE"),
        ("import pkg.cfg as c; c.SCALE", "pkg.cfg.SCALE"),
        (
            "from pkg.cfg import A, B as b; b.c",
            "pkg.cfg.A pkg.cfg.B.c",
        ),
        ("from .cfg import A", ".cfg.A"),
        ("from .. import cfg; cfg.A", "...cfg.A"),
    ],
)
def test_imports_inside_a_function(line, expected):
    reads = mentions_of(code_of(line.split("; ")))
    assert reads.imports
    assert chains(code_of(line.split("; ")), Base.IMPORT) == set(expected.split())


def test_closure_variables():
    def outer():
        a = b = c = 1

        def f():
            nonlocal c
            c = 2
            return a.scale + b

        return f

    assert chains(outer().__code__, Base.CELL) == {"a.scale", "b"}


def test_attributes_of_parameters():
    def f(self, model, *rest, cfg, rebound=0):
        def inner():
            return self.hidden

        rebound = 0
        c = cfg
        self.count += 1
        self.last = 1
        return self.width * model.f(1).y + inner() + c.SCALE + rebound.x + rest.y

    assert mentions_of(f.__code__).parameters == {
        "self": [("count",), ("width",), ("last",)],
        "model": [("f",)],
        "cfg": [("SCALE",)],
    }
    assert mentions_of((lambda x: 0).__code__).parameters == {"x": []}
    assert mentions_of((lambda: 0).__code__).parameters == {}


def test_the_body_of_a_class_is_no_function():
    code = compile("class K:\n  y = x\n", "/a_project/m.py", "exec")
    (body,) = (c for c in code.co_consts if hasattr(c, "co_code"))
    assert not is_function_code(body)
    assert "x" in chains(body)
    assert is_function_code(test_closure_variables.__code__)


def test_every_function_of_the_standard_library_is_read():
    for module in (functools, gc, weakref, pytest):
        for value in vars(module).values():
            if hasattr(value, "__code__"):
                assert mentions_of(value.__code__).chains is not None


def test_the_memo_does_not_keep_code_alive():
    code = code_of(["return A_name_of_this_test"])
    mentions_of(code)
    gone = weakref.ref(code)
    del code
    gc.collect()
    assert gone() is None
