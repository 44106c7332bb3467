"""The digits are learnt alike on one device and on eight, and a difference is told."""

from dataclasses import replace

import pytest

from imprint._src.cli.devices import learn_shared
from imprint._src.cli.tour import disparities


@pytest.mark.slow
def test_eight_devices_learn_what_one_does():
    pytest.importorskip("sklearn")
    shares = learn_shared(8)
    assert (shares.devices, shares.versions) == (8, 2)
    assert shares.alone[-1] < shares.alone[0]
    assert not [*disparities(shares)]
    (said,) = disparities(replace(shares, split=[x * 2 for x in shares.split]))
    assert said.startswith("Losses differ by ")
    (said,) = disparities(replace(shares, copies=False))
    assert said == "Each device has its share of a batch, and a copy of the network"
