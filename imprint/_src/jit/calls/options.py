"""The options of `jit` and `filter_jit`: their declaration, checks and normal form.

`JitKeywords` and `FilterJitKeywords` declare the options as users write them.
`checked_options` turns them into `JitOptions`; equal options are one object.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import pairwise
from operator import index
from typing import Any, Final, Literal, TypeAlias, TypedDict, get_args

from imprint._src import runtime
from imprint._src.config import config
from imprint._src.core.control import Inline
from imprint._src.errors import ArgumentError, did_you_mean
from imprint._src.jit.calls.axes import AxesSpec, read_axes
from imprint._src.jit.calls.filtering import Donate, Filter
from imprint._src.jit.calls.signature import as_tuple
from imprint._src.runtime import CompileOptions, Device
from imprint._src.sharding.single import Sharding, SingleDeviceSharding
from imprint._src.sharding.spec import PartitionSpec
from imprint._src.tree import internal as tree

OnLimit = Literal["warn", "error"]
Buckets: TypeAlias = Literal["pow2"] | Sequence[int] | Callable[[int], int] | None
"""For which lengths of axes with names there are programs; None: for each."""


# ---- declaration ----


class JitKeywords(TypedDict, total=False):
    """The options of `jit`, each declared here and nowhere else."""

    in_shardings: Any
    out_shardings: Any
    static_argnums: int | Iterable[int] | None
    static_argnames: str | Iterable[str] | None
    donate_argnums: int | Iterable[int] | None
    donate_argnames: str | Iterable[str] | None
    keep_unused: bool
    device: Any
    backend: str | None
    inline: bool | Inline
    abstracted_axes: Any
    compiler_options: Mapping[str, Any] | None
    max_versions: int | None
    on_limit: OnLimit
    strict: bool | None
    persist: bool
    buckets: Buckets


class FilterJitKeywords(TypedDict, total=False):
    """The options of `filter_jit`; those that `jit` has too mean the same."""

    donate: Donate
    max_versions: int | None
    on_limit: OnLimit
    strict: bool | None
    persist: bool
    abstracted_axes: Any
    buckets: Buckets


_DEFAULTS: Final[dict[str, Any]] = {
    "donate": "none",
    "keep_unused": False,
    "inline": False,
    "on_limit": "warn",
    "persist": True,
    "buckets": "pow2",
}
"""The defaults that are not None."""


def signature_with(keywords: type[Any]) -> inspect.Signature:
    """Return the signature of a decorator with these options, for `help`."""
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_DEFAULTS.get(name),
            annotation=annotation,
        )
        for name, annotation in keywords.__annotations__.items()
    ]
    fun = inspect.Parameter("fun", inspect.Parameter.POSITIONAL_ONLY, default=None)
    return inspect.Signature([fun, *options])


# ---- normal form ----


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JitOptions:
    """The options of one jitted function, a part of its definition. Interned.

    Args:
        static: positions and names of static arguments, as given.
        donate: positions and names of donated arguments, as given.
        keep_unused: whether unused arguments are still passed.
        inline: how a nested call is inlined.
        device: where it runs; None is the default device.
        compile: options of the compiler.
        max_versions: how many versions it may have; None is no limit.
        on_limit: whether to drop the oldest with a warning, or to raise an error.
        strict: whether contents are guarded, and warnings are errors.
        persist: whether its programs may be stored on disk.
        in_shardings: a prefix of the dynamic arguments, of devices, shardings and None.
        out_shardings: likewise of the result.
        filtered: the options of `filter_jit`; None for `jit`.
        is_loop: whether it runs a loop outside of all traces, whose step may capture
            large arrays without a warning.
        abstracted_axes: which axes have names.
        buckets: the lengths of bucket programs for these axes.
    """

    static: tuple[Any, Any] = (None, None)
    donate: tuple[Any, Any] = (None, None)
    keep_unused: bool = False
    inline: Inline = Inline.AUTO
    device: Device | None = None
    compile: CompileOptions = field(default_factory=CompileOptions)
    max_versions: int | None = None
    on_limit: OnLimit = "warn"
    strict: bool = False
    persist: bool = True
    in_shardings: Any = None
    out_shardings: Any = None
    filtered: Filter | None = None
    is_loop: bool = False
    abstracted_axes: AxesSpec | None = None
    buckets: Buckets = "pow2"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def names_arguments(self) -> bool:
        """Whether they name parameters of the function."""
        own = self.static, self.donate
        return own != ((None, None), (None, None)) or self.abstracted_axes is not None

    def as_given(self) -> dict[str, Any]:
        """Return the options under the names that `jit` takes."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in ("static", "donate"):
            nums, names = given.pop(name)
            given |= {
                f"{name}_argnums": _alone(nums),
                f"{name}_argnames": _alone(names),
            }
        return given

    def shardings_of_arguments(self, in_tree: tree.TreeDef) -> list[Any]:
        """Return the given sharding of each leaf; TreeError if it is no prefix."""
        return tree.flatten_axes(self.in_shardings, in_tree, "jit in_shardings")

    def shardings_of_results(self, out_tree: tree.TreeDef) -> list[Any]:
        """Return the given sharding of each leaf; TreeError if it is no prefix."""
        return tree.flatten_axes(self.out_shardings, out_tree, "jit out_shardings")

    @property
    def nested(self) -> dict[str, Inline]:
        """The params of a nested call."""
        return {} if self.inline is Inline.AUTO else {"inline": self.inline}

    @property
    def spreads(self) -> bool:
        """Whether they have shardings."""
        return not (self.in_shardings is self.out_shardings is None)

    def after_bound_argument(self) -> "JitOptions":
        """Return the options for a function with a bound first argument."""
        assert self.filtered is not None
        axes = self.abstracted_axes
        return interned(
            replace(
                self,
                filtered=self.filtered._replace(first=1),
                abstracted_axes=axes and axes.after(1),
            )
        )

    def check_nested(self, name: str) -> None:
        """Raise ArgumentError if a call inside a traced function cannot keep to them."""
        shardings = tree.leaves((self.in_shardings, self.out_shardings))
        single = [x for x in shardings if isinstance(x, Device | SingleDeviceSharding)]
        for what, them, given in (
            ("compiler_options", "them", self.compile.compiler_options),
            ("a device", "it", self.device is not None),
            ("shardings", "them", single),
        ):
            if given:
                raise ArgumentError(
                    f"jit({name}): expected {what} only on a function that is called "
                    "from outside, got a call inside another traced function. Give "
                    f"{them} to the outermost jit."
                )


