"""zarr-python's stores as stores of the core, so that one way of reading and writing serves all of them.

    zarrive.zarr.Store          its native store
    LocalStore                  a native store of the same directory
    ZipStore (mode "r")         a native store of the same archive
    MemoryStore                 its dictionary, asked by the core through `_Dictionary`
    everything else             asked for bytes through its async methods by `_Foreign`: FsspecStore, ObjectStore,
                                wrappers, subclasses; by `_Getters` when it is no StorePath

Only the exact types are taken natively: a subclass may log, delay, encrypt or count.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Coroutine, Iterable
from typing import Any

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store as ZarrStore, SuffixByteRequest
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, BufferPrototype, cpu
from zarr.core.config import config
from zarr.storage import LocalStore, MemoryStore, StorePath, ZipStore

from zarrive import _core

from ._buffers import is_gpu, to_native
from ._threads import fork_safe_lock
from .store import Store

__all__ = ["Batch", "batch_of"]

try:
    from zarr.storage import ManagedMemoryStore
except ImportError:  # zarr-python before 3.2
    ManagedMemoryStore = None  # type: ignore[assignment,misc]


class Batch:
    """The chunks of one read or write, as the core sees them.

    Attributes
    ----------
    store : the native store.
    keys : the key of each chunk in it.
    adapter : the Python side of `store`, when the core has to ask Python for the bytes.
    """

    def __init__(self, store: _core.Store, keys: list[str], adapter: _Adapter | None = None) -> None:
        self.store = store
        self.keys = keys
        self.adapter = adapter

    @property
    def coalesces(self) -> bool:
        """Whether ranges are to be left to the store as they are, for it to coalesce."""
        return isinstance(self.adapter, _Foreign) and self.adapter.coalesces

    @property
    def failed(self) -> bool:
        """Whether the zarr-python store raised."""
        return self.adapter is not None and self.adapter.error is not None

    def raise_own_error(self) -> None:
        """Raises what the zarr-python store raised, as it raised it; the core tells of it in an error of its
        own."""
        if self.adapter is not None and self.adapter.error is not None:
            raise self.adapter.error


def batch_of(getters: list[Any], spec: ArraySpec, *, write: bool, direct: bool = False) -> Batch | None:
    """Where the bytes of these byte getters (or setters) are. Called on the event loop that the store's
    methods run on; or on another thread, `direct`: then it is None for stores whose methods need that loop."""
    prototype = spec.prototype
    first = getters[0]
    if isinstance(first, StorePath) and all(
        isinstance(getter, StorePath) and getter.store is first.store for getter in getters
    ):
        keys = [getter.path for getter in getters]
        if write:
            first.store._check_writable()
        native = _native_store(first.store, write=write)
        if native is not None:
            return Batch(native, keys)
        adapter: _Adapter
        if _is_dictionary(first.store):
            adapter = _Dictionary(first.store, prototype)
        elif direct:
            return None
        else:
            adapter = _Foreign(dict(zip(keys, getters, strict=True)), spec, first.store)
    elif direct:
        return None
    else:
        keys = [str(i) for i in range(len(getters))]
        adapter = _Getters(dict(zip(keys, getters, strict=True)), prototype)
    return Batch(_core.python_store(adapter), keys, adapter)


# --- stores that are the core's, or that the core can open itself ---


def _native_store(store: ZarrStore, *, write: bool) -> _core.Store | None:
    if isinstance(store, Store):
        return store.native
    if type(store) is LocalStore:
        return _opened(os.fspath(store.root), "a" if write else "r")
    if type(store) is ZipStore and store._zmode == "r" and getattr(store, "path", None) is not None:
        return _opened(os.fspath(store.path), "r", zip_folder="")
    return None


_MAX_OPEN = 32
_open_stores: OrderedDict[tuple[Any, ...], _core.Store] = OrderedDict()
_open_lock = fork_safe_lock()


def _opened(path: str, mode: str, **options: Any) -> _core.Store | None:
    """The native store of a directory or archive; None when there is nothing at `path` (zarr-python makes
    directories at the first write).

    Stores are kept open, by what the path names now: a directory that is removed and made again is another
    one (the open one holds on to its inode, so that number cannot come back), and so is an archive that was
    changed.
    """
    try:
        status = os.stat(path)
    except OSError:
        return None
    state = (status.st_dev, status.st_ino, *((status.st_mtime_ns, status.st_size) if options else ()))
    key = (path, mode, state)
    with _open_lock:
        store = _open_stores.get(key)
        if store is not None:
            _open_stores.move_to_end(key)
            return store
    store = _core.open_store(path, mode, follow_symlinks=True, **options)
    with _open_lock:
        _open_stores[key] = store
        while len(_open_stores) > _MAX_OPEN:
            _open_stores.popitem(last=False)
    return store


# --- stores that only Python can read ---


class _Adapter:
    """What `_core.python_store` asks, over something of zarr-python; the first error that this raised is kept
    in `error`."""

    def __init__(self, prototype: BufferPrototype) -> None:
        # chunks on their way to a GPU are decoded from host memory or uploaded by the core
        self.prototype = cpu.buffer_prototype if is_gpu(prototype) else prototype
        self.error: BaseException | None = None


def _is_dictionary(store: ZarrStore) -> bool:
    return type(store) is MemoryStore or (
        ManagedMemoryStore is not None and type(store) is ManagedMemoryStore
    )


class _Dictionary(_Adapter):
    """A MemoryStore: values are shared with its dictionary when read, and copied in when written, as it does
    itself."""

    name = "MemoryStore"

    def __init__(self, store: MemoryStore, prototype: BufferPrototype) -> None:
        super().__init__(prototype)
        self._values = store._store_dict
        path = getattr(store, "path", "")
        self._prefix = f"{path}/" if path else ""

    def getitems(self, keys: Iterable[str], contexts: Any = None) -> dict[str, Any]:
        found = {}
        for key in keys:
            value = self._values.get(self._prefix + key)
            if value is not None:
                found[key] = to_native(value)
        return found

    def get(self, key: str) -> Any:
        value = self._values.get(self._prefix + key)
        return None if value is None else to_native(value)

    def size(self, key: str) -> int | None:
        value = self._values.get(self._prefix + key)
        return None if value is None else len(value)

    def set(self, key: str, value: _core.Buffer) -> None:
        self._values[self._prefix + key] = self.prototype.buffer.from_bytes(bytes(value))

    def erase(self, key: str) -> None:
        self._values.pop(self._prefix + key, None)


class _Getters(_Adapter):
    """Byte getters of any kind (those inside zarr-python's shards, say), through their async methods on the
    event loop, at most `async.concurrency` at a time. Whole values only: not every getter has ranges."""

    waits = True
    name = "byte getters"

    def __init__(self, getters: dict[str, Any], prototype: BufferPrototype) -> None:
        super().__init__(prototype)
        self._getters = getters
        self._loop = asyncio.get_running_loop()
        self._limit = asyncio.Semaphore(config.get("async.concurrency"))

    def _wait(self, call: Coroutine[Any, Any, Any]) -> Any:
        async def limited() -> Any:
            async with self._limit:
                return await call

        try:
            return asyncio.run_coroutine_threadsafe(limited(), self._loop).result()
        except BaseException as error:
            if self.error is None:
                self.error = error
            raise

    def get(self, key: str) -> Any:
        value = self._wait(self._getters[key].get(self.prototype))
        return None if value is None else to_native(value)

    def set(self, key: str, value: _core.Buffer) -> None:
        # copied: a store may keep it, and it may be a view of the caller's array
        self._wait(self._getters[key].set(self.prototype.buffer.from_bytes(bytes(value))))

    def erase(self, key: str) -> None:
        self._wait(self._getters[key].delete())


class _Foreign(_Getters):
    """A zarr-python store that only Python can ask; with ranges."""

    def __init__(self, getters: dict[str, StorePath], spec: ArraySpec, store: ZarrStore) -> None:
        super().__init__(getters, spec.prototype)
        self._store = store
        self._limits = {
            name: getattr(spec.config, setting)
            for name, setting in _LIMITS.items()
            if hasattr(spec.config, setting)  # zarr-python 3.3
        }
        self.name = type(store).__name__
        self.coalesces = hasattr(store, "get_ranges")  # zarr-python 3.3

    def get_ranges(self, key: str, ranges: list[tuple[Any, ...] | None]) -> list[Any] | None:
        return self._wait(self._get_ranges(key, [_request(byte_range) for byte_range in ranges]))

    async def _get_ranges(self, key: str, requests: list[Any]) -> list[Any] | None:
        getter = self._getters[key]
        values: list[Buffer | None]
        # The index of a shard is one range, at an end of it; inner chunks are left to the store to coalesce.
        if self.coalesces and not (len(requests) == 1 and _at_an_end(requests[0])):
            found: dict[int, Buffer | None] = {}
            try:
                async for group in self._store.get_ranges(
                    getter.path, requests, prototype=self.prototype, **self._limits
                ):
                    found.update(group)
            except* FileNotFoundError:
                found = dict.fromkeys(range(len(requests)))
            values = [found[i] for i in range(len(requests))]
        else:
            values = await asyncio.gather(*(getter.get(self.prototype, request) for request in requests))
        return None if any(value is None for value in values) else [to_native(value) for value in values]

    def size(self, key: str) -> int | None:
        async def measure() -> int | None:
            try:
                return await self._store.getsize(self._getters[key].path)
            except FileNotFoundError:
                return None

        return self._wait(measure())


# zarr-python's settings of arrays, by the arguments of Store.get_ranges
_LIMITS = {
    "max_gap_bytes": "sharding_coalesce_max_gap_bytes",
    "max_coalesced_bytes": "sharding_coalesce_max_bytes",
}


def _at_an_end(request: Any) -> bool:
    return not isinstance(request, RangeByteRequest) or request.start == 0


def _request(byte_range: tuple[Any, ...] | None) -> Any:
    if byte_range is None:
        return None
    kind, *numbers = byte_range
    if kind == "range":
        return RangeByteRequest(numbers[0], numbers[0] + numbers[1])
    return OffsetByteRequest(numbers[0]) if kind == "from" else SuffixByteRequest(numbers[0])
