"""Processes that compute together, through the coordination service of PJRT.

The first process runs the service, and each process has a client, from which the engine
knows the others. The client also has keys with values, and barriers with a time limit.
imprint adds a comparison of the releases of jaxlib, and heartbeats: a dead process is
named, and the others stop, because a collective with a dead process waits for ever. Values
are text or bytes; the service takes up to 4 MB at once.
"""

import atexit
import os
import re
import socket
import sys
import threading
import time
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, final

from imprint._src.errors import ArgumentError, BackendError, CompileError
from imprint._src.runtime.compat import EngineError, engine, jaxlib_version

_ROOT: Final = "imprint"
_DEAD: Final = f"{_ROOT}/dead"


@final
@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """The processes that compute together, and time limits.

    Args:
        address: host and port of the service.
        count: the number of processes.
        index: the number of this process.
        bind: host and port on which the first process listens.
        wait: the seconds to wait for the others at the start.
        heartbeat: the seconds after which a silent process is dead.
        leave: the seconds to wait for the others at the end.
        gpus: the numbers of the GPUs of its host that this process has; None for all.
    """

    address: str
    count: int
    index: int
    bind: str
    wait: int
    heartbeat: int
    leave: int
    gpus: tuple[int, ...] | None = None


@final
class Processes:
    """This process among those that compute together."""

    def __init__(self, config: ClusterConfig) -> None:
        """Connect to the others.

        Raises:
            BackendError: the port is taken, the service or some processes do not answer,
                or their releases of jaxlib differ.
        """
        self.config: Final = config
        self._service = _start_service(config) if config.index == 0 else None
        self.client: Final = engine.get_distributed_runtime_client(
            config.address,
            config.index,
            init_timeout=config.wait,
            shutdown_timeout=config.leave,
            heartbeat_timeout=config.heartbeat,
            shutdown_on_destruction=False,
            use_compression=True,
            # Without it, a failed connection ends the process. The others have none,
            # so the engine reports the end of process 0.
            **({"missed_heartbeat_callback": _refuse} if config.index == 0 else {}),
        )
        self._counted: Counter[str] = Counter()
        self._ended = threading.Event()
        self._leaving = False
        _check_reachable(config)
        try:
            self.client.connect()
        except RuntimeError as err:  # the engine loses its text
            raise BackendError(
                f"distributed.initialize: expected {config.count} processes at "
                f"{config.address} within {config.wait} s, got fewer; the engine's log "
                "above names those that are missing. Start them all, with the same "
                "num_processes; initialization_timeout waits longer."
            ) from err
        self._set(f"{_ROOT}/alive/{config.index}", "0")
        self._check_versions()
        threading.Thread(target=self._send_heartbeats, daemon=True).start()
        atexit.register(self._at_exit)

    # ---- keys and values ----

    def put(self, key: str, value: bytes) -> None:
        """Set a value for all processes."""
        self.client.key_value_set_bytes(f"{_ROOT}/{key}", value, allow_overwrite=True)

    def get(self, key: str, seconds: float) -> bytes:
        """Return a value as soon as a process has set it.

        Raises:
            TimeoutError: no process set it in time.
        """
        try:
            return self.client.blocking_key_value_get_bytes(
                f"{_ROOT}/{key}", int(seconds * 1000)
            )
        except RuntimeError as err:
            raise TimeoutError(
                f"imprint: expected a value of {key!r} within {seconds:.0f} s, got none. "
                "Let some process set it."
            ) from err

    def delete(self, key: str) -> None:
        """Delete a value, or all under a key that ends with a slash."""
        self.client.key_value_delete(f"{_ROOT}/{key}")

    def wait(
        self, name: str, seconds: float, among: Sequence[int] | None = None
    ) -> None:
        """Wait until all processes, or some of them, wait for the same name.

        Raises:
            TimeoutError: some did not come in time.
        """
        numbers = () if among is None else (list(among),)
        try:
            self.client.wait_at_barrier(
                f"{_ROOT}/{name}", int(seconds * 1000), *numbers
            )
        except RuntimeError as err:
            count = self.config.count if among is None else len(among)
            raise TimeoutError(
                f"imprint: expected all {count} processes at {name!r} within "
                f"{seconds:.0f} s, got fewer: {str(err).splitlines()[0]}. Let all "
                "processes call the same functions in the same order."
            ) from err

    def exchange(
        self,
        what: str,
        value: bytes,
        seconds: float,
        among: Sequence[int] | None = None,
    ) -> list[bytes]:
        """Return the values of all processes, each of which calls this, in order.

        Args:
            what: the purpose, for the message; the n-th exchange of a purpose, up to a
                parenthesis, is the same in all processes.
            value: the value of this process.
            seconds: the time to wait for the others.
            among: the numbers of the processes, including this one; None for all.

        Raises:
            TimeoutError: some did not call it in time; the message names them.
        """
        me, count = self.config.index, self.config.count
        others = range(count) if among is None else among
        among = None if len(others) == count else others
        # Threads may make several in any order: each purpose has its own count.
        purpose = f"{what.partition('(')[0]} {[*others]}".encode()
        exchange_id = blake2b(purpose, digest_size=8).hexdigest()
        self._counted[exchange_id] += 1
        place = f"exchange/{exchange_id}.{self._counted[exchange_id]}"
        parts = [value[i : i + _PIECE] for i in range(0, len(value), _PIECE)] or [b""]
        for i, leave in enumerate(parts):
            self.put(f"{place}/{me}/{i}", leave)
        self.put(f"{place}/{me}", str(len(parts)).encode())
        until = time.monotonic() + seconds
        found: list[bytes] = []
        missing: list[int] = []
        for other in others:
            left = max(until - time.monotonic(), 0.05)
            try:
                pieces = int(self.get(f"{place}/{other}", left))
            except TimeoutError:
                missing.append(other)
                continue
            got = [self.get(f"{place}/{other}/{i}", 60) for i in range(pieces)]
            found.append(b"".join(got))
        if missing:
            raise TimeoutError(
                f"{what}: expected all {len(others)} processes to come within {seconds:.0f} s, "
                f"got none of {missing} in process {me}. Let all processes call the same "
                "functions in the same order."
            )
        self.wait(f"{place}/done", max(seconds, 60), among)
        with suppress(EngineError):  # process 0 may have left, with the keys
            self.delete(f"{place}/{me}")
            self.delete(f"{place}/{me}/")
        return found

    def _check_versions(self) -> None:
        m = self.config
        mine = f"{jaxlib_version} on {socket.gethostname()}"
        releases_of = self.exchange("distributed.initialize", mine.encode(), m.wait)
        releases = {text.decode().split(" ")[0] for text in releases_of}
        if len(releases) > 1:
            self.leave()
            shown = ", ".join(
                f"{i}: {text.decode()}" for i, text in enumerate(releases_of)
            )
            raise BackendError(
                "distributed.initialize: expected one release of jaxlib in all processes, "
                f"got {shown}. Install the same one everywhere: pip install "
                f"jaxlib=={max(releases)}."
            )

    # ---- heartbeats ----

    def _send_heartbeats(self) -> None:
        """Send heartbeats; stop this process when another one is dead."""
        m = self.config
        pause = min(max(m.heartbeat / 10, 0.2), 10)
        last: dict[str, tuple[str, float]] = {}
        number = 0
        while not self._ended.wait(pause):
            number += 1
            try:
                self._set(f"{_ROOT}/alive/{m.index}", str(number))
                dead = self.client.key_value_try_get(_DEAD)
            except RuntimeError as err:
                dead = "" if "NOT_FOUND" in str(err) else None
            if dead is None:
                continue  # the engine reports errors of its service
            if not dead and m.index == 0 and not self._leaving:
                dead = self._silent(last, m.heartbeat * 0.6)
            if dead and not self._leaving:
                self._stop(dead, pause)

    def _set(self, key: str, value: str) -> None:
        self.client.key_value_set(key, value, allow_overwrite=True)

    def _silent(self, last: dict[str, tuple[str, float]], limit: float) -> str:
        """Return the report of a process without heartbeats; "" if there is none."""
        now = time.monotonic()
        for key, value in self.client.key_value_dir_get(f"{_ROOT}/alive"):
            before, at = last.get(key, ("", now))
            last[key] = (value, now) if value != before else (before, at)
            if now - last[key][1] > limit:
                number = key.rsplit("/", 1)[-1]
                return f"process {number} of {self.config.count} was silent for {limit:.0f} s"
        return ""

    def _stop(self, dead: str, pause: float) -> None:
        if self.config.index == 0:  # the others read it from this process
            self._set(_DEAD, dead)
            time.sleep(3 * pause)
        sys.stderr.write(
            f"imprint.distributed: {dead}; process {self.config.index} stops, as it would "
            "wait for it for ever. Its own log says why; start all of them again.\n"
        )
        sys.stderr.flush()
        os._exit(70)

    # ---- the end ----

    def _at_exit(self) -> None:
        err = getattr(sys, "last_value", None)
        if err is not None and not self._ended.is_set():
            m = self.config
            report = (
                f"process {m.index} of {m.count} ended with {type(err).__name__}: {err}"
            )
            try:
                self._leaving = True
                self._set(_DEAD, report.splitlines()[0])
                if m.index == 0:
                    time.sleep(3 * min(max(m.heartbeat / 10, 0.2), 10))
            except RuntimeError:
                pass
            self._ended.set()
            return
        self.leave()

    def leave(self) -> None:
        """Wait for the others, and disconnect."""
        if self._ended.is_set():
            return
        self._leaving = True
        try:
            self.client.shutdown()
        except EngineError as err:
            # Process 0 leaves when all have come here; its service may end before the
            # answer.
            if not any(code in str(err) for code in _GONE):
                raise
        finally:
            self._ended.set()
            atexit.unregister(self._at_exit)
            if self._service is not None:
                self._service.shutdown()
                self._service = None


