"""`print_saved_residuals`: the values that a backward pass needs, and their lines.

They are the leaves of the pullback that `vjp` returns, in the jaxpr that makes them.
"""

from collections.abc import Callable
from typing import Any

from imprint._src.core.functions import check_function
from imprint._src.core.jaxpr import Eqn, Literal, Var
from imprint._src.interpreters.derivatives import vjp
from imprint._src.jit.make_jaxpr import make_jaxpr
from imprint._src.primitives.barrier import name_p
from imprint._src.tree import internal as tree


def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print the values that the backward pass of a function saves, with their lines.

    Args:
        f: the function.
        *args: its arguments.
        **kwargs: its keyword arguments.

    Returns:
        None; it prints a line for each value, with its shape, dtype and origin.

    References:
        JAX, `jax.ad_checkpoint.print_saved_residuals`.

    Example:
        >>> import imprint
        >>> from imprint.ad_checkpoint import print_saved_residuals
        >>> print_saved_residuals(lambda x: x * 2.0 * x, 3.0)
        f32[] from the argument args[0]
        f32[] output of mul from <doctest ...>:1 (<lambda>)
    """
    check_function(f, "print_saved_residuals")
    leaves, in_tree = tree.flatten((args, kwargs))
    names = [tree.keystr(path) for path in in_tree.paths()]

    def pullback(*leaves: Any) -> Any:
        def flat(*leaves: Any) -> Any:
            args, kwargs = in_tree.unflatten(leaves)
            return f(*args, **kwargs)

        return vjp(flat, *leaves)[1]

    jaxpr = make_jaxpr(pullback)(*leaves).jaxpr
    made = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    arguments = dict(zip(jaxpr.invars, names, strict=True))
    for atom in dict.fromkeys(jaxpr.outvars):
        print(f"{atom.aval.short()} {_origin(atom, arguments, made)}")


def _origin(
    atom: Var | Literal, arguments: dict[Var, str], made: dict[Var, Eqn]
) -> str:
    if isinstance(atom, Literal):
        return "from a literal"
    if atom in arguments:
        kind, _, rest = arguments[atom].removeprefix("[").partition("]")
        return f"from the argument {('args', 'kwargs')[int(kind)]}{rest}"
    if atom not in made:
        return "from a constant"
    eqn = made[atom]
    place = (
        "" if eqn.source is None else f" from {eqn.source} ({eqn.source.code.co_name})"
    )
    if eqn.primitive is name_p:
        return f"named {eqn.params['name']!r}{place}"
    if eqn.primitive.is_call:
        return f"output of jitted function {eqn.params['name']!r}{place}"
    return f"output of {eqn.primitive}{place}"
