"""A call that needs a trace or a version of a function.

It knows the function and its static values, which are the roots of what a trace reads.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from imprint._src.jit.calls.key import Pending
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.tracing import held_by
from imprint._src.jit.versions.definitions import Definition
from imprint._src.jit.versions.version import Version


class Request(NamedTuple):
    """A call, its function, and the definition that answers it."""

    fun: Callable[..., Any]
    options: JitOptions
    definition: Definition
    pending: Pending

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.definition.signature.function_name

    @property
    def roots(self) -> tuple[Any, ...]:
        """The function and its static values: what a trace depends on begins there."""
        return self.fun, *(value for _, value in held_by(self.pending.call))


def answer_of_kin(request: Request) -> Version | None:
    """Return the version of an equal function that answers a call, for this one."""
    definition, key = request.definition, request.pending.key
    kin = definition.kin
    if not kin.versions.current:
        return None
    found = kin.version(key, request.roots, request.name)
    if found is not None and not found.traced.dependencies.calls_static:
        found.stand_in(definition.versions, key)
    return found
