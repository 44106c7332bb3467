"""How arrays are shown: NumPy's own functions, which take arrays, and its options.

The options hold for `repr` of arrays too. `iterable` tells of any object whether a loop
takes it.
"""

from typing import Final

import numpy as np

array_repr: Final = np.array_repr
array_str: Final = np.array_str
get_printoptions: Final = np.get_printoptions
set_printoptions: Final = np.set_printoptions
printoptions: Final = np.printoptions
iterable: Final = np.iterable
