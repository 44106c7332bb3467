"""What a compiled function is made of.

- `guards`: when does a compiled version still answer a call?
"""
