"""Reductions of `imprint.numpy`: sums, statistics, quantiles, differences.

- `quantiles`: medians, percentiles and quantiles
- `histograms`: counts of elements in bins
- `reductions`: sums, products and extremes along axes
- `cumulative`: running sums and products
- `statistics`: means, variances and standard deviations
- `covariance`: covariances and correlation coefficients
- `differences`: differences, gradients and areas along an axis
"""
