"""Stores by name, by object, and written in Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from zarrive import _core

StoreLike = Any  # a path or URL, a Store, a dict, or an object with `get`


class _MappingStore:
    """A dict, or any other mapping from keys to bytes, as a store."""

    takes_context = False

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        self._mapping = mapping
        self.name = f"<{type(mapping).__name__}>"
        if hasattr(mapping, "__setitem__"):
            self.set = self._set

    def get(self, key: str) -> Any:
        try:
            return self._mapping[key]
        except KeyError:
            return None

    def _set(self, key: str, value: _core.Buffer) -> None:
        self._mapping[key] = bytes(value)  # type: ignore[index]

    def erase(self, key: str) -> None:
        self._mapping.pop(key, None)  # type: ignore[attr-defined]

    def size(self, key: str) -> int | None:
        value = self.get(key)
        return None if value is None else memoryview(value).nbytes

    def list(self, prefix: str) -> list[str]:
        start = prefix + "/" if prefix else ""
        return [key for key in self._mapping if key.startswith(start)]


def open_store(store: StoreLike, mode: str = "r", **options: Any) -> _core.Store:
    """A store by what stands for one.

    Parameters
    ----------
    store : path, URL, Store, mapping, or object with `get` or `getitems`
        A directory, a zip archive ("data.zip", or any file that is one), "memory://name", a dict, or a store written in Python
        (see `python_store`).
    mode : {"r", "r+", "a", "w", "w-"}
        "r" reads (every write is an error), "r+" must exist, the others make it when it is not there.
    durability : {"none", "batch", "full"}, optional
        Of stores on disks: when written values are on the disk.
    follow_symlinks : bool
        Whether keys may lead over symbolic links of a directory.

    Examples
    --------
    >>> import zarrive
    >>> store = zarrive.open_store({"greeting": b"hello"})
    >>> bytes(store.get("greeting"))
    b'hello'
    >>> store.get("absent") is None
    True
    """
    if isinstance(store, _core.Store):
        return _core.read_only_store(store) if mode == "r" and store.writable else store
    if isinstance(store, str | os.PathLike):
        return _core.open_store(os.fspath(store), mode, **options)
    if isinstance(store, Mapping):
        store = _MappingStore(store)
    opened = _core.python_store(store)
    return _core.read_only_store(opened) if mode == "r" and opened.writable else opened


def getitems(store: StoreLike, keys: Any, *, contexts: Any = None) -> dict[str, _core.Buffer]:
    """Reads many keys as one batch, each with its context; keys that are not there are absent from the result.

    Parameters
    ----------
    store : StoreLike
    keys : iterable of str
    contexts : Context, ConstantMap or mapping from key to Context, optional
        What is known about a key: where its value is wanted ("host", "pinned", "cuda:0"), the array and chunk that it belongs to.

    Examples
    --------
    >>> import zarrive
    >>> store = zarrive.open_store({"a": b"1", "b": b"22"})
    >>> keys = ["a", "b", "c"]
    >>> found = zarrive.getitems(store, keys, contexts=zarrive.ConstantMap(keys, zarrive.Context(prototype="pinned")))
    >>> {key: bytes(value) for key, value in found.items()}
    {'a': b'1', 'b': b'22'}
    """
    return open_store(store, "r").getitems(list(keys), contexts)


def setitems(store: StoreLike, values: Mapping[str, Any], *, contexts: Any = None) -> None:
    """Writes many keys as one batch. Values are Buffers, bytes, or anything with the buffer protocol."""
    open_store(store, "a").setitems(values, contexts)
