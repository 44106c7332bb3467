"""What a report of a bug needs: versions, devices, and whether the native core is loaded.

It asks the engine for its devices, which starts it if nothing has yet.
"""

import platform
from importlib.metadata import version

import numpy as np

from imprint._src import native, runtime


def environment() -> dict[str, str]:
    """Return what this process runs on, for reports.

    Returns:
        A line for each of "imprint", "python", "jaxlib", "numpy", "platform", "devices",
        "native core": whether warm calls run in C, or why they run in Python, and "kernels":
        whether programs call native kernels, or why XLA computes everything.

    Example:
        >>> import imprint
        >>> from imprint import debug
        >>> debug.environment()["imprint"] == imprint.__version__
        True
    """
    devices = [str(device) for device in runtime.devices()]
    return {
        "imprint": version("imprint"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "jaxlib": version("jaxlib"),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "devices": ", ".join(devices),
        "native core": native.status,
        "kernels": runtime.kernels_status(),
    }
