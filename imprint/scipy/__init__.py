"""The functions of `jax.scipy`, on arrays and tracers: `import imprint.scipy as scipy`.

The packages load lazily.
"""

import typing

from imprint._src.bootstrap import lazy_attributes

if typing.TYPE_CHECKING:
    from imprint.scipy import cluster as cluster
    from imprint.scipy import fft as fft
    from imprint.scipy import integrate as integrate
    from imprint.scipy import interpolate as interpolate
    from imprint.scipy import linalg as linalg
    from imprint.scipy import ndimage as ndimage
    from imprint.scipy import optimize as optimize
    from imprint.scipy import signal as signal
    from imprint.scipy import sparse as sparse
    from imprint.scipy import special as special
    from imprint.scipy import stats as stats

_LAZY: typing.Final[dict[str, str]] = {
    "imprint.scipy.cluster": "",
    "imprint.scipy.integrate": "",
    "imprint.scipy.interpolate": "",
    "imprint.scipy.linalg": "",
    "imprint.scipy.fft": "",
    "imprint.scipy.ndimage": "",
    "imprint.scipy.optimize": "",
    "imprint.scipy.signal": "",
    "imprint.scipy.sparse": "",
    "imprint.scipy.special": "",
    "imprint.scipy.stats": "",
}
"""The names that load lazily, by module."""

lazy_attributes.load_lazily(__name__, _LAZY)
