"""The printed form of jaxprs, in the syntax of JAX.

A jaxpr that is called more than once, or is long, is written once before the others
(`let f = … in`). The arguments of a nested call take the names of the operands. An
unused result is `_`. The layout is Wadler's: a document is a string, a list of
documents, a `Line`, a `Nest` or a `Group`. The printer uses attributes, not classes,
because `jaxpr` imports this file.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Final, NamedTuple, cast, final

Doc = Any
"""`str`, `Line`, `Nest`, `Group`, or a list of documents."""


class Line(NamedTuple):
    """A place where the line may break; `flat` is written where it does not."""

    flat: str = " "


class Nest(NamedTuple):
    """A document whose broken lines are indented by two more columns."""

    doc: Doc


class Group(NamedTuple):
    """A document that is written on one line if it fits."""

    doc: Doc


_INDENT: Final = 2


def layout(doc: Doc, width: int = 80) -> str:
    """Return the text of a document, in lines of `width` columns where possible."""
    out: list[str] = []
    column = 0
    agenda: list[tuple[int, bool, Doc]] = [(0, False, doc)]
    while agenda:
        indent, flat, doc = agenda.pop()
        if isinstance(doc, str):
            out.append(doc)
            column += len(doc)
        elif isinstance(doc, list):
            agenda.extend((indent, flat, part) for part in reversed(doc))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - documents nest
        elif isinstance(doc, Nest):
            agenda.append((indent + _INDENT, flat, doc.doc))
        elif isinstance(doc, Group):
            agenda.append((indent, flat or _fits(doc.doc, width - column), doc.doc))
        elif flat:
            out.append(doc.flat)
            column += len(doc.flat)
        else:
            out.append("\n" + " " * indent)
            column = indent
    return "".join(out)


def join(separator: list[Doc], docs: list[Doc]) -> list[Doc]:
    """Put a separator between documents."""
    out: list[Doc] = []
    for doc in docs:
        out += [*separator, doc] if out else [doc]
    return out


def _fits(doc: Doc, room: int) -> bool:
    agenda = [doc]
    while agenda and room >= 0:
        doc = agenda.pop()
        if isinstance(doc, str):
            room -= len(doc)
        elif isinstance(doc, list):
            agenda.extend(reversed(doc))  # pyright: ignore[reportUnknownArgumentType] - documents nest
        elif isinstance(doc, Line):
            room -= len(doc.flat)
        else:
            agenda.append(doc.doc)
    return room >= 0


# ---- jaxprs ----

_LONG: Final = 10  # equations, above which a nested jaxpr is written before the others


def format_jaxpr(jaxpr: Any) -> str:
    """Return the text of a jaxpr."""
    printer = _Printer(jaxpr)
    docs: list[Doc] = []
    for name, inner in printer.shared_jaxprs():
        docs += [f"let {name} = ", printer.whole(inner), " in", Line()]
    return layout([*docs, printer.jaxpr(jaxpr)])


def format_eqn(jaxpr: Any, eqn: Any) -> str:
    """Return the text of one equation of a jaxpr, with the names that it has there."""
    printer = _Printer(jaxpr)
    printer.whole(jaxpr)
    return layout([printer.eqn(eqn)])


@final
class Names:
    """The names that equations and variables have in the text of a jaxpr."""

    def __init__(self, jaxpr: Any) -> None:
        self._printer = _Printer(jaxpr)
        for _, inner in self._printer.shared_jaxprs():
            self._printer.whole(inner)
        self._printer.jaxpr(jaxpr)

    def eqn(self, eqn: Any) -> str:
        """Return the text of an equation."""
        return layout([self._printer.eqn(eqn)])

    def atom(self, atom: Any) -> str:
        """Return the name of a variable, or a literal with its type."""
        return self._printer.atom(atom)


class _Printer:
    """The names given so far in one text."""

    def __init__(self, jaxpr: Any) -> None:
        self._names: dict[Any, str] = {}
        self._shared: dict[Any, str] = {}
        self._used = _used_variables(jaxpr)
        self._find_shared(jaxpr)
        taken = set(self._shared.values())
        self._fresh = (name for name in _letters() if name not in taken)

    # ---- shared jaxprs ----

    def shared_jaxprs(self) -> list[tuple[str, Any]]:
        """Return names and jaxprs that are written before the rest."""
        return [(name, jaxpr) for jaxpr, name in self._shared.items()]

    def _find_shared(self, top: Any) -> None:
        times: Counter[Any] = Counter()
        wanted: dict[Any, str] = {}
        queue = deque([top])
        while queue:
            jaxpr = queue.popleft()
            times[jaxpr] += 1
            if jaxpr is not top and len(jaxpr.eqns) > _LONG:
                times[jaxpr] += 1
            for eqn in jaxpr.eqns:
                for inner in _inner_jaxprs(eqn):
                    name = str(eqn.params.get("name", "jaxpr")).strip("<>")
                    wanted.setdefault(inner, name)
                    queue.append(inner)
        given: Counter[str] = Counter()
        for jaxpr, uses in times.items():
            if uses > 1:
                name = wanted[jaxpr]
                before = given[name]
                given[name] += 1
                self._shared[jaxpr] = f"{name}{before}" if before else name

    # ---- documents ----

    def jaxpr(self, jaxpr: Any) -> Doc:
        """Return a jaxpr, or its name if it was written before."""
        return self._shared.get(jaxpr) or self.whole(jaxpr)

    def whole(self, jaxpr: Any) -> Doc:
        """Return a jaxpr written out."""
        consts = self._binders(jaxpr.constvars)
        args = self._binders(jaxpr.invars)
        eqns = join([Line("; ")], [self.eqn(eqn) for eqn in jaxpr.eqns])
        outs = self._atoms(jaxpr.outvars, ",")
        end = ",)" if len(jaxpr.outvars) == 1 else ")"
        head = ["{ lambda ", consts, "; ", args, ". let"]
        body = [*head, Nest([Line(), eqns]), Line(), "in (", outs, end]
        return Group([Nest(body), " }"])

    def eqn(self, eqn: Any) -> Doc:
        """Return an equation."""
        for inner in _inner_jaxprs(eqn):
            if inner not in self._shared and eqn.primitive.is_call:
                self._lend_names(inner.invars, eqn.invars)
                self._lend_names(inner.outvars, eqn.outvars)
        left = [self._binders(eqn.outvars), " = "] if eqn.outvars else []
        params = sorted(eqn.params, key=lambda k: (k != "name", k))
        shown = [self._param(k, eqn.params[k]) for k in params]
        brackets: Doc = []
        if shown:
            inside = Nest(["[", Line(""), join([Line()], shown)])
            brackets = Group([inside, Line(""), "]"])
        return [*left, eqn.primitive.name, brackets, " ", self._atoms(eqn.invars)]

    def _param(self, name: str, value: Any) -> Doc:
        inner = _as_jaxprs(value)
        if not inner:
            return [f"{name}=", str(value)]
        if not isinstance(value, tuple):
            return [f"{name}=", self.jaxpr(inner[0])]
        listed = join([Line()], [self.jaxpr(jaxpr) for jaxpr in inner])
        return [f"{name}=", Group([Nest(["(", Line(""), listed]), Line(""), ")"])]

    def _binders(self, variables: Sequence[Any]) -> Doc:
        shown = [f"{self.atom(v)}:{v.aval.short()}" for v in variables]
        return Nest(Group(join([Group(Line())], shown)))

    def _atoms(self, atoms: Sequence[Any], separator: str = "") -> Doc:
        shown = [self.atom(v) for v in atoms]
        return Nest(Group(join([separator, Group(Line())], shown)))

    # ---- names ----

    def atom(self, atom: Any) -> str:
        """Return the name of a variable, or a literal with its type."""
        if hasattr(atom, "value"):
            return f"{atom.value}:{atom.aval.short()}"
        name = self._names.get(atom)
        if name is None:
            name = next(self._fresh) if atom in self._used else "_"
            self._names[atom] = name
        return name

    def _lend_names(self, ours: Sequence[Any], theirs: Sequence[Any]) -> None:
        lent: set[Any] = set()
        for mine, other in zip(ours, theirs, strict=True):
            if hasattr(mine, "value") or hasattr(other, "value"):
                continue
            if other not in lent and mine not in self._names:
                lent.add(other)
                self._names[mine] = self.atom(other)


def _as_jaxprs(value: Any) -> list[Any]:
    """Return the jaxprs of a param: it is one, or a tuple of them; else none."""
    values = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
    inner = [getattr(v, "jaxpr", v) for v in values]  # closed ones show as jaxprs
    return inner if all(hasattr(jaxpr, "eqns") for jaxpr in inner) else []


def _inner_jaxprs(eqn: Any) -> list[Any]:
    return [jaxpr for value in eqn.params.values() for jaxpr in _as_jaxprs(value)]


def _used_variables(jaxpr: Any) -> set[Any]:
    used: set[Any] = {*jaxpr.constvars, *jaxpr.invars}
    used.update(v for v in jaxpr.outvars if not hasattr(v, "value"))
    for eqn in jaxpr.eqns:
        used.update(v for v in eqn.invars if not hasattr(v, "value"))
        for inner in _inner_jaxprs(eqn):
            used |= _used_variables(inner)
    return used


def _letters() -> Iterator[str]:
    for number in count():
        name = ""
        n = number
        while True:
            n, digit = divmod(n, 26)
            name = chr(ord("a") + digit) + name
            if not n:
                break
        yield name
