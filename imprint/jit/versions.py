"""Versions: the compiled forms of one function, one for each kind of call.

A `Version` is a traced call with its executable, laid out for the warm path: what the
path needs are plain attributes, and `take` is None when every argument is passed on as
it came.
"""

from typing import Any, final

from imprint.array import ArrayImpl, to_array
from imprint.compile.program import Program
from imprint.jit.tracing import TracedCall
from imprint.runtime import EngineError, explain_execute_error


@final
class Version:
    """A compiled version of a function.

    Args:
        traced: the jaxpr and the tree of its result.
        program: the compiled jaxpr.
    """

    __slots__ = (
        "consts",
        "executable",
        "handlers",
        "host_call",
        "out_aval",
        "out_avals",
        "program",
        "take",
        "traced",
        "unflatten",
    )

    def __init__(self, traced: TracedCall, program: Program) -> None:
        self.traced = traced
        self.program = program
        self.executable = program.executable
        self.handlers = program.executable.handlers
        self.consts = list(program.consts)
        self.out_avals = program.out_avals
        single = traced.out_tree.is_leaf
        self.out_aval = program.out_avals[0] if single else None
        self.unflatten = traced.out_tree.unflatten
        everything = program.kept == tuple(range(len(traced.closed.in_avals)))
        self.host_call = program.host_call()
        self.take = None if everything and not program.consts else program.kept

    def run_mixed(self, leaves: list[Any]) -> Any:
        """Execute on leaves of which some are NumPy arrays or numbers; hot."""
        take = self.take
        if take is not None:
            leaves = [*self.consts, *[leaves[i] for i in take]]
        hosts: list[int] = []
        for i, x in enumerate(leaves):
            if type(x) is ArrayImpl:
                leaves[i] = x.buffer
            elif take is None or i >= len(self.consts):
                hosts.append(i)
        try:
            outs = self.host_call(leaves, hosts)
        except EngineError as err:
            raise explain_execute_error(leaves, err) from err
        if self.out_aval is not None:
            return ArrayImpl(self.out_aval, outs[0])
        return self.unflatten(map(ArrayImpl, self.out_avals, outs))

    def run(self, leaves: list[Any]) -> Any:
        """Execute on leaves of any kind, and return the result's tree."""
        program = self.program
        buffers = program.run([to_array(leaves[i]).buffer for i in program.kept])
        return self.unflatten(map(ArrayImpl, self.out_avals, buffers))
