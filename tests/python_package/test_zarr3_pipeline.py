"""`zarrive.zarr.CodecPipeline`: switching it on, and elements of every type in both formats."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3.1")

import numcodecs  # noqa: E402
import zarrive.zarr  # noqa: E402
from zarr.storage import (  # noqa: E402
    MemoryStore,
)

from pipeline_counters import nothing_ran_in_python  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("native_pipeline")]


def test_enable_and_disable() -> None:
    assert type(zarr.zeros((2,))._async_array.codec_pipeline) is zarrive.zarr.CodecPipeline
    assert zarr.config.get("codec_pipeline.path") == "zarrive.zarr.CodecPipeline"
    zarrive.zarr.disable()
    assert type(zarr.zeros((2,))._async_array.codec_pipeline).__name__ == "BatchedCodecPipeline"
    zarrive.zarr.enable()
    assert zarr.config.get("codec_pipeline.strict") is False


def test_what_zarr_asks_of_a_pipeline() -> None:
    array = zarr.create_array({}, shape=(8,), chunks=(4,), shards=(8,), dtype="int32")
    made = array._async_array.codec_pipeline
    assert made.supports_partial_decode
    assert made.supports_partial_encode
    assert [type(codec).__name__ for codec in made] == ["ShardingCodec"]
    again = pickle.loads(pickle.dumps(made))
    assert again == made


# --- elements: every type, both formats, sharded and not ---


ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "bool": np.arange(60) % 3 == 0,
    "int8": np.arange(-30, 30, dtype="int8"),
    "uint64": np.arange(60, dtype="uint64") * (2**58),
    ">i4": np.arange(60, dtype=">i4"),
    "float16": np.linspace(-1, 1, 60, dtype="float16"),
    "float64": np.linspace(-1, 1, 60),
    "complex64": (np.arange(60) * (1 + 2j)).astype("complex64"),
    "datetime64[ms]": np.arange(60).astype("datetime64[ms]"),
    "timedelta64[10s]": np.arange(60).astype("timedelta64[10s]"),
    "S5": np.array([b"%d" % i for i in range(60)], "S5"),
    "U7": np.array([f"é{i}" for i in range(60)], "U7"),
    "V6": np.array([b"%06d" % i for i in range(60)], "V6"),
    "struct": np.array([(i, i / 2, b"x") for i in range(60)], [("a", "<i4"), ("b", "<f8"), ("c", "S2")]),
    "string": np.array([f"text é {'x' * i}" for i in range(60)], np.dtypes.StringDType()),
}


@pytest.mark.parametrize("layout", ["v2", "v3", "shards"])
@pytest.mark.parametrize("name", ARRAYS)
def test_types(name: str, layout: str) -> None:
    data = ARRAYS[name].reshape(6, 10)
    array = zarr.create_array(
        MemoryStore(),
        shape=data.shape,
        dtype=data.dtype,
        chunks=(2, 3),
        shards=(4, 6) if layout == "shards" else None,
        zarr_format=2 if layout == "v2" else 3,
    )
    array[:] = data
    assert np.array_equal(array[:], data)
    assert np.array_equal(array[::2, 1:9:3], data[::2, 1:9:3])
    assert np.array_equal(array[3], data[3])
    assert array[2, 5] == data[2, 5]
    assert np.array_equal(array.oindex[[5, 0, 3], 1:4], data[[5, 0, 3], 1:4])
    assert np.array_equal(array.vindex[[5, 0, 3], [9, 2, 2]], data[[5, 0, 3], [9, 2, 2]])
    mask = np.zeros(data.shape, bool)
    mask[1:3, ::4] = True
    assert np.array_equal(array[mask], data[mask])
    expected = data.copy()
    array[1:5, 2] = expected[1:5, 2] = data[0, 0]
    array.oindex[[0, 5], [1, 7]] = expected[np.ix_([0, 5], [1, 7])] = data[2:4, 3:5]
    assert np.array_equal(array[:], expected)
    assert nothing_ran_in_python()
    # and zarr-python reads what was written; 3.1 alone cannot read shards of structured elements
    if data.dtype.kind == "V" and layout == "shards" and zarr.__version__.startswith("3.1."):
        return
    zarrive.zarr.disable()
    assert np.array_equal(zarr.open_array(array.store)[:], expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_v2_orders_filters_and_objects(order: str) -> None:
    data = np.arange(48, dtype="<i8").reshape(6, 8)
    array = zarr.create_array(
        {},
        shape=data.shape,
        chunks=(4, 4),
        dtype=data.dtype,
        zarr_format=2,
        order=order,
        filters=[numcodecs.Delta("<i8")],
        compressors=numcodecs.Blosc(cname="lz4"),
    )
    array[:] = data
    assert np.array_equal(array[::3, 1:7], data[::3, 1:7])
    assert nothing_ran_in_python()


def test_missing_chunks_and_fill() -> None:
    array = zarr.create_array({}, shape=(6,), chunks=(2,), dtype="float32", fill_value=np.nan)
    array[2:4] = [1, np.nan]
    array[4:6] = np.nan  # nothing but fill: not stored
    assert np.array_equal(array[:], [np.nan, np.nan, 1, np.nan, np.nan, np.nan], equal_nan=True)
    assert array.nchunks_initialized == 1
    array[2:4] = np.nan
    assert array.nchunks_initialized == 0


def test_write_empty_chunks() -> None:
    array = zarr.create_array(
        {}, shape=(4,), chunks=(2,), dtype="int32", fill_value=0, config={"write_empty_chunks": True}
    )
    array[:] = 0
    assert array.nchunks_initialized == 2


def test_zero_dimensions_and_zero_extents() -> None:
    scalar = zarr.create_array({}, shape=(), dtype="float64")
    scalar[()] = 5
    assert scalar[()] == 5
    assert scalar[...] == 5
    empty = zarr.create_array({}, shape=(0, 3), chunks=(1, 3), dtype="float64")
    empty[:] = np.zeros((0, 3))
    assert empty[:].shape == (0, 3)


def test_values_of_other_types_and_orders() -> None:
    array = zarr.create_array({}, shape=(4, 6), chunks=(3, 4), dtype="<i4")
    data = np.arange(24).reshape(4, 6)
    for value in (
        data,
        data.astype(">i4"),
        data.astype("i4").T.copy().T,
        data.astype("f8"),
        data[::-1][::-1],
    ):
        array[:] = 0
        array[:] = value
        assert np.array_equal(array[:], data)
    out = zarr.core.buffer.cpu.NDBuffer(np.zeros((4, 6), ">i4"))
    array.get_basic_selection(out=out)
    assert np.array_equal(out.as_numpy_array(), data)
    strided = np.zeros((8, 12), "<i4")
    array.get_basic_selection(out=zarr.core.buffer.cpu.NDBuffer(strided[::2, ::-2]))
    assert np.array_equal(strided[::2, ::-2], data)


def test_fields_are_found_by_name() -> None:
    dtype = np.dtype([("x", "<i4"), ("y", "<f8")])
    data = np.array([(i, i / 2) for i in range(6)], dtype)
    array = zarr.create_array({}, shape=(6,), chunks=(4,), dtype=dtype)
    array[:] = data
    assert array["y", "x"].tolist() == data[["y", "x"]].tolist()
