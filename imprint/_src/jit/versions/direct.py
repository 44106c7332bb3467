"""Small programs without the engine: a study, off unless IMPRINT_DIRECT=1.

`Executable.serialize` contains a program's object code, a C function for each kernel, and the
order of their calls. If these are few, on small buffers, nothing else of the engine is needed:
the messages are read (`xla/service/cpu/executable.proto`, `hlo.proto`), the memory plan is
checked, the object code is linked against libm, in memory that is then executable and not
writable, and `native/direct.c` calls it. All else is refused, and runs on the engine. The
formats are private to it, so `PASSED` lists the builds of jaxlib that tests passed with.
"""

import ctypes
import mmap
import re
import struct
from collections.abc import Iterator
from math import prod
from typing import Any, Final, TypeAlias

from imprint._src import native, runtime
from imprint._src.array import ArrayImpl, host_of

PASSED: Final = {
    "349673696 bytes, cf273b016da53fb4322026edcfb4b291": "0.10.2, Linux x86-64",
    "328518520 bytes, ce093387105a0e3e63f7962527829c01": "0.12.0, Linux x86-64",
}
"""The builds of jaxlib with which tests passed, by their identity."""
MOST_BYTES: Final = 1 << 16
"""The most memory of a program: arguments, results and what is between."""
_MOST_STEPS: Final = 16
_MOST_VALUES: Final = 60  # of a program or a step; the C part has room for 64
_LONG: Final = 20_000  # operations, above which other threads run meanwhile
_LIBRARY: Final = re.compile(
    "mem(cpy|move|set)|(a?(sin|cos|tan)h?|atan2|sincos|exp|log|pow|fmod)f?"
)
_GLIBC: Final = (b"GLIBC_2.27", b"GLIBC_2.2.5")  # jaxlib is built for 2.27
_DAMAGED: Final = (LookupError, TypeError, AttributeError, ArithmeticError)
"""What reading bytes of another format raises."""

Message: TypeAlias = dict[int, list[Any]]
Row: TypeAlias = tuple[int, ...]
Step: TypeAlias = tuple[str, Row, list[tuple[int, int, int]], int]
"""A kernel or "" for a copy, its groups, its slices, and how many of them it reads."""


class NotDirectError(Exception):
    """The engine has to run the program; the text says why."""


def program_of(version: Any) -> Any:
    """Return what calls the kernels of a version, or None if the engine has to."""
    try:
        return load(version)
    except NotDirectError:
        return None


def load(version: Any) -> Any:
    """Return what calls the kernels of a version.

    Raises:
        NotDirectError: the engine has to run it.
    """
    executable, program = version.executable, version.program
    if runtime.library_identity() not in PASSED:
        raise NotDirectError("this build of jaxlib was not tried")
    is_special = version.special or version.consts or executable.callbacks
    if is_special or executable.device.platform != "cpu":
        raise NotDirectError("it donates, captures or moves arrays, or calls Python")
    orders = [x.major_to_minor for each in executable.layouts() for x in each]
    if any(order != (*range(len(order)),) for order in orders):
        raise NotDirectError("a layout is not NumPy's")
    costs = executable.cost_analysis()
    flops = costs.get("flops", 0) + 20 * costs.get("transcendentals", 0)
    avals = *program.module.in_avals, *program.out_avals
    try:
        plan = _Plan(executable.serialized or executable.serialize())
        return _linked(plan, avals, program.kept, is_long=flops > _LONG)
    except (*_DAMAGED, ValueError, struct.error, runtime.EngineError) as err:
        raise NotDirectError("its bytes have another format") from err


# ---- messages of protocol buffers ----


def _fields(data: bytes) -> Message:
    """Return the values of a message, by the number of the field."""
    found: Message = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7, 0)
            if not size:
                size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    if at > len(data):
        raise ValueError
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 128:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def _message(parent: Message, *path: int) -> Message:
    for number in path:
        parent = _fields(parent[number][0])
    return parent


def _number(message: Message, number: int) -> int:
    return message.get(number, [0])[0]  # a number that is 0 is left out


def _numbers(message: Message, number: int) -> tuple[int, ...]:
    data, at, found = b"".join(message.get(number, [])), 0, list[int]()
    while at < len(data):
        n, at = _varint(data, at)
        found.append(n)
    return tuple(found)


# ---- the program ----


