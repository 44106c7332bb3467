"""Special functions as primitives, with their series and coefficients.

- `special`: how are error functions and those of the gamma family computed?
- `closed_forms`: how is a formula written once, for NumPy and for StableHLO?
- `incomplete`: how are the incomplete gamma and beta functions computed?
- `bessel`: how are Bessel functions computed?
- `polynomials`: how are polynomials computed, and upper halves of products?
- `minimax_coeffs`: which functions are SciPy's, and series of it in programs?
- `integrals`: what are exponential integrals of an order, and Owen's T?
- `hypergeometric`: what are the functions 1F1 and 2F1?
- `faddeeva`: what is the scaled error function of complex numbers?
- `recurrences`: what are the Bessel functions of all orders up to one?
"""
