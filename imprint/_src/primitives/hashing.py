"""Threefry-2x32 on the host: the constants, and the hash of integers and NumPy arrays.

`imprint._src.random.threefry` writes the same hash as equations.
"""

from typing import Any, Final

ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
"""By how many bits the four rounds of even and of odd groups rotate."""
PARITY: Final = 0x1BD11BDA
"""The constant of the third word of the key schedule."""
MASK: Final = 0xFFFFFFFF


def threefry2x32(key1: int, key2: int, x1: Any, x2: Any) -> tuple[Any, Any]:
    """Hash counter words: two integers, or two arrays of unsigned integers."""
    schedule = (key1, key2, key1 ^ key2 ^ PARITY)
    x1, x2 = (x1 + key1) & MASK, (x2 + key2) & MASK
    for group in range(5):
        for distance in ROTATIONS[group % 2]:
            x1 = (x1 + x2) & MASK
            x2 = ((x2 << distance) & MASK | x2 >> (32 - distance)) ^ x1
        late = (schedule[(group + 2) % 3] + group + 1) & MASK
        x1, x2 = (x1 + schedule[(group + 1) % 3]) & MASK, (x2 + late) & MASK
    return x1, x2
