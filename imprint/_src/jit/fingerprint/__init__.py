"""Fingerprints: keys of callables and static values.

- `raw_access`: reads of classes and containers that run no user code
- `code`: digests of code objects
- `layout`: the state of instances of a class
- `copies`: plain copies of builtin classes and their subclasses
- `token`: hashable plain data as keys
- `content`: values read as plain data
- `state`: readers that look inside objects and arrays
- `callables`: tokens of callables
- `static_contract`: which values may be static, and how they compare
- `static_values`: keys of static arguments
- `wording`: contents as text
"""
