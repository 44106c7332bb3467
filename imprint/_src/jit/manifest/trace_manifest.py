"""Manifests: how a process finds the program of a call without a trace.

1. The key of a manifest is the call: the function with all that it captures, its static
   arguments, the avals, the options, the settings, and the environment.
2. A manifest has up to 16 traces, the newest first. Each has the locations that it read
   with digests of their values, the files of libraries, the declarations of the user, and
   the program that came out, with the other fields of a version.
3. A trace holds if each location is found again and its value has the same digest.
Values themselves are not stored, except the constants of programs.
"""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, cast, final

import numpy as np

from imprint._src import runtime
from imprint._src.config import Settings
from imprint._src.core.aval import ShapedArray
from imprint._src.core.trace import Tracer
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import Call, CallSpec
from imprint._src.jit.calls.tracing import Results, TracedCall, held_by
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.disk_cache.entry import digest
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.guards.dependencies import Dependencies
from imprint._src.jit.manifest.environment import (
    Stamps,
    adopt_files,
    changed_file,
    declaration_mismatch,
    declarations_of,
    declared_files,
    environment_key,
    library_files,
)
from imprint._src.jit.manifest.locations import (
    Mismatch,
    restore_reads,
    serialize_reads,
    written_containers,
)
from imprint._src.jit.manifest.not_cacheable import (
    NotCacheable,
    Reason,
    has_drawn,
    random_state,
)
from imprint._src.jit.manifest.plain_data import (
    deserialize_aval,
    serialize_aval,
    serialize_placement,
    serialize_spread,
    tree_data,
)
from imprint._src.jit.manifest.result_trees import deserialize_tree, serialize_tree
from imprint._src.jit.manifest.stable_hash import StableHash, digest_of
from imprint._src.tree import internal as tree

Plain = dict[str, Any]
TRACE: Final = "trace"
"""The kind of a manifest in its note."""
TRACES: Final = 16
"""Traces in a manifest."""

# ---- 1. the key ----


class BucketShape(NamedTuple):
    """A bucket of calls whose axes have names.

    Args:
        avals: of the leaves, as long as the bucket.
        names: the names of the axes of each leaf.
        bounds: the lengths of the bucket, by name.
        zeros: whether zeros can be in all of the padding.
    """

    avals: tuple[ShapedArray, ...]
    names: tuple[tuple[Any, ...], ...]
    bounds: tuple[tuple[str, int], ...]
    zeros: bool


class KeyInputs(NamedTuple):
    """A call, for which there may be a manifest.

    Args:
        fun: the function.
        name: its name.
        options: the options of `jit`.
        call: the call.
        form: the form in its key; None if all its arguments are arrays, in their order.
        settings: the settings in its key.
        avals: of its leaves.
        bucket: the bucket of its sizes, if they have names.
    """

    fun: Any
    name: str
    options: JitOptions
    call: Call
    form: CallSpec | None
    settings: Settings
    avals: tuple[ShapedArray, ...]
    bucket: BucketShape | None = None


class ManifestKey(NamedTuple):
    """The key of a call, and the state of the process when it was made.

    Args:
        digest: the key.
        hashed: the hashes of the inputs.
        inputs: the function, its static values and the rest of what was hashed.
        root: the digest of `inputs`.
        roots: the function and its static values.
        in_tree: the tree of the arguments that are traced.
        arguments: the tree of all arguments.
        static: those leaves that are not traced, in order.
        random_state: of the global generators.
        files: the declared files.
        strict: whether the contents of arrays count.
    """

    digest: bytes
    hashed: StableHash
    inputs: tuple[Any, ...]
    root: bytes
    roots: tuple[Any, ...]
    in_tree: tree.TreeDef
    arguments: tree.TreeDef
    static: tuple[Any, ...]
    random_state: tuple[Any, Any]
    files: Stamps
    strict: bool


