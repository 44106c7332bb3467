"""Implementation of `imprint.experimental.checkify`.

- `error`: what does the error say, and of what?
"""
