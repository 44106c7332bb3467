"""Programs that call back into Python: how they are compiled and executed.

The engine calls a function of the host with NumPy arrays of its own, and takes what it
returns unchecked: a result of another shape or dtype ends the process or gives garbage.
So what comes here checks its own results. An exception would reach the caller as a text
in the engine's error; here it is kept, and raised as it was. The execution has ended, with
all its effects, when it returns: so the order between executions is that of the program,
and the caller of a program is who gets the exception.
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
"""Takes NumPy arrays, and a None in the place of each token; returns as many results."""


def parse_module(module_text: str | bytes) -> Any:
    """Return a StableHLO module as the object that programs with callbacks are made of.

    The first time it imports what parses, which takes 80 ms.
    """
    with _context():
        return import_module("jaxlib.mlir.ir").Module.parse(module_text)


def _context() -> Any:
    """Return a context, which holds what is parsed in it for as long as it is; 3 ms."""
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
"""By the thread that waits for an execution, the context of its call."""


def host_callback(callers: Callers, function: HostFunction) -> HostFunction:
    """Return what the engine calls: it keeps what the function raises for the caller.

    It may run in a thread of the engine's, then with the flags of who called last.
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
_KEPT: Final = 64  # of callbacks that fail side by side the engine tells of one
_numbers: Final = count()
_raised: Final[OrderedDict[int, BaseException]] = OrderedDict()


def exception_of(err: Exception) -> BaseException | None:
    """Return what a callback raised, if that is what failed."""
    found = _MARKED.search(str(err))
    return None if found is None else _raised.pop(int(found[1]), None)


def waiting_execute(
    callers: Callers, execute: Callable[..., Any]
) -> Callable[..., Any]:
    """Return an executable's `execute` that returns when all effects have happened.

    It begins when the arguments are there. Else the engine would hand it to a thread of
    its own, of which it has as many as there are CPUs: a callback there that waits for
    another program would wait for itself. In the caller's thread interrupts are heard.
    """
    wait = engine.batched_block_until_ready

    def run(buffers: list[Any], with_tokens: bool = False) -> Any:  # noqa: FBT001, FBT002 - the engine's
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
    """The results of an execution whose token was waited for."""

    __slots__ = ("_token", "consume_with_handlers")

    def __init__(self, results: Any, token: Any) -> None:
        self._token = token
        self.consume_with_handlers: Callable[[list[Any]], list[Any]] = (
            results.consume_with_handlers
        )

    def consume_token(self) -> Any:
        """Return the token, which is ready."""
        return self._token
