"""Versions: what answers calls, and for how long it is kept.

- `version`: what answers one kind of call?
- `donation_and_sharding`: how does a version run that donates, or over several devices?
- `audit_scope`: which traces does an audit find?
- `table`: which version of a kind holds now?
- `definitions`: which functions share their versions?
- `budget`: which version goes when memory is short?
- `observers`: who is told when a version is made?
"""
