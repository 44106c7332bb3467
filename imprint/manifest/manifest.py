"""The manifest: from a call to the program that a trace would give, without the trace.

1. The key of a manifest is what the call is: the function with all that it captures, its
   static arguments, the avals, the options, the flags, and the surroundings.
2. A manifest has up to 16 results, the newest first. Each says what the trace read: the
   places with digests of their values, names of libraries, variables of the environment,
   files of libraries, what the user declared; and which program came out, with what
   else a version needs.
3. A result holds if each place is found again and has the digest that it had.
Values themselves are not in it, but for the constants of programs.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import CodeType
from typing import Any, Final, NamedTuple, cast, final

import numpy as np

from imprint import runtime, tree
from imprint.calls.options import JitOptions
from imprint.calls.signature import Call, Form
from imprint.calls.tracing import TracedCall
from imprint.config import Settings
from imprint.core.aval import ShapedArray
from imprint.core.libraries import module_namespace, named
from imprint.core.trace import Tracer
from imprint.definition.walk import NO_EFFECTS
from imprint.manifest.anchors import (
    anchor_of,
    digest_at,
    is_constant,
    is_import,
    place_of,
)
from imprint.manifest.declared import Stamps, adopt, declaration, difference_of, look
from imprint.manifest.facts import Facts, facts_of, home_of, shown
from imprint.manifest.placed import plain_spread
from imprint.manifest.purity import (
    LibraryRead,
    check_codes,
    check_names,
    has_drawn,
    state_of_draws,
)
from imprint.manifest.reader import Reader, digest_of
from imprint.manifest.refused import Refused, Why
from imprint.manifest.stamps import changed
from imprint.manifest.surroundings import stamps, surroundings, told
from imprint.manifest.trees import (
    aval_of,
    plain_aval,
    plain_tree,
    tree_data,
    tree_of,
)
from imprint.program.lowered import LoweredProgram
from imprint.record.library_values import Value, content_at
from imprint.store.proof import digest
from imprint.store.store import Store
from imprint.watch.classes import MISSING
from imprint.watch.places import NamePlace, Place
from imprint.watch.seen import Findings, Read, Seen
from imprint.watch.written import Written, written_by

Plain = dict[str, Any]
RESULTS: Final = 16


class Bucket(NamedTuple):
    """A bucket of calls whose axes have names.

    Args:
        avals: of the leaves, as long as the bucket.
        names: which axis of which leaf has which name.
        bounds: the lengths of the bucket, by name.
        zeros: whether zeros can be in all of the padding.
    """

    avals: tuple[ShapedArray, ...]
    names: tuple[tuple[Any, ...], ...]
    bounds: tuple[tuple[str, int], ...]
    zeros: bool


class Question(NamedTuple):
    """What call a manifest is for.

    Args:
        fun: the function.
        name: its name.
        options: what `jit` was asked for.
        call: the call.
        form: the form in its key; None if all its arguments are arrays, in their order.
        flags: the flags in its key.
        avals: of its leaves.
        bucket: in which its sizes are, if they have names.
    """

    fun: Any
    name: str
    options: JitOptions
    call: Call
    form: Form | None
    flags: Settings
    avals: tuple[ShapedArray, ...]
    bucket: Bucket | None = None


class Asked(NamedTuple):
    """A call as it is looked up: the key, and what was read for it."""

    key: bytes
    reader: Reader
    in_tree: tree.TreeDef
    written: Written
    drawn: tuple[Any, Any]
    files: Stamps
    strict: bool


def ask(question: Question) -> Asked:
    """Return under which key the manifest of a call is.

    Raises:
        Refused: another process could not tell that a call is the same.
    """
    _check_options(question)
    reader = Reader()
    call, form = question.call, question.call.form
    in_tree = tree.structure(call.dynamic)
    whole = form.treedef
    data = None if whole is None else list(tree_data(whole))
    options = question.options
    placed = options.device, options.in_shardings, options.out_shardings
    parts = (question.fun, *call.static, list(tree_data(in_tree)), data, placed)
    root = reader.digest(parts)
    spelled = (
        *(question.form is None, form.dynamic, form.static, form.names),
        *(form.static_names, form.donated, question.name),
    )
    bucket = None if question.bucket is None else question.bucket[1:]
    plain = (
        *(spelled, [plain_aval(a) for a in question.avals], told(question.flags)),
        *(options.keep_unused, options.compile.compiler_options),
        *(options.filtered is not None, options.strict, bucket),
    )
    device = runtime.default_device()
    engine = runtime.identity("", options.compile, device)
    here = (*engine, f"{len(runtime.devices())} devices", *surroundings())
    texts = [text.encode() for text in here]
    key = digest(b"manifest", root, digest_of(plain), *texts)
    written = written_by(question.fun)
    drawn = state_of_draws()
    return Asked(key, reader, in_tree, written, drawn, look(), options.strict)


def _check_options(question: Question) -> None:
    options, flags = question.options, question.flags
    is_named = options.abstracted_axes is not None
    for what, is_given in (
        ("sizes in no bucket", is_named and question.bucket is None),
        ("debug_nans or debug_infs", flags.debug_nans or flags.debug_infs),
    ):
        if is_given:
            raise Refused(Why.OPTION, what)


# ---- 2. what a trace read ----


def noted(
    store: Store, asked: Asked, traced: TracedCall, module: LoweredProgram
) -> Plain:
    """Return what a trace read, to be kept for other processes.

    Args:
        store: where.
        asked: the call.
        traced: the trace, which was made just now.
        module: what was lowered of it.

    Raises:
        Refused: another process could not tell that it would trace the same.
    """
    findings = traced.findings
    _check_trace(traced.whole, asked)
    check_names(findings.ran)
    reader = asked.reader.copy()
    met = reader.libraries
    reads = _read_places(reader, findings.reads)
    library = _read_libraries(reader, check_codes(findings.ran, met))
    for code, names in findings.ran.codes:
        if id(code) not in reader.codes:
            reads += _read_places(reader, _by_name(code, names))
    result: Plain = {
        "reads": reads,
        "strict": asked.strict,
        "library": library,
        "variables": _variables(findings.ran.variables),
        "values": _values(findings.ran.values),
        "files": stamps(findings.ran.files | met.files),
        "declared": declaration(met.relied, met.own, asked.files),
        "out": plain_tree(traced.out_tree, traced.in_tree),
        "outs": [plain_aval(a) for a in traced.closed.out_avals],
        "ins": [plain_aval(a) for a in module.in_avals],
        "consts": [_put_const(store, x) for x in module.consts],
        "kept": module.kept,
        "donated": module.donated,
        "options": module.options.compiler_options,
        "equations": module.equations,
        "own_equations": len(traced.closed.eqns),
        "text_bytes": module.text_bytes,
        "spread": plain_spread(module.spread),
    }
    if not traced.holds():
        raise Refused(Why.EFFECT, "was disturbed by another thread")
    return result


def _check_trace(traced: TracedCall, asked: Asked) -> None:
    findings, written = traced.findings, asked.written
    effects = any(c is None or c != NO_EFFECTS for c in findings.captured)
    if effects or findings.changed or findings.disturbed:
        raise Refused(Why.EFFECT, "wrote into what it reads")
    if written.effects or written.places:
        raise Refused(Why.EFFECT, "writes into what it reads")
    if not findings.ran.is_heard:
        raise Refused(Why.RECORDER, "another tool listened to what ran")
    if traced.is_told_apart:
        raise Refused(Why.EFFECT, "made callbacks")
    if traced.has_drawn or has_drawn(asked.drawn):
        raise Refused(Why.IMPURE, "random numbers that nobody gave it")
    if traced.results.kept():
        raise Refused(Why.RESULT, "what is no array")


def _read_places(reader: Reader, reads: Iterable[Read]) -> list[Any]:
    """Return the places that were read, each after what leads to it."""
    found: list[Any] = []
    # A module that the trace imported is imported again before what it has is looked at.
    left = sorted(reads, key=lambda read: not is_import(read.place))
    left = [read for read in left if not is_constant(reader, read.place)]
    led: set[int] = set()  # functions of which a name told
    while left:
        later: list[Read] = []
        for read in left:
            anchor = anchor_of(reader, read.place)
            if anchor is None:
                later.append(read)
                continue
            seen = read.seen
            if seen.is_left:
                raise Refused(Why.EFFECT, f"wrote {read.place}")
            try:
                value = read.place.get()
                now = digest_at(reader, read.place, value, bare=seen.is_bare)
            except Refused as err:
                raise err.at(read.place) from None
            text = "" if seen.is_bare else shown(value)
            found.append([anchor, seen.is_bare, seen.is_static, now, text])
        if len(later) == len(left):
            later = [*_leading_to(later[0].place, led), *later]
        left = later
    return found


def _leading_to(place: Place, led: set[int]) -> list[Read]:
    """Return what leads to a function that ran, of which nothing else told: its name.

    Raises:
        Refused: nothing leads to what the place is in.
    """
    function: Any = getattr(place, "function", None)
    if function is not None and id(function) not in led:
        led.add(id(function))
        if named(function.__code__, function.__globals__) is function:
            return _by_name(function.__code__, function.__globals__)
    raise Refused(Why.OWNER, str(place))


def _by_name(code: CodeType, names: dict[str, Any]) -> list[Read]:
    """Return the place of a function that ran and was read at no place: a registered one.

    Raises:
        Refused: its module has it under no name.
    """
    function = named(code, names)
    if function is None:
        raise Refused(Why.OWNER, f"what {code.co_qualname}() does")
    return [Read(NamePlace(names, code.co_qualname), Seen(function))]


def _read_libraries(
    reader: Reader, reads: Iterable[LibraryRead]
) -> list[tuple[str, str, str]]:
    """Return what libraries have under the names that code may read there."""
    found: list[tuple[str, str, str]] = []
    for module, name in reads:
        try:
            found.append((module, name, _of_library(reader, module, name)))
        except Refused as err:
            raise err.at(f"{module}.{name}") from None
    return found


_MISSING: Final = Reader().digest(MISSING).hex()


def _of_library(reader: Reader, module: str, name: str) -> str:
    """Return what stands for what a library has under a name."""
    return reader.digest(module_namespace(sys.modules[module])[name]).hex()


def _variables(read: Iterable[tuple[str, str | None]]) -> dict[str, str | None]:
    """Return variables of the environment as they were when the trace read them.

    It may be an earlier call's: in memory nobody compares them.
    """
    found: dict[str, str | None] = {}
    for name, value in read:
        if found.setdefault(name, _told_of(value)) != _told_of(value):
            raise Refused(Why.RECORDER, f"the environment variable {name} changed")
    return found


def _values(read: Iterable[Value]) -> list[list[str]]:
    """Return plain values that libraries hold, as they were when the trace read them."""
    found: dict[tuple[str, str], str] = {}
    for module, path, content in sorted(read):
        told = digest_of(content).hex()
        if found.setdefault((module, path), told) != told:
            raise Refused(Why.RECORDER, f"{module}.{path} changed")
    return [[module, path, told] for (module, path), told in found.items()]


def _told_of(variable: str | None) -> str | None:
    return None if variable is None else digest_of(variable).hex()


def _put_const(store: Store, x: Any) -> list[Any]:
    if isinstance(x, Tracer):
        raise Refused(Why.VALUE, "a value of a trace")
    try:
        host = np.ascontiguousarray(np.asarray(x))
    except Exception:  # keys of random numbers are no arrays of NumPy's
        raise Refused(Why.VALUE, "an array that is not of numbers") from None
    if host.nbytes > _CONST:
        raise Refused(Why.VALUE, f"an array of {host.nbytes / 2**20:.1f} MiB")
    name, shape = host.dtype.name, list(np.shape(x))
    data = host.tobytes()
    key = digest(b"constant", name.encode(), repr(shape).encode(), data)
    note = {"name": f"{name}{shape}", "kind": "constant"}
    if not store.put(key, note, data):
        raise Refused(Why.RECORDER, "the store did not take a constant")
    return [key.hex(), name, shape]


_CONST: Final = 1 << 20


def keep(
    store: Store, question: Question, asked: Asked, result: Plain, program: bytes
) -> None:
    """Keep what a trace read for other processes.

    Args:
        store: where.
        question: the call.
        asked: its key.
        result: what the trace read.
        program: the key of what was compiled of it.

    Raises:
        Refused: the store does not take it.
    """
    result = {**result, "program": program.hex()}
    results = [result]
    for other in results_of(store, asked):
        if other not in results and len(results) < RESULTS:
            results.append(other)
    body = {"facts": facts(question), "results": results}
    note = {
        "name": f"what {question.name} read",
        "kind": TRACE,
        "of": home_of(question.fun),
    }
    if not store.put(asked.key, note, json.dumps(body).encode()):
        raise Refused(Why.RECORDER, "the store did not take its manifest")


TRACE: Final = "trace"
"""What a manifest is, in its note."""


def facts(question: Question) -> Facts:
    """Return what a call is made of."""
    options = question.options, question.flags
    return facts_of(question.fun, question.call, question.avals, options)


def body_of(data: bytes | None) -> Plain:
    """Return what a manifest says; nothing if it is none."""
    try:
        body: Any = {} if data is None else json.loads(data)
    except ValueError:  # another one's who has the secret
        return {}
    return cast("Plain", body) if type(body) is dict else {}


def results_of(store: Store, asked: Asked) -> Iterator[Plain]:
    """Yield what was kept for a call, the newest first; then what stores below have."""
    for data in store.all_of(asked.key):
        results: Any = body_of(data).get("results")
        yield from cast("list[Plain]", results) if type(results) is list else []


# ---- 3. does it hold? ----


@final
class Found(NamedTuple):
    """A trace that was kept, and would come out now.

    Args:
        plain: what was kept.
        reads: what it read, as it is in this process.
        out_tree: the tree of the result.
        consts: the leading arguments of the program.
    """

    plain: Plain
    reads: tuple[Read, ...]
    out_tree: tree.TreeDef
    consts: tuple[Any, ...]

    @property
    def findings(self) -> Findings:
        """What it read."""
        return Findings(self.reads, ())

    def avals(self, name: str) -> tuple[ShapedArray, ...]:
        """Return the avals of arguments or results."""
        return tuple(map(aval_of, self.plain[name]))


def found(
    store: Store, asked: Asked, fits: Callable[[Plain], bool] = bool
) -> Found | None:
    """Return the trace that was kept for a call, if it would come out now.

    Args:
        store: where it may be.
        asked: the call.
        fits: whether something that was kept is for the call.
    """
    if asked.written.effects or asked.written.places:
        return None  # what traces of the function wrote here would not be watched
    for plain in results_of(store, asked):
        try:
            if not fits(plain):
                continue
            reads = verified(asked.reader.copy(), asked.written, plain)
            if isinstance(reads, Mismatch):
                continue
            consts = _consts(store, plain)
            if consts is not None:
                out_tree = tree_of(plain["out"], asked.in_tree)
                adopt(plain["declared"])
                return Found(plain, reads, out_tree, consts)
        except Exception:
            continue
    return None


class Mismatch(NamedTuple):
    """The first thing that is not as a trace had it.

    Args:
        what: a place, a variable of the environment, a file, what a library has, or what
            the user declared.
        was: what it printed as, if that was kept.
        now: its value; of what was declared, what it prints as.
    """

    what: Place | str
    was: str = ""
    now: Any = MISSING


def verified(
    reader: Reader, written: Written, plain: Plain
) -> tuple[Read, ...] | Mismatch:
    """Return what a trace read as it is now, or the first thing that is not as it was.

    Raises:
        Exception: there is something else than there was.
    """
    declared = difference_of(plain["declared"])
    if declared is not None:
        return Mismatch(*declared)
    file = changed(plain["files"])
    if file:
        return Mismatch(f"the file {file}")
    for name, value in plain["variables"].items():
        if _told_of(os.environ.get(name)) != value:
            return Mismatch(f"the environment variable {name}")
    reads: list[Read] = []
    for anchor, is_bare, is_static, then, was in plain["reads"]:
        place = place_of(reader, anchor)
        if place is None:
            return Mismatch(f"the module of {anchor[2]}")
        value = place.get()
        if value is MISSING and anchor[1] == "sys.modules" and then != _MISSING:
            value = import_module(place.name)  # as the trace would
        if digest_at(reader, place, value, bare=is_bare) != then:
            return Mismatch(place, was, value)
        if is_bare:
            seen = Seen.as_itself(value)
        else:
            seen = Seen(value, written, strict=plain["strict"], is_static=is_static)
        reads.append(Read(place, seen))
    name = _set(plain["values"]) or _fallen(reader, plain["library"])
    return Mismatch(name) if name else tuple(reads)


def _set(values: Iterable[tuple[str, str, str]]) -> str:
    """Return under which name a library has another plain value than it had."""
    for module, path, then in values:
        if digest_of(content_at(import_module(module), path)).hex() != then:
            return f"{module}.{path}"
    return ""


def _fallen(reader: Reader, library: Iterable[tuple[str, str, str]]) -> str:
    """Return under which name a library has another thing than it had; "" if none."""
    for module, name, then in library:
        held = sys.modules.get(module)
        if held is None or name not in module_namespace(held):
            if module.partition(".")[0] == "imprint":
                continue  # it loads when it is asked for
            return f"{module}.{name}"
        if _of_library(reader, module, name) != then:
            return f"{module}.{name}"
    return ""


def _consts(store: Store, plain: Plain) -> tuple[Any, ...] | None:
    made: list[Any] = []
    for key, name, shape in plain["consts"]:
        data = store.get(bytes.fromhex(key))
        if data is None:
            return None
        made.append(np.frombuffer(data, np.dtype(name)).reshape(shape))
    return tuple(made)
