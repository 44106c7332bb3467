"""Indexing in `imprint.numpy`: `x[...]`, `x.at[...]`, `take` and grids of indices.

- `indexing`: what does `x[...]` take?
- `advanced`: which gather or scatter is an index by arrays?
- `take`: which elements have these indices, and which indices have these?
- `compress`: which elements do values choose?
- `editing`: how do elements come into an array, and out of it?
- `updating`: what does `x.at[...]` return?
- `index_grids`: where are diagonals, triangles and flat indices?
- `grids`: what do `mgrid[...]` and `r_[...]` make of slices?
- `subscripts`: what do the subscripts of einsum say?
"""
