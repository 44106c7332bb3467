"""Array functions that also accept arrays of PRNG keys.

A function that only moves elements applies to keys as to each of their words, so it is
mapped over the words. This is tried when the function rejects its operands; other calls
take 140 ns longer. Functions that compute or fill with numbers do not accept keys:
words of keys are not numbers.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from imprint._src.config import settings
from imprint._src.core.trace import current_trace
from imprint._src.diagnostics.traceback_filter import drop_internal_frames
from imprint._src.errors import ArgumentError, AxisError, ShapeError
from imprint._src.interpreters import vmap
from imprint._src.primitives import key_uses
from imprint._src.tree import internal as tree

P = ParamSpec("P")
T = TypeVar("T")


def accepts_keys(*operands: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator of a function that only moves the elements of operands.

    Args:
        operands: their positions; each may be an array or a sequence of arrays.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def of_keys_too(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return function(*args, **kwargs)
            except (ShapeError, AxisError) as err:
                drop_internal_frames(err)
                raise
            except ArgumentError as err:
                refused = err
                given = {i: args[i] for i in operands if i < len(args)}
                arrays = tree.leaves(given, is_leaf=_is_keys)
                if not arrays or not all(map(_is_keys, arrays)):
                    drop_internal_frames(err)
                    raise

            if len({x.dtype for x in arrays}) > 1:
                raise ArgumentError(
                    f"{function.__name__}: expected keys of one implementation, got "
                    f"{' and '.join(sorted({str(x.dtype) for x in arrays}))}. Make them "
                    "with one impl."
                )

            def of_words(words: dict[int, Any]) -> Any:
                each = [words.get(i, x) for i, x in enumerate(args)]
                return function(*each, **kwargs)  # pyright: ignore[reportCallIssue] - as many as it was given

            words = tree.map(_words, given, is_leaf=_is_keys)
            moved = vmap.vmap(of_words, in_axes=-1, out_axes=-1)(words)
            if any(x.dtype != arrays[0].data.dtype for x in tree.leaves(moved)):
                raise refused  # the caller requested another dtype
            if settings().debug_key_reuse and current_trace() is None:
                _follow(of_words, words, moved)
            return tree.map(arrays[0].dtype.of_words, moved)

        return of_keys_too

    return decorated


def _follow(of_words: Callable[[Any], Any], words: Any, moved: Any) -> None:
    """Make the keys of moved words known, by moving their places."""
    leaves, treedef = tree.flatten(words)
    known: list[Any] = [key_uses.keys_in(x).each[..., 0] for x in leaves]
    each: Any = np.concatenate([x.reshape(-1) for x in known])
    stops = [int(stop) for stop in np.cumsum([x.size for x in known])]
    places: list[Any] = [
        np.arange(stop - x.size, stop, dtype=np.int32).reshape(x.shape)
        for x, stop in zip(known, stops, strict=True)
    ]
    taken = tree.leaves(of_words(treedef.unflatten(places)))
    for x, at in zip(tree.leaves(moved), taken, strict=True):
        possible = (each[i] for i in np.asarray(at).flat for _ in range(x.shape[-1]))
        filled = key_uses.filled(x.shape, possible)
        key_uses.set_keys(x, key_uses.Keys(x.shape, filled))


def compares_keys(
    of_keys: Callable[[Any, Any], Any],
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator of a comparison, which then accepts two arrays of keys.

    Args:
        of_keys: compares them.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def of_keys_too(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return function(*args, **kwargs)
            except ArgumentError as err:
                one, two, *_ = *args, None, None
                if not (_is_keys(one) and _is_keys(two)):
                    drop_internal_frames(err)
                    raise
            return of_keys(one, two)

        return of_keys_too

    return decorated


def _is_keys(x: Any) -> bool:
    return vmap.hidden_axes(x) > 0


def _words(keys: Any) -> Any:
    return keys.data
