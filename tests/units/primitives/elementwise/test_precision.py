"""Precisions as arguments and as params."""

import numpy as np
import pytest

import imprint
from imprint import dtypes as dt
from imprint._src.primitives.elementwise.precision import (
    ALGORITHMS,
    Precision,
    canonical_precision,
)
from imprint.errors import ArgumentError

DEFAULT, HIGH, HIGHEST = Precision


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (None, None),
        ("DEFAULT", None),
        ("highest", (HIGHEST, HIGHEST)),
        ("bfloat16", (DEFAULT, DEFAULT)),
        (HIGH, (HIGH, HIGH)),
        (("high", DEFAULT), (HIGH, DEFAULT)),
        (["float32", "fastest"], (HIGHEST, DEFAULT)),
        ("BF16_BF16_F32", "BF16_BF16_F32"),
    ],
)
def test_the_content_of_params(given, want):
    assert canonical_precision(given) == want


def test_none_means_the_flag():
    with imprint.default_matmul_precision("tensorfloat32"):
        assert canonical_precision(None) == (HIGH, HIGH)
        assert canonical_precision("highest") == (HIGHEST, HIGHEST)


def test_they_print_as_in_jax():
    assert str(canonical_precision("high")) == "(Precision.HIGH, Precision.HIGH)"


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("hihg", " Did you mean 'high'?"),
        ("TF32_TF32_F32", ""),
        (3, ""),
        (("high",), ""),
        (("high", None), ""),
    ],
)
def test_invalid_precisions(given, hint):
    with pytest.raises(ArgumentError) as caught:
        canonical_precision(given)
    text = str(caught.value)
    assert text.startswith(
        "precision: expected a Precision, a pair of them, or one of ["
    )
    assert "'F64_F64_F64'], got " in text
    assert hint in text
    assert text.endswith(
        " An algorithm that the CPU lacks cannot be chosen; to leave the choice to the "
        "engine, pass None."
    )


def test_an_algorithm_converts_other_operand_types():
    f16, f32, bf16 = np.dtype(np.float16), np.dtype(np.float32), dt.bfloat16
    mixed = ALGORITHMS["BF16_BF16_F32"]
    assert mixed.dtypes(bf16, f32, bf16) == (bf16, f32, f32)
    assert mixed.dtypes(bf16, bf16, bf16) == (bf16, bf16, bf16)
    assert mixed.dtypes(f16, f16, f16) == (bf16, bf16, f32)
