"""Implementation of `imprint.scipy.optimize`.

- `minimizing`: which method, with which options, and what does it give?
- `bfgs`: where is a function least, by an estimate of its inverse Hessian?
- `lbfgs`: where is it, by the last few steps alone?
- `line_search`: how far is a step along a direction?
"""
