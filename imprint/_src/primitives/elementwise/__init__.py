"""TODO package.

- `arithmetic`: TODO
- `bits`: TODO
- `bitwise`: TODO
- `comparison`: TODO
- `complex`: TODO
- `convert`: TODO
- `elementwise`: TODO
- `exponential`: TODO
- `power`: TODO
- `precision`: TODO
- `reduce_precision`: TODO
- `rounding`: TODO
- `select`: TODO
- `trigonometric`: TODO
"""
