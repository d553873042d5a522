"""`zarrive.zarr.Store`: a zarr-python 3 store over any store of the native core.

Native calls are synchronous and release the GIL. An `async` method makes calls that are over in microseconds
(metadata, listings, small values) itself, and larger ones on a thread, so that the event loop goes on; the
threshold is `_SMALL`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import zarr.abc.store
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.core.buffer.core import default_buffer_prototype

from zarrive import _core

from ._buffers import context_of, from_native, to_native
from ._threads import in_thread

__all__ = ["Store"]

# Bytes above which a value is read or written on a thread. A hop to a thread and back costs some 60
# microseconds, in which 256 KiB are read from the page cache.
_SMALL = 256 << 10

_MODES = {"r": True, "r+": False, "a": False, "w": False, "w-": False, "x": False}  # mode -> read-only


class Store(zarr.abc.store.Store):
    """A zarr-python store over a store of zarrive.

    Parameters
    ----------
    store : zarrive store, str or path
        A native store, or what names one: a directory, a zip archive, `file://`, `memory://name`.
    mode : {"r", "r+", "a", "w", "w-"}, optional
        As in `zarr.open`; the default is "a", or "r" when `read_only`. "w" and "w-" apply when the store is
        first used: "w" erases what is there, "w-" refuses a place that holds something.
    read_only : bool, optional
        Whether writes are refused. By default so when the mode is "r".

    Notes
    -----
    Nothing is opened before the first use. Stores that were named by a path or URL can be pickled; those in
    memory only when they have a name, and are then found again in the same process. `close()` finishes what
    is written (a zip archive gets its directory).

    Examples
    --------
    >>> import zarr, zarrive.zarr
    >>> store = zarrive.zarr.Store("memory://example")
    >>> array = zarr.create_array(store, name="a", shape=(4,), dtype="int32")
    >>> array[:] = [1, 2, 3, 4]
    >>> zarr.open_array(store, path="a")[1:3]
    array([2, 3], dtype=int32)
    """

    def __init__(
        self,
        store: _core.Store | str | os.PathLike[str],
        mode: str | None = None,
        *,
        read_only: bool | None = None,
    ) -> None:
        if mode is not None and mode not in _MODES:
            raise ValueError(f"Invalid mode: {mode!r}, expected one of {sorted(_MODES)}")
        if read_only is None:
            read_only = mode is not None and _MODES[mode]
        if isinstance(store, _core.Store) and not store.writable:
            read_only = True
        super().__init__(read_only=read_only)
        self._native: _core.Store | None = None
        self._url: str | None = None
        if isinstance(store, _core.Store):
            self._native = store
        elif isinstance(store, (str, os.PathLike)):
            self._url = os.fspath(store)
        else:
            raise TypeError(
                f"expected a zarrive store, a path or a URL, got {type(store).__name__}; "
                "zarr-python's own stores need no zarrive.zarr.Store: zarrive.zarr.enable() reads and writes them natively"
            )
        self._mode = mode

    # --- opening and closing ---

    @property
    def native(self) -> _core.Store:
        """The native store; opened by this when it was not."""
        if self._native is None:
            self._native = self._open_native()
        self._is_open = True
        return self._native

    def _open_native(self) -> _core.Store:
        assert self._url is not None
        if self.read_only:
            return _core.open_store(self._url, "r")
        store = _core.open_store(self._url, "r+" if self._mode == "r+" else "a")
        if self._mode in ("w-", "x") and store.list():
            raise FileExistsError(f"{store.name} is not empty, and mode is {self._mode!r}")
        if self._mode == "w":
            store.erase_prefix("")
        self._mode = "a"  # the others apply to the first opening
        return store

    async def _open(self) -> None:
        if self._is_open:
            raise ValueError("store is already open")
        self.native  # noqa: B018 - opens it

    async def _ensure_open(self) -> None:
        self.native  # noqa: B018 - opens it

    def close(self) -> None:
        """Finishes what was written and closes the store; it opens again when it is used."""
        if self._native is not None and self._is_open:
            if not self.read_only and self._native.writable:
                self._native.flush()
            if self._url is not None:
                self._native = None
        super().close()

    def with_read_only(self, read_only: bool = False) -> Store:
        if self._url is not None:
            return type(self)(self._url, "r" if read_only else "a")
        if not read_only and not self.native.writable:
            raise ValueError(f"{self.native.name} is read-only itself")
        return type(self)(self.native, read_only=read_only)

    # --- what it is ---

    def __str__(self) -> str:
        if self._native is not None:
            return self._native.name
        return self._url or ""

    def __repr__(self) -> str:
        return f"zarrive.zarr.Store({str(self)!r}{', read_only=True' if self.read_only else ''})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)) or self.read_only != other.read_only:
            return False
        if self._url is not None or other._url is not None:
            return self._url == other._url
        return self._native is other._native or _spec(self._native) == _spec(other._native) is not None

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        place = self._url if self._url is not None else self._native
        return _make, (type(self), place, self._mode if self._url is not None else None, self.read_only)

    @property
    def supports_writes(self) -> bool:
        return True if self._native is None else self._native.writable

    @property
    def supports_deletes(self) -> bool:
        return self.supports_writes

    @property
    def supports_listing(self) -> bool:
        return True if self._native is None else self._native.listable

    # --- reading ---

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        prototype = prototype or default_buffer_prototype()
        return self._get(key, prototype, _native_range(byte_range))

    def _get(self, key: str, prototype: BufferPrototype, byte_range: tuple[Any, ...] | None) -> Buffer | None:
        try:
            value = self.native.get(key, byte_range, context_of(prototype))
        except IndexError:  # starts past the end
            return prototype.buffer.create_zero_length()
        return None if value is None else from_native(value, prototype)

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        prototype = prototype or default_buffer_prototype()
        native_range = _native_range(byte_range)
        if self._is_small(key, native_range):
            return self._get(key, prototype, native_range)
        return await in_thread(self._get, key, prototype, native_range)

    def _is_small(self, key: str, byte_range: tuple[Any, ...] | None) -> bool:
        if byte_range is not None and byte_range[0] != "from":
            return bool(byte_range[-1] <= _SMALL)
        size = self.native.size(key)
        return size is None or size - (byte_range[1] if byte_range else 0) <= _SMALL

    def _get_partial_values(
        self, prototype: BufferPrototype, key_ranges: list[tuple[str, tuple[Any, ...] | None]]
    ) -> list[Buffer | None]:
        try:
            values = self.native.get_partial_values(key_ranges, context_of(prototype))
        except IndexError:  # one of them starts past the end
            return [self._get(key, prototype, byte_range) for key, byte_range in key_ranges]
        return [None if value is None else from_native(value, prototype) for value in values]

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        native_ranges = [(key, _native_range(byte_range)) for key, byte_range in key_ranges]
        if not native_ranges:
            return []
        return await in_thread(self._get_partial_values, prototype, native_ranges)

    def get_ranges_sync(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> Sequence[tuple[int, Buffer | None]]:
        """Reads ranges of one value by one native request, which coalesces as suits the store (the limits are
        zarr-python's, and not needed)."""
        native_ranges = [_native_range(byte_range) for byte_range in byte_ranges]
        if not native_ranges:
            return []
        try:
            values = self.native.get_ranges(key, native_ranges, context_of(prototype))
        except IndexError:  # one of them starts past the end
            found = [self._get(key, prototype, byte_range) for byte_range in native_ranges]
            if any(value is None for value in found):
                raise _missing(key) from None
            return list(enumerate(found))
        if values is None:
            raise _missing(key)
        return [(i, from_native(value, prototype)) for i, value in enumerate(values)]

    async def get_ranges(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_concurrency: int = 10,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        """As `get_ranges_sync`, in one batch."""

        def read() -> Sequence[tuple[int, Buffer | None]]:
            return self.get_ranges_sync(key, byte_ranges, prototype=prototype)

        if byte_ranges:
            yield await in_thread(read)

    async def exists(self, key: str) -> bool:
        return self.native.exists(key)

    async def getsize(self, key: str) -> int:
        size = self.native.size(key)
        if size is None:
            raise FileNotFoundError(key)
        return size

    async def getsize_prefix(self, prefix: str) -> int:
        def measure() -> int:
            keys = self.native.list(prefix.rstrip("/"))
            return sum(self.native.size(key) or 0 for key in keys)  # a key may go meanwhile

        return await in_thread(measure)

    # --- writing ---

    def set_sync(self, key: str, value: Buffer) -> None:
        self._check_writable()
        self.native.set(key, _checked(value))

    async def set(self, key: str, value: Buffer) -> None:
        self._check_writable()
        native_value = _checked(value)
        if len(value) <= _SMALL:
            self.native.set(key, native_value)
        else:
            await in_thread(self.native.set, key, native_value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        self._check_writable()
        native_value = _checked(value)
        if len(value) <= _SMALL:
            self.native.set_if_absent(key, native_value)
        else:
            await in_thread(self.native.set_if_absent, key, native_value)

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        self._check_writable()
        await in_thread(self.native.setitems, {key: _checked(value) for key, value in values})

    def delete_sync(self, key: str) -> None:
        self._check_writable()
        self.native.erase(key)

    async def delete(self, key: str) -> None:
        self.delete_sync(key)

    async def delete_dir(self, prefix: str) -> None:
        self._check_writable()
        await in_thread(self.native.erase_prefix, prefix.rstrip("/"))

    async def clear(self) -> None:
        await self.delete_dir("")

    # --- listing ---

    async def is_empty(self, prefix: str) -> bool:
        keys, prefixes = self.native.list_dir(prefix.rstrip("/"))
        if keys:
            return False
        # a prefix may be a directory without keys
        return not prefixes or not await in_thread(self.native.list, prefix.rstrip("/"))

    async def list(self) -> AsyncIterator[str]:
        for key in await in_thread(self.native.list):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        folder, _, start = prefix.rpartition("/")
        for key in await in_thread(self.native.list, folder):
            if not start or key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        folder = prefix.rstrip("/")
        keys, prefixes = self.native.list_dir(folder)
        skip = len(folder) + 1 if folder else 0
        for name in (*keys, *prefixes):
            yield name[skip:]


def _make(cls: type[Store], place: Any, mode: str | None, read_only: bool) -> Store:
    return cls(place, mode, read_only=read_only)


def _spec(native: _core.Store | None) -> dict[str, Any] | None:
    """What a native store is made from; None for one that only this process has."""
    try:
        return None if native is None else native.spec
    except (TypeError, NotImplementedError):
        return None


def _checked(value: Buffer) -> Any:
    if not isinstance(value, Buffer):
        raise TypeError(
            f"Store.set(): `value` must be a Buffer instance. Got an instance of {type(value)} instead."
        )
    return to_native(value)


def _missing(key: str) -> BaseExceptionGroup:
    return BaseExceptionGroup("chunk read failed", [FileNotFoundError(key)])


def _native_range(byte_range: ByteRequest | None) -> tuple[Any, ...] | None:
    if byte_range is None:
        return None
    if isinstance(byte_range, RangeByteRequest):
        return ("range", byte_range.start, max(0, byte_range.end - byte_range.start))
    if isinstance(byte_range, OffsetByteRequest):
        return ("from", byte_range.offset)
    if isinstance(byte_range, SuffixByteRequest):
        return ("suffix", byte_range.suffix)
    raise TypeError(f"Unexpected byte_range, got {byte_range}.")
