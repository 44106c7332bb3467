"""The language of the transforms: avals, primitives, traces, jaxprs.

The interpreters that speak it are in `interpreters`.

- `aval`: `ShapedArray`, interned, and the avals of host values
- `dims`: sizes of axes, numbers or symbolic, and their arithmetic
- `array`: operators and methods of arrays and tracers, and NumPy's protocols
- `primitive`: the rules of an operation, its effects, its samples for tests
- `fusion`: how XLA:CPU fuses a primitive, and its cost
- `control`: the rules of an operation that holds jaxprs
- `padding`: padding rules, for programs whose sizes are rounded up to a bucket
- `host_kernel`: NumPy implementations of whole functions, for eager calls
- `tangents`: symbolic zeros and linear operands of differentiation rules
- `trace`: the current trace, tracers and named axes
- `jaxpr`: jaxprs, their evaluation, their checker, memos of derived jaxprs
- `pretty`: the printed form of jaxprs
- `scopes`: `named_scope`, names for parts of a program
- `user_code`: user code versus installed libraries
- `identity`: weak stand-ins that compare objects by identity
- `functions`: checks of the functions and leaves that transforms take
- `array_interop`: conversions of other libraries' values to arrays, for messages
- `shape_struct`: `ShapeDtypeStruct`, a shape and a dtype in the place of an array
- `tracer_leaks`: the search for tracers that outlive their trace
"""
