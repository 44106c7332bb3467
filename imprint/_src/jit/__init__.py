"""Functions with compiled versions: from a call to an executable.

- `api`: what does the decorator accept?
- `filter_jit`: how are functions of models and settings compiled?
- `dispatch`: which way does a call take through the object that `jit` returns?
- `typed`: what do type checkers see of a compiled function?
- `rebind`: which definition answers a function as it is now?
- `bound_method`: what is a method, or a model that can be called?
- `resolve`: what answers a call that the warm path does not know?
- `bucket_dispatch`: how is a call answered by the program that lengths share?
- `auto_bucketing`: when do programs for buckets answer, though no axes were named?
- `compiling`: how does a call without a version get one?
- `request`: what does a call without a version ask for?
- `load_from_disk`: how does a call get what another process has traced?
- `load_bucket_from_disk`: how does a call whose sizes have names?
- `lazy_program`: the jaxpr and the text of a loaded program, made on demand
- `audit`: is a hit what a fresh trace gives?
- `trace_equality`: do two traces give the same program and the same result?
- `report`: what can a user ask of the versions of a function?
- `replay`: which program and values does a replay step through?
- `stages`: how is a call traced, lowered and compiled by hand?
- `lower_from_disk`: which stages are left out if another process has done them?
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
