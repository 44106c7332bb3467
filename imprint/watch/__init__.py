"""Watching: is what a trace read still as it was?

- `places`: where does running code find a value by name?
- `seen`: is a value as good as the one that a trace saw?
- `captures`: which functions does a callable carry along?
- `guard`: does everything that a version read still hold, in nanoseconds?
"""
