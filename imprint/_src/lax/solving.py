"""`custom_root` and `custom_linear_solve`, under JAX's names.

The solver is the user's, for example a loop without a derivative; the derivative
follows from the equation that it solves. All functions are traced, so that errors are
found early. Without a trace, the solver is then called directly.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from imprint._src.control_flow.implicit import find_root, solve_linear
from imprint._src.control_flow.trace_body import (
    REMEDY,
    Returned,
    TracedBody,
    defined,
    trace_body,
    unite,
)
from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import (
    as_result,
    check_function,
    name_of,
    result_leaves,
    wraps,
)
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.core.trace import current_trace
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError, ShapeError, TreeError
from imprint._src.interpreters.derivatives import linearize
from imprint._src.interpreters.transpose import transpose_jaxpr
from imprint._src.lax.carry import Carry, carry_of
from imprint._src.tree import internal as tree
from imprint._src.tree.prefix import first_difference


@filter_traceback
def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Find a root of a function, differentiable by the values that it closes over.

    Args:
        f: a function from a value like `initial_guess` to one of the same structure.
        initial_guess: a pytree of arrays.
        solve: `(f, initial_guess) -> root`; it need not be differentiable.
        tangent_solve: `(g, y) -> x` such that `g(x)` is `y`, where `g` is `f` linearized
            at the root. For numbers that is `lambda g, y: y / g(1.0)`.
        has_aux: whether `solve` returns a pair of the root and auxiliary data, which has no
            derivative.

    Returns:
        The result of `solve`.

    Raises:
        ArgumentError: an argument is not a function, or `solve` returns no pair with
            `has_aux`.
        TreeError: a function returns another structure than that of `initial_guess`.
        ShapeError: a function returns other shapes than those of `initial_guess`.

    References:
        JAX, `jax.lax.custom_root`; the implicit function theorem.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> def newton(f, x):
        ...     slope = imprint.grad(f)
        ...     step = lambda x: x - f(x) / slope(x)
        ...     return lax.while_loop(lambda x: abs(f(x)) > 1e-6, step, x)
        >>> def root(a):
        ...     return lax.custom_root(
        ...         lambda x: x**2 - a, 1.0, newton, lambda g, y: y / g(1.0)
        ...     )
        >>> imprint.value_and_grad(root)(4.0)
        (Array(2., dtype=float32, weak_type=True), Array(0.25, dtype=float32, weak_type=True))
    """
    functions = {"f": f, "solve": solve, "tangent_solve": tangent_solve}
    space = _space("custom_root", functions, initial_guess, "initial_guess")

    @wraps(tangent_solve)
    def linearized(x: Any, y: Any) -> Any:
        return tangent_solve(linearize(f, x)[1], y)

    function = space.trace_body("f", f)
    solves = partial(solve, f)
    tangent = space.trace_body("tangent_solve", linearized, count=2)
    if current_trace() is None:
        return space.call("solve", solves, has_aux=has_aux)
    solution = space.trace_body("solve", solves, has_aux=has_aux)
    jaxprs, captured = unite([function, solution, tangent])
    outs = find_root(jaxprs, captured, space.carry.leaves)
    return solution.out_tree.unflatten(map(as_result, outs))


