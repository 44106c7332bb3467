"""Chains followed: the locations that the code of a trace reads by name.

When a code object starts, each of its chains is followed from a global or closure variable
straight to its values. Where the receiver is not known without running code, the rest of
the chain is read by name: of all owners that were reached.
"""

import sys
from types import (
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    ModuleType,
)
from typing import Any, Final, final

from imprint._src.core.user_code import (
    is_fixed,
    is_module,
    is_own_namespace,
    is_user_class,
    is_user_namespace,
    module_namespace,
)
from imprint._src.jit.fingerprint.layout import instance_dict, layout_of
from imprint._src.jit.fingerprint.raw_access import (
    MISSING,
    class_attribute,
    class_of,
    is_data_descriptor,
    is_plain,
    storage_of,
)
from imprint._src.jit.guards.code_names import (
    Chain,
    ChainStep,
    Head,
    Import,
    StepKind,
    all_code,
    code_names,
)
from imprint._src.jit.guards.executed import Executed
from imprint._src.jit.guards.locations import (
    Attribute,
    Cell,
    ClassAttribute,
    FunctionPart,
    Global,
    Item,
    Location,
)
from imprint._src.jit.guards.reachable import (
    PLAIN_CONTAINERS,
    ReachableValues,
    ReachedLocation,
    Readers,
    Site,
    has_getattr,
    is_opaque,
    is_settings,
)

_WRITES: Final = frozenset(("append", "add", "extend", "clear", "appendleft", "update"))
_Steps = tuple[ChainStep, ...]


