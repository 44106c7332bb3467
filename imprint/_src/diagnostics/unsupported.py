"""Which public names of JAX's are not here, and what to write instead, where something is.

One row is names that share an advice. Without one, a function of NumPy's of that name
takes arrays outside traced functions, which `advice` says; else nothing serves yet.
Read only when such a name was asked for (`core.missing`), and by the test that compares the
rows with JAX and writes docs/reference/unsupported.md: a name that comes here leaves its row.
Names that NumPy alone has are in `absent_numpy`.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from imprint._src.diagnostics.unsupported_models import (
    CALLBACK,
    DERIVATIVE,
    MODELS,
)
from imprint._src.diagnostics.unsupported_numpy import NUMPY


def advice(home: str, name: str) -> tuple[str, str] | None:
    """Return which library has a name, and what to write instead; None if none has it.

    Args:
        home: `imprint`, one of its public modules, or `Array` for its methods.
        name: the name that was asked for.
    """
    for library in ("JAX", "NumPy", *MODELS):
        for known, said in rows(home, library):
            if known == name:
                return library, said
    return None


def rows(home: str, library: str = "JAX") -> Iterator[tuple[str, str]]:
    """Return the names that a home lacks of a library, each with its advice."""
    tables = {"JAX": ABSENT, "NumPy": NUMPY, **MODELS}
    table: Any = tables[library]
    for names, said in table.get(home, ()):
        for name in names.split():
            yield name, said or _by_numpy(home, name)


def _by_numpy(home: str, name: str) -> str:
    if home in _LIKE_NUMPY and callable(getattr(np, name, None)):
        return f"Outside traced functions numpy.{name} takes arrays."
    return "Nothing serves in its place yet."


_LIKE_NUMPY: Final = ("imprint.numpy", "Array")
_RESHARD: Final = (
    "Write imprint.lax.with_sharding_constraint(x, sharding) inside of what is traced, and "
    "imprint.device_put(x, sharding) outside."
)
_NO_TYPES: Final = (
    "Types of arrays have no split, as the compiler decides it, on axes of AxisType.Explicit "
    "too: leave it out, and say a split with imprint.lax.with_sharding_constraint."
)
_MESH: Final = "Write `with imprint.set_mesh(mesh):`."
_MAPPED: Final = (
    "Along named axes write imprint.lax.ppermute and imprint.lax.all_to_all."
)

ABSENT: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "imprint": (
        ("reshard", _RESHARD),
        ("core", "Its classes are private in imprint: trace with imprint.make_jaxpr."),
        ("use_abstract_mesh", _MESH),
        ("auto_pcast", "Write imprint.lax.pcast."),
        ("remove_size_one_mesh_axis_from_type", _NO_TYPES),
        ("host_count", "Write imprint.process_count."),
        ("host_id", "Write imprint.process_index."),
        ("host_ids", "Write imprint.process_indices."),
        (
            "pmap smap",
            "Write imprint.shard_map.",
        ),
        (
            "ad softmax_custom_jvp",
            DERIVATIVE,
        ),
        (
            "api_util",
            "Shape and dtype are x.shape and x.dtype; both, imprint.eval_shape.",
        ),
        ("enable_checks", "Write imprint.config.update('enable_checks', True)."),
        ("explain_cache_misses", "Write imprint.explain_misses."),
        ("float0", "Its dtype is that of imprint.grad(f, allow_int=True)(1)."),
        ("copy_to_host_async", "Write imprint.device_get."),
        ("ffi", CALLBACK),
        ("Ref ref new_ref empty_ref free_ref freeze", "Return the new value."),
        ("ds", "Write imprint.lax.dynamic_slice_in_dim(x, start, size)."),
        ("dlpack", "Arrays convert with numpy.asarray and imprint.numpy.asarray."),
        ("print_environment_info version", "The version is imprint.__version__."),
        ("profiler monitoring", "Counts and times are imprint.debug.counters."),
        (
            "enable_custom_prng legacy_prng_key debug_key_reuse",
            "Leave it out: what imprint.random.key makes has a dtype of its own.",
        ),
        (
            "transfer_guard transfer_guard_device_to_device transfer_guard_device_to_host "
            "transfer_guard_host_to_device thread_guard no_execution no_tracing "
            "allow_f16_reductions array_garbage_collection_guard make_user_context "
            "memory jax2tf_associative_scan_reductions CompilerEffortLevel",
            "Leave it out.",
        ),
        ("example_libraries", "Optimizers are in imprint.optim, layers in imprint.nn."),
        ("test_util", "Write imprint.testing.check_grads."),
        (
            "cloud_tpu_init collect_profile extend interpreters lib tools",
            "",
        ),
    ),
    "imprint.numpy": (
        (
            "int1 uint1",
            "The engine computes with none of one bit: the narrowest are "
            "imprint.numpy.int2 and imprint.numpy.uint2.",
        ),
    ),
    "imprint.scipy.special": (
        (
            "lpmn lpmn_values sph_harm",
            "JAX and SciPy give them up: write imprint.scipy.special.sph_harm_y.",
        ),
    ),
    "imprint.scipy.stats": (),
    "imprint.scipy.integrate": (),
    "imprint.scipy.optimize": (),
    "imprint.scipy.signal": (),
    "imprint.lax": (
        (
            "approx_top_k_p",
            "imprint.lax.approx_max_k and approx_min_k miss nothing here: they are top_k_p.",
        ),
        (
            "reduce_window_p select_and_scatter_p",
            "Windows are put together by imprint.lax.reduce_window, whatever joins them; "
            "equations are reduce_window_sum_p, reduce_window_max_p, reduce_window_min_p and "
            "select_and_scatter_add_p.",
        ),
        (
            "reduce_p",
            "Axes are put together by imprint.lax.reduce, whatever joins them; equations "
            "are of one operation each, as reduce_sum_p.",
        ),
        (
            "precv psend psum_scatter_start ragged_all_to_all ragged_all_to_all_p",
            _MAPPED,
        ),
        ("stage stage_p dce_sink dce_sink_p composite", "Leave it out."),
        (
            "after_all after_all_p create_token create_token_p",
            "Effects keep their order by themselves: leave it out.",
        ),
        ("device_put_p", "Write imprint.device_put."),
        ("stack_p", "imprint.lax.stack is concatenate_p of reshaped arrays."),
        ("unstack_p split_p", "imprint.lax.unstack and split are slice_p."),
        ("tile_p", "imprint.lax.tile is broadcast_in_dim_p and reshape_p."),
        ("shape_as_value", "Shapes are tuples of numbers: x.shape."),
        (
            "eq_to_p le_to_p lt_to_p",
            "imprint.lax.sort orders all floats so; else write imprint.lax.eq, le or lt.",
        ),
        (
            "scaled_dot",
            "Write imprint.lax.dot_general, and multiply by imprint.numpy.repeat of scales.",
        ),
        (
            "AccuracyMode Tolerance",
            "Functions are as exact as the engine has them: leave it out.",
        ),
        (
            "DotAlgorithm DotAlgorithmPreset",
            "Name the algorithm: imprint.lax.dot_general takes precision='F32_F32_F32'.",
        ),
    ),
    "imprint.random": (
        (
            "random_gamma_p",
            "It is a jitted function with a rule: imprint.random.gamma.",
        ),
    ),
    "imprint.nn": (
        (
            "scaled_matmul scaled_dot_general get_scaled_dot_general_config",
            "JAX computes it by cuDNN alone: multiply by imprint.numpy.repeat of the "
            "scales, and write imprint.numpy.matmul.",
        ),
    ),
    "imprint.sharding": (
        ("reshard", _RESHARD),
        ("auto_axes explicit_axes", _NO_TYPES),
        ("use_abstract_mesh", _MESH),
        ("make_single_device_sharding", "Write imprint.sharding.SingleDeviceSharding."),
        ("ManualAxisType UnreducedKind", "Write imprint.shard_map."),
        ("AbstractDevice no_collectives", ""),
    ),
    "imprint.debug": (
        ("log DebugEffect OrderedDebugEffect", "Write imprint.debug.print."),
        (
            "inspect_array_sharding",
            "Ask the result for its sharding, or the compiled function: "
            "imprint.jit(f).lower(x).compile().output_shardings.",
        ),
    ),
    "Array": (("flat", "Write x.ravel()."),),
}
