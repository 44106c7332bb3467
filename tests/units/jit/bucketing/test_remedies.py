"""Reported reasons and remedies for a named length that is compiled for each size."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp


def remedy(f, *lengths, **options):
    """Return the advice at the last length, after calls with the others."""
    named = imprint.jit(f, abstracted_axes={"x": {0: "n"}}, **options)
    named.clear_cache()
    *before, last = [np.ones(n, np.float32) for n in lengths]
    for x in before:
        named(x)
    (before,) = [d.remedy for d in named.explain(last).differences]
    named(last)
    assert before == named.last_miss.differences[0].remedy
    return before


def transformed(x):
    return inp.fft.fft(x).real


def counted(x):
    return sum(x[i] for i in range(x.shape[0]))


def doubled(x):
    return x * 2


def test_an_equation_without_a_padding_rule_is_named_with_its_line():
    text = remedy(transformed, 8, 9)
    assert text.startswith("n is compiled for each size: fft at test_remedies.py:")
    assert "`inp.fft.fft(x)`" in text
    assert "depends on its length" in text


def test_a_line_that_needs_a_number_is_named_with_its_remedy():
    text = remedy(counted, 8, 9)
    assert "test_remedies.py:" in text
    assert "range(x.shape[0])" in text
    assert "imprint.lax.fori_loop" in text


def test_options_are_named():
    assert "buckets=None" in remedy(doubled, 8, 9, buckets=None)
    with imprint.debug_nans(True):
        assert "debug_nans is on" in remedy(doubled, 8, 9)


@pytest.mark.parametrize("lengths", [(8, 9), (8, 0), (0, 8)])
def test_no_name_is_advised_for_an_axis_that_has_one(lengths):
    for f in (transformed, counted):
        assert "abstracted_axes" not in remedy(f, *(n + 1 for n in lengths))
    if 0 in lengths:
        assert "abstracted_axes" not in remedy(doubled, *lengths)


def test_a_length_of_zero_has_a_program_of_its_own():
    assert remedy(doubled, 8, 0).endswith("a size of 0 has a program of its own.")


def test_a_new_bucket_is_no_program_for_each_size():
    assert remedy(doubled, 8, 20) == "A program is compiled for each bucket of lengths."
