"""Discrete Fourier transforms under NumPy's names: `imprint.numpy.fft`."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.numpy.fft.frequencies import fftfreq as fftfreq
from imprint._src.numpy.fft.frequencies import fftshift as fftshift
from imprint._src.numpy.fft.frequencies import ifftshift as ifftshift
from imprint._src.numpy.fft.frequencies import rfftfreq as rfftfreq
from imprint._src.numpy.fft.transforms import fft as fft
from imprint._src.numpy.fft.transforms import fft2 as fft2
from imprint._src.numpy.fft.transforms import fftn as fftn
from imprint._src.numpy.fft.transforms import hfft as hfft
from imprint._src.numpy.fft.transforms import ifft as ifft
from imprint._src.numpy.fft.transforms import ifft2 as ifft2
from imprint._src.numpy.fft.transforms import ifftn as ifftn
from imprint._src.numpy.fft.transforms import ihfft as ihfft
from imprint._src.numpy.fft.transforms import irfft as irfft
from imprint._src.numpy.fft.transforms import irfft2 as irfft2
from imprint._src.numpy.fft.transforms import irfftn as irfftn
from imprint._src.numpy.fft.transforms import rfft as rfft
from imprint._src.numpy.fft.transforms import rfft2 as rfft2
from imprint._src.numpy.fft.transforms import rfftn as rfftn

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
