"""Which names of Equinox and optax are not here, and what to write instead.

The rows of `absent` for the two libraries whose names `imprint`, `imprint.nn` and
`imprint.optim` have beside JAX's: names that share an advice, and the advice. A name that
comes here leaves its row, which the test that compares both with the libraries asks for.
"""

from typing import Final

Rows = tuple[tuple[str, str], ...]

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
