"""What belongs to the process in JAX: `jax.config`, and the backends that have started.

Programs of absl parse their flags by the first; chex looks at the second before it asks
for more devices.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, final

from imprint._src.config import config as own
from imprint._src.runtime.client import Device, default_backend, devices, has_started


@final
class JaxConfig:
    """imprint's flags, and the methods of JAX's for programs of absl."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(own, name)

    def config_with_absl(self) -> None:
        """Do nothing: `JAX_*` variables and `update` set the flags."""

    parse_flags_with_absl = config_with_absl


@final
class Backends(Mapping[str, tuple[Device, ...]]):
    """The devices of the default backend by its name, once a program has used them."""

    def __getitem__(self, platform: str) -> tuple[Device, ...]:
        if platform in iter(self):
            return devices(platform)
        raise KeyError(platform)

    def __iter__(self) -> Iterator[str]:
        return iter([default_backend()] if has_started() else [])

    def __len__(self) -> int:
        return int(has_started())


CONFIG: Final = JaxConfig()
BACKENDS: Final = Backends()
