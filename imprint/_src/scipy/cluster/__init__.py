"""Implementation of `imprint.scipy.cluster`.

- `vq`: vector quantization
"""
