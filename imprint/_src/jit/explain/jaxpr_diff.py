"""The first difference of two programs.

Two jaxprs are the same program if they differ only in the names of their variables:
equation by equation the same primitive on the same operands with the same params, jaxprs
inside params included. Constants and literals are equal if dtype, shape and bytes are;
unused ones are ignored. Python values in params and results compare exactly: functions by
definition, objects by state, because each trace re-creates them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, cast, final

import numpy as np

from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from imprint._src.core.pretty import format_eqn
from imprint._src.core.trace import Tracer
from imprint._src.errors import DeletedArrayError
from imprint._src.jit.fingerprint.content import StrictReader, reads_state
from imprint._src.jit.fingerprint.layout import layout_of
from imprint._src.jit.fingerprint.token import Content
from imprint._src.jit.fingerprint.wording import shortened


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first difference of two programs.

    Args:
        place: as the user would name it: `equation 1 at model.py:12, `x * rate``.
        old: the text of the first program there.
        new: the text of the second.
    """

    place: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.place}: {self.old} → {self.new}"


def divergence_of(old: ClosedJaxpr, new: ClosedJaxpr) -> Divergence | None:
    """Return the first difference of two programs; None if they are the same.

    Example:
        >>> import imprint
        >>> old = imprint.make_jaxpr(lambda x: x * 2.0)(1.0)
        >>> new = imprint.make_jaxpr(lambda y: y * 3.0)(1.0)
        >>> print(divergence_of(old, old), divergence_of(old, new).new)
        None b:f32[] = mul a 3.0:f32[]
    """
    return _Comparison().closed(old, new)


def is_same_value(old: Any, new: Any) -> bool:
    """Return whether two Python values, created by two traces, are equal."""
    return old is new or _content_of(old) == _content_of(new)


def is_same_array(old: Any, new: Any) -> bool:
    """Return whether two arrays have the same dtype, shape and bytes.

    A deleted array has no bytes and equals any: a call that needs them raises.
    """
    if old is new:
        return True
    if isinstance(old, Tracer) or isinstance(new, Tracer):
        return False
    if old.dtype != new.dtype or np.shape(old) != np.shape(new):
        return False
    try:
        return np.asarray(old).tobytes() == np.asarray(new).tobytes()
    except DeletedArrayError:
        return True


