"""What `jax.scipy.integrate` has: the area under points, which is that of NumPy.

Functions are integrated by `imprint.lax.scan`, or by SciPy outside of programs.
"""

from imprint._src.bootstrap import public_names
from imprint._src.diagnostics import attribute_errors
from imprint._src.numpy.reductions.differences import trapezoid as trapezoid

attribute_errors.explain_missing(__name__)
public_names.offer_public(__name__)
