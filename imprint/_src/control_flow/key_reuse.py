"""Keys of a program that are consumed twice: the analysis of `debug_key_reuse`.

`run_checked` walks a jaxpr with the equations `use_key` in it, and follows the words of
keys back to where they come from. An equation that only moves elements is run on the places
of its operands instead of their words. Results of any other equation are new. A body runs
in the place of its equation: that of a loop twice, because the second step finds the
keys that the first one consumed; the branches of a `cond` each for themselves, and what
one of them consumes is consumed.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np

from imprint._src.control_flow.call import jit_p
from imprint._src.control_flow.checkpoint import checkpoint_p
from imprint._src.control_flow.cond import cond_p
from imprint._src.control_flow.custom import custom_jvp_call_p, custom_vjp_call_p
from imprint._src.control_flow.custom_vmap import custom_vmap_call_p
from imprint._src.control_flow.operand_lists import split
from imprint._src.control_flow.scan import scan_p
from imprint._src.control_flow.shard_map import shard_map_p
from imprint._src.control_flow.while_ import while_p
from imprint._src.core.aval import ShapedArray
from imprint._src.core.dims import is_symbolic
from imprint._src.core.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    subjaxprs,
)
from imprint._src.core.primitive import Primitive
from imprint._src.diagnostics.source import Source, current_source
from imprint._src.errors import KeyReuseError
from imprint._src.primitives.barrier import (
    materialize_p,
    name_p,
    optimization_barrier_p,
    stop_gradient_p,
)
from imprint._src.primitives.constraints import sharding_constraint_p
from imprint._src.primitives.copying import copy_p
from imprint._src.primitives.core_ops import broadcast_in_dim_p, transpose_p
from imprint._src.primitives.elementwise.convert import convert_element_type_p
from imprint._src.primitives.elementwise.select import select_n_p
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice_p,
    dynamic_update_slice_p,
)
from imprint._src.primitives.indexing.gather import gather_p
from imprint._src.primitives.indexing.scatter import scatter_p
from imprint._src.primitives.indexing.slicing import concatenate_p, slice_p
from imprint._src.primitives.key_uses import (
    CONSUME,
    Keys,
    KeyState,
    KeyUse,
    any_of,
    filled,
    is_observed,
    keys_in,
    set_keys,
    unobserved,
    use_key_p,
)
from imprint._src.primitives.shape import reshape_p, rev_p, squeeze_p

_WORDS: Final = (2, 4)
"""The numbers of words of a key."""

Operand: TypeAlias = Callable[[], Keys]
"""The keys of a value, found when they are needed."""


def run_checked(
    closed: ClosedJaxpr, operands: Sequence[Any], run: Callable[[], Sequence[Any]]
) -> None:
    """Run a program of arrays, unless it consumes a key of theirs that is consumed.

    Args:
        closed: the program.
        operands: its operands.
        run: runs it, and returns the arrays of its results.
    """
    if not is_observed() or not _uses_keys(closed):
        run()
        return
    arrays = (*closed.consts, *operands)
    journal = _Journal(current_source(), [])
    frame = _Frame(closed.jaxpr, [_of_array(x) for x in arrays], journal)
    try:
        frame.run()
    except KeyReuseError:
        for state in journal.consumed:
            state.use = None
        raise
    with unobserved():
        outs = run()
    for atom, out in zip(closed.jaxpr.outvars, outs, strict=True):
        if _may_be_keys(atom.aval):
            keys = frame.keys_of(atom)
            if not keys.is_new:
                set_keys(out, keys)


def _uses_keys(closed: ClosedJaxpr) -> bool:
    def find() -> tuple[bool]:
        jaxpr = closed.jaxpr
        if any(eqn.primitive is use_key_p for eqn in jaxpr.eqns):
            return (True,)
        return (any(map(_uses_keys, jaxpr.bodies)),)

    return closed.derived("uses keys", find)[0]


def _may_be_keys(aval: ShapedArray) -> bool:
    if aval.dtype != np.uint32 or not aval.ndim:
        return False
    last = aval.shape[-1]
    return not is_symbolic(last) and last in _WORDS


def _of_array(x: Any) -> Operand:
    return lambda: keys_in(x)


def _new(aval: ShapedArray) -> Operand:
    keys = Keys(aval.shape)
    return lambda: keys


@final
class _Journal(NamedTuple):
    """The keys that a program consumes, and the line that called it."""

    call: Source | None
    consumed: list[KeyState]


@final
class _Frame:
    """A jaxpr that is run on keys.

    Args:
        jaxpr: the jaxpr.
        operands: the keys of its constants and arguments.
        journal: that of the program; every key that it consumes is appended.
    """

    def __init__(
        self, jaxpr: Jaxpr, operands: Sequence[Operand], journal: _Journal
    ) -> None:
        variables = (*jaxpr.constvars, *jaxpr.invars)
        self.jaxpr: Jaxpr = jaxpr
        self.journal: _Journal = journal
        self._keys: dict[Var, Keys] = {}
        self._operands: dict[Var, Operand] = dict(zip(variables, operands, strict=True))
        self._makers: dict[Var, Eqn] = {v: e for e in jaxpr.eqns for v in e.outvars}

    def run(self) -> None:
        """Consume the keys that the jaxpr consumes, in the order of its equations."""
        for eqn in self.jaxpr.eqns:
            if eqn.primitive is use_key_p and eqn.params["use"] == CONSUME:
                call = self.journal.call if self.journal.call != eqn.source else None
                use = KeyUse(eqn.params["user"], eqn.source, call)
                keys = self.keys_of(eqn.invars[0])
                self.journal.consumed.extend(keys.consume(use))
            elif any(map(_uses_keys, subjaxprs(eqn))):
                self._run_bodies(eqn)

    def keys_of(self, atom: Atom) -> Keys:
        """Return the keys of a variable."""
        if isinstance(atom, Literal):
            return Keys(atom.aval.shape)
        found = self._keys.get(atom)
        if found is None:
            found = self._keys[atom] = self._find(atom)
        return found

    def operand(self, atom: Atom) -> Operand:
        """Return the keys of a variable, found when they are needed."""
        return lambda: self.keys_of(atom)

    def body(self, closed: ClosedJaxpr, operands: Sequence[Operand]) -> list[Operand]:
        """Run a body; return its results."""
        frame = _Frame(closed.jaxpr, operands, self.journal)
        frame.run()
        return [frame.operand(out) for out in closed.jaxpr.outvars]

    def _run_bodies(self, eqn: Eqn) -> None:
        if eqn.primitive in _BODIES:
            outs = _BODIES[eqn.primitive](self, eqn) or _new_results(eqn)
            self._operands.update(zip(eqn.outvars, outs, strict=True))

    def _find(self, variable: Var) -> Keys:
        known = self._operands.get(variable)
        if known is not None:
            return known()
        eqn = self._makers[variable]
        self._run_bodies(eqn)  # those without uses run only if their results matter
        known = self._operands.get(variable)
        return self._made(eqn, variable) if known is None else known()

    def _made(self, eqn: Eqn, variable: Var) -> Keys:
        shape = variable.aval.shape
        if eqn.primitive in _SAME:
            at = list(eqn.outvars).index(variable)
            return self.keys_of(eqn.invars[at])
        if eqn.primitive in _CHOSEN:
            moved = [self.keys_of(eqn.invars[i]) for i in _CHOSEN[eqn.primitive]]
            return any_of(shape, moved)
        if eqn.primitive is select_n_p:
            return _either([self.keys_of(x) for x in eqn.invars[1:]])
        if eqn.primitive in _MOVES:
            return self._moved(eqn, variable)
        return Keys(shape)

    def _moved(self, eqn: Eqn, variable: Var) -> Keys:
        """Return the keys of the words that an equation takes."""
        shape, avals = variable.aval.shape, [x.aval for x in eqn.invars]
        sizes = [n for a in (*avals, variable.aval) for n in a.shape]
        if any(map(is_symbolic, sizes)):
            return any_of(shape, [self.keys_of(x) for x in eqn.invars])
        places: list[Any] = []
        start = 0
        for aval in avals:
            size = int(np.prod(aval.shape))
            places.append(np.arange(start, start + size).reshape(aval.shape))
            start += size
        (taken,) = eqn.primitive.reference(*places, **eqn.params)
        before: Any = np.concatenate(
            [self.keys_of(x).each.reshape(-1) for x in eqn.invars]
        )
        return Keys(shape, filled(shape, (before[i] for i in np.asarray(taken).flat)))


def _either(sources: Sequence[Keys]) -> Keys:
    """Return keys of which each is one of those at its place in other arrays."""
    first, *others = sources
    if all(keys.shape == first.shape for keys in others):
        flat = zip(*(keys.each.flat for keys in sources), strict=True)
        joined = (tuple(dict.fromkeys(s for p in each for s in p)) for each in flat)
        return Keys(first.shape, filled(first.shape, joined))
    return any_of(first.shape, sources)


_SAME: Final[tuple[Primitive, ...]] = (
    *(materialize_p, optimization_barrier_p, name_p, stop_gradient_p, copy_p),
    *(sharding_constraint_p, convert_element_type_p),
)
"""Those whose results are their operands."""
_MOVES: Final[tuple[Primitive, ...]] = (
    *(reshape_p, squeeze_p, broadcast_in_dim_p, transpose_p),
    *(slice_p, rev_p, concatenate_p),
)
"""Those that move elements to places that do not depend on values."""
_CHOSEN: Final[dict[Primitive, tuple[int, ...]]] = {
    dynamic_slice_p: (0,),
    gather_p: (0,),
    dynamic_update_slice_p: (0, 1),
    scatter_p: (0, 2),
}
"""Those whose results have any of the elements of some operands, which are listed."""

# ---- equations that hold jaxprs ----


def _operands(frame: _Frame, eqn: Eqn) -> list[Operand]:
    return [frame.operand(x) for x in eqn.invars]


def _new_results(eqn: Eqn) -> list[Operand]:
    return [_new(v.aval) for v in eqn.outvars]


def _call(frame: _Frame, eqn: Eqn) -> list[Operand]:
    return frame.body(eqn.params["jaxpr"], _operands(frame, eqn))


def _checkpoint(frame: _Frame, eqn: Eqn) -> list[Operand]:
    """Run a body, which a backward pass only repeats."""
    return [] if eqn.params["differentiated"] else _call(frame, eqn)


def _cond(frame: _Frame, eqn: Eqn) -> list[Operand]:
    operands, consumed = _operands(frame, eqn)[1:], frame.journal.consumed
    start = len(consumed)
    results: list[list[Operand]] = []
    uses: dict[KeyState, KeyUse | None] = {}
    for branch in eqn.params["branches"]:
        results.append(frame.body(branch, operands))
        for state in consumed[start:]:
            uses[state], state.use = state.use, None
        del consumed[start:]
    for state, use in uses.items():
        state.use = use
    consumed += uses
    return [_joined(outs) for outs in zip(*results, strict=True)]


def _joined(outs: Sequence[Operand]) -> Operand:
    def find() -> Keys:
        every = [out() for out in outs]
        return every[0] if all(keys.is_new for keys in every) else _either(every)

    return find


def _while(frame: _Frame, eqn: Eqn) -> list[Operand]:
    params = eqn.params
    of_condition, of_step, carry = split(
        _operands(frame, eqn), params["cond_nconsts"], params["body_nconsts"]
    )
    for _ in range(2):
        frame.body(params["cond_jaxpr"], [*of_condition, *carry])
        carry = frame.body(params["body_jaxpr"], [*of_step, *carry])
    return list(carry)


def _scan(frame: _Frame, eqn: Eqn) -> list[Operand]:
    step, num_carry = eqn.params["jaxpr"], eqn.params["num_carry"]
    consts, carry, xs = split(
        _operands(frame, eqn), eqn.params["num_consts"], num_carry
    )
    _, _, slices = split(step.in_avals, len(consts), num_carry)
    _, ys = split(list(eqn.outvars), num_carry)
    stacked: list[Operand] = []
    for i in range(2):
        every = [
            _slice_of(x, aval.shape) if i == 0 else _new(aval)
            for x, aval in zip(xs, slices, strict=True)
        ]
        outs = frame.body(step, [*consts, *carry, *every])
        carry, stacked = split(outs, num_carry)
    outside = [*consts, *_operands(frame, eqn)]
    rows = [
        _stacked(y, v.aval.shape, outside) for y, v in zip(stacked, ys, strict=True)
    ]
    return [*carry, *rows]


def _slice_of(keys: Operand, shape: Any) -> Operand:
    """Return a slice that stands for all of them: what consumes it consumes all."""

    def find() -> Keys:
        whole, made = keys(), Keys(shape)
        if not whole.shape or whole.shape[1:] != made.shape:  # symbolic sizes
            return any_of(shape, [whole])
        rows = whole.each.reshape(len(whole.each), -1)
        joined = (
            tuple(dict.fromkeys(s for possible in column for s in possible))
            for column in rows.T
        )
        return Keys(shape, filled(made.shape, joined))

    return find


def _stacked(slice_of_last: Operand, shape: Any, outside: Sequence[Operand]) -> Operand:
    """Return new keys if a step makes them, unconsumed; else any of those of the step."""

    def find() -> Keys:
        keys = slice_of_last()
        if keys.is_new:
            return Keys(shape)
        states = keys.all()
        known = {state for operand in outside for state in operand().all()}
        if any(state.use is not None or state in known for state in states):
            return any_of(shape, [keys])
        return Keys(shape)

    return find


def _shard_map(frame: _Frame, eqn: Eqn) -> list[Operand]:
    """Run the body of one device, which has any of the keys."""
    body = eqn.params["jaxpr"]
    parts = [
        _any_of(x, aval.shape)
        for x, aval in zip(_operands(frame, eqn), body.in_avals, strict=True)
    ]
    outs = frame.body(body, parts)
    return [
        _any_of(out, v.aval.shape) for out, v in zip(outs, eqn.outvars, strict=True)
    ]


def _any_of(keys: Operand, shape: Any) -> Operand:
    def find() -> Keys:
        found = keys()
        return Keys(shape) if found.is_new else any_of(shape, [found])

    return find


_BODIES: Final[dict[Primitive, Callable[[_Frame, Eqn], list[Operand]]]] = {
    jit_p: _call,
    custom_jvp_call_p: _call,
    custom_vjp_call_p: _call,
    custom_vmap_call_p: _call,
    checkpoint_p: _checkpoint,
    cond_p: _cond,
    while_p: _while,
    scan_p: _scan,
    shard_map_p: _shard_map,
}
"""How the equations run that hold jaxprs; the others make new keys."""
