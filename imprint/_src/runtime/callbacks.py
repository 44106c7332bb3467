"""Programs that call back into Python.

The engine calls a function of the host with NumPy arrays of its own, and does not check
its results: one of another shape or dtype ends the process or gives garbage. So these
functions check their own results. An exception would reach the caller as text in an error
of the engine; it is stored here and raised unchanged. An execution returns when it has
ended with all its effects, so the order between executions is that of the program, and the
exception is raised in the caller of the program.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from importlib import import_module
from itertools import count
from threading import get_ident
from typing import Any, Final, TypeAlias, final

from imprint._src.runtime.compat import EngineError, engine

HostFunction: TypeAlias = Callable[..., Sequence[Any]]
"""A function of NumPy arrays, and None for each token, that returns as many results."""


def parse_module(module_text: str | bytes) -> Any:
    """Return a StableHLO module as an object, which programs with callbacks need.

    The first call imports the parser, which takes 80 ms.
    """
    with _context():
        return import_module("jaxlib.mlir.ir").Module.parse(module_text)


def _context() -> Any:
    """Return a context for parsed modules, which keeps them alive; it takes 3 ms."""
    ir = import_module("jaxlib.mlir.ir")
    registry = ir.DialectRegistry()
    import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext").register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in ("stablehlo", "chlo"):
        import_module(f"jaxlib.mlir.dialects.{dialect}").register_dialect(context)
    return context


Callers: TypeAlias = dict[int, Context]
"""The context of a call, by the thread that waits for its execution."""


def host_callback(callers: Callers, function: HostFunction) -> HostFunction:
    """Return a function for the engine, which stores an exception for the caller.

    It may run in a thread of the engine, then with the settings of the last caller.
    """

    def called(*arrays: Any) -> Sequence[Any]:
        try:
            contexts = [*callers.values()] if get_ident() not in callers else ()
            if not contexts:
                return function(*arrays)
            return contexts[-1].copy().run(function, *arrays)
        except BaseException as err:
            number = next(_numbers)
            _raised[number] = err
            while len(_raised) > _KEPT:
                _raised.popitem(last=False)
            raise RuntimeError(_MARK.format(number=number)) from None

    return called


_MARK: Final = "imprint callback {number} raised"
_MARKED: Final = re.compile(_MARK.format(number=r"(\d+)"))
_KEPT: Final = 64  # the engine reports one of several that fail at once
_numbers: Final = count()
_raised: Final[OrderedDict[int, BaseException]] = OrderedDict()


def exception_of(err: Exception) -> BaseException | None:
    """Return the exception of a callback, if it is the cause of an error."""
    found = _MARKED.search(str(err))
    return None if found is None else _raised.pop(int(found[1]), None)


def waiting_execute(
    callers: Callers, execute: Callable[..., Any]
) -> Callable[..., Any]:
    """Return an `execute` of an executable that waits for all effects.

    It begins when the arguments are ready. Otherwise the engine would run it in one of its
    threads, which are as many as the CPUs: a callback that waits for another program there
    would deadlock. The thread of the caller also receives interrupts.
    """
    wait = engine.batched_block_until_ready

    def run(buffers: list[Any], with_tokens: bool = False) -> Any:  # noqa: FBT001, FBT002 - as the engine's
        me = get_ident()
        callers[me] = copy_context()
        try:
            wait(buffers)
            results = execute(buffers, True)  # noqa: FBT003 - with tokens
            token = results.consume_token()
            token.block_until_ready()
        except EngineError as err:
            failed = err
        else:
            return _Ended(results, token) if with_tokens else results
        finally:
            callers.pop(me, None)  # it is gone if a callback called the program again
        raise exception_of(failed) or failed

    return run


@final
class _Ended:
    """The results of an execution that has ended."""

    __slots__ = ("_token", "consume_with_handlers")

    def __init__(self, results: Any, token: Any) -> None:
        self._token = token
        self.consume_with_handlers: Callable[[list[Any]], list[Any]] = (
            results.consume_with_handlers
        )

    def consume_token(self) -> Any:
        """Return the token, which is ready."""
        return self._token
