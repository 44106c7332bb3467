"""TODO package.

- `dynamic_slicing`: TODO
- `gather`: TODO
- `scatter`: TODO
- `searching`: TODO
- `slicing`: TODO
- `sorting`: TODO
- `take_rows`: TODO
"""
