"""Schedules: functions from the step count to a value, such as a step size.

The count is an operand of the training step, so a schedule is computed on the device
and its value may change in every step without a new trace. A schedule also accepts a
Python integer, for inspection and plots.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import imprint.numpy as np
from imprint._src.errors import ArgumentError
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.optim.base import Schedule


def constant_schedule(value: ArrayLike) -> Schedule:
    """Return a constant schedule.

    Args:
        value: the value.

    Returns:
        A function from a step count to a value of rank 0.

    References:
        Optax, `optax.constant_schedule`.

    Example:
        >>> from imprint import optim
        >>> optim.constant_schedule(0.1)(7)
        0.1
    """
    return lambda count: value


def polynomial_schedule(
    init_value: ArrayLike,
    end_value: ArrayLike,
    power: ArrayLike,
    transition_steps: int,
    transition_begin: int = 0,
) -> Schedule:
    """Return a polynomial schedule from one value to another.

    Args:
        init_value: the first value.
        end_value: the last value.
        power: the exponent of the polynomial; 1 is a line.
        transition_steps: the number of steps of the transition; if 0, the first value
            stays.
        transition_begin: the number of steps at the first value.

    Returns:
        A function from a step count to a value of rank 0.

    References:
        Optax, `optax.polynomial_schedule`.

    Example:
        >>> from imprint import optim
        >>> schedule = optim.polynomial_schedule(1.0, 0.0, 2, 4)
        >>> [float(schedule(i)) for i in range(6)]
        [1.0, 0.5625, 0.25, 0.0625, 0.0, 0.0]
    """
    if transition_steps <= 0:
        return constant_schedule(init_value)
    begin = max(transition_begin, 0)

    def schedule(count: Any) -> Any:
        taken = np.clip(count - begin, 0, transition_steps)
        left: Any = 1 - taken / transition_steps
        start: Any = init_value
        return (start - end_value) * left**power + end_value

    return schedule


def linear_schedule(
    init_value: ArrayLike,
    end_value: ArrayLike,
    transition_steps: int,
    transition_begin: int = 0,
) -> Schedule:
    """Return a linear schedule from one value to another.

    Args:
        init_value: the first value.
        end_value: the last value.
        transition_steps: the number of steps of the transition; if 0, the first value
            stays.
        transition_begin: the number of steps at the first value.

    Returns:
        A function from a step count to a value of rank 0.

    References:
        Optax, `optax.linear_schedule`.

    Example:
        >>> from imprint import optim
        >>> schedule = optim.linear_schedule(1.0, 0.0, 4)
        >>> [float(schedule(i)) for i in range(6)]
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """
    return polynomial_schedule(
        init_value, end_value, 1, transition_steps, transition_begin
    )


def exponential_decay(
    init_value: ArrayLike,
    transition_steps: int,
    decay_rate: float,
    transition_begin: int = 0,
    *,
    staircase: bool = False,
    end_value: ArrayLike | None = None,
) -> Schedule:
    """Return a schedule that is multiplied by a rate every `transition_steps` steps.

    Args:
        init_value: the first value.
        transition_steps: the number of steps per factor; if 0, the first value stays.
        decay_rate: the factor; if 0, the first value stays.
        transition_begin: the number of steps at the first value.
        staircase: whether to change the value only every `transition_steps` steps.
        end_value: the value at which the decay or growth ends.

    Returns:
        A function from a step count to a value of rank 0.

    References:
        Optax, `optax.exponential_decay`.

    Example:
        >>> from imprint import optim
        >>> schedule = optim.exponential_decay(1.0, 2, 0.25)
        >>> [float(schedule(i)) for i in range(5)]
        [1.0, 0.5, 0.25, 0.125, 0.0625]
    """
    if transition_steps <= 0 or decay_rate == 0:
        return constant_schedule(init_value)
    begin = max(transition_begin, 0)
    bound = np.maximum if decay_rate < 1 else np.minimum

    def schedule(count: Any) -> Any:
        taken = np.asarray(count - begin)
        exponent = taken / transition_steps
        exponent = np.floor(exponent) if staircase else exponent
        decayed: Any = init_value * np.power(decay_rate, exponent)
        value = np.where(taken <= 0, init_value, decayed)
        return value if end_value is None else bound(value, end_value)

    return schedule


def cosine_decay_schedule(
    init_value: ArrayLike, decay_steps: int, alpha: float = 0.0, exponent: float = 1.0
) -> Schedule:
    """Return a schedule that decays as half a period of a cosine.

    Args:
        init_value: the first value.
        decay_steps: the number of steps of the decay.
        alpha: the last value, as a fraction of the first.
        exponent: the power of the cosine.

    Returns:
        A function from a step count to a value of rank 0.

    Raises:
        ArgumentError: `decay_steps` is not positive.

    References:
        Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts",
        2016.

    Example:
        >>> from imprint import optim
        >>> schedule = optim.cosine_decay_schedule(1.0, 4)
        >>> [round(float(schedule(i)), 3) for i in range(6)]
        [1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """
    if decay_steps <= 0:
        raise ArgumentError(
            f"cosine_decay_schedule: expected decay_steps above 0, got {decay_steps}. "
            "For a value that stays use constant_schedule."
        )

    def schedule(count: Any) -> Any:
        taken = np.minimum(count, float(decay_steps))
        wave: Any = 0.5 * (1 + np.cos(math.pi * taken / float(decay_steps)))
        return init_value * ((1 - alpha) * wave**exponent + alpha)

    return schedule


def warmup_cosine_decay_schedule(
    init_value: ArrayLike,
    peak_value: float,
    warmup_steps: int,
    decay_steps: int,
    end_value: float = 0.0,
    exponent: float = 1.0,
) -> Schedule:
    """Return a schedule that rises linearly, then decays as half a cosine.

    Args:
        init_value: the first value.
        peak_value: the value after the rise.
        warmup_steps: the number of steps of the rise.
        decay_steps: the number of steps of the rise and the decay together.
        end_value: the last value.
        exponent: the power of the cosine.

    Returns:
        A function from a step count to a value of rank 0.

    References:
        Optax, `optax.warmup_cosine_decay_schedule`.

    Example:
        >>> from imprint import optim
        >>> schedule = optim.warmup_cosine_decay_schedule(0.0, 1.0, 2, 4)
        >>> [round(float(schedule(i)), 3) for i in range(6)]
        [0.0, 0.5, 1.0, 0.5, 0.0, 0.0]
    """
    alpha = 0.0 if peak_value == 0 else end_value / peak_value
    rise = linear_schedule(init_value, peak_value, warmup_steps)
    fall = cosine_decay_schedule(
        peak_value, decay_steps - warmup_steps, alpha, exponent
    )
    return join_schedules([rise, fall], [warmup_steps])


def piecewise_constant_schedule(
    init_value: ArrayLike, boundaries_and_scales: Mapping[int, float] | None = None
) -> Schedule:
    """Return a schedule that is multiplied by a factor at each boundary.

    Args:
        init_value: the first value.
        boundaries_and_scales: the factors by step count.

    Returns:
        A function from a step count to a value of rank 0.

    Raises:
        ArgumentError: a factor is negative.

    References:
        Optax, `optax.piecewise_constant_schedule`.

    Example:
        >>> from imprint import optim
        >>> schedule = optim.piecewise_constant_schedule(1.0, {2: 0.5, 4: 0.1})
        >>> [round(float(schedule(i)), 3) for i in range(6)]
        [1.0, 1.0, 0.5, 0.5, 0.05, 0.05]
    """
    steps = tuple((boundaries_and_scales or {}).items())
    if any(scale < 0 for _, scale in steps):
        raise ArgumentError(
            "piecewise_constant_schedule: expected factors of at least 0, got "
            f"{dict(steps)}. To change the sign, use scale."
        )

    def schedule(count: Any) -> Any:
        value: Any = init_value
        for boundary, scale in steps:
            value = np.where(count < boundary, value, scale * value)
        return value

    return schedule


def join_schedules(
    schedules: Sequence[Schedule], boundaries: Sequence[int]
) -> Schedule:
    """Return a schedule that joins several in sequence.

    Args:
        schedules: each receives the count since its own start.
        boundaries: the counts at which the second and later schedules start.

    Returns:
        A function from a step count to a value of rank 0.

    Raises:
        ArgumentError: the number of boundaries is not that of schedules less 1.

    References:
        Optax, `optax.join_schedules`.

    Example:
        >>> from imprint import optim
        >>> rise = optim.linear_schedule(0.0, 1.0, 2)
        >>> schedule = optim.join_schedules([rise, optim.constant_schedule(0.5)], [2])
        >>> [float(schedule(i)) for i in range(4)]
        [0.0, 0.5, 0.5, 0.5]
    """
    first, *later = schedules
    if len(later) != len(boundaries):
        raise ArgumentError(
            "join_schedules: expected one boundary less than schedules, got "
            f"{len(boundaries)} for {len(schedules)}. Give the count at which each "
            "schedule but the first begins."
        )

    def schedule(count: Any) -> Any:
        value = first(count)
        for boundary, after in zip(boundaries, later, strict=True):
            value = np.where(count < boundary, value, after(count - boundary))
        return value

    return schedule
