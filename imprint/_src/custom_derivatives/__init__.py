"""Implementation of `imprint.custom_derivatives`.

- `forward`: `custom_jvp`, a rule for tangents
- `reverse`: `custom_vjp`, a rule for cotangents
- `custom_function`: functions with a rule, and their calls as calls of leaves
- `zeros`: symbolic zeros in rules
- `closures`: captured values as arguments
"""
