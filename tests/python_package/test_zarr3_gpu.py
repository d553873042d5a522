"""zarr-python 3 with `zarr.config.enable_gpu()`: arrays land in device memory, decoded by us. With CuPy where
there is a GPU, else with a stand-in for CuPy over the tests' CUDA driver, whose device memory the host cannot
touch. Each test runs in a process of its own: zarr-python looks for CuPy once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import fake_driver

pytest.importorskip("zarr", minversion="3.1")

PREPARE = """
if {stand_in}:
    import cupy_stand_in
    cupy_stand_in.install()
import cupy, numpy as np, warnings
warnings.simplefilter("ignore")
import zarr, zarrive.zarr
from zarr.core.buffer import gpu
zarrive.zarr.enable(strict=True)
zarr.config.enable_gpu()
data = np.arange(60, dtype="int32").reshape(6, 10)

def equal(got, expected):
    assert isinstance(got, cupy.ndarray), type(got)
    assert np.array_equal(cupy.asnumpy(got), expected), got

def nothing_ran_in_python():
    counts = zarrive.zarr.counters()
    names = ("chunks_read_in_python", "chunks_written_in_python", "python_codec_calls")
    return not any(counts[name] for name in names)
"""


def run(program: str) -> None:
    try:
        import cupy

        stand_in = cupy.cuda.runtime.getDeviceCount() == 0
    except Exception:  # no CuPy, or no GPU
        stand_in = True
    ready = not stand_in or "ZARRIVE_LIBCUDA" in os.environ
    fake_driver.run(
        PREPARE.format(stand_in=stand_in) + program, dict(os.environ) if ready else fake_driver.environment()
    )


@pytest.mark.parametrize(
    "store", ["zarr.storage.MemoryStore()", "zarrive.zarr.Store(zarrive.memory_store())", "path"]
)
@pytest.mark.parametrize(
    "options",
    ["", "shards=(4, 6)", "compressors=None", "compressors=zarr.codecs.BloscCodec()", "zarr_format=2"],
)
def test_arrays_land_on_the_device(store: str, options: str, tmp_path: Path) -> None:
    store = repr(str(tmp_path / "root")) if store == "path" else store
    run(f"""
array = zarr.create_array({store}, shape=data.shape, chunks=(2, 3), dtype="int32", fill_value=7, {options})
equal(array[:], np.full(data.shape, 7))
array[:] = cupy.asarray(data)
equal(array[:], data)
equal(array[::2, 1:9:3], data[::2, 1:9:3])
equal(array.oindex[[5, 0, 3], 1:4], data[[5, 0, 3], 1:4])
array[1:3, 4] = data[1:3, 4] = -1
equal(array[:], data)
assert nothing_ran_in_python()
""")


def test_buffers_of_the_store_land_on_the_device() -> None:
    run("""
from zarr.abc.store import RangeByteRequest
from zarr.core.sync import sync
native = zarrive.memory_store()
native.set("k", bytes(range(100)))
store = zarrive.zarr.Store(native)
value = store.get_sync("k", prototype=gpu.buffer_prototype)
assert isinstance(value, gpu.Buffer)
equal(value.as_array_like(), np.arange(100))
value = sync(store.get("k", gpu.buffer_prototype, RangeByteRequest(10, 20)))
equal(value.as_array_like(), np.arange(10, 20))
sync(store.set("other", value))
assert bytes(native.get("other")) == bytes(range(10, 20))
ranges = [("k", RangeByteRequest(0, 4)), ("absent", None)]
values = sync(store.get_partial_values(gpu.buffer_prototype, ranges))
equal(values[0].as_array_like(), np.arange(4))
assert values[1] is None
""")