def _alone(values: tuple[Any, ...] | None) -> Any:
    """Return the one position or name that there is, without its tuple."""
    return values[0] if values is not None and len(values) == 1 else values


def interned(options: JitOptions) -> JitOptions:
    """Return the one object for options that are the same; a pickle finds it too."""
    restore, values = options.__reduce__()
    return restore(*values)


def _restored(*values: Any) -> JitOptions:
    try:
        return _interned(*values)
    except TypeError:  # a container of shardings has no hash
        return _interned.__wrapped__(*values)


@lru_cache(maxsize=4096, typed=True)
def _interned(*values: Any) -> JitOptions:
    names = [field.name for field in fields(JitOptions)]
    return JitOptions(**dict(zip(names, values, strict=True)))


def checked_options(
    decorator: Literal["jit", "filter_jit"], keywords: Mapping[str, Any]
) -> JitOptions:
    """Return the options that a user wrote, checked; equal options are one object.

    Raises:
        ArgumentError: the value of an option is wrong.
    """
    declared = JitKeywords if decorator == "jit" else FilterJitKeywords
    for name in keywords:
        if name not in declared.__annotations__:
            raise TypeError(
                f"{decorator}() got an unexpected keyword argument {name!r}"
            )
    given: dict[str, Any] = {**_DEFAULTS, **keywords}
    if decorator == "jit":
        del given["donate"]
    if given.get("strict") is None:
        given["strict"] = config.strict
    for name, kind in _PARAMETERS.items():
        if given.get(name) is not None:  # plain values: `lru_cache` finds equal ones
            given[name] = as_tuple(given[name], kind, name)
    given["buckets"] = check_buckets(given["buckets"], given.get("abstracted_axes"))
    given["abstracted_axes"] = read_axes(given.get("abstracted_axes"))
    given["compile"] = check_compiler_options(given.pop("compiler_options", None))
    try:
        return _checked(**given)
    except TypeError as err:
        if "unhashable" not in str(err):
            raise
        return _checked.__wrapped__(**given)


_PARAMETERS: Final[dict[str, type[Any]]] = {
    "static_argnums": int,
    "static_argnames": str,
    "donate_argnums": int,
    "donate_argnames": str,
}


@lru_cache(maxsize=4096, typed=True)
def _checked(**given: Any) -> JitOptions:
    take = given.pop
    shardings = take("in_shardings", None), take("out_shardings", None)
    _check_shardings(*shardings)
    options = {
        "static": (take("static_argnums", None), take("static_argnames", None)),
        "donate": (take("donate_argnums", None), take("donate_argnames", None)),
        "in_shardings": shardings[0],
        "out_shardings": shardings[1],
        "device": check_device(take("device", None), take("backend", None), shardings),
        "inline": _inline(take("inline")),
        "filtered": _filter(take("donate")) if "donate" in given else None,
    }
    _check_plain(given)
    return interned(JitOptions(**options, **given))


