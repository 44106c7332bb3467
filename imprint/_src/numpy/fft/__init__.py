"""Implementation of `imprint.numpy.fft`.

- `transforms`: discrete Fourier transforms and their inverses
- `frequencies`: sample frequencies, and shifts of frequency 0 to the middle
"""
