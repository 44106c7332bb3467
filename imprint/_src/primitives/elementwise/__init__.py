"""Primitives on single elements: arithmetic, comparison, rounding, conversion.

- `elementwise`: what do elementwise primitives take, and how are they lowered?
- `arithmetic`: how are quotients, remainders, extremes and integer powers computed?
- `rounding`: how are numbers rounded, and what are sign and magnitude?
- `exponential`: how are exponentials, logarithms and roots computed?
- `power`: how is an array raised to an array?
- `trigonometric`: how are functions of angles and their inverses computed?
- `comparison`: how do two operands compare?
- `complex`: how are complex numbers made and taken apart?
- `bitwise`: how are the bits of two operands joined or shifted?
- `bits`: how are the bits of one operand inverted or counted?
- `convert`: how does a value, or its bits, get another dtype?
- `reduce_precision`: how is a float rounded to fewer bits?
- `select`: how are elements chosen from operands?
- `precision`: how exactly is a product computed?
"""
