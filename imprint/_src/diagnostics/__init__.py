"""What users are told when something is wrong: hints, missing names, tracebacks, leaks.

- `concretization_hints`: what does a construct of Python ask of a tracer, and what instead?
- `attribute_errors`: what does an error about a missing name say?
- `unsupported`: which names of JAX does imprint not have, and why?
- `unsupported_models`: the same of names about models and derivatives.
- `unsupported_numpy`: the same of `jax.numpy`.
- `traceback_filter`: which frames does a traceback show?
- `tracer_leaks`: how is a tracer found that outlives its trace?
"""
