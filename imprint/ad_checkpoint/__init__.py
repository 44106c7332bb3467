"""What a backward pass remembers: `checkpoint`, its policies and the names of values.

- `checkpoint`: how does a function remember its arguments and little else?
- `policies`: what may be remembered beside them?
"""

from imprint._src.bootstrap import public_names
from imprint._src.diagnostics import attribute_errors
from imprint._src.primitives.barrier import checkpoint_name
from imprint.ad_checkpoint import policies as checkpoint_policies
from imprint.ad_checkpoint.policies import Recompute, Saveable

__all__ = ["Recompute", "Saveable", "checkpoint_name", "checkpoint_policies"]

attribute_errors.explain_missing(__name__)
public_names.offer_public(__name__)
