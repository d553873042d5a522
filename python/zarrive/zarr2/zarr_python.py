"""What of zarr-python 2 is needed, when it is there. With another zarr-python, or none, a `Store` is a plain
mapping."""

from __future__ import annotations

from functools import wraps
from importlib import metadata
from typing import Any

import numpy as np


def _major_version() -> int | None:
    try:
        return int(metadata.version("zarr").partition(".")[0])
    except (metadata.PackageNotFoundError, ValueError):
        return None


AVAILABLE = _major_version() == 2

if AVAILABLE:
    from zarr._storage.store import Store, StoreV3
    from zarr.core import Array
    from zarr.errors import ReadOnlyError
    from zarr.sync import ThreadSynchronizer

    def repair_writes_in_batches(kind: type) -> None:
        """Makes two kinds of writes to arrays in stores of a kind go chunk by chunk.

        In zarr-python 2.15 to 2.18 they fail over every store with `setitems`: those of an array where an
        integer takes a dimension away (UnboundLocalError), and those of nothing (ValueError).
        """
        in_one_batch = Array._set_selection

        @wraps(in_one_batch)
        def _set_selection(self: Array, indexer: Any, value: Any, fields: Any = None) -> None:
            fails = 0 in indexer.shape or (indexer.drop_axes and not np.isscalar(value))
            if fails and self._synchronizer is None and isinstance(self.chunk_store, kind):
                one_by_one = object.__new__(type(self))
                one_by_one.__dict__.update(self.__dict__, _synchronizer=ThreadSynchronizer())
                return in_one_batch(one_by_one, indexer, value, fields)
            return in_one_batch(self, indexer, value, fields)

        Array._set_selection = _set_selection

    __all__ = ["AVAILABLE", "ReadOnlyError", "Store", "StoreV3", "repair_writes_in_batches"]

else:

    class Store:
        """In zarr-python's place."""

    class ReadOnlyError(PermissionError):
        def __init__(self) -> None:
            super().__init__("object is read-only")

    def repair_writes_in_batches(kind: type) -> None:
        """Nothing to repair."""

    __all__ = ["AVAILABLE", "ReadOnlyError", "Store", "repair_writes_in_batches"]