_PIECE: Final = 1 << 20
_GONE: Final = ("CANCELLED", "UNAVAILABLE")
"""Codes of errors of a service that has ended."""


def _start_service(config: ClusterConfig) -> Any:
    """Start the service; the engine does not report that the port is taken."""
    host, port = split_address(config.bind)
    try:
        with socket.socket(socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("" if host in {"[::]", "0.0.0.0"} else host, port))
    except OSError as err:
        raise BackendError(
            f"distributed.initialize: expected to listen at {config.bind} in process 0, "
            f"got {err.strerror}. Choose another port, in the coordinator_address of all "
            "processes."
        ) from err
    return engine.get_distributed_runtime_service(
        config.bind,
        config.count,
        heartbeat_timeout=config.heartbeat,
        cluster_register_timeout=config.wait,
        shutdown_timeout=config.leave,
    )


def _check_reachable(config: ClusterConfig) -> None:
    """Raise if no service answers in time: the engine would end the process."""
    host, port = split_address(config.address)
    until = time.monotonic() + config.wait
    place, patience = (host.strip("[]"), port), max(min(config.wait, 5), 0.2)
    while True:
        try:
            with socket.create_connection(place, patience) as found:
                _greet(found)
            return
        except OSError as err:
            if time.monotonic() < until and not isinstance(err, _FINAL):
                time.sleep(0.1)
                continue
            raise BackendError(
                f"distributed.initialize: expected process 0 of {config.count} to answer "
                f"at {config.address} within {config.wait} s, got {err.strerror or err} "
                f"in process {config.index}. Start process 0, and give all the same "
                "coordinator_address."
            ) from err


