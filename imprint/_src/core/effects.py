"""Effects: what an equation does besides giving its results.

Almost every primitive is pure; one that is not is declared as an `EffectfulPrimitive`,
whose rule `effects` says what it does. A control primitive has the effects of the jaxprs
that it holds, and `Jaxpr.effects` are those of its equations: nobody writes them down
twice. An equation with effects is kept when nobody uses its results, runs once, and is
neither shared with an equal one nor computed ahead. Ordered effects of one name happen in
the order of the program; between others the compiler chooses.
"""

from typing import Final, NamedTuple


class Effect(NamedTuple):
    """One kind of effect.

    Args:
        name: what it is called in messages, and what tells it from others.
        ordered: whether effects of this name keep the order of the program.
    """

    name: str
    ordered: bool


Effects = frozenset[Effect]

PURE: Final[Effects] = frozenset()
