"""TODO package.

- `concatenate`: TODO
- `pad_to`: TODO
- `padding`: TODO
- `reshape`: TODO
- `roll_repeat`: TODO
- `trim_zeros`: TODO
- `view`: TODO
"""
