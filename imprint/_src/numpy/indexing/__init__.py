"""TODO package.

- `advanced`: TODO
- `compress`: TODO
- `editing`: TODO
- `grids`: TODO
- `index_grids`: TODO
- `indexing`: TODO
- `subscripts`: TODO
- `take`: TODO
- `updating`: TODO
"""
