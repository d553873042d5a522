"""`StoreV3`: the same store for zarr-python 2's experimental version 3 (ZARR_V3_EXPERIMENTAL_API=1).

Its keys lie below "meta/root/" and "data/root/". It is not the version 3 that was agreed on later; other
programs do not read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarr._storage.store import _get_metadata_suffix, data_root, meta_root

from zarrive.zarr2 import zarr_python
from zarrive.zarr2.contexts import Context
from zarrive.zarr2.over_core import StoreOverCore, normalize_path

_ROOTS = (meta_root, data_root)


class StoreV3(StoreOverCore, zarr_python.StoreV3):
    """Any store of Zarrive as a `StoreV3` of zarr-python 2. Takes what `Store` takes, except for
    partial_values: these are always there, and zarr-python reads through them."""

    def __init__(
        self,
        store: Any = None,
        *,
        mode: str | None = None,
        dimension_separator: str | None = None,
        normalize_keys: bool = False,
    ) -> None:
        super().__init__(
            store,
            mode=mode,
            dimension_separator=dimension_separator,
            normalize_keys=normalize_keys,
            partial_values=True,
        )

    get_partial_values = StoreOverCore.get_ranges
    set_partial_values = StoreOverCore.set_ranges

    @property
    def supports_efficient_get_partial_values(self) -> bool:
        return True

    def setitems(self, values: Mapping[str, Any], *, contexts: Mapping[str, Context] | None = None) -> None:
        for key in values:
            self._validate_key(key)
        super().setitems(values, contexts=contexts)

    def list(self) -> list[str]:
        return [*self]

    def list_prefix(self, prefix: str) -> list[str]:
        if prefix.startswith("/"):
            raise ValueError("prefix must not begin with /")
        native = self._to_read()
        below = prefix.rpartition("/")[0]
        return [key for key in native.list(below) if key.startswith(prefix)] if native is not None else []

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        native = self._to_read()
        if native is None:
            return [], []
        keys, prefixes = native.list_dir(normalize_path(prefix))
        return keys, [f"{below}/" for below in prefixes]

    def erase(self, key: str) -> None:
        del self[key]

    def erase_prefix(self, prefix: str) -> None:
        if not prefix.endswith("/"):
            raise ValueError(f"a prefix ends with '/', other than {prefix!r}")
        self._to_write().erase_prefix(normalize_path(prefix))

    def rmdir(self, path: str | None = "") -> None:
        """Removes the node at a path and all below it: its data and its documents."""
        native = self._to_write()
        path = self._normalize_key(normalize_path(path))
        for root in _ROOTS:
            native.erase_prefix(root + path if path else root.rstrip("/"))
        if path:
            native.erase_many(self._documents(path))

    def rename(self, src_path: str, dst_path: str) -> None:
        """ValueError when there is nothing to rename."""
        native = self._to_write()
        source, target = (self._normalize_key(normalize_path(path)) for path in (src_path, dst_path))
        there = [(root + source, root + target) for root in _ROOTS if native.list(root + source)]
        documents = zip(self._documents(source), self._documents(target), strict=True)
        there += [names for names in documents if native.exists(names[0])]
        if not there:
            raise ValueError(f"no item {src_path!r} found to rename")
        for old, new in there:
            super().rename(old, new)

    def getsize(self, path: str | None = None) -> int:
        """Bytes of a key's value, or of all data and documents of the node at a path and below it."""
        native = self._to_read()
        if native is None:
            return 0
        path = normalize_path(path)
        if not path:
            return sum(native.size(key) or 0 for root in _ROOTS for key in native.list(root.rstrip("/")))
        path = self._normalize_key(path)
        if (size := native.size(path)) is not None:
            return size
        keys = [*self._documents(path), *(root + path for root in _ROOTS)]
        keys += [key for root in _ROOTS for key in native.list(root + path)]
        return sum(native.size(key) or 0 for key in keys)

    def _documents(self, path: str) -> list[str]:
        suffix = _get_metadata_suffix(self)
        return [f"{meta_root}{path}.{kind}{suffix}" for kind in ("array", "group")]