@final
class FollowedChains(ReachableValues):
    """The values that one trace reached, by the chains of its code.

    Attributes:
        lost: by the `id` of code, the steps of chains whose receivers are not known.
    """

    def __init__(self, executed: Executed, *, is_strict: bool) -> None:
        super().__init__(executed, is_strict=is_strict)
        self.lost: dict[int, set[str]] = {}
        self._tails: dict[str, list[tuple[CodeType, int, _Steps, bool]]] = {}
        self._whole_by_name: dict[str, Readers] = {}
        self._tail_starts: dict[str, list[ReachedLocation]] = {}
        self._entered: set[int] = set()
        self._parents: dict[int, CodeType] = {}
        self._started: dict[tuple[int, int], tuple[CodeType, dict[str, Any]]] = {}
        self._stored: set[str] = set()
        self._chained: dict[str, set[str]] = {}

    # ---- code ----

    def arm(self, code: CodeType, parent: CodeType | None = None) -> None:
        """Observe code that may run, and the code nested in it."""
        if parent is not None:
            self._parents[id(code)] = parent
        self.executed.arm(code)
        for inner in code_names(code).nested:
            self.arm(inner, code)

    def start(self, code: CodeType, names: dict[str, Any] | None) -> None:
        """Follow the chains of a code object that starts now."""
        if names is None:
            names = self._globals_of(code)
        key = id(code), id(names)
        if key in self._started:
            return
        self._started[key] = code, names or {}
        found = code_names(code)
        self._parents.update((id(inner), code) for inner in found.nested)
        for stored, _ in found.stores:
            self._store(stored)
        for chain in found.chains:
            self._enter_chain(chain, code, names)
        named = [*found.constants]
        if found.matches >= 0:
            self.has_patterns = True
            named += [(x, found.matches) for x in ("__match_args__", *self.matched)]
        for text, offset in named:
            step = ChainStep(StepKind.ATTRIBUTE, text, offset, offset)
            self._by_name((step,), code, is_whole=True)
        if names is not None:
            for each in found.imports:
                self._enter_import(each, code, names)
        for function, location in tuple(self.functions.get(id(code), ())):
            self._enter_parts(function, location)
            self.start(code, function.__globals__)

    def start_again(self, function: FunctionType, location: Location | None) -> bool:
        """Follow the closure of a function whose code has started; False if it has not."""
        code, names = function.__code__, function.__globals__
        if (id(code), id(names)) not in self._started:
            return False
        self._enter_parts(function, location)
        free = code.co_freevars
        for each in all_code(code):
            if (id(each), id(names)) not in self._started:
                continue
            for chain in code_names(each).chains:
                if chain.head is Head.CELL and chain.name in free:
                    cell = Cell(function, free.index(chain.name), location)
                    self._follow(cell, chain, each)
        return True

    def _globals_of(self, code: CodeType) -> dict[str, Any] | None:
        known = self.functions.get(id(code))
        if known:
            return known[0][0].__globals__
        outer = self._parents.get(id(code))
        return None if outer is None else self._globals_of(outer)

    def _store(self, name: str) -> None:
        if name not in self._stored:
            self._stored.add(name)
            for each in tuple(self._chained.pop(name, ())):
                self.add_name(each)

    def _enter_parts(self, function: FunctionType, location: Location | None) -> None:
        """Add the code and the defaults of a function that runs."""
        if id(function) in self._entered:
            return
        self._entered.add(id(function))
        readers = Readers(of_code=function.__code__)
        self.add(FunctionPart(function, "__code__", location), readers)
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name) is not None:  # else each call gave all arguments
                part = self.add(FunctionPart(function, name, location), readers)
                self.add_contents(part.before, part.location, readers)

    def _enter_import(self, it: Import, code: CodeType, names: dict[str, Any]) -> None:
        full = _resolved(it.name, names)
        if not it.taken and "." in full:
            full = full.partition(".")[0]
        readers = Readers((code, it.offset))
        module = self.add(Global(sys.modules, full), readers).before
        if not is_module(module):
            return
        held = module_namespace(module)
        for each in it.taken:
            self.add(Global(held, each), readers)
        if not is_user_namespace(held) and not is_own_namespace(held):
            chains = code_names(code).chains
            heads = [c.steps[0] for c in chains if c.head is Head.OTHER and c.steps]
            for step in {step.name for step in heads if not step.kind.is_item}:
                if step in held:
                    self.add(Global(held, step), readers)

    # ---- chains ----

    def _enter_chain(
        self, chain: Chain, code: CodeType, names: dict[str, Any] | None
    ) -> None:
        if chain.head is Head.GLOBAL:
            if names is None:
                return
            is_builtin = chain.name not in names
            self._note_stored(chain)
            self._follow(Global(names, chain.name, is_builtin=is_builtin), chain, code)
        elif chain.head is Head.CELL:
            self._note_stored(chain)
            owners = self._cell_owners(code, chain.name)
            for function, location in owners:
                index = function.__code__.co_freevars.index(chain.name)
                self._follow(Cell(function, index, location), chain, code)
            if not owners:
                self._lose(chain.steps, code, is_whole=chain.is_whole)
        else:
            self._by_name(chain.steps, code, is_whole=chain.is_whole)

    def _note_stored(self, chain: Chain) -> None:
        """Read the steps after one that code stores by name, too."""
        elements = [chain.name]
        elements += [s.name for s in chain.steps if not s.kind.is_item]
        for i, element in enumerate(elements[:-1]):
            later = elements[i + 1 :]
            if element in self._stored:
                for each in later:
                    self.add_name(each)
            else:
                self._chained.setdefault(element, set()).update(later)

    def _cell_owners(
        self, code: CodeType, name: str
    ) -> list[tuple[FunctionType, Location | None]]:
        """Return the functions that have a closure variable of code; [] if the trace made it.

        Nested code reads the variable of the function around it.
        """
        at: CodeType | None = code
        while at is not None and name in at.co_freevars:
            known = self.functions.get(id(at))
            if known:
                return [*known]
            at = self._parents.get(id(at))
        return []

    def _follow(self, location: Location, chain: Chain, code: CodeType) -> None:
        """Follow a chain from the location of its head."""
        place = self.add(location, Readers((code, chain.offset)))
        self._follow_steps(
            place, chain.steps, code, chain.offset, is_whole=chain.is_whole
        )

    def _follow_steps(
        self,
        place: ReachedLocation,
        steps: _Steps,
        code: CodeType,
        offset: int,
        *,
        is_whole: bool,
    ) -> None:
        """Follow steps from a location, which the instruction at `offset` reads."""
        for i, step in enumerate(steps):
            found = self._step(place, step, code)
            if found is None:
                kind, value = class_of(place.before), place.before
                is_open = step.kind.is_item or value is MISSING or value is None
                # A getter may read the name of another object; the trace may fill it in.
                rest = steps[i:] if is_open or has_getattr(kind) else steps[i + 1 :]
                self._lose(rest, code, is_whole=is_whole)
                return
            if not found:
                return
            place, offset = found[-1], step.offset
        if is_whole:
            self._use_whole(place, Readers((code, offset)))

    def _lose(self, steps: _Steps, code: CodeType, *, is_whole: bool) -> None:
        """Read steps of an unknown receiver by name."""
        names = [s.read_name for s in steps if s.kind is not StepKind.ITEM]
        self.lost.setdefault(id(code), set()).update(names)
        self._by_name(steps, code, is_whole=is_whole)

    # ---- steps by name ----

    def _by_name(self, steps: _Steps, code: CodeType, *, is_whole: bool) -> None:
        """Read steps of unknown receivers: of all owners with their names."""
        for i, step in enumerate(steps):
            if step.kind is StepKind.GET:
                self.add_name("get")
            if step.kind.is_item:
                continue
            after = i + 1
            while after < len(steps) and steps[after].kind.is_item:
                after += 1
            is_used = is_whole or after < len(steps)
            tail = code, step.offset, steps[i + 1 : after], is_used
            if after > i + 1:
                self._tails.setdefault(step.name, []).append(tail)
                for place in tuple(self._tail_starts.get(step.name, ())):
                    self._follow_tail(place, *tail)
            elif is_used:
                self._use_whole_by_name(step.name, (code, step.offset))
            self.add_name(step.name)

    def _use_whole_by_name(self, name: str, site: Site) -> None:
        readers = self._whole_by_name.get(name)
        if readers is None:  # one for all sites: a name is read at many
            readers = self._whole_by_name[name] = Readers()
            for place in tuple(self._tail_starts.get(name, ())):
                self._use_whole(place, readers)
        readers.sites.append(site)

    def follow_tails(self, place: ReachedLocation) -> None:
        """Follow item reads by name from a location, those of later code, too."""
        if storage_of(place.before) is None:
            return
        name = place.location.name
        self._tail_starts.setdefault(name, []).append(place)
        if name in self._whole_by_name:
            self._use_whole(place, self._whole_by_name[name])
        for tail in tuple(self._tails.get(name, ())):
            self._follow_tail(place, *tail)

    def _follow_tail(
        self,
        place: ReachedLocation,
        code: CodeType,
        offset: int,
        steps: _Steps,
        is_whole: bool,  # noqa: FBT001 - a part of a tail
    ) -> None:
        self._follow_steps(place, steps, code, offset, is_whole=is_whole)

    def _use_whole(self, place: ReachedLocation, readers: Readers) -> None:
        """Add the contents of a value that is used by more than constant keys."""
        place.whole.append(readers)
        self.add_whole(place.before, place.location, readers)

    # ---- one step ----

    def _step(  # noqa: C901 - a branch for each kind
        self, place: ReachedLocation, step: ChainStep, code: CodeType
    ) -> list[ReachedLocation] | None:
        """Return the locations that a step reads; the last one has the result.

        None if the result is not known without running code; empty if nothing is read.
        """
        value, location = place.before, place.location
        kind, name = class_of(value), step.name
        readers = Readers((code, step.offset))
        if step.kind.is_item:
            if step.kind is StepKind.GET and is_user_class(kind):
                self.add(ClassAttribute(kind, "get"), readers)
            if storage_of(value) is None:
                return self._setting(value, name, readers, location)
            at = Item(value, name, location, location.value_path)
            return [self.add(at, readers)]
        if is_opaque(kind):
            return []
        if value is MISSING:
            return None
        if issubclass(kind, ModuleType):
            return self._step_of_module(value, kind, name, readers)
        if kind is FunctionType:
            found = self.add(FunctionPart(value, name, location), readers)
            return None if found.before is MISSING else [found]
        if storage_of(value) is not None:  # a field of a named tuple is an item
            is_plain_container = id(kind) in PLAIN_CONTAINERS
            if not (is_plain_container and name in _WRITES):
                self._use_whole(place, readers)
            if is_plain_container:
                return []
        if issubclass(kind, type):
            return self._step_of_class(value, name, readers)
        return self._step_of_object(value, kind, name, readers, location)

    def _step_of_module(
        self, module: Any, kind: Any, name: str, readers: Readers
    ) -> list[ReachedLocation] | None:
        names = module_namespace(module)
        found = self.add(Global(names, name, parent=None), readers)
        if is_user_class(kind):
            self.add(ClassAttribute(kind, name), readers)
        if found.before is MISSING and is_user_namespace(names):
            self.add(Global(names, "__getattr__"), readers)
        return None if found.before is MISSING else [found]

    def _step_of_class(
        self, cls: type, name: str, readers: Readers
    ) -> list[ReachedLocation] | None:
        is_users = is_user_class(class_of(cls))
        if is_fixed(cls) and not (is_user_class(cls) or is_users):
            return None
        found = self.add(ClassAttribute(cls, name), readers)
        if is_users:
            self.add(ClassAttribute(class_of(cls), name), readers)
        return [found] if is_plain(found.before) else None

    def _step_of_object(
        self, value: Any, kind: Any, name: str, readers: Readers, location: Location
    ) -> list[ReachedLocation] | None:
        layout = layout_of(value)
        shown = class_attribute(kind, name)
        if is_user_class(kind) or not (layout.is_open or is_fixed(kind)):
            self.add(ClassAttribute(kind, name), readers)
        if layout.has_attributes or (kind is CellType and name == "cell_contents"):
            at = Attribute(value, name, location, location.value_path)
            own = self.add(at, readers)
            if own.before is not MISSING and (
                shown is MISSING
                or not is_data_descriptor(shown)
                or class_of(shown) is GetSetDescriptorType  # `args` of an exception
                or name in layout.state(value)
            ):
                return [own]
        if shown is not MISSING and is_settings(value):  # `c.items()`
            self.add_whole(value, location, readers)
        if shown is MISSING and (not is_user_class(kind) or storage_of(value) is dict):
            return self._setting(value, name, readers, location)
        known = self.places.get(ClassAttribute(kind, name).key)
        return None if known is None or not is_plain(shown) else [known]

    def _setting(
        self, value: Any, name: str, readers: Readers, location: Location
    ) -> list[ReachedLocation] | None:
        """Return the item that a library object answers from a dictionary that it holds.

        Its class has a `__getattr__`, like those of settings.
        """
        path = location.value_path
        if storage_of(value) is dict and has_getattr(class_of(value)):
            return [self.add(Item(value, name, location, path), readers)]
        if not is_settings(value):
            return None
        for each, held in layout_of(value).state(value).items():
            if storage_of(held) is dict:
                own = Attribute(value, each, location, path)
                place = self.add(Item(held, name, own, path), readers)
                if place.before is MISSING:
                    continue
                if not is_user_class(class_of(place.before)):
                    self._add_state(place, readers)
                return [place]
        return None

    def _add_state(self, place: ReachedLocation, readers: Readers) -> None:
        """Add the attributes of an object that library code reads: a flag's value."""
        value = place.before
        layout = layout_of(value)
        if layout.is_open and layout.has_only_dict and not is_settings(value):
            path = place.location.value_path
            inner = Attribute(value, "__dict__", place.location, path)
            self.add_contents(instance_dict(value), inner, readers)


def _resolved(name: str, names: dict[str, Any]) -> str:
    if not name.startswith("."):
        return name
    from importlib.util import resolve_name  # noqa: PLC0415 - few imports are relative

    try:
        return resolve_name(name, names.get("__package__"))
    except ImportError:
        return name
