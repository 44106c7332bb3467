"""Custom calls: kernels of LAPACK in XLA, native kernels, and functions of the host.

A kernel is named by its routine and the letter of a dtype, `lapack_dpotrf_ffi`. It
takes stacks: leading axes are those of the stack, and matrices are in column-major
order, as in Fortran. `runtime.lapack` loads them, `runtime.kernels` the native ones.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from imprint._src.stablehlo.builder import Builder
from imprint._src.stablehlo.types import (
    TOKEN,
    DType,
    TensorType,
    Value,
    list_text,
    names_of,
    signature,
)

LETTERS: Final[dict[str, str]] = {
    "float32": "s",
    "float64": "d",
    "complex64": "c",
    "complex128": "z",
}
"""By the names of the dtypes that LAPACK has, how its routines begin."""


def lapack_call(
    b: Builder,
    routine: str,
    operands: Sequence[Value],
    results: Sequence[TensorType],
    **more: Any,
) -> tuple[Value, ...]:
    """Call a routine of LAPACK's.

    Args:
        b: the builder of the function.
        routine: without its letter, such as `potrf`: see `routine_name`.
        operands: its arguments.
        results: the types of its results, with the status of LAPACK among them.
        **more: as for `kernel_call`.
    """
    name = routine_name(routine, operands[0].dtype)
    return kernel_call(b, f"lapack_{name}_ffi", operands, results, **more)


def kernel_call(  # noqa: PLR0913 - one parameter a part of the call
    b: Builder,
    kernel: str,
    operands: Sequence[Value],
    results: Sequence[TensorType],
    *,
    stack: int,
    config: Mapping[str, str | int] | None = None,
    aliases: Mapping[int, int] | None = None,
) -> tuple[Value, ...]:
    """Call a kernel that the engine has for linear algebra.

    Args:
        b: the builder of the function.
        kernel: its whole name.
        operands: its arguments.
        results: the types of its results.
        stack: how many leading axes each operand and result has for the stack.
        config: its options: a letter such as "L", or an int32, or a bool.
        aliases: by operand, the result that may take its memory: it is overwritten.
    """
    sized = ""
    if not all(t.is_static for t in results):
        taken = [*range(len(operands), len(operands) + len(results))]
        operands = [*operands, *(b.vector(t.shape) for t in results)]
        indices = f"dense<{list_text(taken)}> : tensor<{len(taken)}xi64>"
        sized = f", indices_of_shape_operands = {indices}"
    options = ", ".join(f"{k} = {_option(v)}" for k, v in (config or {}).items())
    takes = ", ".join([_layout(x.type, stack) for x in operands])
    gives = ", ".join([_layout(t, stack) for t in results])
    shared = ", ".join(
        "#stablehlo.output_operand_alias<output_tuple_indices = "
        f"{list_text([result] if len(results) > 1 else [])}, "
        f"operand_index = {operand}, operand_tuple_indices = []>"
        for operand, result in (aliases or {}).items()
    )
    return b.ops(
        f"stablehlo.custom_call @{kernel}({names_of(operands)}) "
        f"{{api_version = 4 : i32, backend_config = {{{options}}}, "
        f"operand_layouts = [{takes}], result_layouts = [{gives}], "
        f"output_operand_aliases = [{shared}]{sized}}}",
        results,
        signature(operands, results),
    )


def routine_name(routine: str, dtype: DType) -> str:
    """Return the name of a routine for a dtype: it begins with the dtype's letter.

    A routine for symmetric or orthogonal matrices (`syevd`, `orgqr`) is of complex numbers
    that for Hermitian or unitary ones (`zheevd`, `zungqr`).
    """
    letter = LETTERS[dtype.name]
    if letter in "cz":
        kind = routine[:2]
        routine = {"sy": "he", "or": "un"}.get(kind, kind) + routine[2:]
    return letter + routine


def _option(value: str | int) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{ord(value)} : ui8" if isinstance(value, str) else f"{value} : i32"


def _layout(type: TensorType, stack: int) -> str:  # noqa: A002 - MLIR's word
    """Return the order of axes in memory, the nearest first."""
    order = list(reversed(range(len(type.shape))))
    if len(order) - stack == 2:
        order[:2] = order[1::-1]
    return f"dense<{list_text(order) if order else ''}> : tensor<{len(order)}xindex>"


def native_call(
    b: Builder, kernel: str, operands: Sequence[Value], results: Sequence[TensorType]
) -> tuple[Value, ...]:
    """Call a native kernel, if the module may.

    Args:
        b: the builder of the function.
        kernel: its name in `native/kernels/kernels.cc`, such as `argmax`.
        operands: its arguments.
        results: the types of its results.
    """
    assert b.module.has_kernels
    takes = ", ".join([_row_major(x.type) for x in operands])
    gives = ", ".join(map(_row_major, results))
    return b.ops(
        f"stablehlo.custom_call @imprint_kernel_{kernel}({names_of(operands)}) "
        f"{{api_version = 4 : i32, operand_layouts = [{takes}], "
        f"result_layouts = [{gives}]}}",
        results,
        signature(operands, results),
    )


def host_call(
    b: Builder,
    function: Callable[..., Any],
    operands: Sequence[Value],
    results: Sequence[TensorType],
    *,
    effect: bool,
) -> tuple[Value, ...]:
    """Call a function of the host.

    Args:
        b: the builder of the function.
        function: takes NumPy arrays, and None for a token; returns a sequence of
            as many results, which it has checked: the engine does not.
        operands: its arguments, tokens too.
        results: the types of its results.
        effect: whether it is called even if nothing uses them.
    """
    index = len(b.module.callbacks)
    b.module.callbacks.append(function)
    takes = ", ".join([_row_major(x.type) for x in operands])
    gives = ", ".join(map(_row_major, results))
    return b.ops(
        f"stablehlo.custom_call @xla_ffi_python_cpu_callback({names_of(operands)}) "
        f"{{api_version = 4 : i32, has_side_effect = {str(effect).lower()}, "
        f"backend_config = {{index = {index} : ui64}}, "
        f"operand_layouts = [{takes}], result_layouts = [{gives}]}}",
        results,
        signature(operands, results),
    )


def _row_major(type: TensorType) -> str:  # noqa: A002 - MLIR's word
    """Return the layout of NumPy arrays: the last axis is the nearest in memory."""
    ndim = 0 if type is TOKEN else len(type.shape)
    order = list_text(range(ndim - 1, -1, -1)) if ndim else ""
    return f"dense<{order}> : tensor<{ndim}xindex>"
