"""Implementation of `imprint.image`.

- `resizing`: how does an image get another size?
- `kernels`: what does an element weigh at a distance?
"""
