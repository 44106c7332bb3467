"""Discrete Fourier transforms under NumPy's names: `imprint.numpy.fft`.

- `transforms`: how are arrays transformed, forwards and back?
- `frequencies`: which frequency does each element stand for, and how is 0 brought to the
  middle?
"""

from imprint._src.bootstrap import public_names
from imprint._src.diagnostics import attribute_errors
from imprint.numpy.fft.frequencies import fftfreq as fftfreq
from imprint.numpy.fft.frequencies import fftshift as fftshift
from imprint.numpy.fft.frequencies import ifftshift as ifftshift
from imprint.numpy.fft.frequencies import rfftfreq as rfftfreq
from imprint.numpy.fft.transforms import fft as fft
from imprint.numpy.fft.transforms import fft2 as fft2
from imprint.numpy.fft.transforms import fftn as fftn
from imprint.numpy.fft.transforms import hfft as hfft
from imprint.numpy.fft.transforms import ifft as ifft
from imprint.numpy.fft.transforms import ifft2 as ifft2
from imprint.numpy.fft.transforms import ifftn as ifftn
from imprint.numpy.fft.transforms import ihfft as ihfft
from imprint.numpy.fft.transforms import irfft as irfft
from imprint.numpy.fft.transforms import irfft2 as irfft2
from imprint.numpy.fft.transforms import irfftn as irfftn
from imprint.numpy.fft.transforms import rfft as rfft
from imprint.numpy.fft.transforms import rfft2 as rfft2
from imprint.numpy.fft.transforms import rfftn as rfftn

attribute_errors.explain_missing(__name__)
public_names.offer_public(__name__)
