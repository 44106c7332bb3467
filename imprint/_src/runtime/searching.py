"""The number of results of the approximate search for the largest elements.

Shapes of JAX follow this number, which also depends on the rank. Arguments that XLA
rejects are an ArgumentError.
"""

from imprint._src.errors import ArgumentError
from imprint._src.runtime.compat import EngineError, engine


def approximate_count(
    length: int, ndim: int, k: int, recall_target: float, whole_length: int
) -> int:
    """Return the number of results along an axis, at least `k`.

    Args:
        length: of the axis.
        ndim: the rank of the array.
        k: the requested number.
        recall_target: the share of them that has to be found.
        whole_length: of the axis that this is a part of; -1 if it is no part.
    """
    try:
        count, _ = engine.approx_top_k_reduction_output_size(
            length,
            ndim,
            k,
            float(recall_target),
            aggregate_to_topk=False,
            input_size_override=whole_length,
        )
    except (EngineError, ValueError, OverflowError) as err:
        raise ArgumentError(
            "approx_top_k: expected recall_target in (0, 1] and an override of the length "
            f"that is -1 or at least {length}, got {recall_target} and {whole_length}: "
            f"{err}. Leave them out."
        ) from None
    return count
