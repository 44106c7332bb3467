"""Error messages: hints, unsupported names, source locations, tracebacks.

- `concretization_hints`: Python constructs that need a concrete value, and their
  remedies
- `unsupported`: names of JAX, NumPy, Equinox and optax that imprint lacks
- `traceback_filter`: tracebacks without internal frames
- `html`: tables and folded texts for notebooks and reports
- `source`: the location of an equation in user code
"""
