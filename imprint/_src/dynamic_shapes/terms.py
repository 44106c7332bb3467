"""What a sum of products of atoms is: its terms, their products, and how it prints.

An atom is its text. `n^2*m` is a monomial, with the atoms in the order of their texts, and
a sum is the coefficient of each monomial.
"""

from typing import Final, TypeAlias

Monomial: TypeAlias = tuple[tuple[str, int], ...]
"""Atoms and their powers, in the order of their texts; empty for the constant."""
Terms: TypeAlias = dict[Monomial, int]
"""The coefficient of each monomial, none 0."""

ONE: Final[Monomial] = ()


def product(a: Monomial, b: Monomial) -> Monomial:
    """Return the product of two monomials."""
    powers = dict(a)
    for text, power in b:
        powers[text] = powers.get(text, 0) + power
    return tuple(sorted(powers.items()))


def without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """Return the quotient of two monomials; None if there is a remainder."""
    powers = dict(monomial)
    for text, power in part:
        powers[text] = powers.get(text, 0) - power
    if any(power < 0 for power in powers.values()):
        return None
    return tuple(sorted([(text, power) for text, power in powers.items() if power]))


def atom_of(terms: Terms) -> str | None:
    """Return the atom that a sum is, if it is one."""
    for monomial, k in terms.items():
        for text, power in monomial:
            if k == power == len(monomial) == len(terms) == 1:
                return text
    return None


def rank(term: tuple[Monomial, int]) -> tuple[int, str]:
    """Return where a term stands in a sum: the highest degree comes first."""
    monomial = term[0]
    return -sum([power for _, power in monomial]), str(monomial)


def shown(terms: Terms) -> str:
    """Return the text of a sum."""
    ordered = sorted(terms.items(), key=_rank_shown)
    text = "".join([_term(monomial, k) for monomial, k in ordered])
    return text[3:] if text.startswith(" + ") else f"-{text[3:]}"


def _rank_shown(term: tuple[Monomial, int]) -> tuple[int, bool, str]:
    degree, text = rank(term)
    return degree, term[1] < 0, text


def _term(monomial: Monomial, k: int) -> str:
    factors = [text if power == 1 else f"{text}^{power}" for text, power in monomial]
    if abs(k) != 1 or not factors:
        factors = [str(abs(k)), *factors]
    return f" {'-' if k < 0 else '+'} {'*'.join(factors)}"
