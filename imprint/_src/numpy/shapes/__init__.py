"""Shapes in `imprint.numpy`: reshape, join, pad, view.

- `reshape`: other shapes of the same elements
- `concatenate`: joining, tiling and reversing arrays
- `padding`: padding and trimming at the ends of axes
- `roll_repeat`: rolling and repeating, also by traced numbers
- `view`: the bits of an array as another dtype
"""
