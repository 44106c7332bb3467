"""Calls whose axes have names: one trace for all sizes, and programs for many of them.

- `symbolic_traces`: which trace for all sizes is right for a call?
- `infer_axes`: which axes have names that nobody gave them?
- `symbolic_results`: does a result hold a size that has a name?
- `buckets`: how long are the axes of the program that answers a size?
- `padding`: how is an array as long as a bucket?
- `sizes`: which numbers are the names in sizes, given the arguments of a call?
- `reasons`: why is a call compiled for its size, though the axis has a name?
- `programs`: which program answers all sizes up to a bucket's?
"""
