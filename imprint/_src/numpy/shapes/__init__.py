"""Shapes in `imprint.numpy`: reshape, join, pad, view.

- `reshape`: how does an array get another shape with the same elements?
- `concatenate`: how do several arrays become one?
- `padding`: how does an array get larger at its ends?
- `pad_to`: how has an array memory for more elements than it has?
- `trim_zeros`: where do zeros end?
- `roll_repeat`: how does one roll or repeat by numbers that a program works out?
- `view`: what are the bits of an array as another dtype?
"""
