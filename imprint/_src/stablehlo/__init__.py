"""StableHLO text: types, values and the builder that writes modules.

This package knows the dialect and nothing of tracers: `transforms.lowering` walks a
jaxpr and each primitive's `lower` rule calls the builder.

- `types`: what are the types and values that a line refers to?
- `builder`: how are modules, functions and structured operations written?
- `rearranging`: how are operations written that move or convert elements?
- `windows`: how are operations written that slide a window?
- `elementwise`: how are elementwise operations written?
- `sized`: how are operations written whose sizes are names?
- `indexed`: how are windows read and written at places that are data?
- `ordered`: how are operations written that compare elements by a region?
- `lapack`: how is a call of LAPACK written?
- `mesh`: which axes has the mesh that a program runs on?
- `collectives`: how is written what the devices of a mesh do together?
"""

from imprint._src.stablehlo.builder import Builder as Builder
from imprint._src.stablehlo.builder import ModuleWriter as ModuleWriter
from imprint._src.stablehlo.builder import Region as Region
from imprint._src.stablehlo.types import TOKEN as TOKEN
from imprint._src.stablehlo.types import TensorType as TensorType
from imprint._src.stablehlo.types import Value as Value
from imprint._src.stablehlo.types import literal as literal
from imprint._src.stablehlo.types import tensor as tensor
