"""Primitives that move elements: slices, gather, scatter, sorting.

- `slicing`: how are parts cut, padded and joined at places known while tracing?
- `dynamic_slicing`: how is a part taken or written at a traced place?
- `gather`: how are windows read, or added to, at places that are data?
- `scatter`: how do updates replace, multiply or bound what is at their places?
- `sorting`: how do elements come in order, and which are the largest?
- `searching`: where do elements belong in what is in order?
- `take_rows`: how is read and written at indices that lie in bounds?
"""