@final
class _Comparison:
    """A comparison under way, with the results for pairs of jaxprs."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Divergence | None] = {}

    def closed(self, old: ClosedJaxpr, new: ClosedJaxpr) -> Divergence | None:
        """Compare two closed jaxprs, each pair once."""
        if old is new:
            return None
        pair = id(old), id(new)
        if pair not in self._known:
            self._known[pair] = _Jaxprs(self, old, new).divergence()
        return self._known[pair]

    def params(self, old: Any, new: Any) -> Divergence | bool:
        """Return the first difference inside jaxprs, else whether two params differ."""
        if isinstance(old, ClosedJaxpr) and isinstance(new, ClosedJaxpr):
            return self.closed(old, new) or False
        if type(old) is tuple and type(new) is tuple:
            ours, theirs = cast("tuple[Any, ...]", old), cast("tuple[Any, ...]", new)
            pairs = zip_longest(ours, theirs)
            return next(filter(None, (self.params(a, b) for a, b in pairs)), False)
        return not is_same_value(old, new)


@final
class _Jaxprs:
    """The comparison of two jaxprs."""

    def __init__(
        self, comparison: _Comparison, old: ClosedJaxpr, new: ClosedJaxpr
    ) -> None:
        self._comparison = comparison
        self._old, self._new = old.jaxpr, new.jaxpr
        self._consts: dict[Var, Any] = {
            **dict(zip(old.jaxpr.constvars, old.consts, strict=True)),
            **dict(zip(new.jaxpr.constvars, new.consts, strict=True)),
        }
        self._renamed: dict[Var, Var] = {}

    def divergence(self) -> Divergence | None:
        """Return the first difference."""
        old, new = self._old, self._new
        if not self._bind(old.invars, new.invars):
            return Divergence(
                f"the arguments{_of(old)}", _avals(old.invars), _avals(new.invars)
            )
        for i, (ours, theirs) in enumerate(zip_longest(old.eqns, new.eqns)):
            found = self._eqns(i, ours, theirs)
            if found is not None:
                return found
        if len(old.outvars) != len(new.outvars):
            return Divergence(
                f"the results{_of(old)}", _avals(old.outvars), _avals(new.outvars)
            )
        for i, pair in enumerate(zip(old.outvars, new.outvars, strict=True)):
            if not self._is_same(*pair):
                return self._atoms(f"result {i}{_of(old)}", *pair)
        return None

    def _eqns(self, i: int, old: Eqn | None, new: Eqn | None) -> Divergence | None:
        """Compare two equations; the shorter program has None."""
        place = f"equation {i}{_of(self._old)}{_at(new or old)}"
        if old is not None and new is not None:
            same = old.primitive is new.primitive and len(old.invars) == len(new.invars)
            if same and old.params.keys() == new.params.keys():
                for name in old.params:
                    found = self._comparison.params(old.params[name], new.params[name])
                    if isinstance(found, Divergence):
                        return found
                    same = same and not found
                for a, b in zip(old.invars, new.invars, strict=True):
                    if (
                        same
                        and not self._is_same(a, b)
                        and _are_consts(self._consts, a, b)
                    ):
                        return self._atoms(place, a, b)
                    same = same and self._is_same(a, b)
                if same and self._bind(old.outvars, new.outvars):
                    return None
        return Divergence(place, _text(self._old, old), _text(self._new, new))

    def _bind(self, old: Sequence[Var], new: Sequence[Var]) -> bool:
        """Identify variables with each other, if they have the same avals."""
        same = len(old) == len(new)
        if same and all(a.aval == b.aval for a, b in zip(old, new, strict=True)):
            self._renamed.update(zip(old, new, strict=True))
            return True
        return False

    def _is_same(self, old: Atom, new: Atom) -> bool:
        if old.aval != new.aval:
            return False
        if isinstance(old, Literal):
            return isinstance(new, Literal) and _is_same_number(old, new)
        if isinstance(new, Literal):
            return False
        if _are_consts(self._consts, old, new):
            return is_same_array(self._consts[old], self._consts[new])
        return self._renamed.get(old) is new

    def _atoms(self, place: str, old: Atom, new: Atom) -> Divergence:
        """Return the divergence of two operands or results."""
        if _are_consts(self._consts, old, new):
            ours, theirs = (
                self._consts[cast("Var", old)],
                self._consts[cast("Var", new)],
            )
            return Divergence(f"{place}, a captured array", *_arrays(ours, theirs))
        return Divergence(place, _atom(self._old, old), _atom(self._new, new))


def _are_consts(consts: dict[Var, Any], old: Atom, new: Atom) -> bool:
    return old in consts and new in consts


def _is_same_number(old: Literal, new: Literal) -> bool:
    dtype = old.aval.dtype
    return is_same_array(
        np.asarray(old.value).astype(dtype), np.asarray(new.value).astype(dtype)
    )


# ---- Python values ----


@final
class _RecreatedReader(StrictReader):
    """A reader of objects by state, because each trace creates others."""

    def object(self, x: Any) -> Content:
        """Return the state of an object; the class of a library object."""
        layout = layout_of(x)
        return self.state(x, None) if reads_state(layout) else layout


def _content_of(value: Any) -> Content:
    return _RecreatedReader().value(value)


# ---- wording ----

_SHOWN: Final = 16
"""Elements up to which an array is shown whole."""


def _of(jaxpr: Jaxpr) -> str:
    return f" of {jaxpr.name}" if jaxpr.name else ""


def _at(eqn: Eqn | None) -> str:
    source = None if eqn is None else eqn.source
    if source is None:
        return ""
    expression = source.expression  # none in a file that cannot be read
    return f" at {source}, `{expression}`" if expression else f" at {source}"


def _text(jaxpr: Jaxpr, eqn: Eqn | None) -> str:
    return "no equation" if eqn is None else format_eqn(jaxpr, eqn)


def _atom(jaxpr: Jaxpr, atom: Atom) -> str:
    """Return a result as it would print: a literal, an argument, or its equation."""
    if isinstance(atom, Literal):
        return str(atom)
    maker = next((eqn for eqn in jaxpr.eqns if atom in eqn.outvars), None)
    if maker is not None:
        return format_eqn(jaxpr, maker)
    if atom in jaxpr.invars:
        return f"argument {jaxpr.invars.index(atom)}"
    return f"a captured {atom.aval}"


def _avals(atoms: Sequence[Atom]) -> str:
    return f"({', '.join(str(atom.aval) for atom in atoms)})"


def _arrays(old: Any, new: Any) -> tuple[str, str]:
    """Return the texts of two arrays that differ; of large ones the first element that does."""
    if isinstance(old, Tracer) or isinstance(new, Tracer):
        return str(old), str(new)
    ours, theirs = np.asarray(old), np.asarray(new)
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return str(get_aval(old)), str(get_aval(new))
    if ours.size <= _SHOWN:
        return shortened(str(ours)), shortened(str(theirs))
    differs = _bytes_of(ours) != _bytes_of(theirs)
    places = np.flatnonzero(differs.any(axis=1))
    at = tuple(int(i) for i in np.unravel_index(int(places[0]), ours.shape))
    index = ", ".join(map(str, at))
    rest = f" ({places.size:,} of {ours.size:,} elements differ)"
    return f"[{index}] is {ours[at]}", f"{theirs[at]}{rest}"


def _bytes_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the bytes of each element, in a row."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(flat.size, -1)
