"""Passes: what is done to a jaxpr between tracing and lowering.

- `pipeline`: which passes does every program go through, in which order?
- `roll`: which equal blocks become a loop?
- `blocks`: where do equations repeat?
- `wiring`: which equation makes each value, and which use it?
- `carries`: what do equal blocks take from each other, from outside, and give after them?
- `rows`: which values are rows of what a loop has stacked?
- `rolling_costs`: when is a loop slower than its blocks?
- `cut`: which values are written to memory instead of being computed again?
- `fusion`: which operations does the engine put into one kernel, and what do they cost?
- `kernels`: how many kernels compute each value, and which values should be written?
- `changes`: what does a pass tell of what it did?
- `prune`: which arguments and constants does a program take from its caller?
- `sentinels`: which equation made a NaN or an infinity?
"""
