"""Implementation of `imprint.scipy.special`.

- `gammas`: what are the gamma and beta functions, and made of them?
- `complex_gammas`: what is the gamma function of complex numbers?
- `error_functions`: what are `erf`, `erfc` and the inverse of `erf`?
- `normal`: what are their relatives, and the normal distribution?
- `entropies`: what are products with logarithms, odds and sums of exponentials?
- `integrals`: what are exponential integrals, others, and the dilogarithm?
- `hypergeometric`: what are the hypergeometric functions?
- `harmonics`: what are spherical harmonics?
- `bessel`: what are Bessel functions?
- `arguments`: what do these functions take?
"""
