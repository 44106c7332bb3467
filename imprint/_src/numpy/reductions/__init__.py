"""TODO package.

- `covariance`: TODO
- `cumulative`: TODO
- `differences`: TODO
- `histograms`: TODO
- `quantiles`: TODO
- `reductions`: TODO
- `statistics`: TODO
"""
