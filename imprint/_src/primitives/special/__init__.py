"""Special functions as primitives, with their series and coefficients.

- `special`: error functions and the gamma family
- `closed_forms`: formulas written once, for NumPy and for StableHLO
- `incomplete`: incomplete gamma and beta functions
- `bessel`: Bessel functions
- `polynomials`: polynomials, and upper halves of products
- `minimax_coeffs`: SciPy's functions on the host, their series in programs
- `integrals`: exponential integrals of an order, and Owen's T
- `hypergeometric`: the functions 1F1 and 2F1
- `faddeeva`: the scaled error function of complex numbers
"""
