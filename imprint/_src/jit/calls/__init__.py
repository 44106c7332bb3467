"""Calls of jitted functions: options, signatures, keys and traces.

- `options`: the options of `jit`, and their checks
- `axes`: named axes and their sizes in a call
- `signature`: parameters, call forms and static arguments
- `filtering`: calls of `filter_jit`, split into arrays and static leaves
- `native_trees`: leaves of arguments and trees of results, in C
- `key`: the key that selects a version, and checks of arguments
- `device_assignment`: the devices of a call
- `tracing`: from one call signature to a jaxpr
"""
