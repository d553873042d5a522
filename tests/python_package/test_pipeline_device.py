"""ArrayPipeline into and from device memory, on the fake driver of the C++ tests, in a process of its own."""

from __future__ import annotations

import pytest

import fake_driver

SCRIPT = """
import json
import numpy as np
import zarrive
from zarrive import _core


class DeviceArray:
    # As CuPy's: memory of a device with a dtype.
    def __init__(self, values):
        values = np.asarray(values, "i4")
        options = _core.ReadOptions()
        options.prototype = "cuda:0"
        array = zarrive.create_array({}, data=values)
        self.memory = array._core.read((), "basic", None, options)
        self.__cuda_array_interface__ = self.memory.__cuda_array_interface__
        self.shape, self.ndim, self.dtype = values.shape, values.ndim, values.dtype
        self.get = lambda: values

    def peek(self):
        pipe = pipeline(self.shape, [LITTLE])
        store = _core.memory_store()
        whole = (slice(None),) * self.ndim
        pipe.write(store, [("c", self.shape, whole, whole, True)], self, write_empty_chunks=True)
        out = np.empty(self.shape, "i4")
        pipe.read(store, [("c", self.shape, whole, whole)], out)
        return out


LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def pipeline(chunk, codecs):
    return _core.ArrayPipeline(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": chunk, "data_type": "int32", "fill_value": -1, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default"}, "codecs": codecs,
    }))


values = np.arange(48, dtype="i4").reshape(6, 8)
assert (DeviceArray(values).peek() == values).all()
for codecs in ([LITTLE], [LITTLE, {"name": "zstd", "configuration": {"level": 1}}]):
    pipe = pipeline((4, 8), codecs)
    for chunk, places, drop in [
        ((slice(0, 4), slice(0, 8)), (slice(1, 5), slice(0, 8)), ()),
        ((slice(0, 4, 2), slice(1, 8, 3)), (slice(0, 2), slice(4, 7)), ()),
        ((np.array([3, 0]), slice(0, 8)), (np.array([5, 2]), slice(0, 8)), ()),
        (np.ix_([3, 0, 1], [7, 2]), np.ix_([0, 5, 2], [1, 0]), ()),
    ]:
        store = _core.memory_store()
        pipe.write(store, [("a/c/0/0", (4, 8), chunk, places, False)], DeviceArray(values), drop)
        expected = np.full((4, 8), -1, "i4")
        expected[chunk] = values[places]
        found = np.empty((4, 8), "i4")
        whole = (slice(0, 4), slice(0, 8))
        pipe.read(store, [("a/c/0/0", (4, 8), whole, whole)], found)
        np.testing.assert_array_equal(found, expected)

        out = DeviceArray(np.full((6, 8), 99))
        items = [("a/c/0/0", (4, 8), chunk, places)]
        assert pipe.read(store, items, out, drop) == [True]
        wanted = np.full((6, 8), 99, "i4")
        wanted[places] = values[places]
        np.testing.assert_array_equal(out.peek(), wanted)
        assert pipe.read(store, [("a/c/9/9", *items[0][1:])], out, drop) == [False]
        wanted[places] = -1
        np.testing.assert_array_equal(out.peek(), wanted)
    # points, and an element for all places
    out = DeviceArray(np.full(3, 99))
    store = _core.memory_store()
    pipe.write(store, [("a/c/0/0", (4, 8), (slice(0, 4), slice(0, 8)), (slice(0, 4), slice(0, 8)), True)], values)
    points = (np.array([3, 0, 3]), np.array([7, 1, 0]))
    pipe.read(store, [("a/c/0/0", (4, 8), points, np.array([2, 0, 1]))], out)
    assert out.peek().tolist() == [1, 24, 31]
    pipe.write(store, [("a/c/0/0", (4, 8), points, slice(0, 3), False)], DeviceArray(5))
    pipe.read(store, [("a/c/0/0", (4, 8), points, slice(0, 3))], out)
    assert out.peek().tolist() == [5, 5, 5]
print("done")
"""


@pytest.mark.parametrize("kernels", [True, False])
def test_device_memory(kernels):
    changes = {} if kernels else {"ZARRIVE_GPU_KERNELS": "/nowhere"}
    environment = fake_driver.environment(ZARRIVE_LIBCUFILE="none", ZARRIVE_LIBNVCOMP="none", **changes)
    assert fake_driver.run(SCRIPT, environment) == "done\n"
