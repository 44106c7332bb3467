"""What a search for functions that no name leads to goes through."""

import imprint
from imprint.record.reach import reachable


def test_a_jitted_function_leads_to_what_it_wraps_and_to_no_other():
    def helper(x):
        return x + 1

    @imprint.jit
    def jitted(x):
        return helper(x)

    @imprint.jit
    def other(x):
        return x * 2

    before = len(list(reachable([jitted])))
    for x in (1.0, 2, 3j):
        jitted(x)
        other(x)
    found = list(reachable([jitted]))
    assert helper in found
    assert other.__wrapped__ not in found
    assert len(found) == before
