"""Versions: the compiled forms of one function, one for each kind of call.

A `Version` is a traced call with its executable, laid out for the warm path: what the
path needs are plain attributes, and `take` is None when every argument is passed on as
it came. A version that donates consumes the arrays it was given: they lose their values
and remember who took them.
"""

from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np

from imprint import tree
from imprint.array import ArrayImpl, from_host, to_array
from imprint.compile.program import Program
from imprint.compile.sentinels import Sentinels
from imprint.jit.tracing import TracedCall
from imprint.runtime import EngineError, explain_execute_error


@final
class Version:
    """A compiled version of a function.

    Args:
        traced: the jaxpr and the trees.
        program: the compiled jaxpr.
        name: the function's, for messages.
        sentinels: the meaning of the program's last result, if it has flags.
    """

    __slots__ = (
        *("__weakref__", "consts", "donated", "executable", "handlers", "hits"),
        *("host_call", "name", "out_aval", "out_avals", "program", "sentinels"),
        *("special", "take", "traced", "unflatten"),
    )

    def __init__(
        self,
        traced: TracedCall,
        program: Program,
        name: str,
        sentinels: Sentinels | None = None,
    ) -> None:
        self.sentinels = sentinels
        self.traced = traced
        self.program = program
        self.name = name
        self.hits = 0
        self.executable = program.executable
        self.handlers = program.executable.handlers
        self.consts = list(program.consts)
        self.out_avals = traced.closed.out_avals
        single = traced.out_tree.is_leaf
        self.out_aval = self.out_avals[0] if single else None
        out_tree = traced.out_tree  # a tuple is put together by itself, 0.3 us faster
        self.unflatten: Callable[[Iterable[Any]], Any] = (
            tuple if out_tree.is_flat_tuple else out_tree.unflatten
        )
        self.host_call = program.host_call()
        self.donated = frozenset(program.module.donated)
        everything = program.kept == tuple(range(len(traced.closed.in_avals)))
        self.special = bool(self.donated) or sentinels is not None
        simple = everything and not program.consts and not self.special
        self.take = None if simple else program.kept

    def run(self, leaves: list[Any]) -> Any:
        """Execute on leaves of which some are NumPy arrays or numbers; hot."""
        if self.donated:
            return self._run_donating(leaves)
        take = self.take
        arguments = [*self.consts, *[leaves[i] for i in take]] if take else leaves[:]
        if take == ():
            arguments = self.consts[:]
        hosts: list[int] = []
        for i, x in enumerate(arguments):
            if type(x) is ArrayImpl:
                arguments[i] = x.buffer
            elif i >= len(self.consts):
                hosts.append(i)
        try:
            outs = self.host_call(arguments, hosts)
        except EngineError as err:
            raise explain_execute_error(arguments, err) from err
        return self.wrap(outs)

    def wrap(self, outs: list[Any]) -> Any:
        """Return buffers of results as the tree of arrays that the function gives."""
        if self.sentinels is not None:
            flags = ArrayImpl(self.program.out_avals[-1], outs.pop()).host
            results = [tree.keystr(p) for p in self.traced.out_tree.paths()]
            names = self.traced.leaf_names()
            self.sentinels.check(flags, self.name, names, results)
        if self.out_aval is not None:
            return ArrayImpl(self.out_aval, outs[0])
        return self.unflatten(map(ArrayImpl, self.out_avals, outs))

    def _run_donating(self, leaves: list[Any]) -> Any:
        arrays = [to_array(x) for x in leaves]
        uses = [id(x) for x in leaves]
        arguments = [
            _own_copy(x)
            if i in self.donated and uses.count(id(leaves[i])) > 1
            else x.buffer
            for i, x in enumerate(arrays)
        ]
        outs = self.program.run([arguments[i] for i in self.program.kept])
        names = self.traced.leaf_names()
        for i in self.donated:
            if arrays[i] is leaves[i]:
                arrays[i].consume(f"argument {names[i]} of {self.name}")
        return self.wrap(outs)


def _own_copy(x: ArrayImpl) -> Any:
    return from_host(x.aval, np.array(x.host)).buffer
