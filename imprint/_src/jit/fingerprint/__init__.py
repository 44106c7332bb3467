"""Fingerprints: keys of callables and static values.

- `raw_access`: reads of classes and containers that run no user code
- `code`: digests of code objects
- `layout`: the state of instances of a class, and plain copies of it
- `token`: hashable plain data as keys
- `content`: values read as plain data
- `callables`: tokens of callables
- `static_values`: which values may be static, and their keys
- `wording`: contents as text
"""
