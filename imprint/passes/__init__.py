"""Passes: what is done to a jaxpr between tracing and lowering.

- `dce`: which equations and arguments does a program need?
- `sentinels`: which equation made a NaN or an infinity?
"""
