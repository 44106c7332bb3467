"""The stages of a compilation, under the names of `jax.stages`.

To write types with, and to ask `isinstance`: the objects themselves come from
`jit(f).trace(...)`, `.lower(...)` and `.compile()`.
"""

from imprint.jitted.stages import ArgInfo as ArgInfo
from imprint.jitted.stages import Compiled as Compiled
from imprint.jitted.stages import CompilerOptions as CompilerOptions
from imprint.jitted.stages import Lowered as Lowered
from imprint.jitted.stages import Traced as Traced
from imprint.jitted.stages import Wrapped as Wrapped
