"""A stand-in for the part of CuPy that zarr-python 2 and its tests use, over any CUDA driver: the one of our
tests, whose device memory nobody but the driver can touch.

As CuPy does, it refuses to mix: no array of NumPy may be copied into one of these, and none of these turns
into one of NumPy unless `asnumpy` is asked. What is computed is computed on the host, between a copy down and
a copy up.
"""

from __future__ import annotations

import ctypes
import os
import sys
import types
from typing import Any

import numpy as np


class _Driver:
    def __init__(self, library: str) -> None:
        self.library = ctypes.CDLL(library)
        context, device = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.context = context

    def call(self, function: str, *arguments: Any) -> None:
        result = getattr(self.library, function)(*arguments)
        if result != 0:
            raise RuntimeError(f"{function} gave {result}")

    def call_in_context(self, function: str, *arguments: Any, wait: bool = True) -> None:
        self.call("cuCtxPushCurrent_v2", self.context)
        try:
            self.call(function, *arguments)
            if function.endswith("Async_v2") and wait:
                self.call("cuStreamSynchronize", None)
        finally:
            popped = ctypes.c_void_p()
            self.call("cuCtxPopCurrent_v2", ctypes.byref(popped))

    def upload(self, pointer: int, image: np.ndarray) -> None:
        if image.nbytes:
            self.call_in_context(
                "cuMemcpyHtoDAsync_v2",
                ctypes.c_ulonglong(pointer),
                ctypes.c_void_p(image.ctypes.data),
                ctypes.c_size_t(image.nbytes),
                None,
            )

    def download(self, pointer: int, size: int) -> np.ndarray:
        image = np.empty(size, np.uint8)
        if size:
            self.call_in_context(
                "cuMemcpyDtoHAsync_v2",
                ctypes.c_void_p(image.ctypes.data),
                ctypes.c_ulonglong(pointer),
                ctypes.c_size_t(size),
                None,
            )
        return image


_driver: _Driver | None = None


def driver() -> _Driver:
    global _driver
    if _driver is None:
        _driver = _Driver(os.environ["ZARRIVE_LIBCUDA"])
    return _driver


class _Block:
    """Device memory of our own."""

    def __init__(self, size: int) -> None:
        pointer = ctypes.c_ulonglong(0)
        if size:
            driver().call_in_context("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        self.pointer, self.size = pointer.value, size

    def __del__(self) -> None:
        if self.pointer and not sys.is_finalizing():
            driver().call_in_context("cuMemFree_v2", ctypes.c_ulonglong(self.pointer))


class _Shared:
    """Device memory of somebody else, who is kept alive."""

    def __init__(self, owner: Any) -> None:
        interface = owner.__cuda_array_interface__
        assert interface.get("strides") is None
        self.owner, self.pointer = owner, interface["data"][0]
        self.dtype, self.shape = np.dtype(interface["typestr"]), interface["shape"]
        self.size = int(np.prod(self.shape)) * self.dtype.itemsize


class ndarray:
    """Elements at an offset and with strides in a block of device memory."""

    def __init__(self, block: Any, view: np.ndarray, image: np.ndarray) -> None:
        """The same place in `block` that `view` has in `image`."""
        self._block = block
        self.dtype, self.shape, self.strides = view.dtype, view.shape, view.strides
        self._offset = (
            view.__array_interface__["data"][0] - image.__array_interface__["data"][0] if view.size else 0
        )

    # The elements on the host: what is in the block, as this array sees it.

    def _on(self, image: np.ndarray) -> np.ndarray:
        return np.ndarray(self.shape, self.dtype, image, self._offset, self.strides)

    def _fetch(self) -> tuple[np.ndarray, np.ndarray]:
        image = driver().download(self._block.pointer, self._block.size)
        return image, self._on(image)

    def _like(self, view: np.ndarray, image: np.ndarray) -> ndarray:
        return ndarray(self._block, view, image)

    def _blank(self) -> tuple[np.ndarray, np.ndarray]:
        image = np.empty(self._block.size, np.uint8)
        return image, self._on(image)

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)

    @property
    def flags(self) -> Any:
        flags = self._blank()[1].flags
        return types.SimpleNamespace(
            c_contiguous=flags.c_contiguous, f_contiguous=flags.f_contiguous, owndata=True, writeable=True
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self._block.pointer + self._offset, False),
            "strides": None if self.flags.c_contiguous else self.strides,
            "stream": None,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def get(self) -> np.ndarray:
        return self._fetch()[1].copy(order="K")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> ndarray:
        keys = key if isinstance(key, tuple) else (key,)
        if any(isinstance(part, (list, np.ndarray, ndarray)) for part in keys):
            return asarray(self.get()[_down(key)])
        image, view = self._blank()
        return self._like(view[keys if Ellipsis in keys else (*keys, ...)], image)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError(f"Unsupported type {type(value)}")
        image, view = self._fetch()
        view[_down(key)] = _down(value)
        driver().upload(self._block.pointer, image)

    def fill(self, value: Any) -> None:
        self[...] = value

    def tobytes(self, order: str = "C") -> bytes:
        return self.get().tobytes(order)

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        image, view = self._blank()
        shaped = view.reshape(*shape, order=order)
        return (
            self._like(shaped, image)
            if np.shares_memory(shaped, image) or not view.size
            else asarray(self.get().reshape(*shape, order=order))
        )

    def view(self, dtype: Any = None) -> ndarray:
        image, view = self._blank()
        return self._like(view.view(dtype) if dtype is not None else view, image)

    def astype(self, dtype: Any, order: str = "K", copy: bool = True) -> ndarray:
        converted = self.get().astype(dtype, order=order)
        same = converted.dtype == self.dtype and converted.strides == self.strides
        return self if same and not copy else asarray(converted)

    def copy(self, order: str = "C") -> ndarray:
        return asarray(self.get().copy(order=order))

    def all(self) -> ndarray:
        return asarray(self.get().all())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __eq__(self, other: Any) -> Any:
        return np.equal(self, other)

    __hash__ = None

    def __array_ufunc__(self, function: Any, method: str, *arguments: Any, **named: Any) -> Any:
        return _up(getattr(function, method)(*_down(arguments), **_down(named)))

    def __array_function__(self, function: Any, kinds: Any, arguments: Any, named: Any) -> Any:
        if not all(issubclass(kind, ndarray) for kind in kinds):
            return NotImplemented
        if function is np.copyto:
            return copyto(*arguments, **named)
        if function in (np.array, np.asarray, np.asanyarray):
            return asarray(*arguments, **{name: value for name, value in named.items() if name != "copy"})
        return _up(function(*_down(arguments), **_down(named)))


