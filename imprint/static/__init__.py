"""Static arguments: values that select a version.

- `contract`: what may be static, and what is said of what may not?
- `exact`: when are two static values the same?
"""
