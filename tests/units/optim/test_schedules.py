import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import imprint
from imprint import optim
from imprint.errors import ArgumentError
from tests.tolerances import assert_close

SCHEDULES = {
    "constant": lambda o: o.constant_schedule(0.3),
    "polynomial": lambda o: o.polynomial_schedule(1.0, 0.1, 2, 7, 2),
    "polynomial, no steps": lambda o: o.polynomial_schedule(1.0, 0.1, 2, 0),
    "polynomial, begins before 0": lambda o: o.polynomial_schedule(1.0, 0.1, 3, 7, -2),
    "linear": lambda o: o.linear_schedule(0.0, 1.0, 6, 1),
    "exponential": lambda o: o.exponential_decay(0.5, 3, 0.5),
    "exponential, staircase": lambda o: o.exponential_decay(
        0.5, 3, 0.5, 2, staircase=True
    ),
    "exponential, down to": lambda o: o.exponential_decay(0.5, 3, 0.5, end_value=0.2),
    "exponential, up to": lambda o: o.exponential_decay(0.5, 3, 1.5, end_value=0.7),
    "exponential, no steps": lambda o: o.exponential_decay(0.5, 0, 0.5),
    "exponential, no rate": lambda o: o.exponential_decay(0.5, 3, 0.0),
    "exponential, begins before 0": lambda o: o.exponential_decay(0.5, 3, 0.5, -4),
    "cosine": lambda o: o.cosine_decay_schedule(2.0, 8),
    "cosine, all numbers": lambda o: o.cosine_decay_schedule(2.0, 8, 0.1, 1.5),
    "warmup": lambda o: o.warmup_cosine_decay_schedule(0.1, 1.0, 3, 10, 0.05),
    "warmup to 0": lambda o: o.warmup_cosine_decay_schedule(0.1, 0.0, 3, 10),
    "piecewise": lambda o: o.piecewise_constant_schedule(1.0, {4: 0.5, 2: 0.0, 7: 3}),
    "piecewise of nothing": lambda o: o.piecewise_constant_schedule(1.0),
    "joined": lambda o: o.join_schedules(
        [o.linear_schedule(0, 1, 3), o.constant_schedule(4.0), abs], [3, 6]
    ),
}
COUNTS = np.arange(13, dtype=np.int32)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEDULES)
def test_as_optax(name):
    theirs = jax.jit(lambda count: jnp.asarray(SCHEDULES[name](optax)(count)))
    ours = imprint.jit(lambda count: SCHEDULES[name](optim)(count))
    for count in COUNTS:
        got, want = np.asarray(ours(count)), np.asarray(theirs(count))
        assert_close(got, want, "program")
    assert ours._cache_size() == 1


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_python_count_gives_the_same(name):
    schedule = SCHEDULES[name](optim)
    for count in (0, 1, 5, 12):
        got = np.asarray(schedule(count), np.float32)
        assert_close(got, np.asarray(schedule(COUNTS[count]), np.float32), "program")


WRONG = {
    "cosine_decay_schedule: expected decay_steps above 0, got 0. "
    "For a value that stays use constant_schedule.": (
        lambda: optim.cosine_decay_schedule(1.0, 0)
    ),
    "piecewise_constant_schedule: expected factors of at least 0, got {3: -1.0}. "
    "To change the sign, use scale.": (
        lambda: optim.piecewise_constant_schedule(1.0, {3: -1.0})
    ),
    "join_schedules: expected one boundary less than schedules, got 2 for 2. "
    "Give the count at which each schedule but the first begins.": (
        lambda: optim.join_schedules([abs, abs], [1, 2])
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_error_messages(message):
    with pytest.raises(ArgumentError) as caught:
        WRONG[message]()
    assert str(caught.value) == message
