"""Calls whose axes have names: one trace for all sizes, and programs for many of them.

- `symbolic_traces`: which trace for all sizes is right for a call?
- `infer_axes`: which axes have names that nobody gave them?
- `buckets`: how long are the axes of the program that answers a size?
- `sizes`: which numbers are the names in sizes, given the arguments of a call?
- `programs`: which program answers all sizes up to a bucket's?
"""
