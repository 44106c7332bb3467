"""Implementation of `imprint.ops`.

- `segments`: what is the sum, product or extreme of the rows of one number?
"""