class _Plan:
    """The steps of a program and its allocations, by their index."""

    def __init__(self, data: bytes) -> None:
        size, at = _varint(data, 0)
        if _fields(data[at : at + size])[2] != [b"pjrt_ifrt"]:
            raise ValueError
        compiled = _message(_fields(data[at + size :]), 1)
        module, buffers = _message(compiled, 1, 1), _message(compiled, 2)
        self.files = [_fields(each)[1][0] for each in compiled.get(8, [])]
        self.steps = [*_steps(_message(compiled, 6))]
        computations = [*map(_fields, module[3])]
        listed = [_fields(each) for x in computations for each in x[2]]
        self.instructions = {_number(each, 35): each for each in listed}
        roots = {_number(x, 5): _number(x, 6) for x in computations}
        self.root = self.instructions[roots[_number(module, 6)]]
        if any(x[2] == [b"while"] for x in listed):
            raise NotDirectError("it has a loop, which could last")
        self.allocations = {_number(x, 1): x for x in map(_fields, buffers[3])}
        self.sizes = {i: _number(x, 2) for i, x in self.allocations.items()}
        self.values: dict[int, tuple[int, tuple[int, ...]]] = {}
        for each in map(_fields, buffers[1]):
            place = _message(each, 3)
            self.values[_number(each, 1)] = _number(place, 4), _numbers(place, 3)
        total = sum(self.sizes.values())
        if total > MOST_BYTES or len(self.steps) > _MOST_STEPS:
            raise NotDirectError(f"it has {total:,} bytes and {len(self.steps)} steps")

    def holders(self, arguments: int, results: int) -> list[int]:
        """Return the allocations of the arguments and of the results."""
        inputs = {_number(x, 6): i for i, x in self.allocations.items() if 5 in x}
        holders = {
            self.values[_number(_fields(each), 1)]: i
            for i, x in self.allocations.items()
            for each in x.get(9, [])
        }
        found = [inputs[i] for i in range(arguments)]
        for i in range(results):
            at, path = self.root, [] if results == 1 else [i]
            while at[2][0] in (b"tuple", b"get-tuple-element", b"bitcast"):
                part = 0
                if at[2] == [b"tuple"]:
                    part = path.pop(0)
                elif at[2] == [b"get-tuple-element"]:
                    path.insert(0, _number(at, 13))
                at = self.instructions[_numbers(at, 36)[part]]
            found.append(holders[at[35][0], (*path,)])
        if len({*found}) < len(found) or len(found) > _MOST_VALUES:
            raise NotDirectError("values share memory, or are many")
        return found

    def constant(self, allocation: int) -> bytes:
        """Return the bytes of a constant."""
        value = _number(_message(self.allocations[allocation], 9), 1)
        literal = _message(self.instructions[self.values[value][0]], 8)
        data = b"".join(b"".join(literal.get(i, [])) for i in _RAW)
        for i, size in _INTEGERS.items():
            mask = (1 << 8 * size) - 1
            for n in _numbers(literal, i):
                data += (n & mask).to_bytes(size, "little")
        is_flat = len(_numbers(_message(literal, 1), 3)) < 2
        if not is_flat or len(data) != self.sizes[allocation]:
            raise NotDirectError("a constant has several axes, or another dtype")
        return data


_RAW: Final = (3, 8, 9, 11, 12, 13, 15, 16, 17, 18)
"""The fields of a literal that are the bytes of its elements."""
_INTEGERS: Final = {2: 1, 4: 4, 5: 8, 6: 4, 7: 8}
"""The other fields of a literal, and the bytes of an element."""


def _steps(sequence: Message) -> Iterator[Step]:
    for thunk in map(_fields, sequence.get(1, [])):
        if not {11, 12} & {*thunk}:
            raise NotDirectError(f"it has a step of kind {thunk[1][0].decode()}")
        step, name, groups = _message(thunk, *{11, 12} & {*thunk}), "", (0, 0, 0)
        if 11 in thunk:
            name, sizes = step[1][0].decode(), _message(step, 2)
            groups = tuple([_number(sizes, i) for i in (1, 2, 3)])
        (reads, writes), at = ((5, 6), 1) if name else ((1, 2), 2)
        reads, writes = step.get(reads, []), step.get(writes, [])
        used = [_message(_fields(x), at) for x in (*reads, *writes)]
        slices = [(_number(x, 3), _number(x, 1), _number(x, 2)) for x in used]
        shapes = [_fields(x)[3 - at][0] for x in (*reads, *writes)]
        if not name and (shapes[0] != shapes[1] or slices[0][2] != slices[1][2]):
            raise NotDirectError("a copy changes the layout")
        yield name, groups, slices, len(reads)


