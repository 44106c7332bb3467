"""Indexing in `imprint.numpy`: `x[...]`, `x.at[...]`, `take` and index tricks.

- `indexing`: `x[...]` by integers, slices and masks
- `advanced`: an index by arrays as a gather or scatter
- `take`: `take`, `nonzero` and their relatives
- `compress`: selection of elements by conditions
- `editing`: insertion and deletion of elements
- `updating`: the functional updates of `x.at[...]`
- `index_tricks`: indices of diagonals and triangles, `ix_`, `mgrid`, `r_`
"""
