"""Passes: what is done to a jaxpr between tracing and lowering.

- `pipeline`: which passes does every program go through, in which order?
- `cut`: which values are written to memory instead of being computed again?
- `prune`: which arguments and constants does a program take from its caller?
- `sentinels`: which equation made a NaN or an infinity?
"""
