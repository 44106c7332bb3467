"""Implementation of `imprint.scipy`.

- `linalg`: linear systems, factorizations and functions of matrices
- `fft`: discrete cosine transforms
- `optimize`: minimization
- `ndimage`: interpolation of images
- `special`: special functions
- `signal`: signal processing
- `stats`: distributions and statistics
- `sparse`: iterative solvers of linear systems
- `interpolate`: interpolation on grids
- `cluster`: vector quantization
"""
