"""Primitives that hold jaxprs; `ALL` lists them.

Their rules transform jaxprs, so they depend on the interpreters, unlike `primitives`.
Code outside this package uses their declarations and never names one.

- `call`: nested `jit` calls, and rules shared by all equations that apply a jaxpr
- `cond`: conditionals
- `scan`: loops of known length
- `scan_derivatives`: residuals and transposition of a scan
- `while_`: loops that end by a condition
- `loop_nan_flags`: the iteration of a loop that made a NaN
- `operand_lists`: groups and orders of the operands of loops
- `trace_body`: bodies as jaxprs, and mismatches of their types
- `interpret`: evaluation of a jaxpr by its primitives' references
- `checkpoint`: rematerialization
- `custom`: calls of functions with a derivative rule
- `custom_vmap`: calls of functions with a batch rule
- `implicit`: linear solves and roots, with implicit derivatives
- `scatter_apply`: a function applied to indexed elements
- `shard_map`: a program of one device on every device of a mesh
- `checkify`: the first error of a jaxpr as a result
- `key_reuse`: PRNG keys that a program uses twice
"""

from imprint._src.bootstrap import lazy_attributes
from imprint._src.control_flow import (
    call,
    checkpoint,
    cond,
    custom,
    custom_vmap,
    implicit,
    scan,
    shard_map,
    while_,
)
from imprint._src.core.control import ControlPrimitive

ALL: tuple[ControlPrimitive, ...]
"""Every control primitive; the laws read it."""


def _listed() -> tuple[ControlPrimitive, ...]:
    return (
        call.jit_p,
        cond.cond_p,
        scan.scan_p,
        while_.while_p,
        checkpoint.checkpoint_p,
        custom.custom_jvp_call_p,
        custom.custom_vjp_call_p,
        custom_vmap.custom_vmap_call_p,
        implicit.custom_linear_solve_p,
        implicit.custom_root_p,
        shard_map.shard_map_p,
    )


lazy_attributes.list_lazily(__name__, _listed)
