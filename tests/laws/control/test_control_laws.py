"""Every control primitive obeys every law of control primitives."""

import pytest

from imprint._src.control_flow import ALL
from tests.laws.control.guests import GUESTS
from tests.laws.control.laws import LAWS

pytestmark = pytest.mark.slow


@pytest.mark.sampled(4)
@pytest.mark.parametrize("guest", GUESTS, ids=str)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_control_law(law, guest):
    law(guest)


def test_every_control_primitive_is_a_guest():
    assert {guest.primitive for guest in GUESTS} == {*ALL}
