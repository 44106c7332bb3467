"""The manifest: the record on disk by which a process finds the program of a call untraced.

1. The key of a manifest is what the call is: the function with all that it captures, its
   static arguments, the avals, the options, the flags, and the environment.
2. A manifest has up to 16 results, the newest first. Each has the locations that the trace
   read with digests of their values, the files of libraries, what the user declared, and
   the program that came out, with what else a version needs.
3. A result holds if each location is found again and its value has the same digest.
Values themselves are not in it, but for the constants of programs.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, cast, final

import numpy as np

from imprint import tree
from imprint._src import runtime
from imprint._src.config import Settings
from imprint._src.core.aval import ShapedArray
from imprint._src.core.trace import Tracer
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import Call, CallSpec
from imprint._src.jit.calls.tracing import TracedCall, held_by
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.disk_cache.signing import digest
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.guards.dependencies import Dependencies
from imprint._src.jit.manifest.assumptions import (
    adopt,
    declaration,
    difference_of,
    look,
)
from imprint._src.jit.manifest.environment_key import (
    environment_key,
    library_files,
    told,
)
from imprint._src.jit.manifest.file_digests import Stamps, changed
from imprint._src.jit.manifest.impure import has_drawn, state_of_draws
from imprint._src.jit.manifest.locations import (
    Mismatch,
    plain_reads,
    restored,
    written_containers,
)
from imprint._src.jit.manifest.not_cacheable import Refused, Why
from imprint._src.jit.manifest.shardings import plain_spread
from imprint._src.jit.manifest.stable_hash import StableHash, digest_of
from imprint._src.jit.manifest.trees import (
    aval_of,
    plain_aval,
    plain_tree,
    tree_data,
    tree_of,
)

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
    form: CallSpec | None
    flags: Settings
    avals: tuple[ShapedArray, ...]
    bucket: Bucket | None = None


class Asked(NamedTuple):
    """A call as it is looked up: the key, and what was read for it."""

    key: bytes
    hashed: StableHash
    roots: tuple[Any, ...]
    in_tree: tree.TreeDef
    drawn: tuple[Any, Any]
    files: Stamps
    strict: bool


def ask(question: Question) -> Asked:
    """Return under which key the manifest of a call is.

    Raises:
        Refused: another process could not tell that a call is the same.
    """
    _check_options(question)
    hashed = StableHash()
    call, form = question.call, question.call.spec
    in_tree = tree.structure(call.dynamic)
    whole = form.treedef
    data = None if whole is None else list(tree_data(whole))
    options = question.options
    placed = options.device, options.in_shardings, options.out_shardings
    parts = (question.fun, *call.static, list(tree_data(in_tree)), data, placed)
    root = hashed.digest(parts)
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
    here = (*engine, f"{len(runtime.devices())} devices", *environment_key())
    texts = [text.encode() for text in here]
    key = digest(b"manifest", root, digest_of(plain), *texts)
    roots = question.fun, *(value for _, value in held_by(call, in_tree))
    drawn = state_of_draws()
    return Asked(key, hashed, roots, in_tree, drawn, look(), options.strict)


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
    from imprint._src.jit.manifest.diff import shown  # noqa: PLC0415 - warm starts need it not

    given = traced.whole.dependencies
    _check_trace(traced.whole, asked)
    hashed = asked.hashed.copy()
    reads = plain_reads(hashed, asked.roots, given, shown)
    result: Plain = {
        "reads": reads,
        "strict": asked.strict,
        "files": library_files(hashed.libraries),
        "declared": declaration(hashed.relied, hashed.own, asked.files),
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
    if not given.holds():
        raise Refused(Why.EFFECT, "was disturbed by another thread")
    return result


def _check_trace(traced: TracedCall, asked: Asked) -> None:
    given = traced.dependencies
    if given.written or written_containers(given):
        raise Refused(Why.EFFECT, "wrote into what it reads")
    if not given.is_shareable:
        raise Refused(Why.EFFECT, "made callbacks")
    if has_drawn(asked.drawn):
        raise Refused(Why.IMPURE, "random numbers that nobody gave it")
    if traced.results.kept():
        raise Refused(Why.RESULT, "what is no array")


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
    from imprint._src.jit.manifest.diff import components, home_of  # noqa: PLC0415 - warm starts need it not

    result = {**result, "program": program.hex()}
    results = [result]
    for other in results_of(store, asked):
        if other not in results and len(results) < RESULTS:
            results.append(other)
    body = {"facts": components(question), "results": results}
    note = {
        "name": f"what {question.name} read",
        "kind": TRACE,
        "of": home_of(question.fun),
    }
    if not store.put(asked.key, note, json.dumps(body).encode()):
        raise Refused(Why.RECORDER, "the store did not take its manifest")


TRACE: Final = "trace"
"""What a manifest is, in its note."""


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
        dependencies: the locations that it read, in this process.
        out_tree: the tree of the result.
        consts: the leading arguments of the program.
    """

    plain: Plain
    dependencies: Dependencies
    out_tree: tree.TreeDef
    consts: tuple[Any, ...]

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
    for plain in results_of(store, asked):
        try:
            if not fits(plain):
                continue
            given = verified(asked, plain)
            if isinstance(given, Mismatch):
                continue
            consts = _consts(store, plain)
            if consts is not None:
                out_tree = tree_of(plain["out"], asked.in_tree)
                adopt(plain["declared"])
                return Found(plain, given, out_tree, consts)
        except Exception:
            continue
    return None


def verified(asked: Asked, plain: Plain) -> Dependencies | Mismatch:
    """Return what a trace depends on as it is now, or the first difference.

    Raises:
        Exception: a location is not there.
    """
    declared = difference_of(plain["declared"])
    if declared is not None:
        return Mismatch(*declared)
    file = changed(plain["files"])
    if file:
        return Mismatch(f"the file {file}")
    return restored(
        asked.hashed.copy(), asked.roots, plain["reads"], strict=plain["strict"]
    )


def _consts(store: Store, plain: Plain) -> tuple[Any, ...] | None:
    made: list[Any] = []
    for key, name, shape in plain["consts"]:
        data = store.get(bytes.fromhex(key))
        if data is None:
            return None
        made.append(np.frombuffer(data, np.dtype(name)).reshape(shape))
    return tuple(made)
