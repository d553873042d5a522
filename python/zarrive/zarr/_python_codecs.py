"""Codecs that only Python knows, as steps of a native chain.

The core knows three codecs by the names in `_NAMES`, each made from a number: that of a `PythonCodec` which
lives as long as the chain that it is in.
"""

from __future__ import annotations

import asyncio
import itertools
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, NDBuffer, cpu

from zarrive import _core

from ._counters import count_codec
from ._threads import fork_safe_lock

__all__ = ["PythonCodec", "PythonFilter"]

_NAMES = {
    "array_to_array": "zarrive.zarr.array_to_array",
    "array_to_bytes": "zarrive.zarr.array_to_bytes",
    "bytes_to_bytes": "zarrive.zarr.bytes_to_bytes",
}
_numbers = itertools.count()
_alive: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_registered = False
_lock = fork_safe_lock()


def _register() -> None:
    global _registered
    with _lock:
        if _registered:
            return
        for kind, name in _NAMES.items():
            _core.register_codec(name, lambda number: _alive[number], kind)
        _registered = True


class _Step:
    kind: str

    def __init__(self) -> None:
        _register()
        self.number = next(_numbers)
        _alive[self.number] = self

    def v3(self) -> dict[str, Any]:
        return {"name": _NAMES[self.kind], "configuration": {"number": self.number}}

    def v2(self) -> dict[str, Any]:
        return {"id": _NAMES[self.kind], "number": self.number}


class PythonCodec(_Step):
    """A codec of zarr-python. `spec` is what it decodes to; the shape may be another for each call."""

    def __init__(self, codec: Codec, spec: ArraySpec) -> None:
        if isinstance(codec, ArrayArrayCodec):
            self.kind = "array_to_array"
        elif isinstance(codec, ArrayBytesCodec):
            self.kind = "array_to_bytes"
        elif isinstance(codec, BytesBytesCodec):
            self.kind = "bytes_to_bytes"
        else:
            raise TypeError(f"{type(codec).__name__} is no codec of zarr-python")
        self._codec = codec
        self._spec = replace(spec, prototype=cpu.buffer_prototype)
        self._encoded_dtype = codec.resolve_metadata(spec).dtype.to_native_dtype()
        self.name = type(codec).__name__
        super().__init__()

    def encoded_dtype(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        return self._encoded_dtype

    def encode(self, data: Any, context: Any) -> Any:
        if isinstance(data, np.ndarray):
            spec = replace(self._spec, shape=data.shape)
            return self._bytes_or_array(self._run("encode", cpu.NDBuffer.from_numpy_array(data), spec))
        return self._bytes_or_array(self._run("encode", cpu.Buffer.from_bytes(data), self._spec))

    def decode(self, data: Any, *shape_dtype_context: Any) -> Any:
        if isinstance(data, np.ndarray):
            spec = replace(self._spec, shape=data.shape)
            return self._bytes_or_array(self._run("decode", cpu.NDBuffer.from_numpy_array(data), spec))
        spec = self._spec
        if self.kind == "array_to_bytes":
            spec = replace(spec, shape=tuple(shape_dtype_context[0]))
        return self._bytes_or_array(self._run("decode", cpu.Buffer.from_bytes(data), spec))

    def _run(self, way: str, data: Buffer | NDBuffer, spec: ArraySpec) -> Any:
        """Called on a thread of the core's, never on an event loop."""
        count_codec(self.name)
        at_once = getattr(self._codec, f"_{way}_sync", None)
        if at_once is not None and getattr(self._codec, "_sync_capable", True):
            result = at_once(data, spec)
        else:
            result = asyncio.run(self._run_async(way, data, spec))
        if result is None:
            raise ValueError(f"codec {self.name} gave nothing")
        return result

    async def _run_async(self, way: str, data: Buffer | NDBuffer, spec: ArraySpec) -> Any:
        (result,) = await getattr(self._codec, way)([(data, spec)])
        return result

    @staticmethod
    def _bytes_or_array(result: Buffer | NDBuffer) -> Any:
        if isinstance(result, NDBuffer):
            return result.as_numpy_array()
        return np.ascontiguousarray(result.as_numpy_array())


class PythonFilter(_Step):
    """A filter or compressor of v2: an object with numcodecs' encode and decode. The first filter of an array
    gets typed elements, as in zarr-python."""

    kind = "bytes_to_bytes"

    def __init__(self, codec: Any, dtype: np.dtype[Any] | None) -> None:
        self._codec = codec
        self._dtype = dtype
        self.name = type(codec).__name__
        super().__init__()

    def encode(self, data: bytes, context: Any) -> Any:
        count_codec(self.name)
        return _contiguous(self._codec.encode(np.frombuffer(data, self._dtype or "B")))

    def decode(self, data: bytes, context: Any) -> Any:
        count_codec(self.name)
        return _contiguous(self._codec.decode(np.frombuffer(data, "B")))


def _contiguous(result: Any) -> Any:
    return np.ascontiguousarray(result).reshape(-1).view("B") if isinstance(result, np.ndarray) else result
