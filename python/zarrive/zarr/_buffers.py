"""Between zarr-python's buffers and the core's: bytes are shared, and cross to or from a device only when
they have to."""

from __future__ import annotations

from typing import Any

import numpy as np
from zarr.core.buffer import Buffer, BufferPrototype, gpu
from zarr.core.buffer import cpu

from zarrive import _core

__all__ = ["context_of", "from_native", "is_gpu", "to_native"]


def is_gpu(prototype: BufferPrototype) -> bool:
    """Whether bytes are to land in the memory of a GPU."""
    return issubclass(prototype.buffer, gpu.Buffer)


def context_of(prototype: BufferPrototype) -> _core.Context | None:
    """The context that makes a native store put bytes where `prototype` has them: None for host memory, else
    the current device."""
    if not is_gpu(prototype):
        return None
    return _core.Context(prototype=f"cuda:{gpu.cp.cuda.Device().id}")


def from_native(value: _core.Buffer, prototype: BufferPrototype) -> Buffer:
    """`value` as a buffer of the prototype; shares its memory when it is on the same side."""
    if is_gpu(prototype) and value.space.startswith("cuda"):
        return prototype.buffer.from_array_like(gpu.cp.asarray(value))
    array = np.frombuffer(value, dtype="B")
    if issubclass(prototype.buffer, cpu.Buffer):
        return prototype.buffer.from_array_like(array)
    return prototype.buffer.from_bytes(array)


def to_native(value: Buffer) -> Any:
    """The bytes of `value` as the core takes them: contiguous host memory, shared when it is that already."""
    return np.ascontiguousarray(value.as_numpy_array())
