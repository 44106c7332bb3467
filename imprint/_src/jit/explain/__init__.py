"""Explanations: why a call compiled, and how to avoid it.

- `explanation`: explanations of hits and misses
- `comparison`: the nearest version to a call, and the differences
- `fingerprint_diff`: differences of two tokens
- `arrays`: differences of two avals
- `containers`: differences of two argument trees
- `jaxpr_diff`: the first difference of two programs
- `replay`: a call equation by equation, and its first NaN or difference
- `steps`: execution of a program equation by equation
- `granularity`: the cost of jitting outside, inside or both
- `unrolled_loops`: blocks of equations that a Python loop repeated
- `loops`: the Python loop around given source lines
"""
