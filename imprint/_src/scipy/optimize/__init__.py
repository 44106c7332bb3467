"""Implementation of `imprint.scipy.optimize`.

- `minimizing`: `minimize`, its options and its result
- `bfgs`: the BFGS method
- `lbfgs`: the L-BFGS method
- `line_search`: the line search of both
"""
