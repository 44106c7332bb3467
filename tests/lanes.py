"""The two lanes of the tests: the fast one, and the rest of sweeps and searches.

`make test` leaves out tests marked `exhaustive`; `make test-all` runs them too. The fast
lane runs each law over each primitive and each kind of scenario once. Marked tests are
more of the same: further dtypes, shapes, programs and seeds of a sweep.
"""

import zlib

import pytest


def exhaustive(*cases):
    """Return cases of a parametrization, for the exhaustive lane alone.

    Args:
        cases: values, or tuples where the parametrization has several names.
    """
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=pytest.mark.exhaustive,
        )
        for case in cases
    ]


def exhaustive_but(quick, cases):
    """Return all cases, of which only those in `quick` run in the fast lane."""
    missing = set(quick) - set(cases)
    assert not missing, f"{missing} are none of the cases"
    return [case if case in quick else exhaustive(case)[0] for case in cases]


def is_sampled_out(item):
    """Return whether a case of a test marked `sampled(n)` is for the exhaustive lane alone.

    One in n stays in the fast lane, spread over all parameters. The name of a case decides,
    so that workers agree, and further cases move none.
    """
    mark = item.get_closest_marker("sampled")
    return mark is not None and zlib.crc32(item.name.encode()) % mark.args[0] != 0


HALVES = ("first", "second")


def is_in_half(item, half):
    """Return whether a test is in a half of the tests: about every other of each family.

    By its name too, but by another hash than `sampled` uses.
    """
    return HALVES[zlib.crc32(f"half of {item.nodeid}".encode()) >> 16 & 1] == half
