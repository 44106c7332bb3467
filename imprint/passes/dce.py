"""Dead code elimination, as a pass over a whole program.

It keeps the arguments of the program and what they are called; `used_invars` says which
of them are needed after it. How equations are dropped and narrowed is said in
`transforms.dce`, which linearization needs too.
"""

from imprint.transforms.dce import dce, dce_jaxpr, used_invars

__all__ = ["dce", "dce_jaxpr", "used_invars"]
