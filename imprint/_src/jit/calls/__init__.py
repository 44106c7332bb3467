"""Calls: how a call is spelled, split, named and traced.

- `options`: what was `jit` asked for?
- `axes`: which axes of a call have names, and of which sizes are they?
- `signature`: how is a call spelled, and which of its arguments are static?
- `filtering`: how does `filter_jit` split a call into arrays and the rest?
- `key`: what selects the version that answers a call?
- `device_assignment`: on which device does a call run?
- `tracing`: how does one kind of call become a jaxpr?
"""
