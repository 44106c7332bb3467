"""What users are told when something is wrong: hints, missing names, tracebacks, leaks.

- `concretization_hints`: what does a construct of Python ask of a tracer, and what instead?
- `unsupported`: which names of JAX does imprint not have, and why?
- `traceback_filter`: which frames does a traceback show?
- `source`: which place of the user's program is it?
"""
