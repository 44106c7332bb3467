"""Programs: from a jaxpr to an executable.

- `lowered`: from a jaxpr to a program in StableHLO
- `layout`: layouts over devices and donation
- `vector_width`: the width of vectors that suits a program
- `program`: from a lowered program to an executable that equal programs share
- `program_cache`: programs on the disk
- `progress`: the line on a terminal during a long compilation
- `counters`: counts of traces, lowerings and compilations
"""
