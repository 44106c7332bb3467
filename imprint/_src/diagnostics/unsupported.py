"""Public names of JAX, NumPy, Equinox and optax that imprint lacks, with advice.

A row is names that share an advice. Without an advice, NumPy's function of that name is
suggested, if it takes arrays outside traced functions. The tables are read only when
such a name is accessed (`bootstrap.attribute_errors`), and by the tests, which compare
them with the libraries and write docs/reference/absent.md and names.md. A new public
name leaves its row.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

Rows = tuple[tuple[str, str], ...]


def advice(home: str, name: str) -> tuple[str, str] | None:
    """Return the library that has a name, and the advice; None if no library has it.

    Args:
        home: `imprint`, one of its public modules, or `Array` for its methods.
        name: the missing name.
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


DERIVATIVE: Final = (
    "Steer derivatives with imprint.lax.stop_gradient: f = g + stop_gradient(h - g) has "
    "the value of h and the derivative of g."
)
CALLBACK: Final = "Write imprint.pure_callback."
_ONE_DEVICE: Final = "Programs run on one device so far: write imprint.filter_vmap."
_OWN: Final = (
    "Write its init and update as an imprint.optim.GradientTransformation; parts are "
    "put together by imprint.optim.chain."
)
_AVERAGE: Final = (
    "Write imprint.tree.map(lambda old, new: rate * new + (1 - rate) * old, "
    "average, values)."
)
_LOSS: Final = "Write it with imprint.numpy; logarithms of odds by imprint.nn.softplus."
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

