"""Watching: is what a trace read still as it was?

- `classes`: what does a class hold under a name, past every hook of the user?
- `places`: where does running code find a value by name?
- `seen`: is a value as good as the one that a trace saw?
- `written`: what are the traces of a function known to write?
- `captures`: which functions does a callable carry along?
- `attributes`: which attributes does Python look up without code of the user's?
- `guard`: does everything that a version read still hold?
- `writer`: which function tells that in nanoseconds?
"""
