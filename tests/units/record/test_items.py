"""Item uses: which dicts code reads by constant keys alone."""

import pytest

from imprint.record.mentions import mentions_of


def uses_of(text):
    """Return the item uses of a function whose body is given in one line."""
    scope = {}
    body = "".join(f"  {line}\n" for line in text.split("; "))
    exec(compile(f"def f(x=0, i=0):\n{body}", "/a_project/m.py", "exec"), scope)
    return mentions_of(scope["f"].__code__).uses


# The body of a function, the keys by which it reads, the names that it uses whole.
READS = [
    ("return cfg['rate']", "rate", "rate"),  # what is under a key goes on by that key
    ("return cfg['opt']['rate']", "opt rate", "rate"),
    ("return x.cfg['rate']", "rate", "rate"),
    ("return x.cfg.get('rate')", "rate", "get rate"),
    ("return x.cfg.get('rate', 1)", "rate", "get rate"),
    ("return 'rate' in cfg", "rate", "rate"),
    ("return 'rate' in x.cfg", "rate", "rate"),
    ("return 'rate' not in x.opt.cfg", "rate", "opt rate"),
    ("return 'rate' in cfg['opt']", "opt", "opt rate"),
    ("return g('rate', i in x.cfg)", "", "cfg g rate"),
    ("return cfg[i]", "", "cfg"),
    ("return cfg", "", "cfg"),
    ("return x.cfg", "", "cfg"),
    ("return g(cfg)", "", "g cfg"),
    ("return [k for k in cfg]", "", "cfg"),
    ("return len(cfg)", "", "len cfg"),
    ("return {**cfg}", "", "cfg"),
    ("d = cfg; return d['rate']", "", "cfg rate"),
    ("return cfg['rate'] if i else cfg", "rate", "cfg rate"),
    ("return cfg[1]", "", "cfg"),
]


@pytest.mark.parametrize(("text", "keys", "whole"), READS)
def test_reads(text, keys, whole):
    found = uses_of(text)
    assert found.keys == set(keys.split())
    assert found.whole == set(whole.split())


WRITES = [
    ("cfg['rate'] = 1", "rate", False),
    ("del cfg['rate']", "rate", False),
    ("cfg['rate'] += 1", "rate", False),
    ("cfg[i] = 1", "", True),
    ("cfg[1] = 1", "", True),
    ("cfg[1:2] = i", "", True),
    ("return cfg['rate']", "", False),
]


@pytest.mark.parametrize(("text", "stored", "stores_any"), WRITES)
def test_writes(text, stored, stores_any):
    found = uses_of(text)
    assert (found.stored, found.stores_any) == (set(stored.split()), stores_any)


def test_a_closure_variable_is_read_by_its_keys():
    def outer():
        cfg = {"rate": 1}
        return lambda: cfg["rate"], lambda: cfg

    by_key, whole = outer()
    assert "cfg" not in mentions_of(by_key.__code__).uses.whole
    assert "cfg" in mentions_of(whole.__code__).uses.whole
