"""Implementation of `imprint.ad_checkpoint`.

- `checkpoint`: functions that recompute residuals
- `policies`: the values that are saved
- `residuals`: a report of them
"""