class _StrangerError(OSError):
    """Another program listens at the address, no service of gRPC."""


_FINAL: Final = (socket.gaierror, _StrangerError)
"""Errors that another attempt would repeat."""
_NO_SETTINGS: Final = b"\0\0\0\4\0\0\0\0\0"


def _greet(found: socket.socket) -> None:
    """Raise OSError unless the service greets by HTTP/2, as gRPC does."""
    found.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _NO_SETTINGS)
    answer = found.recv(9, socket.MSG_WAITALL)
    if len(answer) < 9:
        raise OSError(0, "no answer")
    if answer[3] != 4:  # the first frame must have settings
        raise _StrangerError(0, "the answer of another program")


def _refuse(*_: object) -> None:
    """Do nothing: the engine fails to call it, and raises that from `connect`."""


def split_address(address: str) -> tuple[str, int]:
    """Return the host and the port of an address."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or not host:
        raise ArgumentError(
            f"distributed.initialize: expected coordinator_address='host:port', got "
            f"{address!r}. Name a port that is free on the host of process 0."
        )
    return host, int(port)


@final
class _JoinedProcesses:
    """The processes of this cluster, if it has joined one."""

    def __init__(self) -> None:
        self.processes: Processes | None = None
        self.lock = threading.Lock()


_joined: Final = _JoinedProcesses()


def joined() -> Processes | None:
    """Return the processes that this one computes with; None if it is alone."""
    return _joined.processes


def join(config: ClusterConfig) -> Processes:
    """Join the other processes, before the devices start."""
    with _joined.lock:
        _joined.processes = Processes(config)
        return _joined.processes


def leave() -> None:
    """Leave the other processes."""
    with _joined.lock:
        if _joined.processes is not None:
            _joined.processes.leave()
            _joined.processes = None


# ---- one program in all processes ----


def check_agreement(module_text: str | bytes, devices: Sequence[Any]) -> None:
    """Raise unless all processes of some devices compile the same program.

    Different programs would wait for each other for ever. Source lines are ignored, because
    paths of files may differ.

    Args:
        module_text: the program.
        devices: its devices, in their order.

    Raises:
        CompileError: the programs differ; the message has the first different line.
        TimeoutError: some process compiles none.
    """
    processes = joined()
    if processes is None:
        return
    text = module_text if isinstance(module_text, str) else module_text.decode("latin1")
    plain = f"devices {[d.id for d in devices]}\n{_LOCATION.sub('', text)}"
    among = sorted({d.process_index for d in devices})
    if processes.config.index not in among:
        return
    digest = blake2b(plain.encode(), digest_size=16).digest()
    wait = processes.config.wait
    purpose = "a program over devices of several processes"
    digests = processes.exchange(purpose, digest, wait, among)
    other = next((i for i, x in enumerate(digests) if x != digests[0]), None)
    if other is None:
        return
    sent = processes.exchange(purpose, plain.encode(), wait, among)
    texts = [x.decode() for x in sent]
    ours, theirs = (texts[i].splitlines() for i in (0, other))
    last = min(len(ours), len(theirs)) - 1
    at = next((i for i in range(last) if ours[i] != theirs[i]), last)
    first, second = ours[at].strip(), theirs[at].strip()
    raise CompileError(
        "compile: expected the same program in all processes, as each waits for the "
        f"others, got in process {among[0]}\n  {first}\nand in process {among[other]}\n"
        f"  {second}\n"
        "Make what they compute depend on nothing that differs: the number of the process, "
        "random numbers, the order of a set."
    )


_LOCATION: Final = re.compile(r" loc\(#loc\d+\)|^#loc\d+ = .*\n", re.MULTILINE)