@filter_traceback
def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Solve a linear equation, differentiable by `b` and the values in `matvec`.

    Args:
        matvec: a linear function from a value like `b` to one like it.
        b: the right-hand side: a pytree of arrays.
        solve: `(matvec, b) -> x`; it need not be differentiable.
        transpose_solve: `(vecmat, b) -> x`, where `vecmat` is the transpose of `matvec`.
            Reverse mode needs it, unless `matvec` is symmetric.
        symmetric: whether `matvec` is its own transpose, so that `solve` solves for it.
        has_aux: whether `solve` and `transpose_solve` return a pair of the solution and
            auxiliary data, which has no derivative.

    Returns:
        The result of `solve`.

    Raises:
        ArgumentError: an argument is not a function, or `solve` returns no pair with
            `has_aux`.
        TreeError: a function returns another structure than that of `b`.
        ShapeError: a function returns other shapes than those of `b`.

    References:
        JAX, `jax.lax.custom_linear_solve`.

    Example:
        >>> import imprint
        >>> from imprint import lax, numpy as np
        >>> def solve(matvec, b):
        ...     return lax.fori_loop(
        ...         0, 40, lambda _, x: x + 0.3 * (b - matvec(x)), b * 0
        ...     )
        >>> def total(a):
        ...     matvec = lambda x: a @ x
        ...     x = lax.custom_linear_solve(matvec, np.ones(2), solve, symmetric=True)
        ...     return x.sum()
        >>> imprint.value_and_grad(total)(np.diag(np.asarray([2.0, 4.0])))
        (Array(0.75, dtype=float32), Array([[-0.25  , -0.125 ],
               [-0.125 , -0.0625]], dtype=float32))
    """
    functions = {"matvec": matvec, "solve": solve}
    if transpose_solve is not None:
        functions["transpose_solve"] = transpose_solve
    space = _space("custom_linear_solve", functions, b, "b")
    mapped = space.trace_body("matvec", matvec)
    transposed: list[TracedBody] = []
    if transpose_solve is not None:
        vecmat = matvec if symmetric else _transposed(mapped)
        back = mapped if symmetric else space.trace_body("matvec", vecmat)
        solves = partial(transpose_solve, vecmat)
        solved = space.trace_body("transpose_solve", solves, has_aux=has_aux)
        transposed = [back, solved]
    solves = partial(solve, matvec)
    if current_trace() is None:
        return space.call("solve", solves, has_aux=has_aux)
    solution = space.trace_body("solve", solves, has_aux=has_aux)
    if symmetric and not transposed:
        transposed = [mapped, solution]
    jaxprs, captured = unite([mapped, solution, *transposed])
    outs = solve_linear(jaxprs, captured, space.carry.leaves)
    return solution.out_tree.unflatten(map(as_result, outs))


def _transposed(mapped: TracedBody) -> Callable[[Any], Any]:
    """Return the transpose of a traced linear function."""
    known = len(mapped.captured)
    count = len(mapped.jaxpr.out_avals)
    linear = (*[False] * known, *[True] * count)
    derived, _ = transpose_jaxpr(
        mapped.jaxpr, linear, (True,) * count, instantiate=True
    )

    def vecmat(x: Any) -> Any:
        leaves = tree.leaves(x)
        outs = eval_jaxpr(derived.jaxpr, derived.consts, *mapped.captured, *leaves)
        return mapped.out_tree.unflatten(map(as_result, outs))

    return vecmat


# ---- arguments and results of the functions ----


_WITH_AUX: Final = ("solve", "transpose_solve")


class _VectorSpace(NamedTuple):
    """The space of the vectors of the functions.

    Args:
        caller: the public function, for messages.
        functions: the user's functions, by argument name, for messages.
        carry: a vector of the space.
        name: its argument name, for messages.
    """

    caller: str
    functions: dict[str, Callable[..., Any]]
    carry: Carry
    name: str

    def trace_body(
        self,
        role: str,
        function: Callable[..., Any],
        *,
        has_aux: bool = False,
        count: int = 1,
    ) -> TracedBody:
        """Trace a function of `count` vectors; raise unless it returns one.

        Args:
            role: its argument name, for messages.
            function: the function, or a wrapper of it.
            has_aux: whether it returns a pair of a vector and auxiliary data.
            count: the number of vectors.
        """
        in_tree = tree.treedef_tuple((self.carry.tree,) * count)
        avals, names = self.carry.avals * count, self.carry.names * count
        closed = trace_body(function, in_tree, avals, self.caller, names)
        returned = Returned(closed.out_tree, closed.jaxpr.out_avals)
        self._check(role, returned, has_aux=has_aux)
        return closed

    def call(
        self, role: str, function: Callable[..., Any], *, has_aux: bool = False
    ) -> Any:
        """Call a function of one vector directly; see `trace_body`."""
        result = function(self.carry.tree.unflatten(map(as_result, self.carry.leaves)))
        who = f"{self.caller}({name_of(function)})"
        leaves, treedef = result_leaves(result, who, REMEDY)
        returned = Returned(treedef, [get_aval(x) for x in leaves])
        self._check(role, returned, has_aux=has_aux)
        return treedef.unflatten(map(as_result, leaves))

    def _check(self, role: str, returned: Returned, *, has_aux: bool) -> None:
        who = f"{self.caller}: expected {role}, {defined(self.functions[role])},"
        remedy = f"Return a value like {self.name}."
        came = returned
        if has_aux:
            pair = tree.treedef_children(returned.treedef)
            if len(pair) != 2:
                raise ArgumentError(
                    f"{who} to return a pair (x, aux), as has_aux was given, got "
                    f"{returned}. Return `x, None` where there is no aux."
                )
            came = Returned(pair[0], returned.avals[: pair[0].num_leaves])
        elif role in _WITH_AUX and len(tree.treedef_children(returned.treedef)) == 2:
            remedy += " Pass has_aux=True if it returns a pair (x, aux)."
        expected = Returned(self.carry.tree, self.carry.avals)
        found = first_difference(expected.treedef, came.treedef)
        error: type[Exception] = TreeError
        if found is None:
            error, found = ShapeError, _other_shape(expected, came)
        if found is None:
            return
        where = f", {found[2]} at result{found[0]}" if found[0] else ""
        raise error(
            f"{who} to return the tree and shapes of {self.name}, {expected}, got "
            f"{came}{where}. {remedy}"
        )


def _space(
    caller: str, functions: dict[str, Any], vector: Any, name: str
) -> _VectorSpace:
    for role, function in functions.items():
        check_function(function, caller, role)
    return _VectorSpace(caller, functions, carry_of(vector, caller, name), name)


def _other_shape(expected: Returned, came: Returned) -> tuple[str, str, str] | None:
    paths = expected.treedef.paths()
    for path, ours, theirs in zip(paths, expected.avals, came.avals, strict=True):
        if not dims.is_same_shape(ours.shape, theirs.shape):
            return tree.keystr(path), str(ours.strong()), str(theirs.strong())
    return None
