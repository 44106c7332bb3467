"""What a jaxpr means: its primitives' references, one after the other, on NumPy arrays.

The reference of a control primitive runs its bodies this way, so it has the meaning, and
the effects, of what is inside; nothing is traced and nothing compiled.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from imprint.core.jaxpr import Jaxpr, Literal, Var
from imprint.core.primitive import Values


def interpret(jaxpr: Jaxpr, arrays: Sequence[Any]) -> Values:
    """Run a jaxpr without constants on NumPy arrays, by the primitives' references."""
    env: dict[Var, Any] = dict(zip(jaxpr.invars, arrays, strict=True))

    def read(atom: Var | Literal) -> Any:
        if isinstance(atom, Literal):
            return np.asarray(atom.value, atom.aval.dtype)
        return env[atom]

    for eqn in jaxpr.eqns:
        results = eqn.primitive.reference(*map(read, eqn.invars), **eqn.params)
        env.update(zip(eqn.outvars, results, strict=True))
    return tuple(read(atom) for atom in jaxpr.outvars)
