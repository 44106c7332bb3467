"""Calls with named axes: one trace for all sizes, and bucket programs.

- `symbolic_traces`: the trace for all sizes that is valid for a call
- `infer_axes`: names for axes whose size varies
- `buckets`: bucket lengths, and padded arrays
- `sizes`: the values of named sizes in a call
- `programs`: programs for all sizes in a bucket
"""
