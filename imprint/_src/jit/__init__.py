"""Functions with compiled versions: from a call to an executable.

- `api`: what does the decorator accept?
- `filter_jit`: how are functions of models and settings compiled?
- `dispatch`: which way does a call take through the object that `jit` returns?
- `bound_method`: what is a method, or a model that can be called?
- `bucket_dispatch`: how is a call answered by the program that lengths share?
- `compile_version`: the steps from a cache miss to an executable
- `load_from_disk`: how does a call get what another process has traced?
- `load_bucket_from_disk`: how does a call whose sizes have names?
- `audit`: is a hit what a fresh trace gives?
- `report`: what can a user ask of the versions of a function?
- `stages`: how is a call traced, lowered and compiled by hand?
- `symbolic_stages`: what are the stages of a call whose sizes have names?
- `fwd_and_bwd`: what are a function and its pullback as compiled functions?
- `make_jaxpr`: what does a function look like, without running it?

Below them, from a call down to the engine:

- `bucketing`: which program answers calls of many sizes?
- `versions`: which compiled versions are there, and for how long are they kept?
- `manifest`: what did a trace read, so that another process need not trace again?
- `calls`: how is a call spelled, split, named and traced?
- `guards`: when does a compiled version still answer a call?
- `explain`: why did a call compile, and what would help?
- `fingerprint`: when may two callables, or static values, share compiled versions?
- `compilation`: how does a jaxpr become an executable?
- `disk_cache`: what is kept on the disk, for processes to come?
"""
