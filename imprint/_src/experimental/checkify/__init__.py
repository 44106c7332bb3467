"""Implementation of `imprint.experimental.checkify`.

- `checkify`: how is a function given an error beside its result?
- `error`: what does the error say, and of what?
"""
