"""Where results go: the memory that a caller means, and results as arrays of the caller's kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrive import _core

def memory_of(device: str | None, meta_array: Any, prototype: Any) -> str:
    """The memory space that a caller means: "host", "pinned" or "cuda:N"."""
    if device is not None:
        return "host" if device == "cpu" else device
    if meta_array is not None:
        if hasattr(meta_array, "__cuda_array_interface__"):
            where = getattr(meta_array, "__dlpack_device__", lambda: (2, 0))()
            return f"cuda:{int(where[1])}"
        return "host"
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
    module = type(meta_array).__module__.split(".")[0] if meta_array is not None else "cupy"
    if module == "torch":
        import torch

        return torch.from_dlpack(array)
    if meta_array is not None and module != "cupy":
        return meta_array.__array_namespace__().from_dlpack(array) if hasattr(meta_array, "__array_namespace__") else array
    try:
        import cupy
    except ImportError:
        return array
    return cupy.asarray(array)
