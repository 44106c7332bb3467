"""Implementation of `imprint.ad_checkpoint`.

- `checkpoint`: how does a function remember its arguments and little else?
- `policies`: what may be remembered beside them?
"""
