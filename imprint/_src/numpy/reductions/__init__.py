"""Reductions of `imprint.numpy`: sums, statistics, quantiles, differences.

- `quantiles`: what lies in the middle, or above a part of the elements?
- `histograms`: how many elements are where?
- `reductions`: what is the sum, product or extreme along axes?
- `cumulative`: what are the running sums and products?
- `statistics`: what are mean, variance and their relatives?
- `covariance`: how do variables vary together?
- `differences`: what are differences, slopes and areas along an axis?
"""
