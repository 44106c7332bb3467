"""Functions with compiled versions.

`jit` is the public decorator, `dispatch` the object it returns and the way of a call,
`signature` how a call is spelled, `versions` what answers it, `stages` the same way by
hand.
"""

from imprint.jit.dispatch import Jitted as Jitted
from imprint.jit.jit import jit as jit
