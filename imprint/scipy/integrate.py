"""What `jax.scipy.integrate` has: the area under points, which is that of NumPy.

Functions are integrated by `imprint.lax.scan`, or by SciPy outside of programs.
"""

from imprint._src.bootstrap import public_names
from imprint.core import missing
from imprint.numpy.differences import trapezoid as trapezoid

missing.explain_missing(__name__)
public_names.offer_public(__name__)
