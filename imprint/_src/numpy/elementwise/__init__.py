"""TODO package.

- `arithmetic`: TODO
- `bessel`: TODO
- `bitwise`: TODO
- `comparison`: TODO
- `divisors`: TODO
- `exponential`: TODO
- `exponents`: TODO
- `packing`: TODO
- `rounding`: TODO
- `selection`: TODO
- `trigonometric`: TODO
- `ufunc`: TODO
- `ufunc_methods`: TODO
"""
