"""The interpreters of programs, one per file, and the transforms that users call.

- `trace_to_jaxpr`: how does a run on tracers become a jaxpr?
- `jvp`: how are tangents pushed along with a computation?
- `linearize`: how is a tangent program written down beside its primal?
- `transpose`: how does a linear program run backwards?
- `batching`: how does a program get one more axis?
- `instantiate`: which results are demanded of a derived program?
- `varying_axes`: which operands are the same on every device where others are not?
- `dce`: which equations, and results of nested calls, does a program need?
- `lowering`: how does a jaxpr become StableHLO?
- `padding`: how is one static program right for all sizes up to a bound?
- `derivatives`: what do `grad`, `vjp`, `jvp` and `linearize` take and return?
- `jacobians`: what do `jacfwd`, `jacrev` and `hessian` take and return?
- `linear_maps`: what are the linear functions that `vjp` and `linearize` return?
- `linear_transpose`: what is the transpose of a function that is linear?
- `vmap`: what does `vmap` take and return?
"""
