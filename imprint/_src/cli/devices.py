"""The network of digits learns once more, on eight devices of the CPU at a time.

1. A fresh process has eight devices: their number is settled before the first is used.
2. The same step is called with whole batches, and with batches of which each device has
   an eighth, beside a copy of the network. It is one function with two versions.
3. The losses must be equal to what sums of float32 in another order give, and the
   network that was trained on eight devices must be on all of them.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy

import imprint
from imprint import NamedSharding, P, optim
from imprint._src.cli.digits import batches, load, make_network, make_step, trained
from imprint._src.debug.shardings import table

_DEVICES = 8
ADAM: Final = optim.adam(0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What a training on one device and on several told."""

    devices: int
    versions: int
    alone: list[float]
    split: list[float]
    batch: int
    share: int
    copies: bool
    picture: str

    @property
    def difference(self) -> float:
        """How far the losses are apart, at most, relative to the first."""
        return self.apart(self.split)

    def apart(self, losses: Sequence[float]) -> float:
        """Return how far the first losses on one device are from others, likewise.

        Args:
            losses: those of another training, of as many steps or fewer.
        """
        apart = numpy.abs(numpy.subtract(self.alone[: len(losses)], losses))
        return float(apart.max() / self.alone[0])


def learn_shared(steps: int) -> Shares:
    """Train on one device and on eight, in a process of its own.

    Args:
        steps: how many batches to learn from.
    """
    program = f"from imprint._src.cli.devices import answer; answer({steps})"
    settled = {"IMPRINT_NUM_CPU_DEVICES": str(_DEVICES)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, **settled},
    )
    return Shares(**json.loads(done.stdout))


def answer(steps: int) -> None:
    """Print what both trainings tell; the number of devices is in the environment."""
    mesh = imprint.make_mesh((imprint.device_count(),), ("data",))
    step = make_step(ADAM)
    alone, split = train(steps, step, None), train(steps, step, mesh)
    images, weights = split.images, imprint.tree.leaves(trained(split.network))
    told = Shares(
        devices=mesh.size,
        versions=step._cache_size(),
        alone=alone.losses,
        split=split.losses,
        batch=len(images),
        share=len(images.addressable_data(0)),
        copies=all(w.is_fully_replicated and len(w.devices()) > 1 for w in weights),
        picture=table([[str(d)] for d in mesh.flat_devices]),
    )
    print(json.dumps(asdict(told)))


class Learnt(NamedTuple):
    """What a training gave: losses, the network, and the images of the last batch."""

    losses: list[float]
    network: Any
    images: Any


def train(steps: int, step: Any, mesh: imprint.sharding.Mesh | None) -> Learnt:
    """Train a new network, of whose batches each device of a mesh has its share.

    Args:
        steps: how many batches to learn from.
        step: the compiled step, of `make_step(ADAM)`.
        mesh: the devices, along one axis that is called `data`; one device, if None.
    """
    network, given = make_network(), None
    state = ADAM.init(trained(network))
    rows = None if mesh is None else NamedSharding(mesh, P("data"))
    if mesh is not None:
        copies = NamedSharding(mesh, P())
        arrays, rest = imprint.partition(network, imprint.is_array)
        network = imprint.combine(imprint.device_put(arrays, copies), rest)
        state = imprint.device_put(state, copies)
    losses: list[float] = []
    for batch in islice(batches(load()[0]), steps):
        given = tuple(batch) if rows is None else imprint.device_put(tuple(batch), rows)
        network, state, loss = step(network, state, *given)
        losses.append(float(loss))
    assert given is not None
    return Learnt(losses, network, given[0])
