"""Layers that slide windows have the parameters, results and gradients of Equinox's."""

import numpy as np
import pytest

import imprint.numpy as inp
from imprint import nn
from imprint.errors import ArgumentError, ShapeError
from tests.lanes import exhaustive_but
from tests.units.nn.equinox_parity import OURS, numbers, same_calls

LAYERS = {
    "Conv": lambda m: m.nn.Conv(1, 2, 3, 2, key=m.key),
    "Conv1d": lambda m: m.nn.Conv1d(4, 6, 3, 2, 1, 2, 2, key=m.key),
    "Conv2d": lambda m: m.nn.Conv2d(2, 3, (3, 2), padding="SAME", key=m.key),
    "Conv2d, reflect": lambda m: m.nn.Conv2d(
        2, 3, 3, padding="same_lower", padding_mode="reflect", key=m.key
    ),
    "Conv2d, circular": lambda m: m.nn.Conv2d(
        2, 3, 3, padding=((1, 0), (2, 1)), padding_mode="CIRCULAR", key=m.key
    ),
    "Conv1d, replicate": lambda m: m.nn.Conv1d(
        2, 3, 3, padding=2, padding_mode="replicate", use_bias=False, key=m.key
    ),
    "Conv3d": lambda m: m.nn.Conv3d(2, 3, 2, dtype="float16", key=m.key),
    "ConvTranspose": lambda m: m.nn.ConvTranspose(1, 2, 3, 3, 2, 1, 1, key=m.key),
    "ConvTranspose1d": lambda m: m.nn.ConvTranspose1d(2, 4, 3, 3, 1, "SAME", key=m.key),
    "ConvTranspose1d, circular": lambda m: m.nn.ConvTranspose1d(
        2, 4, 3, 2, 0, "SAME_LOWER", padding_mode="CIRCULAR", key=m.key
    ),
    "ConvTranspose2d": lambda m: m.nn.ConvTranspose2d(
        4, 2, (2, 3), 2, 1, ((0, 1), (1, 0)), 2, 2, key=m.key
    ),
    "ConvTranspose3d": lambda m: m.nn.ConvTranspose3d(
        2, 1, 2, padding="VALID", key=m.key
    ),
    "Pool": lambda m: m.nn.Pool(1.0, lambda x, y: x * y, 1, 2),
    "AvgPool1d": lambda m: m.nn.AvgPool1d(3, 2, 1),
    "AvgPool2d": lambda m: m.nn.AvgPool2d((2, 3), (2, 1), ((1, 0), (1, 1))),
    "AvgPool3d": lambda m: m.nn.AvgPool3d(2, use_ceil=True, stride=2),
    "MaxPool1d": lambda m: m.nn.MaxPool1d(2, 2, use_ceil=True),
    "MaxPool2d": lambda m: m.nn.MaxPool2d(3, 2, 1),
    "MaxPool3d": lambda m: m.nn.MaxPool3d(2, 1, (0, 1, 1)),
    "AdaptivePool": lambda m: m.nn.AdaptivePool(3, 1, m.np.min),
    "AdaptiveAvgPool1d": lambda m: m.nn.AdaptiveAvgPool1d(2),
    "AdaptiveAvgPool2d": lambda m: m.nn.AdaptiveAvgPool2d((2, 3)),
    "AdaptiveAvgPool3d": lambda m: m.nn.AdaptiveAvgPool3d(2),
    "AdaptiveMaxPool1d": lambda m: m.nn.AdaptiveMaxPool1d(5),
    "AdaptiveMaxPool2d": lambda m: m.nn.AdaptiveMaxPool2d((3, 2)),
    "AdaptiveMaxPool3d": lambda m: m.nn.AdaptiveMaxPool3d((1, 2, 3)),
}
OFTEN = "Conv1d", "Conv2d, circular", "ConvTranspose1d", "AvgPool2d", "MaxPool1d"
OFTEN += ("AdaptiveMaxPool2d",)


@pytest.mark.slow
@pytest.mark.parametrize("name", exhaustive_but(OFTEN, LAYERS))
def test_a_layer_as_equinox(name):
    layer = LAYERS[name](OURS)
    count = getattr(layer, "num_spatial_dims", len(getattr(layer, "target_shape", ())))
    channels = getattr(layer, "in_channels", 2)
    dtype = "float16" if name == "Conv3d" else "float32"
    x = numbers(channels, *(5, 6, 4)[:count], dtype=dtype)
    same_calls(LAYERS[name], lambda f, x: f(x), x)


REFUSED = [
    (
        lambda: nn.Conv2d(3, 4, 3, groups=2, key=OURS.key),
        "Conv2d: expected in_channels that groups divide, got in_channels=3 and groups=2.",
    ),
    (
        lambda: nn.Conv2d(3, 4, (3, 3, 3), key=OURS.key),
        "Conv2d: expected kernel_size as one number, or 2 of them, got (3, 3, 3).",
    ),
    (
        lambda: nn.Conv1d(3, 4, 3, padding="SOME", key=OURS.key),
        "Conv1d: expected padding SAME, SAME_LOWER, VALID, numbers or pairs, got 'SOME'.",
    ),
    (
        lambda: nn.Conv1d(3, 4, 3, padding=((1, 2, 3),), key=OURS.key),
        "Conv1d: expected padding as a number, or a number or a pair for each of 1 axes, "
        "got ((1, 2, 3),).",
    ),
    (
        lambda: nn.Conv1d(3, 4, 3, padding_mode="some", key=OURS.key),
        "Conv1d: expected a padding_mode of ['ZEROS', 'REFLECT', 'REPLICATE', "
        "'CIRCULAR'], got 'some'.",
    ),
    (
        lambda: nn.ConvTranspose1d(3, 4, 3, 2, 2, key=OURS.key),
        "ConvTranspose1d: expected output_padding less than the stride, got (2,) and (2,).",
    ),
    (
        lambda: nn.ConvTranspose1d(3, 4, 3, padding_mode="CIRCULAR", key=OURS.key),
        "ConvTranspose1d: expected padding_mode 'ZEROS', or 'CIRCULAR' with padding 'SAME' "
        "or 'SAME_LOWER' and no output_padding, got padding_mode='CIRCULAR', "
        "padding=((0, 0),) and output_padding=(0,).",
    ),
    (
        lambda: nn.MaxPool1d(2, 1, 3)(inp.ones((1, 4))),
        "MaxPool1d: expected padding of no more than kernel_size, got padding=((3, 3),) "
        "and kernel_size=(2,).",
    ),
]


@pytest.mark.parametrize(("make", "said"), REFUSED)
def test_error_messages(make, said):
    with pytest.raises(ArgumentError) as caught:
        make()
    assert str(caught.value) == said


def test_the_error_of_a_batch():
    batch = np.ones((8, 3, 5, 5), "f4")
    with pytest.raises(ShapeError) as caught:
        nn.Conv2d(3, 4, 3, key=OURS.key)(batch)
    assert str(caught.value) == (
        "Conv2d: expected one example of 3 channels and 2 further axes, got "
        "float32[8,3,5,5]. For a batch write imprint.vmap(layer)(x)."
    )
    with pytest.raises(ShapeError) as caught:
        nn.AvgPool2d(2)(batch)
    assert str(caught.value) == (
        "AvgPool2d: expected one example of channels and 2 further axes, got "
        "float32[8,3,5,5]. For a batch write imprint.vmap(layer)(x)."
    )
