"""Discrete cosine transforms under SciPy's names: dct, idct, dctn, idctn."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.scipy.fft import dct as dct
from imprint._src.scipy.fft import dctn as dctn
from imprint._src.scipy.fft import idct as idct
from imprint._src.scipy.fft import idctn as idctn

__all__ = [
    "dct",
    "dctn",
    "idct",
    "idctn",
]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
