"""Policies: which values a checkpointed function may keep for its backward pass.

A policy is a function `(primitive, *avals, **params) -> bool` of an equation; where it says
True, the results may be saved, and are if the backward pass needs them. Policies with
arguments compare by these, so a re-created policy is equal. An offloaded value is saved
where it is: a program has one memory.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.core.primitive import Primitive
from imprint._src.errors import ArgumentError

__all__ = [
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "everything_saveable",
    "nothing_saveable",
    "offload_dot_with_no_batch_dims",
    "save_and_offload_only_these_names",
    "save_any_names_but_these",
    "save_anything_except_these_names",
    "save_from_both_policies",
    "save_only_these_names",
]

Policy = Callable[..., Any]

Saveable: Final = True
"""The answer of a policy for results that may be saved."""
Recompute: Final = False
"""The answer of a policy for results that are recomputed."""


class Offloadable(NamedTuple):
    """The answer of a policy for results that may be saved in another memory.

    Args:
        src: the memory that they are in.
        dst: the memory that they wait in.
    """

    src: str
    dst: str


def everything_saveable(*_: Any, **__: Any) -> bool:
    """Save whatever the backward pass needs, as without `checkpoint`."""
    return Saveable


def nothing_saveable(*_: Any, **__: Any) -> bool:
    """Recompute everything; the default policy of `checkpoint`."""
    return Recompute


def dots_saveable(primitive: Primitive, *_: Any, **__: Any) -> bool:
    """Save the results of matrix products, which cost the most to recompute."""
    return primitive.name in _PRODUCTS


_PRODUCTS: Final = ("dot_general", "conv_general_dilated")

checkpoint_dots = dots_saveable
"""Another name of `dots_saveable`."""


def dots_with_no_batch_dims_saveable(
    primitive: Primitive, *_: Any, **params: Any
) -> bool:
    """Save the results of matrix products without a batch axis, such as with weights."""
    if primitive.name != "dot_general":
        return Recompute
    _, (left, right) = params["dimension_numbers"]
    return not left and not right


checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable
"""Another name of `dots_with_no_batch_dims_saveable`."""


@final
@dataclass(frozen=True)
class _SavedNames:
    """Saves values by the names that `checkpoint_name` gave them.

    Args:
        names: some names.
        are_saved: whether values of these names are saved, or those of others.
    """

    names: frozenset[str]
    are_saved: bool

    def __call__(self, primitive: Primitive, *_: Any, **params: Any) -> bool:
        if primitive.name != "name":
            return Recompute
        return (params["name"] in self.names) is self.are_saved


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """Return the policy that saves values of these names, and no others.

    Args:
        names_which_can_be_saved: names given by `checkpoint_name`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint.ad_checkpoint import checkpoint_name
        >>> policy = imprint.checkpoint_policies.save_only_these_names("hidden")
        >>> def f(x):
        ...     return np.sin(checkpoint_name(np.exp(x), "hidden"))
        >>> imprint.grad(imprint.checkpoint(f, policy=policy))(0.0)
        Array(0.54030..., dtype=float32, weak_type=True)
    """
    return _SavedNames(frozenset(names_which_can_be_saved), are_saved=True)


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """Return the policy that saves values with a name, but those of these names.

    Args:
        names_not_to_save: names given by `checkpoint_name`.

    Example:
        >>> import imprint
        >>> policy = imprint.checkpoint_policies.save_any_names_but_these("large")
        >>> imprint.grad(imprint.checkpoint(lambda x: x**2, policy=policy))(3.0)
        Array(6., dtype=float32, weak_type=True)
    """
    return _SavedNames(frozenset(names_not_to_save), are_saved=False)


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """Return the policy that saves whatever the backward pass needs, as JAX's does.

    A value whose name is given is saved under the equation that computes it, which has
    no name; so the names make no difference.

    Args:
        names_not_to_save: names given by `checkpoint_name`.

    Example:
        >>> import imprint
        >>> policy = imprint.checkpoint_policies.save_anything_except_these_names("a")
        >>> imprint.grad(imprint.checkpoint(lambda x: x**2, policy=policy))(3.0)
        Array(6., dtype=float32, weak_type=True)
    """
    return everything_saveable


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Iterable[str],
    names_which_can_be_offloaded: Iterable[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """Return the policy that saves values of some names, and moves others to the host.

    An offloaded value is saved where it is: a program has one memory.

    Args:
        names_which_can_be_saved: names given by `checkpoint_name`.
        names_which_can_be_offloaded: others.
        offload_src: the memory that they are in, such as "device".
        offload_dst: the memory that they wait in, such as "pinned_host".

    Example:
        >>> import imprint
        >>> policy = imprint.checkpoint_policies.save_and_offload_only_these_names(
        ...     names_which_can_be_saved=["hidden"],
        ...     names_which_can_be_offloaded=["large"],
        ...     offload_src="device",
        ...     offload_dst="pinned_host",
        ... )
        >>> imprint.grad(imprint.checkpoint(lambda x: x**2, policy=policy))(3.0)
        Array(6., dtype=float32, weak_type=True)
    """
    saved = frozenset(names_which_can_be_saved)
    moved = frozenset(names_which_can_be_offloaded)
    if saved & moved:
        raise ArgumentError(
            "save_and_offload_only_these_names: expected each name once, got "
            f"{sorted(saved & moved)} in both. Either save a value or offload it."
        )
    return _Offloading(saved, moved, _memories(offload_src, offload_dst))


@final
@dataclass(frozen=True)
class _Offloading:
    """Saves values of some names, and those of others in another memory."""

    saved: frozenset[str]
    moved: frozenset[str]
    memories: Offloadable

    def __call__(
        self, primitive: Primitive, *_: Any, **params: Any
    ) -> bool | Offloadable:
        name = params["name"] if primitive.name == "name" else None
        return self.memories if name in self.moved else name in self.saved


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Return the policy that moves matrix products without a batch axis to the host.

    An offloaded value is saved where it is: a program has one memory.

    Args:
        offload_src: the memory that they are in, such as "device".
        offload_dst: the memory that they wait in, such as "pinned_host".

    Example:
        >>> import imprint
        >>> policies = imprint.checkpoint_policies
        >>> policy = policies.offload_dot_with_no_batch_dims("device", "pinned_host")
        >>> imprint.grad(imprint.checkpoint(lambda x: x**2, policy=policy))(3.0)
        Array(6., dtype=float32, weak_type=True)
    """
    return _OffloadingDots(_memories(offload_src, offload_dst))


