"""The printed form of jaxprs: JAX's, so that what people know how to read stays so.

Works on the shape of the objects, not on their classes (`jaxpr` imports this file).
"""

from typing import Any


def format_jaxpr(jaxpr: Any) -> str:
    """Return the text of a jaxpr."""
    names: dict[Any, str] = {}

    def name(v: Any) -> str:
        if hasattr(v, "value"):
            return f"{v.value}:{v.aval.short()}"
        if v not in names:
            names[v] = _letters(len(names))
        return names[v]

    def binder(v: Any) -> str:
        return f"{name(v)}:{v.aval.short()}"

    consts = " ".join(map(binder, jaxpr.constvars))
    args = " ".join(map(binder, jaxpr.invars))
    lines: list[str] = []
    for eqn in jaxpr.eqns:
        params = " ".join(f"{k}={v}" for k, v in sorted(eqn.params.items()))
        params = f"[{params}]" if params else ""
        outs = " ".join(map(binder, eqn.outvars))
        lines.append(
            f"{outs} = {eqn.primitive}{params} {' '.join(map(name, eqn.invars))}"
        )
    body = "\n    ".join(lines)
    outs = ", ".join(map(name, jaxpr.outvars))
    outs = f"({outs},)" if len(jaxpr.outvars) == 1 else f"({outs})"
    return f"{{ lambda {consts}; {args}. let\n    {body}\n  in {outs} }}"


def _letters(n: int) -> str:
    out = ""
    while True:
        out = chr(97 + n % 26) + out
        n = n // 26 - 1
        if n < 0:
            return out
