"""Implementation of `imprint.experimental`.

- `checkify`: errors of a program as a result
- `multihost_utils`: exchange of values between processes
"""
