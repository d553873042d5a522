"""What pickles of the core's objects call: functions that pickle finds by name."""

from __future__ import annotations

from typing import Any

from zarrive import _core


def data_type(text: str) -> _core.DataType:
    return _core.DataType.parse(text)


def store(spec: dict[str, Any]) -> _core.Store:
    return _core.open_spec(spec)


def array(store: _core.Store, path: str, zarr_format: int) -> _core.Array:
    return _core.open_array(store, path, zarr_format)


def group(store: _core.Store, path: str, zarr_format: int) -> _core.Group:
    return _core.open_group(store, path, zarr_format)
