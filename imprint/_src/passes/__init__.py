"""Passes: what is done to a jaxpr between tracing and lowering.

- `pipeline`: which passes does every program go through, in which order?
- `reroll_loops`: which equal blocks become a loop?
- `blocks`: where do equations repeat?
- `use_def`: which equation makes each value, and which use it?
- `loop_carries`: what do equal blocks take from each other, from outside, and give after them?
- `stacked_rows`: which values are rows of what a loop has stacked?
- `reroll_cost`: when is a loop slower than its blocks?
- `materialize`: which values are written to memory instead of being computed again?
- `fusion`: which operations does the engine put into one kernel, and what do they cost?
- `fusion_model`: how many kernels compute each value, and which values should be written?
- `pass_report`: what does a pass tell of what it did?
- `prune_args`: which arguments and constants does a program take from its caller?
- `nan_checks`: which equation made a NaN or an infinity?
"""
