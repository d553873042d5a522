"""Values on their way in and out: bytes on the host or on a device, as zarr-python 2 and its codecs take
them."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrive import _core
from zarrive.zarr2.contexts import Wanted


def to_native(value: Any) -> Any:
    """The bytes of what zarr-python wants to store, without a copy: what exports contiguous memory, on the
    host or on a device. Arrays in Fortran order give their bytes as they lie in memory. TypeError for
    anything else.

    >>> bytes(to_native(np.array([1, 2], dtype=">u2")))
    b'\\x00\\x01\\x00\\x02'
    >>> to_native([1, 2])
    Traceback (most recent call last):
        ...
    TypeError: a store holds bytes: what exports memory (bytes, arrays of numbers), not a list
    """
    if isinstance(value, (bytes, bytearray, _core.Buffer)):
        return value
    if hasattr(value, "__cuda_array_interface__"):
        return _core.Buffer.of(_flat(value) if hasattr(value, "flags") else value)
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError("a store holds bytes, and an array of objects has none; it needs an object codec")
        return _flat(value).view(np.ndarray).view(np.uint8)
    try:
        view = memoryview(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(
            f"a store holds bytes: what exports memory (bytes, arrays of numbers), not a {kind}"
        ) from None
    return view.cast("B") if view.nbytes else b""


def _flat(array: Any) -> Any:
    """One dimension, in the order that the elements have in memory."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError("an array must be contiguous to be stored")
    return array.reshape(-1, order="A")


def from_native(buffer: _core.Buffer, wanted: Wanted | None) -> Any:
    """A value as the batch wants it: memory on the host as a read-only memoryview, memory on a device as an
    array of the kind of the context's meta_array (else of CuPy, else anything with
    `__cuda_array_interface__`). Never a copy.
    """
    if wanted is None or not wanted.on_device or not buffer.space.startswith("cuda"):
        return memoryview(buffer)
    if wanted.like is not None and hasattr(wanted.like, "__array_function__"):
        return np.asarray(buffer, like=wanted.like)
    try:
        import cupy
    except ImportError:
        return buffer
    return cupy.asarray(buffer)