def manifest_key(inputs: KeyInputs) -> ManifestKey:
    """Return the key of the manifest of a call.

    Raises:
        NotCacheable: another process could not know that a call is the same.
    """
    options, settings = inputs.options, inputs.settings
    if options.abstracted_axes is not None and inputs.bucket is None:
        raise NotCacheable(Reason.OPTION, "sizes in no bucket")
    if settings.debug_nans or settings.debug_infs:
        raise NotCacheable(Reason.OPTION, "debug_nans or debug_infs")
    if settings.debug_key_reuse:  # its calls need the jaxpr
        raise NotCacheable(Reason.OPTION, "debug_key_reuse")
    hashed = StableHash(of_roots=True)
    call, form = inputs.call, inputs.call.spec
    in_tree = tree.structure(call.dynamic)
    data = None if form.treedef is None else list(tree_data(form.treedef))
    placements = options.device, options.in_shardings, options.out_shardings
    hashed_inputs = inputs.fun, *call.static, list(tree_data(in_tree)), data, placements
    root = hashed.digest(hashed_inputs)
    call_form = (
        inputs.form is None,
        form.dynamic,
        form.static,
        form.names,
        form.static_names,
        form.donated,
        inputs.name,
    )
    plain = (
        call_form,
        [serialize_aval(a) for a in inputs.avals],
        _serialize_settings(settings),
        options.keep_unused,
        options.compile.compiler_options,
        options.filtered is not None,
        options.strict,
        None if inputs.bucket is None else inputs.bucket[1:],
    )
    engine = runtime.identity("", options.compile, runtime.default_device())
    here = *engine, f"{len(runtime.devices())} devices", *environment_key()
    texts = [text.encode() for text in here]
    return ManifestKey(
        digest=digest(b"manifest", root, digest_of(plain), *texts),
        hashed=hashed,
        inputs=hashed_inputs,
        root=root,
        roots=(inputs.fun, *(value for _, value in held_by(call, in_tree))),
        in_tree=in_tree,
        arguments=in_tree if form.treedef is None else form.treedef,
        static=call.static,
        random_state=random_state(),
        files=declared_files(),
        strict=options.strict,
    )


def _serialize_settings(settings: Settings) -> list[Any]:
    values = [getattr(settings, name) for name in Settings.__slots__]
    plain = bool, int, float, str
    return [x if type(x) in plain else serialize_placement(x) for x in values]


# ---- 2. writing ----


def describe_trace(
    store: Store, key: ManifestKey, traced: TracedCall, module: LoweredProgram
) -> Plain:
    """Return a trace as plain data for other processes.

    Args:
        store: where its constants are put.
        key: the key of the call.
        traced: the trace, which was made just now.
        module: the program that was lowered from it.

    Raises:
        NotCacheable: another process could not know that it would trace the same.
    """
    from imprint._src.jit.manifest.diff import printed  # noqa: PLC0415 - warm starts do not need it

    dependencies = traced.whole.dependencies
    _check_trace(traced.whole, key)
    unwritten = dependencies.unwritten or ()
    hashed = key.hashed.copy({id(standin()) for standin in unwritten})
    reads = serialize_reads(hashed, key.roots, dependencies, printed)
    plain: Plain = {
        "reads": reads,
        "files": library_files(hashed.libraries),
        "declared": declarations_of(hashed.declared, hashed.own, key.files),
        "out": serialize_tree(traced.out_tree, key.arguments, key.hashed.nodes),
        "static": _serialize_static(traced.results, key),
        "outs": [serialize_aval(a) for a in traced.closed.out_avals],
        "ins": [serialize_aval(a) for a in module.in_avals],
        "consts": [_put_const(store, x) for x in module.consts],
        "kept": module.kept,
        "donated": module.donated,
        "options": module.options.compiler_options,
        "equations": module.equations,
        "own_equations": len(traced.closed.eqns),
        "text_bytes": module.text_bytes,
        "spread": serialize_spread(module.spread),
    }
    if not dependencies.holds():
        raise NotCacheable(Reason.EFFECT, "was disturbed by another thread")
    return plain


def _check_trace(traced: TracedCall, key: ManifestKey) -> None:
    dependencies = traced.dependencies
    if dependencies.written or written_containers(dependencies):
        raise NotCacheable(Reason.EFFECT, "wrote into what it reads")
    if key.hashed.library_objects:
        if dependencies.unwritten is None:
            raise NotCacheable(Reason.SIZE, "too many objects of libraries")
        after = StableHash(of_roots=True).digest(key.inputs)
        if after != key.root:
            raise NotCacheable(Reason.EFFECT, "wrote into an object of a library")
    if not dependencies.is_shareable:
        raise NotCacheable(Reason.EFFECT, "made callbacks")
    if has_drawn(key.random_state):
        raise NotCacheable(Reason.IMPURE, "random numbers that nobody gave it")


def _serialize_static(results: Results, key: ManifestKey) -> list[Any]:
    """Return which arguments the leaves are that are no arrays, by place."""
    places = {id(leaf): i for i, leaf in enumerate(key.static)}
    found = [(at, places.get(id(leaf))) for at, leaf in results.static().items()]
    if any(place is None for _, place in found):
        raise NotCacheable(Reason.RESULT, "what is no array")
    return found