@final
@dataclass(frozen=True)
class _OffloadingDots:
    """Saves matrix products without a batch axis in another memory."""

    memories: Offloadable

    def __call__(
        self, primitive: Primitive, *avals: Any, **params: Any
    ) -> bool | Offloadable:
        saves = dots_with_no_batch_dims_saveable(primitive, *avals, **params)
        return self.memories if saves else Recompute


_MEMORIES: Final = ("device", "pinned_host", "unpinned_host")


def _memories(src: str, dst: str) -> Offloadable:
    for name, memory in (("offload_src", src), ("offload_dst", dst)):
        if memory not in _MEMORIES:
            raise ArgumentError(
                f"checkpoint_policies: expected {name} to be one of {_MEMORIES}, got "
                f"{memory!r}."
            )
    return Offloadable(src, dst)


@final
@dataclass(frozen=True)
class _Either:
    """Saves the values that at least one of two policies saves."""

    first: Policy
    second: Policy

    def __call__(self, primitive: Primitive, *avals: Any, **params: Any) -> bool:
        first = self.first(primitive, *avals, **params)
        return bool(first or self.second(primitive, *avals, **params))


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Return the policy that saves the values that at least one of two saves.

    Args:
        policy_1: the one.
        policy_2: the other.

    Example:
        >>> import imprint
        >>> from imprint import checkpoint_policies as policies
        >>> policy = policies.save_from_both_policies(
        ...     policies.dots_saveable, policies.save_only_these_names("hidden")
        ... )
        >>> imprint.grad(imprint.checkpoint(lambda x: x**2, policy=policy))(3.0)
        Array(6., dtype=float32, weak_type=True)
    """
    return _Either(policy_1, policy_2)


attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
