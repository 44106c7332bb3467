"""What `jax.scipy` has of SciPy, on arrays and tracers: `import imprint.scipy as scipy`.

The packages load when they are first asked for.

- `linalg`: how are systems solved, and functions of matrices computed?
- `fft`: how are arrays transformed to cosines and back?
- `optimize`: where is a function least?
- `ndimage`: what is the value of an image between its elements?
- `special`: what are the special functions?
- `signal`: what are the functions of signals?
- `integrate`: what is the area under points?
- `stats`: what are the distributions?
- `sparse`: how is a system solved that is known by its products?
- `interpolate`: what is a value between the points of a grid?
- `cluster`: which code is nearest?
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

_LATER: typing.Final[dict[str, str]] = {
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
"""Which module holds the names that load when they are first asked for."""

lazy_attributes.load_later(__name__, _LATER)
