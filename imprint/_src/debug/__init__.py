"""Implementation of `imprint.debug`.

- `printing`: `print` and `callback` of a running program, and checks of formats
- `breakpoints`: `breakpoint`, which stops a running program in pdb
- `checks`: `check`, an error of a running program
- `shardings`: pictures of the devices of an array
- `counters`: counts of traces, compilations and hits of this process
- `environment`: what a process runs on, for reports of bugs
"""
