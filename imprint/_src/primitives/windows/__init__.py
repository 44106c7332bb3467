"""Primitives on windows: convolutions and reductions of sliding windows.

- `gather_dims`: dimension numbers of windows at indices that are data
- `windows_padded`: such windows in a padded array
- `gather_reference`: such windows with NumPy
- `convolution`: windows contracted with a kernel
- `windows`: windows of a convolution, and their contraction with NumPy
- `window_reductions`: sums and extremes of windows
"""
