"""Interpreters of programs, and the transforms of the public API.

- `trace_to_jaxpr`: staging of a function into a jaxpr
- `jvp`: forward-mode differentiation
- `linearize`: a primal evaluation and a staged tangent program
- `transpose`: linear programs backwards
- `batching`: programs with one more axis
- `dce`: dead code, and the arguments of an executable
- `lowering`: a jaxpr as StableHLO
- `padding`: a static program for all sizes up to a bound
- `derivatives`: `grad`, `vjp`, `jvp` and `linearize` of functions of pytrees
- `jacobians`: `jacfwd`, `jacrev` and `hessian`
- `linear_maps`: the linear functions of `vjp`, `linearize` and `linear_transpose`
- `vmap`: batching of functions of pytrees
- `keys`: PRNG keys as operands of functions that move or compare elements
"""
