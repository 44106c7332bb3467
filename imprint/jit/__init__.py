"""`jit`: functions with compiled versions."""

from imprint.jit.dispatch import Jitted as Jitted
from imprint.jit.jit import jit as jit
