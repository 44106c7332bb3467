"""Optimizers as pure functions on trees, in optax's form: `from imprint import optim`.

An optimizer is a `GradientTransformation`: `init` makes a state, `update` computes updates
from gradients, `apply_updates` adds them to the parameters.
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.optim.base import (
    EmptyState,
    GradientTransformation,
    ScalarOrSchedule,
    Schedule,
    apply_updates,
    global_norm,
    safe_increment,
)
from imprint._src.optim.inject import InjectHyperparamsState, inject_hyperparams
from imprint._src.optim.moments import (
    ScaleByAdamState,
    ScaleByRmsState,
    scale_by_adam,
    scale_by_rms,
)
from imprint._src.optim.optimizers import adam, adamw, rmsprop, sgd
from imprint._src.optim.schedules import (
    constant_schedule,
    cosine_decay_schedule,
    exponential_decay,
    join_schedules,
    linear_schedule,
    piecewise_constant_schedule,
    polynomial_schedule,
    warmup_cosine_decay_schedule,
)
from imprint._src.optim.transforms import (
    MaskedNode,
    MaskedState,
    ScaleByScheduleState,
    TraceState,
    WeightDecaySchedule,
    add_decayed_weights,
    chain,
    clip,
    clip_by_global_norm,
    identity,
    masked,
    scale,
    scale_by_learning_rate,
    scale_by_schedule,
    set_to_zero,
    trace,
)

__all__ = [
    "EmptyState",
    "GradientTransformation",
    "InjectHyperparamsState",
    "MaskedNode",
    "MaskedState",
    "ScalarOrSchedule",
    "ScaleByAdamState",
    "ScaleByRmsState",
    "ScaleByScheduleState",
    "Schedule",
    "TraceState",
    "WeightDecaySchedule",
    "adam",
    "adamw",
    "add_decayed_weights",
    "apply_updates",
    "chain",
    "clip",
    "clip_by_global_norm",
    "constant_schedule",
    "cosine_decay_schedule",
    "exponential_decay",
    "global_norm",
    "identity",
    "inject_hyperparams",
    "join_schedules",
    "linear_schedule",
    "masked",
    "piecewise_constant_schedule",
    "polynomial_schedule",
    "rmsprop",
    "safe_increment",
    "scale",
    "scale_by_adam",
    "scale_by_learning_rate",
    "scale_by_rms",
    "scale_by_schedule",
    "set_to_zero",
    "sgd",
    "trace",
    "warmup_cosine_decay_schedule",
]

attribute_errors.explain_missing(__name__)
