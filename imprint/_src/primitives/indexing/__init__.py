"""Primitives that move elements: slices, gather, scatter, sorting.

- `slicing`: slices, padding and concatenation at indices known while tracing
- `dynamic_slicing`: slices and updates at traced indices
- `gather`: windows read, or added to, at indices that are data
- `scatter`: updates that replace, multiply or bound elements at indices
- `sorting`: sorting, and the largest elements
- `searching`: the positions of elements in sorted arrays
- `take_rows`: reads and writes at indices that are in bounds
"""
