"""Elementwise functions of `imprint.numpy`, and its ufunc objects.

- `arithmetic`: what do `+ - * / // %` and their relatives give?
- `exponential`: what are exponentials, logarithms, powers and roots?
- `trigonometric`: what are the functions of angles, and the hyperbolic ones?
- `rounding`: how are numbers rounded and taken to parts?
- `comparison`: how do numbers compare, and what are they?
- `bitwise`: what happens to the bits of integers?
- `selection`: how are elements chosen by a condition?
- `packing`: how do bits become elements, and back?
- `exponents`: of which parts are floats?
- `divisors`: what divides integers, and what is a multiple of them?
- `bessel`: which window is made of a Bessel function?
- `ufunc`: which functions have methods, such as `add.reduce`?
- `ufunc_methods`: what do these methods compute?
"""
