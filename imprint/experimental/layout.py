"""The layouts of arrays in memory, which the compiler chooses."""

from imprint._src.bootstrap import attribute_errors
from imprint._src.sharding.layout import DeviceLocalLayout as Layout
from imprint._src.sharding.layout import Format as Format

__all__ = ["Format", "Layout"]

attribute_errors.explain_missing(__name__)
