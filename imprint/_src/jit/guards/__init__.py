"""Change detection: what must stay as it is for a compiled version to answer a call?

Read in this order:

- `code_names`: which names does a code object read, and by which instruction?
- `executed`: which instructions ran in a trace?
- `locations`: where is a value bound, how is it read, and how is it named?
- `values`: when is a value equal to the one that a trace saw?
- `reachable`: which functions, classes and objects do names reach?
- `dependencies`: which locations does a trace depend on?
- `recording`: which of them does a trace read, and not write?
- `guard`: are all of them as they were?
- `fingerprint`: what is a callable or a static value, as a key?
"""
