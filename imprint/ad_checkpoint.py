"""Rematerialization: `checkpoint`, its policies and the names of values."""

from imprint._src.ad_checkpoint import policies as checkpoint_policies
from imprint._src.ad_checkpoint.policies import Recompute, Saveable
from imprint._src.ad_checkpoint.residuals import print_saved_residuals
from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.primitives.barrier import checkpoint_name

__all__ = [
    "Recompute",
    "Saveable",
    "checkpoint_name",
    "checkpoint_policies",
    "print_saved_residuals",
]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
