"""Reductions over segments, under JAX's names: `import imprint.ops as ops`."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.ops.segments import segment_max as segment_max
from imprint._src.ops.segments import segment_min as segment_min
from imprint._src.ops.segments import segment_prod as segment_prod
from imprint._src.ops.segments import segment_sum as segment_sum

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
