"""SciPy's LAPACK on NumPy arrays, for matrix factorizations in eager evaluation.

It is the library that compiled programs call, with the same workspace, so results are equal
to the last bit, and so are signs and phases that an algorithm leaves free. NumPy's own
computes everything in float64. The library is loaded at the first routine, without the
package around it: that takes 0.02 s, `import scipy.linalg` 0.3.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.aval import DType, ShapedArray
from imprint._src.core.primitive import Avals, Values
from imprint._src.primitives.matrices import nan_of
from imprint._src.stablehlo.custom_calls import routine_name

NDArray = np.ndarray[Any, Any]
OfOne = Callable[..., Values | None]
"""`(*arrays, **params) -> arrays` of one matrix; None where LAPACK fails."""


@cache
def routine(name: str, dtype: DType) -> Callable[..., Any]:
    """Return the routine of SciPy's for a dtype, such as `dgeqrf` for `geqrf`."""
    return getattr(_library(), routine_name(name, dtype))


@cache
def _library() -> Any:
    """Return SciPy's LAPACK; if its private module has moved, the public one."""
    whole = import_module("scipy")  # it finds the libraries that it brings
    folder = Path(whole.__file__ or "").parent / "linalg"
    spec = PathFinder.find_spec(_ALONE, [str(folder)])
    if spec is None or spec.loader is None:
        return import_module("scipy.linalg.lapack")
    library = module_from_spec(spec)
    spec.loader.exec_module(library)
    return library


_ALONE: Final = "scipy.linalg._flapack"


@lru_cache(maxsize=1024)
def workspace(name: str, dtype: DType, *sizes: int, **options: int) -> tuple[int, ...]:
    """Ask a routine how much memory is best for matrices of some sizes."""
    *lengths, _ = routine(f"{name}_lwork", dtype)(*sizes, **options)
    return tuple([_length(n) for n in lengths])


def _length(answer: Any) -> int:
    """Return the length that a routine answers in its dtype: float32 may round it down."""
    single = np.asarray(answer).dtype.itemsize == np.dtype(np.float32).itemsize
    least = np.real(answer)
    return int(np.nextafter(least, np.inf, dtype=np.float32) if single else least)


def of_stack(
    aval: Callable[..., Avals], one: OfOne, ranks: Sequence[int] = (2,)
) -> Callable[..., Values]:
    """Return the `reference` that applies `one` to each matrix of a stack.

    Args:
        aval: the rule of the results.
        one: is not called with operands without elements, if the results have none.
        ranks: how many axes an operand of `one` has.
    """

    def reference(*arrays: NDArray, **params: Any) -> Values:
        is_one = arrays[0].ndim == ranks[0] and arrays[0].size > 0
        found = one(*arrays, **params) if is_one else None
        if found is not None:
            return found
        avals = [ShapedArray(x.shape, x.dtype) for x in arrays]
        outs = tuple([_failed(a) for a in aval(*avals, **params)])
        if is_one or not any(out.size for out in outs):
            return outs
        for index in np.ndindex(arrays[0].shape[: arrays[0].ndim - ranks[0]]):
            found = one(*[x[index] for x in arrays], **params)
            if found is not None:
                for out, value in zip(outs, found, strict=True):
                    out[index] = value
        return outs

    return reference


def _failed(aval: ShapedArray) -> NDArray:
    fill = nan_of(aval.dtype) if dt.is_inexact(aval.dtype) else 0
    return np.full(aval.shape, fill, aval.dtype)