def _filter(donate: Any) -> Filter:
    words = get_args(Donate)
    if donate not in words:
        raise ArgumentError(
            f"filter_jit: expected donate to be one of {', '.join(map(repr, words))}, "
            f"got {donate!r}.{did_you_mean(str(donate), words)}"
        )
    return Filter(donate)


def _check_plain(given: Mapping[str, Any]) -> None:
    """Raise ArgumentError for a flag or a limit of a wrong type."""
    for name in ("keep_unused", "strict", "persist"):
        if not isinstance(given[name], bool):
            raise ArgumentError(
                f"jit: expected {name} True or False, got {given[name]!r}."
            )
    most, on_limit = given.get("max_versions"), given["on_limit"]
    if most is not None and (not isinstance(most, int) or most < 1):
        raise ArgumentError(
            f"jit: expected max_versions to be None or at least 1, got {most!r}."
        )
    if on_limit not in get_args(OnLimit):
        raise ArgumentError(
            f"jit: expected on_limit 'warn' or 'error', got {on_limit!r}."
        )


def _inline(inline: Any) -> Inline:
    if isinstance(inline, Inline):
        return inline
    if not isinstance(inline, bool):
        raise ArgumentError(
            "jit: expected inline True, False or a member of imprint.Inline, got "
            f"{inline!r}."
        )
    return Inline.JAX_LATE if inline else Inline.AUTO


def check_device(device: Any, backend: Any, shardings: Any) -> Device | None:
    """Return the device that `device=` or `backend=` names, if either is given."""
    given = device if backend is None else backend
    if given is not None and tree.leaves(shardings):
        raise ArgumentError(
            f"jit: expected a device or shardings, got both: {given!r} and shardings "
            f"on {tree.leaves(shardings)[0]!r}. Leave device and backend out."
        )
    if device is not None and backend is not None:
        raise ArgumentError(
            f"jit: expected device or backend, got both: {device!r} and {backend!r}. "
            "A device belongs to one backend; leave the backend out."
        )
    if backend is not None:
        return runtime.devices(backend)[0]
    if device is not None and not isinstance(device, Device):
        raise ArgumentError(
            f"jit: expected device to be one of imprint.devices(), got {device!r} of "
            f"type {type(device).__name__}."
        )
    return device


def _check_shardings(in_shardings: Any, out_shardings: Any) -> None:
    """Raise ArgumentError for a leaf that is no sharding."""
    for name, value in (
        ("in_shardings", in_shardings),
        ("out_shardings", out_shardings),
    ):
        for leaf in tree.leaves(value):  # None is a node without leaves
            if not isinstance(leaf, Device | Sharding | PartitionSpec):
                raise ArgumentError(
                    f"jit: expected {name} to be None, a device, a sharding, a "
                    f"PartitionSpec or a tree of them, got {leaf!r}. Write "
                    "imprint.NamedSharding(mesh, imprint.P('data'))."
                )


def check_buckets(buckets: Any, abstracted_axes: Any) -> Buckets:
    """Return the buckets in normal form."""
    if buckets is None or buckets == "pow2" or callable(buckets):
        found: Any = buckets
    else:
        try:
            found = tuple([index(n) for n in buckets])
        except TypeError:
            found = ()
        grows = all(a < b for a, b in pairwise((0, *found)))
        if not found or not grows or isinstance(buckets, str):
            raise ArgumentError(
                "jit: expected buckets to be 'pow2', lengths that grow, a function of the "
                f"length, or None, got {buckets!r}. Write buckets=[64, 128, 256]."
            )
    if abstracted_axes is None and found != "pow2":
        raise ArgumentError(
            f"jit: expected buckets with abstracted_axes, got {buckets!r} alone. Say "
            "which axes vary: abstracted_axes={0: 'n'}."
        )
    return found


def check_compiler_options(options: Mapping[str, Any] | None) -> CompileOptions:
    """Return the compiler's options in normal form."""
    if options is not None and not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - from the user
        raise ArgumentError(
            "compiler_options: expected a dictionary of XLA's options, got "
            f"{options!r}. Write compiler_options={{'xla_cpu_enable_fast_math': True}}."
        )
    return CompileOptions.of(options)


PLAIN: Final = checked_options("jit", {"strict": False})
"""The options of a function that has none."""
