"""Primitives that hold a jaxpr.

They are apart from `primitives/` because their rules transform jaxprs, so they need
the transforms.

- `call`: what is a jitted function inside of traced code?
"""
