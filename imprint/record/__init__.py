"""The record of a trace: what did the user's functions read while they were traced?

- `mentions`: which names does a code object read?
- `items`: which dictionaries does it read by constant keys alone?
- `notes`: which places were read, and what stood there before?
- `reach`: which functions and classes does a value lead to?
- `writes`: what can the code that ran have written?
- `probe`: does a trace read the attribute that made a version stale?
- `covers`: who reads an attribute?
- `record`: which functions of a trace are entered, when, and what of it counts?
- `recorder`: which functions ran?
- `elsewhere`: which of those that other threads run are a part of the trace?
"""
