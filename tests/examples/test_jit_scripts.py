"""Scripts of plain NumPy run unchanged: by NumPy, compiled, differentiated, batched."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_sample_image

import imprint
from examples import numpy_scripts
from examples.demo import script_failures
from examples.jit_scripts import Timing, measure

RNG = np.random.default_rng(0)
POINTS = load_iris().data.astype("float32")


def draw(*shape):
    return RNG.normal(size=shape).astype("float32")


SCRIPTS = {
    "attract": (draw(8, 3), draw(8, 3), np.full(8, 0.125, "float32")),
    "smooth": (load_sample_image("flower.jpg")[100:140, 200:230],),
    "cluster": (POINTS, POINTS[::50]),
    "swirl": (draw(16, 16),),
}


def test_the_scripts_do_not_import_imprint():
    tree = ast.parse(Path(numpy_scripts.__file__).read_text(encoding="utf-8"))
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert {ast.unparse(n) for n in imports} == {
        "import numpy as np",
        "from typing import Any",
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_unchanged(name):
    timing = measure(getattr(numpy_scripts, name), SCRIPTS[name])
    assert timing.heading.endswith(".")
    assert list(script_failures(timing)) == []
    assert timing.numpy_s > 0 < timing.jit_s


@pytest.mark.slow
def test_a_script_is_differentiated_and_batched():
    """How the energy of the bodies depends on their masses, for two systems."""
    *moving, masses = SCRIPTS["attract"]

    def energy(masses):
        return numpy_scripts.attract(*moving, masses)[2]

    both = np.stack([masses, 2 * masses])
    slopes = np.asarray(imprint.vmap(imprint.jit(imprint.grad(energy)))(both))
    wide = [x.astype("float64") for x in SCRIPTS["attract"]]
    step = np.zeros(8)
    step[3] = 1e-5
    for i, slope in enumerate(slopes):
        ends = [
            numpy_scripts.attract(*wide[:2], wide[2] * (i + 1) + s)[2]
            for s in (step, -step)
        ]
        assert slope[3] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-3)


def test_a_script_that_differs_or_recompiles_is_named():
    good = Timing("Do it.", 2.0, 1.0, 0.5, 1e-6, 1)
    assert good.speed_up == 4
    bad = replace(good, difference=np.nan, compiles=3)
    assert list(script_failures(bad)) == [
        "Do it. Results differ by nan, not less than 1e-03, from NumPy's",
        "Do it. It compiles once, not 3 times",
    ]
