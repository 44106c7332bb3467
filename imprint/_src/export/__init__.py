"""Implementation of `imprint.export`.

- `exporting`: how does a function become an `Exported`?
- `exported`: what is an exported function, and how is it called?
- `writing`: which StableHLO holds for every size, and which equation has none?
- `module`: which StableHLO is that of a call?
- `calling`: what is the call of an exported function inside a program?
- `format`: how does it become bytes, and why are some not believed?
- `of_jax`: how is it exchanged with JAX?
- `trees`: how does the structure of a tree become plain data?
"""
