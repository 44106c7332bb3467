"""Primitives on single elements: arithmetic, comparison, rounding, conversion.

- `elementwise`: operands of elementwise primitives, and their lowering
- `arithmetic`: quotients, remainders, extremes, integer powers, common divisors
- `rounding`: rounding, sign and magnitude
- `exponential`: exponentials, logarithms and roots
- `power`: powers of arrays to arrays
- `real_power`: powers of many floats, by vectors
- `trigonometric`: trigonometric, hyperbolic and logistic functions, and inverses
- `circular`: sines and cosines of many real numbers, by vectors
- `inverses`: inverse circular functions and cube roots of many floats, by vectors
- `by_vectors`: what functions by vectors share: polynomials, signs, subnormal numbers
- `rare`: formulations for arrays without rare elements
- `lengths`: the hypotenuse and its direction
- `comparison`: comparisons of two operands
- `complex`: complex numbers and their parts
- `bitwise`: operations on bits, shifts and counts
- `convert`: conversion of values, or their bits, to another dtype
- `reduce_precision`: rounding of floats to fewer bits
- `select`: selection of elements from operands
- `precision`: precisions and algorithms of products
"""
