import pytest

import imprint
from imprint.errors import ArgumentError


def test_a_mesh_has_the_first_devices():
    mesh = imprint.make_mesh((1, 1), ("x", "y"))
    assert mesh.devices[0, 0] is imprint.devices()[0]
    assert mesh == imprint.make_mesh((1, 1), ["x", "y"], devices=imprint.devices()[:1])


@pytest.mark.parametrize(
    ("sizes", "devices", "text"),
    [
        (
            (1000,),
            None,
            "make_mesh: expected 1000 devices for the axis_shapes (1000,), got {}. Make "
            "the mesh smaller, or start with more: IMPRINT_NUM_CPU_DEVICES=1000.",
        ),
        (
            (2,),
            imprint.devices()[:1],
            "make_mesh: expected 2 devices for the axis_shapes (2,), got 1. Give as many "
            "devices.",
        ),
        (
            (0,),
            None,
            "make_mesh: expected positive ints as axis_shapes, got (0,). Write "
            "make_mesh((4, 2), ('data', 'model')).",
        ),
    ],
)
def test_devices_must_be_enough(sizes, devices, text):
    with pytest.raises(ArgumentError) as caught:
        imprint.make_mesh(sizes, ("x",), devices=devices)
    assert str(caught.value) == text.format(imprint.device_count())