def _linked(plan: _Plan, avals: Any, kept: tuple[int, ...], *, is_long: bool) -> Any:
    """Return what calls the kernels."""
    arguments, count = len(kept), len(avals)
    order = plan.holders(arguments, count - arguments)
    places, scratch = {i: (place, 0) for place, i in enumerate(order)}, 0
    image, values, steps, slices = _Image(plan.files), b"", b"", b""
    for i, allocation in plan.allocations.items():
        if 12 in allocation:
            places[i] = count + 1, image.add(plan.constant(i))
        elif i not in places and not {3, 11} & {*allocation}:  # of a thread; a tuple
            places[i] = count, scratch
            scratch += plan.sizes[i] + -plan.sizes[i] % 64
    for i, aval, leaf in zip(order, avals, (*kept, *order[arguments:]), strict=True):
        nbytes, ndim = aval.dtype.itemsize * prod(aval.shape), len(aval.shape)
        if not 0 < plan.sizes[i] == nbytes or ndim > 8:
            raise NotDirectError(f"{aval} takes other memory than in NumPy")
        dims = *aval.shape, *[0] * (8 - ndim)
        values += struct.pack("12q", id(aval.dtype), ndim, *dims, nbytes, leaf)
    functions = image.link()
    for name, groups, used, reads in plan.steps:
        numbers = functions[name], *groups, len(slices) // 24, len(used)
        steps += struct.pack("6q", *numbers)
        for at, (i, offset, size) in enumerate(used):
            place, start = places[i]
            is_own = at < reads or arguments <= place <= count  # of results, or scratch
            if at == _MOST_VALUES or not is_own or offset + size > plan.sizes[i]:
                raise NotDirectError("a kernel leaves its memory")
            slices += struct.pack("3q", place, start + offset, size)
    slots = vars(ArrayImpl)["_host"], vars(ArrayImpl)["_buffer"]
    parts = ArrayImpl, *slots, host_of, values, steps, slices, (image.memory, avals)
    return native.direct.Program(parts, image.address, scratch, is_long, arguments)


# ---- object code ----


class _Image:
    """Object code and constants, as they lie in memory."""

    def __init__(self, files: list[bytes]) -> None:
        self.data = bytearray()
        self.files = [(file, *self._placed(file)) for file in files]

    def add(self, data: bytes) -> int:
        """Add bytes, aligned; return where they are."""
        at = len(self.data)
        self.data += data + bytes(-len(data) % 64)
        return at

    def _placed(self, file: bytes) -> tuple[list[Row], dict[int, int]]:
        """Return the sections of an ELF file, and where those are that take memory."""
        if file[:7] != b"\x7fELF\2\1\1" or file[16:20] != b"\1\0\x3e\0":
            raise NotDirectError("its code is for another machine")
        start, *_, count = struct.unpack_from("QI5H", file, 40)
        table = file[start : start + 64 * count]
        sections: list[Row] = [*struct.iter_unpack("2I4Q2I2Q", table)]
        places: dict[int, int] = {}
        for i, (_, kind, flags, _, at, size, _, _, align, _) in enumerate(sections):
            if flags & 2 and size:  # SHF_ALLOC
                if size > 1 << 20 or align > 64 or at + size > len(file):
                    raise ValueError
                places[i] = self.add(bytes(size) if kind == 8 else file[at : at + size])
        return sections, places

    def link(self) -> dict[str, int]:
        """Put it into executable memory; return the addresses of its functions."""
        self.memory = mmap.mmap(-1, len(self.data) or 1, mmap.MAP_PRIVATE)
        self.memory[: len(self.data)] = self.data
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        functions = {"": 0}  # a copy
        for file, sections, places in self.files:
            (table,) = [each for each in sections if each[1] == 2]  # SHT_SYMTAB
            names = sections[table[6]][4]
            symbols: list[tuple[str, int]] = []
            for name, _, _, at, value, _ in _table("I2BH2Q", file, table):
                text = file[names + name : file.index(0, names + name)].decode()
                address = self.address + places[at] + value if at in places else 0
                symbols.append((text, address))
            functions |= {name: value for name, value in symbols if name and value}
            for each in sections:
                if each[1] == 9:  # SHT_REL
                    raise ValueError
                for offset, info, addend in _table("2Qq", file, each, kind=4):
                    at, (name, address) = places[each[7]] + offset, symbols[info >> 32]
                    self._relocate(at, info & 0xFFFFFFFF, name, address, addend)
        memory = ctypes.c_void_p(self.address), ctypes.c_size_t(len(self.memory))
        if ctypes.CDLL(None).mprotect(*memory, mmap.PROT_READ | mmap.PROT_EXEC):
            raise NotDirectError("this system forbids to execute written memory")
        return functions

    def _relocate(
        self, at: int, kind: int, name: str, address: int, addend: int
    ) -> None:
        if not address:
            if not _LIBRARY.fullmatch(name):
                raise NotDirectError(f"its code calls {name}, not of libm")
            find = ctypes.CDLL(None).dlvsym
            find.restype = ctypes.c_void_p
            for version in _GLIBC:  # that of `log` decides the sign of NaN
                address = address or find(None, name.encode(), version) or 0
        form = {1: "Q", 2: "i", 4: "i", 24: "q"}.get(kind)  # 64, PC32, PLT32, PC64
        if form is None or not address:
            raise NotDirectError(f"its code has a relocation of type {kind}")
        value = address + addend - (0 if kind == 1 else self.address + at)
        struct.pack_into(form, self.memory, at, value)


def _table(form: str, file: bytes, section: Row, kind: int = 2) -> Iterator[Row]:
    """Return the entries of a section, or none if it is of another kind."""
    start, size = section[4:6] if section[1] == kind else (0, 0)
    return struct.iter_unpack(form, file[start : start + size])
