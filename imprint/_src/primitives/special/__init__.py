"""TODO package.

- `bessel`: TODO
- `closed_forms`: TODO
- `faddeeva`: TODO
- `hypergeometric`: TODO
- `incomplete`: TODO
- `integrals`: TODO
- `minimax_coeffs`: TODO
- `polynomials`: TODO
- `recurrences`: TODO
- `special`: TODO
"""
