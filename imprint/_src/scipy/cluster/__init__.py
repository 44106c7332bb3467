"""Implementation of `imprint.scipy.cluster`.

- `vq`: which code is nearest to an observation?
"""
