"""Primitives that hold jaxprs; `ALL` lists every one of them.

They are apart from `primitives` because their rules transform jaxprs, so they need the
transforms. Nothing outside this package names one: others ask its declaration.

- `check_body_types`: where does what bodies take and return differ?
- `call_eager`: what does an equation compute that applies the jaxpr it holds?
- `scatter_apply`: how is a function applied to the elements at some places?
- `call`: what does a function jitted inside traced code become?
- `trace_body`: how does the function of a branch or a step become a jaxpr?
- `cond`: what do conditionals become?
- `checkify`: how does the first error go along with the values of a jaxpr?
- `checkify_rules`: what can fail in an equation of each primitive?
- `checkpoint`: what is computed again in a backward pass, and what is remembered?
- `custom`: what becomes of a call of a function with a derivative of the user's?
- `custom_lin`: what is the tangent of one that is known backwards only?
- `custom_vmap`: what becomes of a call of a function with a batch rule of the user's?
- `implicit`: what do solutions become whose derivative is one of what they solve?
- `interpret`: what does a jaxpr compute, by the references of its primitives?
- `scan`: what does a loop of known length become, under each transform?
- `scan_lowering`: what is written for it?
- `forwarding_vars`: what is no part of a loop, as its step only hands it on?
- `residuals`: what is kept of each step for the derivative?
- `transpose_scan`: what is a step backwards?
- `while_`: what does a loop that ends by its condition become?
- `loop_nan_flags`: in which iteration of a loop was a NaN made?
- `operand_lists`: how do operands and arguments of loops change places?
- `shard_map`: what does a program of one device become, under each transform?
- `batched_cond`: what does a conditional become whose choice is mapped?
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
