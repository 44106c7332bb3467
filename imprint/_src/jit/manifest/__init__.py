"""Manifests of traces: what another process compares before it skips a trace.

- `trace_manifest`: keys, writing and reading of manifests
- `locations`: the locations that a trace read, as plain data
- `stable_hash`: hashes of values that are the same in every process
- `environment`: files, libraries and versions
- `plain_data`: placements and avals as plain data
- `result_trees`: the trees of results as plain data
- `not_cacheable`: reasons against keeping a trace, impure objects, `assume_pure`
- `diff`: the first difference between the disk and a call, in words
"""
