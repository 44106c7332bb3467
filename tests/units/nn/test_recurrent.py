import pytest

from tests.units.nn.equinox_parity import numbers, same_calls

SIZES = 3, 4
OPTIONS = {"bias": {}, "no bias": {"use_bias": False}}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_gru_as_equinox(name):
    def steps(cell, xs, hidden):
        for x in xs:
            hidden = cell(x, hidden)
        return hidden

    same_calls(
        lambda m: m.nn.GRUCell(*SIZES, key=m.key, **OPTIONS[name]),
        steps,
        numbers(3, 3),
        numbers(4, seed=1),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_lstm_as_equinox(name):
    def steps(cell, xs, hidden, memory):
        for x in xs:
            hidden, memory = cell(x, (hidden, memory))
        return hidden, memory

    same_calls(
        lambda m: m.nn.LSTMCell(*SIZES, key=m.key, **OPTIONS[name]),
        steps,
        numbers(3, 3),
        numbers(4, seed=1),
        numbers(4, seed=2),
    )
