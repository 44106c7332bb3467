"""Transposition: run a linear program backwards.

It turns cotangents of the results into cotangents of the linear arguments. Equations
without a linear operand are evaluated forwards first; the others are transposed from last
to first, and the cotangents of a var used twice are added. The cotangent of an argument
keeps the dtype that a user rule gave it; others are converted to that of their value. A
missing cotangent is a symbolic `Zero`, unless it is demanded (`instantiate`). The rule of a
linear equation with effects runs even if all its cotangents are zero.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any, cast

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from imprint._src.core.tangents import UndefinedPrimal, Zero, is_zero
from imprint._src.diagnostics import source
from imprint._src.errors import AbsentRuleError
from imprint._src.interpreters.dce import depending
from imprint._src.interpreters.jvp import Mask, instantiated, mask_of
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.primitives.core_ops import NOT_LINEAR, add_tangents
from imprint._src.primitives.elementwise.convert import convert_element_type


def backward_pass(
    jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], cts: Sequence[Any]
) -> list[Any]:
    """Transpose a jaxpr at cotangents of its results.

    Args:
        jaxpr: a program linear in the arguments that are `Linear`.
        consts: values of its constvars.
        args: for each argument its value, or `Linear(aval)`.
        cts: a cotangent for each result; may be `Zero`.

    Returns:
        For each argument its cotangent, `Zero` if it has no influence, or None if the
        argument was given as a value.
    """
    values: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    linear: set[Atom] = set()
    for var, arg in zip(jaxpr.invars, args, strict=True):
        if isinstance(arg, UndefinedPrimal):
            linear.add(var)
        else:
            values[var] = arg
    backwards = _evaluate_known(jaxpr, values, linear)

    pending: dict[Atom, Any] = {}
    for atom, ct in zip(jaxpr.outvars, cts, strict=True):
        if atom in linear:
            _accumulate(pending, atom, ct)
    for eqn in reversed(backwards):
        if pending.keys().isdisjoint(eqn.outvars) and not eqn.effects:
            continue
        out_cts = [
            _as_its(v.aval, pending.pop(v)) if v in pending else Zero(v.aval)
            for v in eqn.outvars
        ]
        _transpose_eqn(eqn, values, linear, out_cts, pending)
    return [
        (pending[v] if v in pending else Zero(v.aval)) if v in linear else None
        for v in jaxpr.invars
    ]


def _evaluate_known(
    jaxpr: Jaxpr, values: dict[Var, Any], linear: set[Atom]
) -> list[Eqn]:
    """Evaluate equations without a linear operand; return the others."""
    backwards: list[Eqn] = []
    for eqn in jaxpr.eqns:
        known = eqn
        on = [v in linear for v in eqn.invars]
        if any(on):
            backwards.append(eqn)
            moves = depending(eqn.primitive, eqn.params, on, len(eqn.outvars))
            linear.update(compress(eqn.outvars, moves))
            if all(moves):
                continue
            # With a user rule that calls `jvp`, an equation returns primals and tangents.
            known = cast("ControlPrimitive", eqn.primitive).narrow(
                eqn, tuple([not m for m in moves])
            )
        operands = [_value(v, values) for v in known.invars]
        results = known.primitive.bind_all(*operands, **known.params)
        values.update(zip(known.outvars, results, strict=True))
    return backwards


def _transpose_eqn(
    eqn: Eqn,
    values: dict[Var, Any],
    linear: set[Atom],
    out_cts: list[Any],
    pending: dict[Atom, Any],
) -> None:
    operands = [
        UndefinedPrimal(v.aval) if v in linear else _value(v, values)
        for v in eqn.invars
    ]
    token = source.set_replayed_source(eqn.source or source.replayed_source())
    try:
        in_cts = eqn.primitive.transpose(out_cts, operands, **eqn.params)
        for atom, operand, ct in zip(eqn.invars, operands, in_cts, strict=True):
            if type(operand) is UndefinedPrimal:
                _accumulate(pending, atom, ct)
    except AbsentRuleError as err:
        if str(err) != NOT_LINEAR.reason:
            raise
        where = f" at {eqn.source}" if eqn.source else ""
        raise AbsentRuleError(
            f"expected a function that is linear in its arguments, got `{eqn.primitive}`"
            f"{where}: {err}. Transpose the derivative at a point: imprint.vjp."
        ) from None
    finally:
        source.reset_replayed_source(token)


def _accumulate(pending: dict[Atom, Any], atom: Atom, ct: Any) -> None:
    if ct is None or type(ct) is Zero:
        return
    if atom in pending:
        ct = add_tangents(_as_its(atom.aval, pending[atom]), _as_its(atom.aval, ct))
    pending[atom] = ct


def _as_its(aval: ShapedArray, ct: Any) -> Any:
    """Return a cotangent in the dtype of its value; a user rule may give another."""
    if get_aval(ct).dtype == aval.dtype:
        return ct
    return convert_element_type(ct, aval.dtype)


def _value(atom: Atom, values: dict[Var, Any]) -> Any:
    return atom.read() if type(atom) is Literal else values[atom]


def transpose_jaxpr(
    closed: ClosedJaxpr,
    linear: tuple[bool, ...],
    nonzero: tuple[bool, ...],
    *,
    instantiate: Mask = False,
    weak: Sequence[bool] | None = None,
) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    """Derive `(*known args, *nonzero cotangents) -> nonzero cotangents of linear args`.

    Args:
        closed: a jaxpr that is linear in the arguments marked in `linear`.
        linear: which arguments are linear.
        nonzero: which results have a cotangent.
        instantiate: which of the linear arguments get one even if it is zero.
        weak: whether each of these cotangents is weak; else it is as the result is.

    Returns:
        The derived jaxpr, and which of the linear arguments it gives a cotangent.
    """
    in_avals, out_avals = closed.in_avals, closed.out_avals
    linear_avals = [a for a, lin in zip(in_avals, linear, strict=True) if lin]
    demanded = mask_of(instantiate, linear_avals)

    def derive() -> tuple[ClosedJaxpr, tuple[bool, ...]]:
        known_avals = [a for a, lin in zip(in_avals, linear, strict=True) if not lin]
        ct_avals = [a for a, has in zip(out_avals, nonzero, strict=True) if has]
        if weak is not None:
            pairs = zip(ct_avals, weak, strict=True)
            ct_avals = [
                a.with_dtype(a.dtype, weak_type=is_weak) for a, is_weak in pairs
            ]
        given_back: list[bool] = []

        def run(*flat: Any) -> list[Any]:
            known, cts = iter(flat[: len(known_avals)]), iter(flat[len(known_avals) :])
            args = [
                UndefinedPrimal(a) if lin else next(known)
                for a, lin in zip(in_avals, linear, strict=True)
            ]
            out_cts = [
                next(cts) if has else Zero(a)
                for a, has in zip(out_avals, nonzero, strict=True)
            ]
            in_cts = backward_pass(closed.jaxpr, closed.consts, args, out_cts)
            wanted = [ct for ct in in_cts if ct is not None]
            wanted = [
                ct if is_zero(ct) else _as_its(a, ct)
                for a, ct in zip(linear_avals, wanted, strict=True)
            ]
            wanted = instantiated(wanted, demanded)
            given_back[:] = [not is_zero(ct) for ct in wanted]
            return [ct for ct in wanted if not is_zero(ct)]

        debug_info = DebugInfo("transpose", closed.jaxpr.name)
        derived = stage(run, [*known_avals, *ct_avals], debug_info)
        return derived, tuple(given_back)

    types = None if weak is None else tuple(weak)
    return closed.derived(("transpose", linear, nonzero, demanded, types), derive)
