"""Jitted functions: from a call to an executable.

Top down, each from the call towards XLA:

- `api`: the `jit` decorator and the type of jitted functions
- `filter_jit`: the decorator for functions of models and settings
- `fwd_and_bwd`: a function and its pullback as two jitted functions
- `make_jaxpr`: the jaxpr, shapes and StableHLO of a function
- `dispatch`: `Jitted`, its warm path and its cold path
- `warm_call`: its base class, in C or in Python
- `bound_method`: jitted methods and callable models
- `bucket_dispatch`: calls that a bucket program answers
- `compile_version`: the steps from a cache miss to an executable
- `compile_steps`: trace, lower and compile
- `load_from_disk`: versions that another process compiled
- `load_bucket_from_disk`: bucket programs that another process compiled
- `lazy_program`: the jaxpr and the text of a loaded program, made on demand
- `at_exit`: the end of other threads before that of the process
- `audit`: comparison of cache hits with fresh traces
- `report`: explanations of hits and misses
- `stages`: `Traced`, and lowering ahead of time
- `compiled_stages`: `Lowered` and `Compiled`
- `symbolic_stages`: the stages for symbolic sizes

Packages below them:

- `bucketing`: traces for all sizes, and bucket programs
- `versions`: versions, their tables and definitions
- `manifest`: the reads of a trace, as the disk cache stores them
- `calls`: options, signatures, keys and traces of calls
- `guards`: checks that a version is still valid
- `explain`: explanations of misses, and replay
- `fingerprint`: equality of functions and static values
- `compilation`: from a jaxpr to an executable
- `disk_cache`: the store on disk, shared by processes
"""
