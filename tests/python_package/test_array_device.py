"""Arrays read into and written from device memory, on the C++ tests' CUDA driver."""

from __future__ import annotations

import fake_driver

# `late(values)` is a device array that a stream has yet to write; `named` says whether it tells which.
PREPARE = """
import ctypes
import cupy_stand_in
cupy = cupy_stand_in.install()
import cupy_double
import numpy as np
import zarrive

driver = cupy_double.driver()
own = ctypes.c_void_p()
driver.call_in_context("cuStreamCreate", ctypes.byref(own), 0)
values = np.arange(48, dtype="i4").reshape(6, 8)


def put_late(array, image, stream):
    driver.call_in_context(
        "cuMemcpyHtoDAsync_v2",
        ctypes.c_ulonglong(array.__cuda_array_interface__["data"][0]),
        ctypes.c_void_p(image.ctypes.data),
        ctypes.c_size_t(image.nbytes),
        stream,
        wait=False,
    )


class Late:
    def __init__(self, image, stream, named):
        self.array = cupy.empty(image.shape, image.dtype)
        put_late(self.array, image, stream)
        self.shape, self.ndim, self.dtype = image.shape, image.ndim, image.dtype
        self.__cuda_array_interface__ = dict(self.array.__cuda_array_interface__, stream=named)


# What NumPy's brackets mean, in and out of the order in which the core has the dimensions.
SELECTIONS = [
    np.s_[...],
    np.s_[1],
    np.s_[3, 5],
    np.s_[::-1, 2:7:2],
    np.s_[[4, 0, 4]],
    np.s_[:, [6, 1]],
    np.s_[2:5, None, [[7, 0], [3, 3]]],
    np.s_[[0, 5, 2], [1, 1, 7]],
    np.s_[[[0, 5], [2, 3]], [[1, 1], [7, 0]]],
    values % 5 == 0,
]


def make(**options):
    return zarrive.create_array({}, shape=values.shape, chunks=(4, 4), dtype="i4", fill_value=-1, **options)


def kinds():
    yield make(compressors=None)
    yield make()
    yield zarrive.create_array({}, shape=values.shape, chunks=(2, 4), shards=(4, 8), dtype="i4", fill_value=-1)
    yield make(zarr_format=2)
"""


def run(program: str) -> None:
    environment = fake_driver.environment()
    assert fake_driver.run(PREPARE + program + "\nprint('done')\n", environment).endswith("done\n")


def test_reads() -> None:
    run("""
for array in kinds():
    array[...] = values
    for selection in SELECTIONS:
        expected = values[selection]
        out = cupy.empty(expected.shape, "i4")
        assert array.read(selection, out=out) is out
        assert (cupy.asnumpy(out) == expected).all(), selection
        found = array.read(selection, device="cuda:0")
        assert found.__cuda_array_interface__["shape"] == expected.shape
        assert (cupy.asnumpy(cupy.asarray(found)) == expected).all(), selection
    # into every second row of something larger
    large = cupy.asarray(np.full((8, 6), 99, "i4"))
    array.read(np.s_[1:5, [6, 1, 0]], out=large[::2, 1:4])
    expected = np.full((8, 6), 99)
    expected[::2, 1:4] = values[1:5, [6, 1, 0]]
    assert (cupy.asnumpy(large) == expected).all()
    kept = array.read(meta_array=cupy.empty(()))
    assert type(kept) is cupy.ndarray and (cupy.asnumpy(kept) == values).all()
    for dtype in ("f8", "i2", "u8"):
        converted = cupy.empty(values.shape, dtype)
        array.read(out=converted)
        assert (cupy.asnumpy(converted) == values).all()
    for wrong in ((6, 7), (8, 6), ()):
        for selection in (np.s_[...], np.s_[:, [1, 0, 3, 4, 5, 7, 6, 2]]):
            try:
                array.read(selection, out=cupy.empty(wrong, "i4"))
            except ValueError as error:
                assert "(6, 8)" in str(error) or "[6, 8]" in str(error), error
            else:
                raise AssertionError(wrong)
""")


def test_writes() -> None:
    run("""
for array in kinds():
    for selection in SELECTIONS:
        array[...] = cupy.asarray(values)
        new = -np.arange(values[selection].size, dtype="i4").reshape(values[selection].shape) - 5
        array[selection] = cupy.asarray(new)
        expected = values.copy()
        expected[selection] = new
        assert (array[...] == expected).all(), selection
    # of another type, of fewer dimensions, and not in one piece
    array[...] = cupy.asarray(values.astype("f8") + 1)
    assert (array[...] == values + 1).all()
    array[...] = cupy.asarray(np.arange(8, dtype="i2"))
    assert (array[...] == np.arange(8)).all()
    array[1:3] = cupy.asarray(np.arange(12).reshape(2, 6))[:, 4:5]
    assert (array[1:3] == [[4], [10]]).all()
    for wrong in ((6, 7), (2, 6, 8)):
        try:
            array[...] = cupy.empty(wrong, "i4")
        except ValueError as error:
            assert "does not fit a selection of shape (6, 8)" in str(error), error
        else:
            raise AssertionError(wrong)
    array.append(cupy.asarray(values))
    assert (array[6:] == values).all()
    array.append(cupy.asarray(values.astype("f4")), axis=0)
    assert (array[12:] == values).all()
""")


def test_a_source_that_a_stream_has_yet_to_write_is_waited_for() -> None:
    run("""
for stream, named in ((own, own.value), (None, 1)):
    for array in kinds():
        array[...] = Late(values, stream, named)
        assert (array[...] == values).all()
        array.append(Late(values, stream, named))
        assert (array[6:] == values).all()
""")


def test_with_a_stream_of_the_caller_nothing_is_waited_for() -> None:
    run("""
for array in kinds():
    array.write(..., Late(values, own, own.value), stream=own.value)
    assert (array[...] == values).all()
    # What is put into the stream after the read sees its result, and what was put in before it is done before it.
    out = Late(np.zeros_like(values), own, own.value)
    array.read(out=out, stream=own.value)
    driver.call_in_context("cuStreamSynchronize", own)
    assert (cupy.asnumpy(out.array) == values).all()
""")


def test_a_destination_that_a_stream_has_yet_to_write_is_waited_for() -> None:
    run("""
zeros = np.zeros_like(values)
for stream, named in ((own, own.value), (None, 1)):
    for array in kinds():
        array[...] = values
        out = Late(zeros, stream, named)
        array.read(out=out)
        driver.call_in_context("cuStreamSynchronize", stream)
        assert (cupy.asnumpy(out.array) == values).all()
""")


def test_what_was_found_is_told() -> None:
    run("""
info = zarrive.gpu_info()
assert info["driver"]["reason"] == "" and info["driver"]["path"]
assert set(info) == {"driver", "kernels", "cufile", "nvcomp", "devices"}
for ordinal, device in enumerate(info["devices"]):
    assert device["ordinal"] == ordinal and device["memory_bytes"] > 0
    assert set(device["engine"]) == {"formats", "longest", "reason"}
assert info["devices"]
""")


def test_without_a_driver_the_reason_is_told() -> None:
    program = """
import zarrive
info = zarrive.gpu_info()
assert info["devices"] == [] and info["driver"]["reason"], info
try:
    zarrive.create_array({}, data=[1, 2]).read(device="cuda:0")
except zarrive.UnsupportedError as error:
    assert info["driver"]["reason"] in str(error)
else:
    raise AssertionError
print("done")
"""
    environment = fake_driver.environment(ZARRIVE_LIBCUDA="/nowhere/libcuda.so.1")
    assert fake_driver.run(program, environment) == "done\n"
