"""Implementation of `imprint.scipy.signal`.

- `convolving`: what are convolutions and correlations?
- `segments`: how is a signal cut into segments, and put together again?
- `spectra`: which frequencies does a signal have, and when?
- `synthesis`: which signal has such frequencies?
- `trends`: what is left of data without what goes straight?
"""
