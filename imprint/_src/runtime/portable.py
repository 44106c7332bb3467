"""Portable artefacts: StableHLO as bytes that other releases of XLA read.

Sizes with names are dynamic shapes, which XLA refines to numbers before it compiles. The
first use imports the parser of StableHLO, which takes 80 ms.
"""

from importlib import import_module
from io import BytesIO
from typing import Any

from imprint._src.runtime.callbacks import parse_module
from imprint._src.runtime.compat import EngineError, engine


def to_portable(module_text: str) -> bytes:
    """Return a module as bytes that releases of the last month also read.

    Raises:
        EngineError: an operation has no portable form.
    """
    stablehlo = import_module("jaxlib.mlir.dialects.stablehlo")
    requirement = stablehlo.StablehloCompatibilityRequirement.WEEK_4
    target = stablehlo.get_version_from_compatibility_requirement(requirement)
    module = _read(module_text)
    with module.context:
        try:
            data: bytes = engine.mlir.serialize_portable_artifact(module, target)
        except ValueError as err:
            raise EngineError(str(err)) from err
    return data


def from_portable(data: bytes) -> str:
    """Return the text of a portable artefact.

    Raises:
        EngineError: the bytes are no artefact.
    """
    context = parse_module("module {}").context
    with context:
        try:
            return str(engine.mlir.deserialize_portable_artifact(data, context))
        except (ValueError, TypeError) as err:
            raise EngineError(str(err)) from err


def refine_sizes(module_text: str) -> str:
    """Return a module with numbers for all sizes, from those of the arguments of `main`.

    Raises:
        EngineError: a shape depends on a value.
    """
    module = _read(module_text)
    written = BytesIO()
    with module.context:
        module.operation.write_bytecode(written)
    return str(parse_module(engine.mlir.refine_polymorphic_shapes(written.getvalue())))


def _read(module_text: str) -> Any:
    try:
        return parse_module(module_text)
    except Exception as err:  # of a class of the parser
        raise EngineError(str(err)) from err


def functions_of(module_text: str) -> dict[str, str]:
    """Return the texts of a module's functions by their names."""
    found: dict[str, str] = {}
    module = _read(module_text)
    for operation in module.body.operations:
        name: Any = operation.attributes["sym_name"]
        found[name.value] = str(operation)
    return found
