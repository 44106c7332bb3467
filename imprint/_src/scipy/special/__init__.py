"""Implementation of `imprint.scipy.special`.

- `gammas`: gamma and beta functions, and their relatives
- `complex_gammas`: the gamma function of complex numbers
- `error_functions`: error functions and the normal distribution
- `entropies`: entropies, logits and log-sum-exp
- `integrals`: exponential and Fresnel integrals, and the dilogarithm
- `hypergeometric`: hypergeometric functions
- `harmonics`: spherical harmonics
- `bessel`: Bessel functions
- `arguments`: promotion and checks of arguments
"""
