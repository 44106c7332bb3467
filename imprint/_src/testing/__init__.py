"""Implementation of `imprint.testing`.

- `compiles`: how many versions may the process make?
- `gradients`: are derivatives those of finite differences?
- `stores`: how does a test get a store of its own?
"""
