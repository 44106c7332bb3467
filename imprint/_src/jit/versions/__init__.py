"""Versions: what answers calls, and for how long it is kept.

- `version`: what answers one kind of call?
- `donation_and_sharding`: how does a version run that donates, or over several devices?
- `table`: which version of a kind holds now?
- `definitions`: which functions share their versions?
"""