def _down(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value.get()
    if isinstance(value, (tuple, list)):
        return type(value)(map(_down, value))
    return {name: _down(part) for name, part in value.items()} if isinstance(value, dict) else value


def _up(value: Any) -> Any:
    return asarray(value) if isinstance(value, (np.ndarray, np.generic)) else value


def asarray(value: Any, dtype: Any = None, order: str = "K") -> ndarray:
    if isinstance(value, ndarray) and dtype in (None, value.dtype):
        return value
    if hasattr(value, "__cuda_array_interface__") and not isinstance(value, ndarray):
        block = _Shared(value)
        image = np.empty(block.size, np.uint8)
        return ndarray(block, np.ndarray(block.shape, block.dtype, image), image)
    host = np.array(_down(value), dtype=dtype, order=order)
    block = _Block(host.nbytes)
    image = np.frombuffer(host.tobytes("A"), np.uint8)
    driver().upload(block.pointer, image)
    dense = np.ndarray(host.shape, host.dtype, image, order="C" if host.flags.c_contiguous else "F")
    return ndarray(block, dense, image)


def asnumpy(value: Any) -> np.ndarray:
    return value.get() if isinstance(value, ndarray) else np.asarray(value)


def copyto(to: ndarray, source: Any, casting: str = "same_kind") -> None:
    if isinstance(source, ndarray) and not np.can_cast(source.dtype, to.dtype, casting):
        raise TypeError(f"cannot cast {source.dtype} to {to.dtype} ({casting})")
    to[...] = source


def install() -> None:
    """As the module `cupy`."""
    module = types.ModuleType("cupy", __doc__)
    module.ndarray, module.asarray, module.array = ndarray, asarray, asarray
    module.asnumpy, module.copyto = asnumpy, copyto
    module.arange = lambda *arguments: asarray(np.arange(*arguments))
    module.empty = lambda shape, dtype=float: asarray(np.empty(shape, dtype))
    module.testing = types.SimpleNamespace(
        assert_array_equal=lambda a, b: np.testing.assert_array_equal(asnumpy(a), asnumpy(b))
    )
    sys.modules["cupy"] = module
