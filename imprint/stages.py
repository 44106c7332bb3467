"""The stages of a compilation, with the names of `jax.stages`.

They are for annotations and `isinstance`: `jit(f).trace(...)`, `.lower(...)` and
`.compile()` return the objects.
"""

from imprint._src.jit.compiled_stages import ArgInfo as ArgInfo
from imprint._src.jit.compiled_stages import Compiled as Compiled
from imprint._src.jit.compiled_stages import CompilerOptions as CompilerOptions
from imprint._src.jit.compiled_stages import Lowered as Lowered
from imprint._src.jit.stages import Traced as Traced
from imprint._src.jit.stages import Wrapped as Wrapped
