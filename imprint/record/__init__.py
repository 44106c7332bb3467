"""The record of a trace: what did the user's functions read while they were traced?

- `mentions`: which names does a code object read?
- `record`: which places did the functions of a trace read, and what stood there?
- `recorder`: which functions ran?
"""
