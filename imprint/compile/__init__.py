"""From a jaxpr to an executable, and which executable answers a call.

`program` lowers and compiles, `key` says which values are the same, `budget` bounds
what is kept, `explain` says why a call compiled. The calls themselves are in `jit`.
"""
