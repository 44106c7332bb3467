"""Implementation of `imprint.scipy.signal`.

- `convolving`: convolution and correlation
- `spectra`: short-time Fourier transforms and spectral densities
- `trends`: removal of means and linear trends
"""
