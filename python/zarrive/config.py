"""Defaults of reads and writes for the whole process.

Environment variables, read at the first use of the package: ZARRIVE_NUM_THREADS (threads that decode; 1 to 4096),
ZARRIVE_MAX_CONCURRENCY, ZARRIVE_MAX_BYTES_IN_FLIGHT, ZARRIVE_WRITE_EMPTY_CHUNKS, ZARRIVE_VERIFY_CHECKSUMS, ZARRIVE_DEVICE_DECODE.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from zarrive import _core

_DEFAULTS: dict[str, Any] = {
    "max_concurrency": 0,  # chunks at a time; 0: all threads
    "max_bytes_in_flight": 256 << 20,  # bound on encoded bytes held at one time
    "verify_checksums": True,
    "device_decode": "automatic",  # of reads into device memory: automatic, always or never
    "max_device_bytes": 512 << 20,
    "write_empty_chunks": False,
    "shard_order": "C",  # of the inner chunks in a shard: C, F or morton
}
_READ = ("max_concurrency", "max_bytes_in_flight", "verify_checksums", "device_decode", "max_device_bytes")
_WRITE = ("max_concurrency", "max_bytes_in_flight", "write_empty_chunks", "shard_order")


def _of_environment(name: str, default: Any) -> Any:
    text = os.environ.get("ZARRIVE_" + name.upper())
    if text is None:
        return default
    if isinstance(default, bool):
        if text.lower() in ("1", "true", "yes", "on"):
            return True
        if text.lower() in ("0", "false", "no", "off"):
            return False
        raise ValueError(f"ZARRIVE_{name.upper()} is true or false, not {text!r}")
    return type(default)(text)


class Config:
    """The defaults, as attributes. Change them for good, or for a block of code:

    >>> import zarrive
    >>> zarrive.config.write_empty_chunks
    False
    >>> with zarrive.config.set(write_empty_chunks=True, max_concurrency=1):
    ...     zarrive.config.max_concurrency
    1
    """

    def __init__(self) -> None:
        self._values = {name: _of_environment(name, value) for name, value in _DEFAULTS.items()}
        self._read: _core.ReadOptions | None = None
        self._write: _core.WriteOptions | None = None
        self._check()

    def _check(self) -> None:
        self.read_options()
        self.write_options()

    @property
    def threads(self) -> int:
        """Threads that decode and encode. Set ZARRIVE_NUM_THREADS before the first read to have another number."""
        return _core.compute_threads()

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"there is no setting {name!r}; there are {', '.join(_DEFAULTS)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
            return
        before = self.__getattr__(name)
        self._values[name] = value
        self._read = self._write = None
        try:
            self._check()
        except Exception:
            self._values[name] = before
            self._read = self._write = None
            raise

    @contextlib.contextmanager
    def set(self, **values: Any) -> Iterator[Config]:
        """Other settings for a `with` block. They are the process's: other threads see them too."""
        before = {name: self.__getattr__(name) for name in values}
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield self
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def read_options(self, **changes: Any) -> _core.ReadOptions:
        """How to read, by these settings and `changes`."""
        if self._read is None:
            options = _core.ReadOptions()
            for name in _READ:
                setattr(options, name, self._values[name])
            self._read = options
        return _changed(_core.ReadOptions, self._read, changes)

    def write_options(self, **changes: Any) -> _core.WriteOptions:
        """How to write, likewise."""
        if self._write is None:
            options = _core.WriteOptions()
            for name in _WRITE:
                setattr(options, name, self._values[name])
            self._write = options
        return _changed(_core.WriteOptions, self._write, changes)

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{name}={value!r}" for name, value in self._values.items()) + ")"


def _changed(kind: type, options: Any, changes: dict[str, Any]) -> Any:
    changes = {name: value for name, value in changes.items() if value is not None}
    if not changes:
        return options
    options = kind(options)
    for name, value in changes.items():
        setattr(options, name, value)
    return options


config = Config()
