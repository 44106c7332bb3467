"""`import jax` gives imprint: unmodified JAX programs run without JAX.

- `names`: the table of JAX's modules and of the imprint names in them
- `modules`: the modules made from the table, and the finder that makes them
- `command`: `python -m imprint.as_jax`, `imprint run --as-jax`
"""
