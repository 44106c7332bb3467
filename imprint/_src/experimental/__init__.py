"""Implementation of `imprint.experimental`.

- `checkify`: how does an error of a program become one of its results?
- `multihost_utils`: what do processes tell each other between computations?
"""
