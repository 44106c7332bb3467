import pytest

from imprint._src.sharding.single import Uncommitted, common
from imprint.errors import ArgumentError
from imprint.sharding import SingleDeviceSharding

ONE, TWO = SingleDeviceSharding("cpu:0"), SingleDeviceSharding("cpu:1")


def test_a_sharding_is_plain_data():
    assert SingleDeviceSharding("cpu:0") == ONE != TWO
    assert len({ONE, TWO, SingleDeviceSharding("cpu:1")}) == 2
    assert repr(ONE) == "SingleDeviceSharding(device='cpu:0')"
    assert ONE.device_set == {"cpu:0"}
    assert ONE.num_devices == 1
    assert ONE.is_fully_replicated
    assert Uncommitted("cpu:0") != ONE


@pytest.mark.parametrize(
    ("placements", "found"),
    [
        ([], None),
        ([None, None], None),
        ([None, Uncommitted("cpu:1")], None),
        ([Uncommitted("cpu:1"), ONE, None, ONE], ONE),
    ],
)
def test_committed_arrays_decide(placements, found):
    assert common("f", enumerate(placements)) == found


def test_committed_arrays_must_agree():
    with pytest.raises(ArgumentError) as caught:
        common("f", [("x", ONE), ("n", None), ("y", TWO)])
    assert str(caught.value) == (
        "f: expected committed arrays on one device, got x on cpu:0 and y on cpu:1. Put "
        "them on one with imprint.device_put(x, device); what was made without a device "
        "follows by itself."
    )
