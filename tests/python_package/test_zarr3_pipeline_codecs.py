"""`zarrive.zarr.CodecPipeline` with codecs that only Python knows: those alone run there."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3.1")

import numcodecs  # noqa: E402
import zarrive.zarr  # noqa: E402
from numcodecs.abc import Codec as NumcodecsCodec  # noqa: E402
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec  # noqa: E402
from zarr.codecs import BytesCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec  # noqa: E402
from zarr.storage import (  # noqa: E402
    MemoryStore,
)

from pipeline_counters import counted  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("native_pipeline")]


class Plain:
    """What a codec without a configuration says of itself, whose output has as many bytes as its input."""

    is_fixed_size = True

    def to_dict(self) -> dict[str, Any]:
        return {"name": type(self).__name__.lower(), "configuration": {}}

    @classmethod
    def from_dict(cls, data: Any) -> Any:
        return cls()

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        return input_byte_length


class Xor(Plain, BytesBytesCodec):
    """Async only, as third-party codecs are."""

    async def _encode_single(self, data: Any, chunk_spec: Any) -> Any:
        await asyncio.sleep(0)
        return chunk_spec.prototype.buffer.from_bytes((data.as_numpy_array() ^ 0xFF).tobytes())

    _decode_single = _encode_single


class Negate(Plain, ArrayArrayCodec):
    def _encode_sync(self, array: Any, chunk_spec: Any) -> Any:
        assert array.shape == chunk_spec.shape
        return chunk_spec.prototype.nd_buffer.from_numpy_array(-array.as_numpy_array())

    _decode_sync = _encode_sync

    async def _encode_single(self, array: Any, chunk_spec: Any) -> Any:
        return self._encode_sync(array, chunk_spec)

    _decode_single = _encode_single


class Reversed(Plain, ArrayBytesCodec):
    async def _encode_single(self, array: Any, chunk_spec: Any) -> Any:
        return chunk_spec.prototype.buffer.from_bytes(array.as_numpy_array().tobytes()[::-1])

    async def _decode_single(self, data: Any, chunk_spec: Any) -> Any:
        array = np.frombuffer(data.to_bytes()[::-1], chunk_spec.dtype.to_native_dtype())
        return chunk_spec.prototype.nd_buffer.from_numpy_array(array.reshape(chunk_spec.shape))


class MyBytes(BytesCodec):
    """A subclass under a known name, whose bytes are others."""

    async def _encode_single(self, array: Any, chunk_spec: Any) -> Any:
        made = await super()._encode_single(array, chunk_spec)
        return chunk_spec.prototype.buffer.from_bytes((made.as_numpy_array() ^ 1).tobytes())

    async def _decode_single(self, data: Any, chunk_spec: Any) -> Any:
        data = chunk_spec.prototype.buffer.from_bytes((data.as_numpy_array() ^ 1).tobytes())
        return await super()._decode_single(data, chunk_spec)

    def _encode_sync(self, array: Any, chunk_spec: Any) -> Any:
        return asyncio.run(self._encode_single(array, chunk_spec))

    def _decode_sync(self, data: Any, chunk_spec: Any) -> Any:
        return asyncio.run(self._decode_single(data, chunk_spec))


CHAINS: dict[str, dict[str, Any]] = {
    "Xor last": {"compressors": [ZstdCodec(), Xor()]},
    "Xor between": {"compressors": [GzipCodec(), Xor(), ZstdCodec()]},
    "Negate": {"filters": [TransposeCodec(order=(1, 0)), Negate()]},
    "Reversed": {
        "filters": [TransposeCodec(order=(1, 0))],
        "serializer": Reversed(),
        "compressors": [ZstdCodec()],
    },
    "Xor in shards": {
        "serializer": ShardingCodec(chunk_shape=(1, 3), codecs=[BytesCodec(), Xor(), ZstdCodec()])
    },
}


@pytest.mark.parametrize("name", CHAINS)
def test_one_codec_runs_in_python(name: str) -> None:
    zarr.config.set({"codec_pipeline.strict": False})
    codec = name.split()[0]
    data = np.arange(1, 61, dtype="int32").reshape(6, 10)
    store = MemoryStore()
    chain = {"compressors": None, **CHAINS[name]}
    array = zarr.create_array(store, shape=data.shape, chunks=(2, 3), dtype="int32", fill_value=0, **chain)
    array[:] = data
    calls = counted("python_codec_calls")
    assert set(calls) == {codec}
    assert np.array_equal(array[:], data)
    assert np.array_equal(array[1:4, ::2], data[1:4, ::2])
    array[3, 3] = data[3, 3] = 99
    assert np.array_equal(array[:], data)
    counts = zarrive.zarr.counters()
    assert counts["chunks_read_in_python"] == counts["chunks_written_in_python"] == 0
    assert set(counts["python_codec_calls"]) == {codec}
    assert counts["python_codec_calls"][codec] > calls[codec]
    # zarr-python alone reads the same
    zarrive.zarr.disable()
    metadata = array.metadata
    alone = zarr.Array(zarr.AsyncArray(metadata=metadata, store_path=array.store_path))
    assert np.array_equal(alone[:], data)
    zarrive.zarr.enable(strict=True)
    strict = zarr.Array(zarr.AsyncArray(metadata=metadata, store_path=array.store_path))
    with pytest.raises(NotImplementedError, match=f"strict.*{codec}"):
        strict[:]
    with pytest.raises(NotImplementedError, match=f"strict.*{codec}"):
        strict[:] = 1


class Shifted(NumcodecsCodec):
    """A v2 filter and compressor of a third party."""

    codec_id = "zarrive_test_shifted"

    def encode(self, buf: Any) -> Any:
        assert isinstance(buf, np.ndarray)
        return (buf.view("u1") + 1).tobytes()

    def decode(self, buf: Any, out: Any = None) -> Any:
        return (np.frombuffer(buf, "u1") - 1).tobytes()


numcodecs.register_codec(Shifted)


@pytest.mark.parametrize(
    "codecs",
    [
        {"filters": [Shifted()], "compressors": numcodecs.Zstd()},
        {"filters": None, "compressors": Shifted()},
        {"filters": [numcodecs.Delta("<i4")], "compressors": Shifted()},
    ],
)
def test_v2_codecs_of_third_parties(codecs: dict[str, Any]) -> None:
    zarr.config.set({"codec_pipeline.strict": False})
    data = np.arange(60, dtype="<i4").reshape(6, 10)
    array = zarr.create_array({}, shape=data.shape, chunks=(4, 4), dtype="<i4", zarr_format=2, **codecs)
    array[:] = data
    assert np.array_equal(array[::2, 3:], data[::2, 3:])
    counts = zarrive.zarr.counters()
    assert set(counts["python_codec_calls"]) == {"Shifted"}
    assert counts["chunks_read_in_python"] == 0
    zarrive.zarr.disable()
    assert np.array_equal(zarr.open_array(array.store)[:], data)


def test_a_chain_that_only_python_can_run() -> None:
    zarr.config.set({"codec_pipeline.strict": False})
    data = np.arange(60, dtype="<i4").reshape(6, 10)
    filters = [
        numcodecs.Delta("<i4"),
        Shifted(),
    ]  # a foreign filter after one of ours, of whose output only numcodecs knows the type
    array = zarr.create_array(
        {}, shape=data.shape, chunks=(4, 4), dtype="<i4", zarr_format=2, filters=filters
    )
    array[:] = data
    array[1, 1] = data[1, 1] = 5
    assert np.array_equal(array[::2, 3:], data[::2, 3:])
    counts = zarrive.zarr.counters()
    assert counts["chunks_written_in_python"] == 7
    assert counts["chunks_read_in_python"] == 6
    zarr.config.set({"codec_pipeline.strict": True})
    with pytest.raises(NotImplementedError, match="strict.*Shifted"):
        zarr.open_array(array.store)[:]
