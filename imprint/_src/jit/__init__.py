"""What a compiled function is made of.

- `guards`: when does a compiled version still answer a call?
"""

# MERGE
"""Functions with compiled versions.

- `jit`: what does the decorator accept?
- `filter_jit`: how are functions of models and settings compiled?
- `dispatch`: which way does a call take through the object that `jit` returns?
- `typed`: what do type checkers see of a compiled function?
- `binding`: which definition answers a function as it is now?
- `bound`: what is a method, or a model that can be called?
- `answering`: what answers a call that the warm path does not know?
- `in_bucket`: how is a call answered by the program that lengths share?
- `trial`: when do programs for buckets answer, though nobody named axes?
- `compiling`: how does a call without a version get one?
- `request`: what does a call without a version ask for?
- `warm_start`: how does a call get what another process has traced?
- `warm_bucket`: how does a call whose sizes have names?
- `loading`: what is a version that nobody has traced?
- `audit`: is a hit what a fresh trace gives?
- `sameness`: do two traces give the same program and the same result?
- `report`: what can a user ask of the versions of a function?
- `replaying`: which program and values does a replay step through?
- `stages`: how is a call traced, lowered and compiled by hand?
- `ahead`: what of it is left out, if another process has done it?
- `any_size`: what are the stages of a call whose sizes have names?
- `fwd_and_bwd`: what are a function and its pullback as compiled functions?
- `make_jaxpr`: what does a function look like, without running it?
"""

from imprint._src.jit.api import jit as jit
from imprint._src.jit.dispatch import Jitted as Jitted
