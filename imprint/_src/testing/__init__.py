"""Implementation of `imprint.testing`.

- `compiles`: `max_compiles`, a limit on the versions that the process makes
- `gradients`: `check_grads`, derivatives compared with finite differences
- `stores`: `empty_store`, a persistent cache for one test
"""