def _put_const(store: Store, x: Any) -> list[Any]:
    if isinstance(x, Tracer):
        raise NotCacheable(Reason.VALUE, "a value of a trace")
    try:
        host = np.ascontiguousarray(np.asarray(x))
    except Exception:  # keys of random numbers are no arrays of NumPy
        raise NotCacheable(Reason.VALUE, "an array that is not of numbers") from None
    if host.nbytes > _CONST:
        culprit = f"an array of {host.nbytes / 2**20:.1f} MiB"
        raise NotCacheable(Reason.VALUE, culprit)
    name, shape = host.dtype.name, list(np.shape(x))
    data = host.tobytes()
    key = digest(b"constant", name.encode(), repr(shape).encode(), data)
    note = {"name": f"{name}{shape}", "kind": "constant"}
    if not store.put(key, note, data):
        raise NotCacheable(Reason.RECORDER, "the store did not take a constant")
    return [key.hex(), name, shape]


_CONST: Final = 1 << 20


def write_manifest(
    store: Store, inputs: KeyInputs, key: ManifestKey, trace: Plain, program: bytes
) -> None:
    """Add a trace to the manifest of a call.

    Args:
        store: where.
        inputs: the call.
        key: its key.
        trace: the trace as plain data.
        program: the key of its program.

    Raises:
        NotCacheable: the store does not take it.
    """
    from imprint._src.jit.manifest.diff import (  # noqa: PLC0415 - warm starts do not need it
        components,
        source_of,
    )

    traces = [{**trace, "program": program.hex()}]
    for other in traces_of(store, key):
        if other not in traces and len(traces) < TRACES:
            traces.append(other)
    body = {"components": components(inputs), "traces": traces}
    name = f"what {inputs.name} read"
    note = {"name": name, "kind": TRACE, "of": source_of(inputs.fun)}
    if not store.put(key.digest, note, json.dumps(body).encode()):
        raise NotCacheable(Reason.RECORDER, "the store did not take its manifest")


# ---- 3. reading ----


def parse_manifest(data: bytes | None) -> Plain:
    """Return the fields of a manifest; none if it is no manifest."""
    try:
        body: Any = {} if data is None else json.loads(data)
    except ValueError:  # written by another holder of the secret
        return {}
    return cast("Plain", body) if type(body) is dict else {}


def traces_of(store: Store, key: ManifestKey) -> Iterator[Plain]:
    """Yield the traces of a call, the newest first, then those of stores below."""
    for data in store.all_of(key.digest):
        traces: Any = parse_manifest(data).get("traces")
        yield from cast("list[Plain]", traces) if type(traces) is list else []


@final
class StoredTrace(NamedTuple):
    """A trace on the disk that a new trace would repeat.

    Args:
        store: where it is.
        in_tree: the tree of the arguments.
        plain: its fields.
        dependencies: the locations that it read, in this process.
        results: the structure of the result.
        consts: the leading arguments of the program.
    """

    store: Store
    in_tree: tree.TreeDef
    plain: Plain
    dependencies: Dependencies
    results: Results
    consts: tuple[Any, ...]

    def avals(self, name: str) -> tuple[ShapedArray, ...]:
        """Return the avals of arguments or results."""
        return tuple(map(deserialize_aval, self.plain[name]))


def find_trace(
    store: Store, key: ManifestKey, fits: Callable[[Plain], bool] = bool
) -> StoredTrace | None:
    """Return the trace on the disk that a new trace of a call would repeat.

    Args:
        store: where it may be.
        key: the key of the call.
        fits: whether a trace is for the sizes of the call.
    """
    for plain in traces_of(store, key):
        try:
            dependencies = verify(key, plain) if fits(plain) else None
            if not isinstance(dependencies, Dependencies):
                continue
            consts = tuple([_load_const(store, *const) for const in plain["consts"]])
            static = {at: key.static[place] for at, place in plain["static"]}
            out = deserialize_tree(plain["out"], key.arguments, key.hashed.nodes)
            results = Results(out, static)
            adopt_files(plain["declared"])
        except Exception:
            continue
        return StoredTrace(store, key.in_tree, plain, dependencies, results, consts)
    return None


def _load_const(store: Store, key: str, name: str, shape: list[int]) -> Any:
    data = store.get(bytes.fromhex(key))
    if data is None:
        raise LookupError(key)
    return np.frombuffer(data, np.dtype(name)).reshape(shape)


_EVERY: Final = range(sys.maxsize)
"""Each `id`: a stored digest of a library object is of one that its trace did not write."""


def verify(key: ManifestKey, plain: Plain) -> Dependencies | Mismatch:
    """Return the dependencies of a trace as they are now, or the first difference.

    Raises:
        Exception: a location is not there.
    """
    declared = declaration_mismatch(plain["declared"])
    if declared is not None:
        return Mismatch(*declared)
    file = changed_file(plain["files"])
    if file:
        return Mismatch(f"the file {file}")
    return restore_reads(
        key.hashed.copy(_EVERY), key.roots, plain["reads"], strict=key.strict
    )
