"""What an import leaves of the garbage collector, in processes of their own."""

import json
import subprocess
import sys

import pytest

LAST = """
import gc, json
print(json.dumps([gc.isenabled(), gc.get_freeze_count() > 0]))
"""
COLLECTED, FROZEN = [True, False], [True, True]


def run(code, *args, **options):
    """Run code in a process, and return what it prints as JSON."""
    command = [sys.executable, *(args or ["-c", code])]
    told = subprocess.run(command, capture_output=True, text=True, **options)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("import imprint", FROZEN),
        (
            "import math\nHALF = 0.5\ndef f(): pass\nclass C: pass\nimport imprint.lax",
            FROZEN,
        ),
        ("def main(): import imprint\nmain()", COLLECTED),
        ("DATA = []\nimport imprint", COLLECTED),
        ("import gc\ngc.disable()\nimport imprint", [False, False]),
    ],
    ids=["alone", "after-definitions", "in-a-function", "after-data", "turned-off"],
)
def test_only_what_a_program_imports_first_is_frozen(code, left):
    assert run(code + LAST) == left


def test_so_it_is_in_a_module_that_the_script_imports(tmp_path):
    (tmp_path / "models.py").write_text("import imprint")
    (tmp_path / "train.py").write_text("import models" + LAST)
    assert run("", "train.py", cwd=tmp_path) == FROZEN
    assert run("", "-m", "train", cwd=tmp_path) == FROZEN


def test_a_failed_import_leaves_the_collector_on():
    code = """
import sys
sys.modules["optree"] = None
try:
    import imprint
except ImportError:
    pass
"""
    assert run(code + LAST) == COLLECTED


def test_cycles_made_later_are_collected():
    code = """
import imprint, gc, json, weakref
class Node: pass
node = Node()
node.self = node
seen = weakref.ref(node)
del node
gc.collect()
print(json.dumps(seen() is None))
"""
    assert run(code)


def test_who_holds_a_leaked_tracer_is_told_though_the_script_is_frozen():
    code = """
import imprint, json
KEPT = []
@imprint.jit
def f(x):
    KEPT.append(x)
    return x
try:
    with imprint.check_tracer_leaks():
        f(1.0)
except imprint.errors.UnexpectedTracerError as err:
    print(json.dumps(str(err)))
"""
    assert "held by list KEPT of module __main__" in run(code)
