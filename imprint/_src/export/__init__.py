"""Implementation of `imprint.export`.

- `exporting`: from a function to an `Exported`
- `exported`: the class `Exported`, its calls and its bytes
- `writing`: the module of a program for every size
- `module`: the module at the sizes of a call
- `calling`: the primitive that calls an exported function
- `format`: the bytes of imprint
- `jax_format`: the bytes of JAX
- `trees`: structures of trees as plain data
"""
