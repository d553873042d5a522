"""Where results go and values come from: the memory that a caller means, results as arrays of the caller's kind, and views of arrays in
device memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from zarrive import _core


def in_device_memory(array: Any) -> bool:
    return hasattr(array, "__cuda_array_interface__")


def space_of(array: Any) -> str | None:
    """The memory that an array lies in: "host", "pinned", "cuda:N"; None when it is not an array.

    >>> space_of(np.empty(())), space_of("no array")
    ('host', None)
    """
    if isinstance(array, np.ndarray):
        return "host"
    if hasattr(array, "__dlpack_device__"):
        kind, device = array.__dlpack_device__()
        return {1: "host", 2: f"cuda:{int(device)}", 3: "pinned", 13: f"cuda:{int(device)}"}.get(int(kind))
    if in_device_memory(array):
        return _core.Buffer.of(array).space
    return None


def memory_of(device: str | None, meta_array: Any, prototype: Any) -> str:
    """The memory space that a caller means: "host", "pinned" or "cuda:N"."""
    if device is not None:
        return "host" if device == "cpu" else device
    if meta_array is not None:
        return space_of(meta_array) or "host"
    if prototype is None or isinstance(prototype, str):
        return "host" if prototype in (None, "cpu") else prototype
    # zarr-python's BufferPrototype: its classes tell.
    module = type(prototype).__module__, getattr(prototype.nd_buffer, "__module__", "")
    return "cuda:0" if any("gpu" in name for name in module) else "host"


def stream_handle(stream: Any) -> int | None:
    """A CUDA stream's handle: of CuPy's and PyTorch's objects, or a number."""
    if stream is None:
        return None
    for name in ("ptr", "cuda_stream"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    return int(stream)


def like(array: Any, meta_array: Any) -> Any:
    """A host result as the kind of array that `meta_array` is."""
    if meta_array is None or isinstance(meta_array, np.ndarray):
        return array
    if type(meta_array).__module__.split(".")[0] == "torch":
        import torch

        return torch.from_numpy(np.ascontiguousarray(array))
    return type(meta_array)(array) if not hasattr(meta_array, "__array_namespace__") else meta_array.__array_namespace__().asarray(array)


def on_device(array: _core.NDArray, meta_array: Any) -> Any:
    """A device result as CuPy's or PyTorch's array, or as it is when neither is asked for nor there."""
    library = type(meta_array).__module__.split(".")[0] if meta_array is not None else "cupy"
    if library == "torch":
        import torch

        return torch.from_dlpack(array)
    if library != "cupy" and hasattr(meta_array, "__array_namespace__"):
        return meta_array.__array_namespace__().from_dlpack(array)
    try:
        import cupy
    except ImportError:
        return array
    return cupy.asarray(array)


def device_dtype(array: Any) -> np.dtype:
    """Of an array in device memory, whichever library's."""
    return np.dtype(array.__cuda_array_interface__["typestr"])


class DeviceView:
    """An array in device memory with another shape and other strides: what `change` (NumPy's transposing, reshaping, broadcasting) makes of
    it. `change` must not copy: it is given an array that has no memory."""

    def __init__(self, array: Any, change: Callable[[np.ndarray], np.ndarray]) -> None:
        interface = array.__cuda_array_interface__
        element = np.empty((), f"V{device_dtype(array).itemsize}")
        strides = interface.get("strides")
        if strides is None:
            strides, step = [], element.itemsize
            for extent in reversed(interface["shape"]):
                strides.insert(0, step)
                step *= extent
        whole = as_strided(element, interface["shape"], strides)
        part = change(whole)
        pointer, read_only = interface["data"]
        offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        self.__cuda_array_interface__ = {**interface, "data": (pointer + offset, read_only), "shape": part.shape, "strides": part.strides}
        if hasattr(array, "__dlpack_device__"):
            self.__dlpack_device__ = array.__dlpack_device__
        self._array = array  # whose memory it is
