"""Functions with compiled versions.

- `jit`: what does the decorator accept?
- `filter_jit`: the same, for functions of models and settings?
- `dispatch`: which way does a call take through the object that `jit` returns?
- `bound`: what is a method, or a model that can be called?
- `compiling`: how does a call without a version get one?
- `report`: what can a user ask of the versions of a function?
- `stages`: how is the same done by hand: Traced, Lowered, Compiled?
- `make_jaxpr`: what does a function look like, without running it?
"""

from imprint.jitted.dispatch import Jitted as Jitted
from imprint.jitted.jit import jit as jit
