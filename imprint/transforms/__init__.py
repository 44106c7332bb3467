"""The interpreters of programs, one per file, and the transforms that users call.

staging writes jaxprs; jvp, linearize, transpose and batch derive programs; dce drops
what is not used; lowering writes StableHLO. `derivatives` and `vmap` are the public
faces, which take trees apart and put them together.
"""
