"""Implementation of `imprint.lax`.

- `branching`: `cond`, `switch` and `platform_dependent`
- `collectives`: collective operations along named axes
- `composite`: operations with a name
- `composed`: functions composed of one or two primitives
- `indexed`: `index_take`
- `elementwise`: elementwise functions of two operands
- `loops`: `scan`, `while_loop`, `fori_loop` and `map`
- `special`: special functions of several operands
- `solving`: `custom_root` and `custom_linear_solve`
- `linalg`: the face of `lax.linalg`
- `carry`: the carry of loops, and checks of it
- `associative`: `associative_scan`
- `convolution`: convolutions
- `sharding_constraint`: sharding constraints on traced values
- `layouts`: dimension numbers, shapes and padding of convolutions
- `approximate`: `approx_max_k` and `approx_min_k`
- `polar`: iterations for the polar decomposition
- `placed`: functions of one primitive with the sharding of their result
- `random_bits`: the engine's random bits
- `ragged`: ragged dot products
- `monoids`: reductions by any function
"""
