"""Elementwise functions of `imprint.numpy`, and its ufunc objects.

- `arithmetic`: `+ - * / // %` and their relatives
- `exponential`: exponentials, logarithms, powers and roots
- `trigonometric`: trigonometric and hyperbolic functions
- `rounding`: rounding, and parts of numbers
- `comparison`: comparison, logic and classification of numbers
- `bitwise`: bitwise functions of integers, and packed bits
- `selection`: selection by conditions
- `exponents`: mantissas and exponents of floats
- `divisors`: common divisors and multiples
- `ufunc`: ufunc objects such as `add`
- `ufunc_methods`: methods of ufuncs such as `add.reduce`
"""
