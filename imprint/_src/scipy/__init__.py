"""Implementation of `imprint.scipy`.

- `linalg`: how are systems solved, and functions of matrices computed?
- `fft`: how are arrays transformed to cosines and back?
- `optimize`: where is a function least?
- `ndimage`: what is the value of an image between its elements?
- `special`: what are the special functions?
- `signal`: what are the functions of signals?
- `stats`: what are the distributions?
- `sparse`: how is a system solved that is known by its products?
- `interpolate`: what is a value between the points of a grid?
- `cluster`: which code is nearest?
"""
