"""The programs of `tutorials/`, unmodified: they print what they print on JAX.

`tutorials/NAME.txt` has the output of JAX 0.10.2. Numbers may differ in their last digits,
as sums are rounded in another order.
"""

import io
import re
import runpy
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent / "tutorials"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


@pytest.mark.parametrize("program", sorted(path.stem for path in HERE.glob("*.py")))
def test_it_prints_what_it_prints_on_jax(program):
    expected = (HERE / f"{program}.txt").read_text("utf-8")
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(HERE / f"{program}.py"), run_name="__main__")
    got = printed.getvalue()
    assert NUMBER.sub("#", got) == NUMBER.sub("#", expected)
    numbers = [np.array(NUMBER.findall(text), float) for text in (got, expected)]
    np.testing.assert_allclose(*numbers, rtol=0.02, atol=2e-3)
