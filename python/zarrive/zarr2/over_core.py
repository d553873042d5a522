"""A mapping over any store of Zarrive, with batches and contexts: what `Store` and `StoreV3` have in
common."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from itertools import islice
from threading import Lock
from typing import Any
from urllib.parse import unquote

from zarrive import _core
from zarrive.stores import open_store
from zarrive.zarr2 import zarr_python
from zarrive.zarr2.contexts import Context, wanted_by
from zarrive.zarr2.values import from_native, to_native

_NUMBER = re.compile(r"\d+")
_SHOWN_ON_REQUEST = {
    "get_partial_values": "get_ranges",
    "set_partial_values": "set_ranges",
    "supports_efficient_set_partial_values": "_sets_ranges_efficiently",
}
_MOVED_AT_ONCE = 64  # keys, whose values are in memory together


def normalize_path(path: str | bytes | None) -> str:
    """As zarr-python's stores do: no slash at either end, none doubled, no backslashes. ValueError for "."
    and "..".

    >>> normalize_path("/a//b/"), normalize_path(None)
    ('a/b', '')
    """
    if path is None:
        return ""
    path = path.decode("ascii") if isinstance(path, bytes) else str(path)
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    if "." in parts or ".." in parts:
        raise ValueError(f"{path!r} has a part '.' or '..'")
    return "/".join(parts)


class _Ranges:
    """What zarr-python's partial decompression of Blosc chunks asks an FSStore's `map` and `fs` for."""

    def __init__(self, store: StoreOverCore) -> None:
        self._store = store

    @staticmethod
    def _key_to_str(key: str) -> str:
        return key

    def read_block(self, key: str, offset: int, length: int) -> Any:
        (value,) = self._store.get_ranges([(key, (int(offset), int(length)))])
        if value is None:
            raise KeyError(key)
        return value


class StoreOverCore(MutableMapping):
    """Keys and bytes, one or many at a time, over a store of Zarrive."""

    def __init__(
        self,
        store: Any = None,
        *,
        mode: str | None = None,
        dimension_separator: str | None = None,
        normalize_keys: bool = False,
        partial_values: bool = False,
    ) -> None:
        if dimension_separator not in (None, ".", "/"):
            raise ValueError(f"dimension_separator is '.' or '/', not {dimension_separator!r}")
        self._dimension_separator = dimension_separator
        self.normalize_keys = normalize_keys
        self._partial_values = partial_values
        self._read_only = mode == "r"
        self._url: str | None = None
        self._native: _core.Store | None = None
        self._opening = Lock()
        if isinstance(store, (str, os.PathLike)):
            self._url = os.fspath(store)
            if "://" not in self._url:
                self._url = os.path.abspath(self._url)
            if mode is not None:
                self._open(mode)
        elif isinstance(store, StoreOverCore):
            self._native, self._url = store._native, store._url
        else:
            self._native = _core.memory_store() if store is None else open_store(store, "r+")

    # The store below. Without a mode it is there from the first write on: asking for what is not there makes
    # nothing.

    def _open(self, mode: str) -> _core.Store:
        native = _core.open_store(self._url, {"w": "a", "w-": "a"}.get(mode, mode))
        if mode == "w":
            native.erase_prefix("")
        elif mode == "w-" and any(native.list_dir()):
            raise FileExistsError(f"{self._url} is not empty")
        self._native = native
        return native

    @property
    def native(self) -> _core.Store:
        """The store below. One that was named by its path alone is made when it is not there."""
        if self._native is not None:
            return self._native
        with self._opening:
            return self._native or self._open("r" if self._read_only else "a")

    def _to_read(self) -> _core.Store | None:
        if self._native is not None:
            return self._native
        with self._opening:
            try:
                return self._native or self._open("r" if self._read_only else "r+")
            except FileNotFoundError:
                return None

    def _to_write(self) -> _core.Store:
        if not self._writeable:
            raise zarr_python.ReadOnlyError()
        return self.native

    # zarr-python's names for what a store can do.

    _readable = True

    @property
    def _writeable(self) -> bool:
        return not self._read_only and (self._native is None or self._native.writable)

    @property
    def _erasable(self) -> bool:
        return self._writeable

    @property
    def _listable(self) -> bool:
        return self._native is None or self._native.listable

    def is_readable(self) -> bool:
        return self._readable

    def is_writeable(self) -> bool:
        return self._writeable

    def is_listable(self) -> bool:
        return self._listable

    def is_erasable(self) -> bool:
        return self._erasable

    @property
    def path(self) -> str | None:
        """Of the directory or archive; None for other stores."""
        url = self._url
        if url is None:
            spec = self._native.spec or {}
            url = spec.get("url", "memory://")
        if url.startswith("file://"):
            return unquote(url[len("file://") :])
        return None if "://" in url else os.path.abspath(url)

    # Keys and values

    def _normalize_key(self, key: str) -> str:
        if key[:1] == "/" or key[-1:] == "/" or "\\" in key or "//" in key:
            key = normalize_path(key)
        return key.lower() if self.normalize_keys else key

    def __getitem__(self, key: str) -> bytes:
        normalized = self._normalize_key(key)
        native = self._to_read()
        value = native.get(normalized) if native is not None and normalized else None
        if value is None:
            raise KeyError(key)
        return bytes(value)

    def __setitem__(self, key: str, value: Any) -> None:
        self.setitems({key: value})

    def __delitem__(self, key: str) -> None:
        """Removes a key; or, like zarr-python's stores, all keys below a path that is none itself."""
        normalized = self._normalize_key(key)
        native = self._to_write()
        if normalized and native.exists(normalized):
            native.erase(normalized)
            return
        if not normalized or not any(native.list_dir(normalized)):
            raise KeyError(key)
        native.erase_prefix(normalized)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        normalized = self._normalize_key(key)
        native = self._to_read()
        return native is not None and normalized != "" and native.exists(normalized)

    def __iter__(self) -> Iterator[str]:
        native = self._to_read()
        return iter(native.list() if native is not None else [])

    def __len__(self) -> int:
        native = self._to_read()
        return len(native.list()) if native is not None else 0

    def __bool__(self) -> bool:
        native = self._to_read()
        return native is not None and any(native.list_dir())

    def update(self, other: Any = (), /, **values: Any) -> None:
        """As of a dict, in one batch."""
        self.setitems(dict(other, **values))

    # Batches

    def getitems(
        self, keys: Iterable[str], *, contexts: Mapping[str, Context] | None = None
    ) -> dict[str, Any]:
        """The values of those keys that are there, read in one batch.

        `contexts` has a context for any of the keys. A value comes as its context wishes: on the device of
        its `meta_array` as such an array, else on the host as a read-only memoryview. Documents (.zarray and
        the like) are always on the host. A failure to read is raised; it never looks like a missing key.
        """
        native = self._to_read()
        named = {key: self._normalize_key(key) for key in keys}
        wanted = wanted_by(contexts, named)
        asked = list(dict.fromkeys(key for key in named.values() if key))
        if native is None or not asked:
            return {}
        found = native.getitems(asked, self._native_contexts(named, wanted))
        return {
            key: from_native(found[normalized], wanted.get(key))
            for key, normalized in named.items()
            if normalized in found
        }

    def setitems(self, values: Mapping[str, Any], *, contexts: Mapping[str, Context] | None = None) -> None:
        """Writes all values in one batch, each whole or not at all where the store can. Values may lie on a
        device."""
        native = self._to_write()
        named = {key: self._normalize_key(key) for key in values}
        given = {named[key]: to_native(value) for key, value in values.items()}
        if not given:
            return
        native_contexts = self._native_contexts(named, wanted_by(contexts, named))
        try:
            native.setitems(given, native_contexts)
        except ValueError as error:
            self._make_room(native, given, error)
            native.setitems(given, native_contexts)

    @staticmethod
    def _native_contexts(named: Mapping[str, str], wanted: Mapping[str, Any]) -> Any:
        if not wanted:
            return None
        first = next(iter(wanted.values()))
        if len(wanted) == len(named) and all(one is first for one in wanted.values()):
            return first.native
        return {named[key]: one.native for key, one in wanted.items()}

    @staticmethod
    def _make_room(native: _core.Store, given: Iterable[str], error: ValueError) -> None:
        """Where a name is a file or a directory, a new key replaces all keys below it, as in zarr-python's
        stores.

        A key below another key raises KeyError, as there; whatever else went wrong is raised as it is.
        """
        in_the_way = [key for key in given if any(native.list_dir(key))]
        for key in given:
            parts = key.split("/")
            for end in range(1, len(parts)):
                if native.exists("/".join(parts[:end])):
                    raise KeyError(key) from error
        if not in_the_way:
            raise error
        for key in in_the_way:
            native.erase_prefix(key)

    # Ranges

    def get_ranges(
        self,
        key_ranges: Iterable[tuple[str, tuple[int, int | None]]],
        *,
        contexts: Mapping[str, Context] | None = None,
    ) -> list[Any]:
        """The value of each (key, (start, length)), read in one batch; None for a missing key.

        A length of None reads up to the end, a negative start counts from the end, and what would reach over
        the end is cut off there. (zarr-python's `get_partial_values`, with contexts.)
        """
        asked = [(key, self._normalize_key(key), start, length) for key, (start, length) in key_ranges]
        native = self._to_read()
        if native is None or not asked:
            return [None] * len(asked)
        named = {key: normalized for key, normalized, _, _ in asked}
        wanted = wanted_by(contexts, named)
        native_contexts = self._native_contexts(named, wanted)
        requests = [(normalized, _native_range(start, length)) for _, normalized, start, length in asked]
        try:
            found = native.get_partial_values(requests, native_contexts)
        except IndexError:  # a start beyond the end, which here gives nothing
            sizes = {key: native.size(key) for key in set(named.values())}
            requests = [
                (key, ("range", 0, 0) if kind[0] != "suffix" and kind[1] > (sizes[key] or 0) else kind)
                for key, kind in requests
            ]
            found = native.get_partial_values(requests, native_contexts)
        return [
            None if value is None else _cut(from_native(value, wanted.get(key)), start, length)
            for (key, _, start, length), value in zip(asked, found, strict=True)
        ]

    def set_ranges(
        self,
        key_start_values: Iterable[tuple[str, int, Any]],
        *,
        contexts: Mapping[str, Context] | None = None,
    ) -> None:
        """Writes bytes into values: one batch reads them, one writes them. A negative start counts from the
        end, and the value then ends with the bytes. (zarr-python's `set_partial_values`.)

        ValueError for bytes that would begin beyond the end. Somebody who writes the same key meanwhile is
        overwritten.
        """
        changes = [(key, start, to_native(value)) for key, start, value in key_start_values]
        keys = dict.fromkeys(key for key, _, _ in changes)
        values = {key: bytearray(value) for key, value in self.getitems(keys).items()}
        for key, start, new in changes:
            value = values.setdefault(key, bytearray())
            if start > len(value):
                raise ValueError(f"{key!r} has {len(value)} bytes; nothing can be written at {start}")
            if start < 0:
                value[start:] = bytes(new)
            else:
                value[start : start + len(new)] = bytes(new)
        self.setitems(values, contexts=contexts)

    def _sets_ranges_efficiently(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        if name in _SHOWN_ON_REQUEST and self.__dict__.get("_partial_values"):
            return getattr(self, _SHOWN_ON_REQUEST[name])
        if name == "supports_efficient_get_partial_values" and self.__dict__.get("_partial_values"):
            return True
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def map(self) -> _Ranges:
        """For zarr-python's `partial_decompress=True`, which reads the blocks it needs of a Blosc chunk."""
        return _Ranges(self)

    fs = map

    # Names

    def listdir(self, path: str | None = "") -> list[str]:
        """The names directly below a path, sorted. Below an array whose chunks lie in directories ("0/1"),
        the chunks."""
        native = self._to_read()
        if native is None:
            return []
        path = self._normalize_key(normalize_path(path))
        keys, prefixes = native.list_dir(path)
        start = len(path) + 1 if path else 0
        names = {name[start:] for name in [*keys, *prefixes]}
        if ".zarray" in names:
            for prefix in prefixes:
                if _NUMBER.fullmatch(prefix[start:]):
                    names.remove(prefix[start:])
                    names.update(key[start:] for key in native.list(prefix))
        return sorted(names)

    def rmdir(self, path: str | None = "") -> None:
        """Removes all keys below a path ("" for all). No error when there are none."""
        self._to_write().erase_prefix(self._normalize_key(normalize_path(path)))

    def clear(self) -> None:
        """Removes all keys."""
        self._to_write().erase_prefix("")

    def rename(self, src_path: str, dst_path: str) -> None:
        """Gives a key, or all keys below a path, another name. What was there goes. KeyError when there is
        none to rename.

        A directory is renamed as such where nothing is in the way; else values are copied, some at a time,
        and removed when all are there under their new names.
        """
        native = self._to_write()
        source, target = (self._normalize_key(normalize_path(path)) for path in (src_path, dst_path))
        if source == target:
            return
        if (
            not source
            or not target
            or any(f"{a}/".startswith(f"{b}/") for a, b in [(source, target), (target, source)])
        ):
            raise ValueError(f"{src_path!r} cannot be renamed to {dst_path!r}: one lies below the other")
        keys = [*([source] if native.exists(source) else []), *native.list(source)]
        if not keys:
            raise KeyError(src_path)
        if not _renamed_as_directory(self.path, source, target):
            replaced = native.list(target)
            names = {key: target + key[len(source) :] for key in keys}
            remaining = iter(names)
            while some := list(islice(remaining, _MOVED_AT_ONCE)):
                native.setitems({names[key]: value for key, value in native.getitems(some).items()})
            native.erase_many([*keys, *(set(replaced) - set(names.values()))])

    def getsize(self, path: str | None = None) -> int:
        """Bytes of a key's value, or of the values directly below a path; 0 when there is nothing."""
        native = self._to_read()
        if native is None:
            return 0
        path = self._normalize_key(normalize_path(path))
        if path and (size := native.size(path)) is not None:
            return size
        keys, _ = native.list_dir(path)
        return sum(native.size(key) or 0 for key in keys)

    # Life

    def __enter__(self) -> StoreOverCore:
        self._open_count = self.__dict__.get("_open_count", 0) + 1
        return self

    def __exit__(self, *exception: object) -> None:
        self._open_count -= 1
        if self._open_count == 0:
            self.close()

    def flush(self) -> None:
        """Makes what was written durable; a zip archive writes its directory."""
        if self._native is not None and self._native.writable:
            self._native.flush()

    def close(self) -> None:
        """Flushes, and lets go of files; they are opened again when something is asked for. What is in memory
        stays."""
        self.flush()
        if self._url is not None and not self._holds_memory():
            self._native = None

    def _holds_memory(self) -> bool:
        return (
            self._native is not None and self._native.spec is None and self._native.name.startswith("memory:")
        )

    def __getstate__(self) -> dict[str, Any]:
        self.flush()
        state = {
            name: value for name, value in self.__dict__.items() if name not in ("_open_count", "_opening")
        }
        if self._holds_memory():
            state["_url"] = None
            state["_native"] = {key: bytes(value) for key, value in sorted(self.items())}
        elif self._url is not None:
            state["_native"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._opening = Lock()
        if isinstance(self._native, dict):
            contents, self._native = self._native, _core.memory_store()
            self._native.setitems(contents)

    def __eq__(self, other: object) -> bool:
        """The same kind of store over the same place; or, in memory, with the same contents."""
        if not isinstance(other, StoreOverCore):
            return NotImplemented
        if type(self) is not type(other):
            return False
        if self._url is not None and self._url == other._url:
            return True
        if self._holds_memory() and other._holds_memory():
            return dict(self.items()) == dict(other.items())
        if self.path is not None or other.path is not None:
            return self.path == other.path
        return self._native is not None and other._native is not None and self._native.same_as(other._native)

    def __repr__(self) -> str:
        name = self._native.name if self._native is not None else self._url
        return f"<zarrive.zarr2.{type(self).__name__} {name!r}>"


def _native_range(start: int, length: int | None) -> tuple:
    if start < 0:
        return ("suffix", -start)
    return ("from", start) if length is None else ("range", start, length)


def _cut(value: Any, start: int, length: int | None) -> Any:
    """Of a suffix, which is there up to the end, the part that was asked for."""
    if start >= 0 or length is None:
        return value
    before = -start - len(value)  # of the range, before the first byte there is
    return value[: max(0, length - before)]


def _renamed_as_directory(path: str | None, source: str, target: str) -> bool:
    """Renames a directory of a file system. False, and nothing done, where that is not possible or not the
    same."""
    if path is None or not os.path.isdir(path):
        return False
    root = os.path.realpath(path)
    above_source, above_target = (
        os.path.realpath(os.path.join(root, os.path.dirname(path))) for path in (source, target)
    )
    inside = all(
        os.path.join(path, "").startswith(os.path.join(root, "")) for path in (above_source, above_target)
    )
    here, there = os.path.join(root, source), os.path.join(root, target)
    if not inside or os.path.islink(here) or not os.path.isdir(here) or os.path.lexists(there):
        return False
    try:
        os.makedirs(above_target, exist_ok=True)
        os.rename(here, there)
    except OSError:
        return False
    while above_source != root:
        try:
            os.rmdir(above_source)
        except OSError:
            break
        above_source = os.path.dirname(above_source)
    return True
