"""Primitives on windows: convolutions and reductions of sliding windows.

- `gather_dims`: where do windows lie whose places are data, and which axes are whose?
- `windows_padded`: where do they lie where the true size is data?
- `conv_reference`: how does NumPy read and write such windows?
- `convolution`: how are windows contracted with a kernel?
- `windows`: where are the windows of an array, and how does NumPy convolve?
- `window_reductions`: how are windows summed, and their extremes found?
"""
