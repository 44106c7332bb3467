"""Implementation of `imprint.custom_derivatives`.

- `forward`: how does a function get a rule for its tangents (`custom_jvp`)?
- `reverse`: how does a function get a rule for its cotangents (`custom_vjp`)?
- `ruled`: what is a function with a rule, whatever the rule is for?
- `flat`: how is a call of such a function one of its leaves?
- `zeros`: what does a rule see of tangents that are zero?
- `closures`: how do the values that a function closes over become arguments?
"""
