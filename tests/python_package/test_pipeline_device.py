"""ArrayPipeline into and from device memory, on the fake driver of the C++ tests, in a process of its own."""

from __future__ import annotations

import pytest

import fake_driver

SCRIPT = """
import json
import cupy_stand_in
import numpy as np
from zarrive import _core

cupy = cupy_stand_in.install()
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def pipeline(chunk, codecs):
    return _core.ArrayPipeline(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": chunk, "data_type": "int32", "fill_value": -1, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default"}, "codecs": codecs,
    }))


values = np.arange(48, dtype="i4").reshape(6, 8)
pipe, store, everything = pipeline((6, 8), [LITTLE]), _core.memory_store(), (slice(None),) * 2
pipe.write(store, [("c", (6, 8), everything, everything, True)], cupy.asarray(values), write_empty_chunks=True)
found = np.empty((6, 8), "i4")
pipe.read(store, [("c", (6, 8), everything, everything)], found)
assert (found == values).all()
for codecs in ([LITTLE], [LITTLE, {"name": "zstd", "configuration": {"level": 1}}]):
    pipe = pipeline((4, 8), codecs)
    for chunk, places, drop in [
        ((slice(0, 4), slice(0, 8)), (slice(1, 5), slice(0, 8)), ()),
        ((slice(0, 4, 2), slice(1, 8, 3)), (slice(0, 2), slice(4, 7)), ()),
        ((np.array([3, 0]), slice(0, 8)), (np.array([5, 2]), slice(0, 8)), ()),
        (np.ix_([3, 0, 1], [7, 2]), np.ix_([0, 5, 2], [1, 0]), ()),
    ]:
        store = _core.memory_store()
        pipe.write(store, [("a/c/0/0", (4, 8), chunk, places, False)], cupy.asarray(values), drop)
        expected = np.full((4, 8), -1, "i4")
        expected[chunk] = values[places]
        found = np.empty((4, 8), "i4")
        whole = (slice(0, 4), slice(0, 8))
        pipe.read(store, [("a/c/0/0", (4, 8), whole, whole)], found)
        np.testing.assert_array_equal(found, expected)

        out = cupy.asarray(np.full((6, 8), 99, "i4"))
        items = [("a/c/0/0", (4, 8), chunk, places)]
        assert pipe.read(store, items, out, drop) == [True]
        wanted = np.full((6, 8), 99, "i4")
        wanted[places] = values[places]
        np.testing.assert_array_equal(cupy.asnumpy(out), wanted)
        assert pipe.read(store, [("a/c/9/9", *items[0][1:])], out, drop) == [False]
        wanted[places] = -1
        np.testing.assert_array_equal(cupy.asnumpy(out), wanted)
    # points, and an element for all places
    out = cupy.asarray(np.full(3, 99, "i4"))
    store = _core.memory_store()
    pipe.write(store, [("a/c/0/0", (4, 8), (slice(0, 4), slice(0, 8)), (slice(0, 4), slice(0, 8)), True)], values)
    points = (np.array([3, 0, 3]), np.array([7, 1, 0]))
    pipe.read(store, [("a/c/0/0", (4, 8), points, np.array([2, 0, 1]))], out)
    assert cupy.asnumpy(out).tolist() == [1, 24, 31]
    pipe.write(store, [("a/c/0/0", (4, 8), points, slice(0, 3), False)], cupy.asarray(np.array(5, "i4")))
    pipe.read(store, [("a/c/0/0", (4, 8), points, slice(0, 3))], out)
    assert cupy.asnumpy(out).tolist() == [5, 5, 5]
print("done")
"""


@pytest.mark.parametrize("kernels", [True, False])
def test_device_memory(kernels):
    changes = {} if kernels else {"ZARRIVE_GPU_KERNELS": "/nowhere"}
    environment = fake_driver.environment(ZARRIVE_LIBCUFILE="none", ZARRIVE_LIBNVCOMP="none", **changes)
    assert fake_driver.run(SCRIPT, environment) == "done\n"
