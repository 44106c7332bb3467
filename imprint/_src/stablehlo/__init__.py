"""StableHLO text: types, values and the builder that writes modules.

This package knows the dialect and nothing of tracers: `interpreters.lowering` walks a
jaxpr, and each primitive's `lower` rule calls the builder.

- `types`: tensor types, SSA values and literals
- `module`: the module, its functions and its mesh
- `builder`: the builder of a function, with elementwise and shape operations
- `reductions`: reductions by a region, contraction, sorting
- `windows`: convolution and operations on sliding windows
- `indexed`: windows read and written at traced positions
- `custom_calls`: calls of LAPACK and of Python callbacks
- `collectives`: communication among the devices of a mesh
"""

from imprint._src.stablehlo.builder import Builder as Builder
from imprint._src.stablehlo.builder import Region as Region
from imprint._src.stablehlo.module import ModuleWriter as ModuleWriter
from imprint._src.stablehlo.types import TOKEN as TOKEN
from imprint._src.stablehlo.types import TensorType as TensorType
from imprint._src.stablehlo.types import Value as Value
from imprint._src.stablehlo.types import literal as literal
from imprint._src.stablehlo.types import tensor as tensor
