"""TODO package.

- `conv_reference`: TODO
- `convolution`: TODO
- `gather_dims`: TODO
- `window_reductions`: TODO
- `windows`: TODO
- `windows_padded`: TODO
"""
