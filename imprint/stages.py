"""The stages of a compilation, under the names of `jax.stages`.

For annotations and `isinstance`. `jit(f).trace(...)`, `.lower(...)` and `.compile()` create
the objects.
"""

from imprint._src.jit.compiled_stages import ArgInfo as ArgInfo
from imprint._src.jit.compiled_stages import Compiled as Compiled
from imprint._src.jit.compiled_stages import CompilerOptions as CompilerOptions
from imprint._src.jit.compiled_stages import Lowered as Lowered
from imprint._src.jit.stages import Traced as Traced
from imprint._src.jit.stages import Wrapped as Wrapped
