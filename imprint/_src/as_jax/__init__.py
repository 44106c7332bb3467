"""`import jax` gives imprint: unmodified JAX programs run without JAX.

- `names`: the table of JAX's modules, and where their names are
- `modules`: the modules made from the table, and their finder
- `command`: `python -m imprint.as_jax`
- `check`: `imprint check`, the names that a program needs and imprint lacks
- `compare`: `imprint compare`, a program on JAX and on imprint
- `compared_run`: one of the runs that it compares, a script
- `primitive`: primitives whose rules a library registers
- `jaxpr_functions`: functions of `jax.core` and `jax.interpreters` on jaxprs
- `linear_util`: flat functions and partial evaluation
- `pmap`: one call of a function on each device
- `ode`: `jax.experimental.ode`
- `process`: `jax.config`, and the backends that have started
- `refs`: mutable arrays
- `sparse`: sparse arrays by coordinates
- `hijax`: types of programs, so far as libraries define classes with them
- `optimizers`: `jax.example_libraries.optimizers`
- `stax`: `jax.example_libraries.stax`
"""
