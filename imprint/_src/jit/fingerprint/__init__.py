"""Fingerprints: when do two callables, or two static values, share compiled versions?

- `code`: when do two code objects compute the same?
- `layout`: how is an instance of a class laid out, and what in it can be read?
- `token`: what is a value, as a value that a cache can hash and compare?
- `rules`: how is an instance of each class read into the content of a token?
- `walk`: how is a value read, with bounds, recursion and functions?
- `state`: what does a walk that looks inside objects and arrays read more?
- `wording`: how does a token print?
- `share`: what is the token of a callable, and what did a trace write?
- `static_argument`: which values may be static, and what does the error for others say?
- `exact`: when are two static values the same?
"""