ABSENT: Final[dict[str, Rows]] = {
    "imprint": (
        ("reshard", _RESHARD),
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
        ("ffi", CALLBACK),
        ("Ref ref new_ref empty_ref free_ref freeze", "Return the new value."),
        ("ds", "Write imprint.lax.dynamic_slice_in_dim(x, start, size)."),
        ("print_environment_info version", "The version is imprint.__version__."),
        ("monitoring", "Counts and times are imprint.debug.counters."),
        (
            "enable_custom_prng legacy_prng_key",
            "Leave it out: what imprint.random.key makes has a dtype of its own.",
        ),
        (
            "transfer_guard transfer_guard_device_to_device transfer_guard_device_to_host "
            "transfer_guard_host_to_device",
            "Leave it out: values move to a device by imprint.device_put or as NumPy "
            "arguments of a call, and to the host where Python or NumPy reads an array.",
        ),
        (
            "thread_guard no_execution no_tracing allow_f16_reductions "
            "array_garbage_collection_guard make_user_context memory "
            "jax2tf_associative_scan_reductions CompilerEffortLevel",
            "Leave it out.",
        ),
        ("example_libraries", "Optimizers are in imprint.optim, layers in imprint.nn."),
        ("test_util", "Write imprint.testing.check_grads."),
        (
            "extend",
            "Classes and functions of programs are in imprint.core, functions of vectors in "
            "imprint.flatten_util.",
        ),
        (
            "interpreters",
            "A primitive of imprint declares all of its rules at once: imprint.core.Primitive.",
        ),
        ("cloud_tpu_init collect_profile lib tools", ""),
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
        ("stage stage_p dce_sink dce_sink_p", "Leave it out."),
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
    "imprint.profiler": (
        (
            "ProfileData ProfileEvent ProfileLine ProfilePlane ProfileSession "
            "export_profile_data register_subprocess start_server stop_server",
            "Write `with imprint.profiler.trace(directory):`.",
        ),
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
    "imprint.core": (
        ("AbstractValue", "All avals are imprint.core.ShapedArray."),
        (
            "Value ParamDict",
            "It is an annotation: write typing.Any, or dict.",
        ),
        ("eval_context", "Write imprint.ensure_compile_time_eval."),
        ("max_dim min_dim", "Write max and min: sizes with names take both."),
    ),
    "imprint.errors": (
        (
            "JaxRuntimeError",
            "What the engine raises is a RuntimeError: catch that, or imprint.errors.CheckError "
            "for a check.",
        ),
        ("JaxprTypeError", "A wrong jaxpr is an imprint.errors.InternalError."),
        (
            "InconclusiveDimensionOperation",
            "A comparison of sizes with names decides by the example, and is remembered.",
        ),
    ),
    "imprint.tree_util": (
        (
            "default_registry",
            "There is one registry: imprint.tree_util.register_pytree_node and imprint.tree.",
        ),
    ),
    "imprint.export": (
        (
            "DisabledSafetyCheck",
            "Programs have no checks that can be left out: leave it out.",
        ),
        (
            "symbolic_dim_bounds",
            "A size is at least what its expression says: print it.",
        ),
        (
            "maximum_supported_calling_convention_version "
            "minimum_supported_calling_convention_version",
            "imprint.export.deserialize says whether it knows the format.",
        ),
    ),
    "imprint.ad_checkpoint": (
        (
            "Offloadable",
            "Write imprint.checkpoint_policies.save_and_offload_only_these_names.",
        ),
        ("checkpoint_name_fwd name_p", "Write imprint.ad_checkpoint.checkpoint_name."),
    ),
    "imprint.custom_derivatives": (
        (
            "linear_call",
            "Write imprint.custom_vjp, whose backward pass is the transpose.",
        ),
        (
            "custom_jvp_call_p custom_vjp_call_p remat_opt_p",
            "Equations are found by the name of their primitive: str(eqn.primitive).",
        ),
    ),
    "imprint.experimental": (
        (
            "pallas mosaic",
            "The engine compiles whole programs: write the kernel with imprint.numpy and "
            "imprint.lax, or call a compiled one by imprint.pure_callback.",
        ),
        ("pjit", "Write imprint.jit, with in_shardings and out_shardings."),
        ("ode", "Write a solver with imprint.lax.scan, or imprint.lax.while_loop."),
        (
            "sparse",
            "Arrays are dense: gather and add with imprint.ops.segment_sum; "
            "linear maps are functions in imprint.scipy.sparse.linalg.",
        ),
        ("jet", "Nest imprint.jvp for each order."),
        ("jax2tf", "Write imprint.export.export, whose programs are StableHLO."),
        (
            "serialize_executable array_serialization",
            "Programs are bytes by imprint.export.export; arrays and models are saved by "
            "imprint.tree_serialise_leaves.",
        ),
        (
            "compilation_cache",
            "Programs are kept on the disk by themselves; see imprint.cache.",
        ),
        (
            "custom_partitioning shard_alike",
            "Say splits with imprint.lax.with_sharding_constraint, or write "
            "imprint.shard_map.",
        ),
        ("key_reuse", "Write imprint.debug_key_reuse(True)."),
        ("profiler", "Counts and times are imprint.debug.counters."),
        ("random", "Carry a key: imprint.random.split."),
        ("rnn", "Write imprint.nn.LSTMCell in imprint.lax.scan."),
        ("buffer_callback", CALLBACK),
        (
            "compute_on scheduling_groups control_deps xla_metadata fused overlap thunky",
            "Leave it out: the compiler decides.",
        ),
        (
            "primal_tangent_dtype",
            "Tangents have the dtype of their values, and those of integers "
            "imprint.dtypes.float0.",
        ),
        (
            "EArray cur_qdd hijax colocated_python roofline source_mapper topologies "
            "transfer",
            "",
        ),
    ),
    "imprint.experimental.checkify": (
        (
            "ErrorCategory",
            "Categories are in imprint.experimental.checkify.all_checks.",
        ),
    ),
    "imprint.experimental.layout": (
        (
            "with_layout_constraint explicit_layout",
            "The compiler chooses: leave it out.",
        ),
    ),
    "imprint.experimental.mesh_utils": (
        (
            "device_kind_handler_dict",
            "Arrange the devices by hand: imprint.sharding.Mesh takes any grid.",
        ),
    ),
    "imprint.experimental.multihost_utils": (
        (
            "global_array_to_host_local_array",
            "The parts of this process are x.addressable_shards.",
        ),
        (
            "host_local_array_to_global_array",
            "Write imprint.make_array_from_process_local_data.",
        ),
        ("live_devices ProcessFailureError reached_preemption_sync_point", ""),
    ),
    "imprint.scipy": (
        (
            "spatial",
            "Rotations are matrices: write imprint.numpy.einsum, or convert with SciPy's.",
        ),
    ),
}

# ---- parameters ----

_BY_XLA: Final = "Functions are as exact as the engine has them: leave it out."
_PRIVATE: Final = "Leave it out."
_SPREAD: Final = "Write imprint.lax.with_sharding_constraint of the result."
_BACKWARD: Final = (
    "Write imprint.custom_vjp, whose backward pass returns cotangents alone."
)

PARAMETERS: Final[dict[str, Rows]] = {
    "imprint.lax": (
        (
            "cbrt.accuracy cos.accuracy erfc.accuracy exp.accuracy exp2.accuracy "
            "expm1.accuracy log.accuracy log1p.accuracy log2.accuracy logistic.accuracy rsqrt.accuracy sin.accuracy "
            "sqrt.accuracy tan.accuracy tanh.accuracy",
            _BY_XLA,
        ),
        ("mul.out_dtype", "Convert the operands: imprint.lax.convert_element_type."),
        ("reduce_max.out_sharding reduce_min.out_sharding", _SPREAD),
    ),
    "imprint.lax.linalg": (("eig.use_magma", "Leave it out: LAPACK computes it."),),
    "imprint.sharding": (
        (
            "PartitionSpec.unreduced PartitionSpec.reduced "
            "PartitionSpec.unreduced_kind AbstractMesh.abstract_device",
            _NO_TYPES,
        ),
    ),
    "imprint": (
        ("P.unreduced P.reduced P.unreduced_kind", _NO_TYPES),
        (
            "custom_gradient.remat custom_gradient.with_accums custom_gradient.with_logs",
            _BACKWARD,
        ),
        (
            "linearize.in_nzs vjp.in_nzs",
            "Close over the arguments that are not differentiated.",
        ),
        ("vjp.saveable_args", "Write imprint.checkpoint, with a policy."),
        ("make_mesh.axis_sizes", "It is named axis_shapes."),
        (
            "ShapeDtypeStruct.manual_axis_type ShapeDtypeStruct.is_ref "
            "ShapeDtypeStruct._memory_space",
            "Leave it out: there are no references, and devices have one memory.",
        ),
        ("Shard.sharding Shard.global_shape", "Give index=, the part of the array."),
    ),
    "imprint.custom_derivatives": (
        (
            "custom_gradient.remat custom_gradient.with_accums custom_gradient.with_logs",
            _BACKWARD,
        ),
    ),
    "imprint.nn": (("one_hot.out_sharding", _SPREAD),),
    "imprint.numpy": (("histogram.out_sharding", _SPREAD),),
    "imprint.export": (
        ("export._override_lowering_rules", _PRIVATE),
        ("SymbolicScope.constraints_str", "It is named constraints."),
    ),
    "imprint.debug": (
        (
            "visualize_sharding.use_color visualize_sharding.scale "
            "visualize_sharding.min_width visualize_sharding.max_width "
            "visualize_sharding.color_map",
            "The drawing is text of a fixed size: leave it out.",
        ),
    ),
    "imprint.distributed": (
        (
            "initialize.slice_index initialize.partition_index",
            "They are about TPUs: leave it out.",
        ),
        (
            "initialize.mtls_ca_file initialize.mtls_cert_file initialize.mtls_key_file "
            "initialize.mtls_peer_uri_prefix initialize.verify_secure_credentials",
            "Processes connect without encryption: use a network of their own.",
        ),
    ),
    "imprint.dlpack": (("from_dlpack.external_array", "Give the array by position."),),
    "imprint.errors": (
        (
            "ConcretizationTypeError.tracer ConcretizationTypeError.context "
            "NonConcreteBooleanIndexError.tracer TracerArrayConversionError.tracer "
            "TracerBoolConversionError.tracer TracerIntegerConversionError.tracer",
            "Programs catch these; to raise one, give its message.",
        ),
    ),
}
"""Parameters that functions lack, as `function.parameter`."""

# ---- Equinox and optax ----

_EQUINOX: Final[dict[str, Rows]] = {
    "imprint": (
        ("static_field", "Write imprint.field(static=True)."),
        (
            "EquinoxRuntimeError EquinoxTracetimeError",
            "What imprint.error_if raises is imprint.errors.CheckError.",
        ),
        ("StrictConfig module_update_wrapper", "Leave it out."),
        ("filter_pmap filter_shard", _ONE_DEVICE),
    ),
}

_OPTAX: Final[dict[str, Rows]] = {
    "imprint.optim": (
        ("l2_loss", "Write 0.5 * (predictions - targets) ** 2."),
        ("squared_error", "Write (predictions - targets) ** 2."),
        (
            "softmax_cross_entropy safe_softmax_cross_entropy",
            "Write -(labels * imprint.nn.log_softmax(logits)).sum(-1).",
        ),
        (
            "softmax_cross_entropy_with_integer_labels",
            "Write -(imprint.nn.one_hot(labels, n) * imprint.nn.log_softmax(logits))"
            ".sum(-1), of n classes.",
        ),
        (
            "sigmoid_binary_cross_entropy",
            "Write imprint.nn.softplus(logits) - labels * logits.",
        ),
        (
            "convex_kl_divergence cosine_distance cosine_similarity ctc_loss "
            "ctc_loss_with_forward_probs generalized_kl_divergence hinge_loss "
            "huber_loss kl_divergence log_cosh multi_normal ntxent sigmoid_focal_loss "
            "smooth_labels",
            _LOSS,
        ),
        ("ema incremental_update periodic_update measure_with_ema", _AVERAGE),
        (
            "multi_transform partition selective_transform freeze conditionally_mask "
            "conditionally_transform",
            "Write imprint.optim.masked for each part, in imprint.optim.chain.",
        ),
        (
            "apply_every microbatch",
            "Add up the gradients of several steps, and update with their sum.",
        ),
        (
            "cosine_onecycle_schedule linear_onecycle_schedule sgdr_schedule "
            "piecewise_interpolate_schedule warmup_constant_schedule "
            "warmup_exponential_decay_schedule",
            "Join parts with imprint.optim.join_schedules, or write a function of the "
            "count.",
        ),
        ("named_chain", "Write imprint.optim.chain."),
        ("safe_int32_increment", "Write imprint.optim.safe_increment."),
        ("inject_stateful_hyperparams", "Write imprint.optim.inject_hyperparams."),
        ("value_and_grad_from_state", "Write imprint.value_and_grad."),
        ("init_empty_state", "Write imprint.optim.EmptyState()."),
        ("with_extra_args_support", "Leave it out."),
        (
            "adabelief adadelta adafactor adagrad adamax adamaxw adan "
            "adaptive_grad_clip add_noise amsgrad apply_if_finite bias_correction "
            "centralize clip_by_block_rms flatten fromage keep_params_nonnegative lamb "
            "lars lbfgs lion lookahead matrix_inverse_pth_root monitor nadam nadamw nnls "
            "noisy_sgd normalize_by_update_norm novograd optimistic_adam "
            "optimistic_adam_v2 optimistic_gradient_descent "
            "per_example_global_norm_clip per_example_layer_norm_clip polyak_sgd "
            "power_iteration radam rprop safe_norm safe_root_mean_squares "
            "scale_by_adadelta scale_by_adamax scale_by_adan scale_by_amsgrad "
            "scale_by_backtracking_linesearch scale_by_belief "
            "scale_by_distance_over_gradients scale_by_factored_rms scale_by_lbfgs "
            "scale_by_lion scale_by_novograd scale_by_optimistic_gradient "
            "scale_by_param_block_norm scale_by_param_block_rms scale_by_polyak "
            "scale_by_radam scale_by_rprop scale_by_rss scale_by_sign scale_by_sm3 "
            "scale_by_stddev scale_by_trust_ratio scale_by_yogi "
            "scale_by_zoom_linesearch scale_gradient sign_sgd signum skip_large_updates "
            "skip_not_finite sm3 snapshot stateless stateless_with_tree_map "
            "tree_map_params update_infinity_moment update_moment "
            "update_moment_per_elem_norm yogi zero_nans",
            _OWN,
        ),
    ),
}

MODELS: Final = {"Equinox": _EQUINOX, "optax": _OPTAX}

# ---- NumPy ----

_AS_IT_IS: Final = "It looks at no array: call NumPy's."
_VALUES: Final = "It needs values: call NumPy's on numpy.asarray(x), outside."
_WIDTH: Final = (
    "Its width depends on the machine: write imprint.numpy.int32, or another name that "
    "says its width."
)
_NO_NUMBERS: Final = "Arrays hold numbers: convert before, with NumPy."
_MEMORY: Final = (
    "Arrays have no layout in memory and share it with none: leave it out, or write "
    "imprint.numpy.asarray(x)."
)
_CLASS: Final = "Arrays have one class: write imprint.numpy.asarray(x)."
_LOOP: Final = (
    "It walks over elements one by one: write imprint.vmap, or imprint.lax.scan."
)
_FILE: Final = "Read and write the file with NumPy's, of numpy.asarray(x)."
_FLOATS: Final = (
    "Programs raise nothing for overflow and the like: imprint.debug_nans(True) finds "
    "what is no number."
)

NUMPY: Final[dict[str, Rows]] = {
    "imprint.numpy": (
        ("False_ True_", "Write False and True."),
        ("asanyarray asmatrix matrix bmat require", _CLASS),
        ("ascontiguousarray asfortranarray isfortran", _MEMORY),
        ("may_share_memory shares_memory memmap", _MEMORY),
        (
            "asarray_chkfinite",
            "Write imprint.numpy.asarray(x), and imprint.debug.check of "
            "imprint.numpy.isfinite(x).all().",
        ),
        (
            "byte ubyte short ushort intc uintc intp uintp long ulong longlong ulonglong "
            "longdouble clongdouble float128 complex256",
            _WIDTH,
        ),
        (
            "bytes_ str_ strings char void datetime64 timedelta64 datetime_as_string "
            "datetime_data busday_count busday_offset busdaycalendar is_busday isnat "
            "rec recarray record",
            _NO_NUMBERS,
        ),
        ("flatiter nditer nested_iters ndenumerate ndindex broadcast", _LOOP),
        ("fromregex genfromtxt loadtxt savetxt savez_compressed", _FILE),
        (
            "array2string base_repr binary_repr format_float_positional "
            "format_float_scientific",
            _VALUES,
        ),
        ("copyto putmask", "Write imprint.numpy.where(mask, values, a)."),
        ("common_type min_scalar_type", "Write imprint.numpy.result_type."),
        ("mintypecode sctypeDict typecodes typename ScalarType", _AS_IT_IS),
        (
            "real_if_close",
            "Which dtype it gives depends on values: imprint.numpy.real.",
        ),
        ("emath", "Convert with x.astype(complex), and call the function."),
        ("poly1d polynomial", "Write imprint.numpy.polyval of the coefficients."),
        ("row_stack", "Write imprint.numpy.vstack."),
        (
            "errstate geterr geterrcall seterr seterrcall getbufsize setbufsize",
            _FLOATS,
        ),
        ("ma", "Keep a mask next to the array, and write imprint.numpy.where."),
        ("random", "Draw with imprint.random, of a key."),
        ("testing test", "imprint.testing has check_grads; NumPy's takes arrays."),
        (
            "core ctypeslib dtypes exceptions f2py lib get_include info little_endian "
            "show_config show_runtime",
            _AS_IT_IS,
        ),
    ),
    "imprint.numpy.linalg": (
        ("LinAlgError", "A singular matrix gives numbers that are none, and no error."),
    ),
}
"""By home, the names that it lacks of NumPy and JAX does not have."""
