"""What arrays and groups have in common."""

from __future__ import annotations

from typing import Any

from zarrive import _core
from zarrive.attributes import Attributes


class Node:
    """An array or a group: its place, its attributes."""

    _core: Any

    @property
    def store(self) -> _core.Store:
        return self._core.store

    @property
    def path(self) -> str:
        """From the store's root, without slashes at the ends."""
        return self._core.path

    @property
    def name(self) -> str:
        return "/" + self.path

    @property
    def basename(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def attrs(self) -> Attributes:
        """The attributes: a mapping whose changes are written at once."""
        return Attributes(self._core)

    @property
    def zarr_format(self) -> int:
        """2 or 3."""
        return self._core.zarr_format

    @property
    def read_only(self) -> bool:
        return not self.store.writable
