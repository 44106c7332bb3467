import re

import pytest

from imprint._src import runtime
from imprint.errors import BackendError
from tests.units.runtime.programs import in_fresh_process

TWO_THREADS_ONE_CLIENT = """
import threading
from imprint._src import runtime
barrier, found = threading.Barrier(8), []

def ask():
    barrier.wait()
    found.append(runtime.devices()[0])

threads = [threading.Thread(target=ask) for _ in range(8)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
print(len(set(map(id, found))))
"""

MANY = """
import sys
import imprint
from imprint.errors import ConfigError

def attempt(value):
    try:
        imprint.config.update("num_cpu_devices", value)
    except ConfigError as err:
        print(err)

attempt(0)
if "set" in sys.argv:
    attempt(3)
print(imprint.device_count(), imprint.local_device_count("cpu"))
print([d.id for d in imprint.local_devices()], imprint.devices()[1])
print(imprint.process_index(), imprint.process_count(), imprint.process_indices())
attempt(4)
attempt(imprint.config.num_cpu_devices)
"""

FORK = """
import os, sys, warnings
from imprint._src import runtime
from imprint._src.config import default_device
from tests.units.runtime.programs import DOUBLE, F4, put
import numpy as np

warnings.simplefilter("ignore")  # Python 3.12 warns of the fork as such

def in_child(work):
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            print(work())
        except Exception as err:
            print(type(err).__name__, str(err).replace(str(os.getpid()), "CHILD"))
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

def compute():
    executable = runtime.compile(DOUBLE, [F4])
    return runtime.read(executable.run([put(np.ones(4, np.float32))])[0], F4)

print(os.getpid())
in_child(compute)
executable = runtime.compile(DOUBLE, [F4])
x = put(np.ones(4, np.float32))
in_child(runtime.devices)
in_child(lambda: executable.run([x]))
in_child(lambda: executable.call([x]))
in_child(lambda: put(np.ones(4, np.float32)))
with default_device(runtime.devices()[0]):
    in_child(lambda: put(np.ones(4, np.float32)))
print(compute())
"""


def test_there_is_one_object_per_device():
    (device,) = runtime.devices()
    assert runtime.devices("cpu") == (device,)
    assert runtime.local_devices() == (device,)
    assert device is runtime.devices()[0] is runtime.default_device()
    assert runtime.device_count() == runtime.local_device_count() == 1


def test_a_device_describes_itself():
    (device,) = runtime.devices()
    assert repr(device) == "CpuDevice(id=0)"
    assert (device.id, device.process_index) == (0, 0)
    assert device.platform == device.device_kind == runtime.default_backend() == "cpu"


def test_an_unknown_backend_is_refused():
    message = (
        "devices: expected one of the backends ['cpu', 'gpu', 'tpu'], got 'cpus'. "
        "Leave the backend out: the CPU computes."
    )
    with pytest.raises(BackendError, match=f"^{re.escape(message)}$"):
        runtime.devices("cpus")


def test_concurrent_threads_get_the_same_client():
    assert in_fresh_process(TWO_THREADS_ONE_CLIENT) == ["1"]


def test_a_fork_computes_before_first_use_and_raises_after():
    parent, early, *refused, after = in_fresh_process(FORK)
    text = (
        f"BackendError imprint: expected to compute in process {parent}, which started "
        "the device, got process CHILD, a fork of it, which lacks the device's threads. "
        "Start the worker with multiprocessing's 'spawn', or fork before the first "
        "computation."
    )
    assert early == after == "[2. 2. 2. 2.]"
    assert refused == [text] * 5


@pytest.mark.parametrize("given", ["set", "IMPRINT_NUM_CPU_DEVICES", "XLA_FLAGS"])
def test_the_cpu_has_the_requested_number_of_devices(given, monkeypatch):
    if given != "set":
        flag = "--xla_force_host_platform_device_count="
        monkeypatch.setenv(given, (flag if given == "XLA_FLAGS" else "") + "3")
    assert in_fresh_process(MANY, given) == [
        "config.update('num_cpu_devices'): expected a positive int, or -1 for as many as "
        "XLA_FLAGS say, got 0.",
        "3 3",
        "[0, 1, 2] cpu:1",
        "0 1 [0]",
        "config.update('num_cpu_devices'): expected a value before the devices of the CPU "
        "have started, got 4 after that. Set it first, or start with "
        "IMPRINT_NUM_CPU_DEVICES=4.",
    ]
