"""How many results the engine's approximate search for the largest elements gives.

JAX's shapes follow this number, which depends on the rank too. Arguments that the engine
refuses are an ArgumentError; it has been asked for every kind of them that there is.
"""

from imprint._src.errors import ArgumentError
from imprint._src.runtime.compat import EngineError, engine


def approximate_count(
    length: int, ndim: int, k: int, recall_target: float, whole_length: int
) -> int:
    """Return how many elements come of an axis, at least `k`.

    Args:
        length: of the axis.
        ndim: the rank of the array.
        k: how many are wanted.
        recall_target: which part of them has to be found.
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
