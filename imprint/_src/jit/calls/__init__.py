"""Calls: how a call is spelled, split, named and traced.

- `options`: what was `jit` asked for?
- `axes`: which axes of a call have names, and of which sizes are they?
- `signature`: how is a call spelled, and which of its arguments are static?
- `filtering`: how does `filter_jit` split a call into arrays and the rest?
- `check_args`: what may go into a traced function and come out of it?
- `results`: how do arrays become what the function returned?
- `key`: what selects the version that answers a call?
- `sharded_call`: over which devices is a call spread, and how?
- `device_assignment`: on which device does a call run?
- `tracing`: how does one kind of call become a jaxpr?
"""
