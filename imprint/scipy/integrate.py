"""Integration of samples, as in `jax.scipy.integrate`: `trapezoid`.

Integrate functions with `imprint.lax.scan`, or with SciPy outside of compiled programs.
"""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.numpy.reductions.differences import trapezoid as trapezoid

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
