"""Versions of jitted functions, and how long they are kept.

- `version`: a compiled version and its observers
- `donation_and_sharding`: execution with donation, or over several devices
- `direct`: small programs without the engine, a study
- `table`: the table of versions, and the byte budget
- `definitions`: definitions of functions, and those that share versions
"""
