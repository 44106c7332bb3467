"""Implementation of `imprint.numpy.fft`.

- `transforms`: how are arrays transformed, forwards and back?
- `frequencies`: which frequency does each element stand for, and how is 0 brought to the
  middle?
"""
