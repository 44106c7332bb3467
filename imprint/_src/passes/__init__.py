"""Passes over jaxprs between tracing and lowering.

- `pipeline`: the order of the passes
- `reroll_loops`: equal blocks of equations as a loop
- `blocks`: runs of equal blocks, definitions and uses
- `loop_carries`: carries, scanned operands and stacked results of a run
- `reroll_cost`: the cost of a loop against that of its blocks
- `materialize`: values written to memory instead of being recomputed
- `fusion_model`: the kernels that compute each value, after XLA's fusion
- `pass_report`: the changes that passes made, for reports
- `nan_checks`: the equation that made a NaN or an infinity
"""
