"""Shardings: where the values of an array are, as plain data.

- `single`: which one device has all of an array, and must a computation follow?

Nothing here knows a device of the engine: a device is any value that can be hashed.
"""

from imprint.sharding.single import SingleDeviceSharding

__all__ = ["SingleDeviceSharding"]
