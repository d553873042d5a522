"""`zarrive.zarr.CodecPipeline`: the same elements as NumPy has, whatever the selection, type, codecs and
store; and what ran where."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import threading
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3.1")
pytest.importorskip("hypothesis")

import numcodecs  # noqa: E402
import zarrive.zarr  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from numcodecs.abc import Codec as NumcodecsCodec  # noqa: E402
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec  # noqa: E402
from zarr.codecs import BytesCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec  # noqa: E402
from zarr.storage import FsspecStore, LocalStore, LoggingStore, MemoryStore, WrapperStore, ZipStore  # noqa: E402
from zarrive import _core  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def pipeline() -> Iterator[None]:
    zarrive.zarr.enable(strict=True)
    zarrive.zarr.reset_counters()
    yield
    zarrive.zarr.disable()


def counted(name: str) -> Any:
    return zarrive.zarr.counters()[name]


def nothing_ran_in_python() -> bool:
    counts = zarrive.zarr.counters()
    return not (
        counts["chunks_read_in_python"] or counts["chunks_written_in_python"] or counts["python_codec_calls"]
    )


# --- switching it on ---


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


# --- stores ---


class Slow(WrapperStore[Any]):
    """A wrapper that counts what passes through it and takes its time."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.gets = 0
        self.at_once = 0
        self.most_at_once = 0

    async def get(self, *args: Any, **kwargs: Any) -> Any:
        self.gets += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.005)
        self.at_once -= 1
        return await super().get(*args, **kwargs)

    async def get_ranges(self, key: str, byte_ranges: Any, *, prototype: Any, **kwargs: Any) -> Any:
        yield [(i, await self.get(key, prototype, byte_range)) for i, byte_range in enumerate(byte_ranges)]


def fsspec_store(path: Path) -> FsspecStore:
    fsspec = pytest.importorskip("fsspec")
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

    return FsspecStore(AsyncFileSystemWrapper(fsspec.filesystem("file", auto_mkdir=True)), path=str(path))


def object_store(path: Path) -> Any:
    obstore = pytest.importorskip("obstore")
    path.mkdir()
    return zarr.storage.ObjectStore(obstore.store.LocalStore(path))


STORES: dict[
    str, tuple[bool, Callable[[Path], Any]]
] = {  # name -> whether the core reads it by itself, maker
    "zarrive memory": (True, lambda path: zarrive.zarr.Store("memory://" + path.name)),
    "zarrive filesystem": (True, lambda path: zarrive.zarr.Store(path)),
    "zarrive zip": (True, lambda path: zarrive.zarr.Store(path.with_suffix(".zip"))),
    "LocalStore": (True, LocalStore),
    "MemoryStore": (False, lambda path: MemoryStore()),
    "FsspecStore": (False, fsspec_store),
    "ObjectStore": (False, object_store),
    "LoggingStore": (False, lambda path: LoggingStore(MemoryStore(), log_level="ERROR")),
    "slow": (False, lambda path: Slow(MemoryStore())),
}


@pytest.mark.parametrize("shards", [None, (4, 6)])
@pytest.mark.parametrize("name", STORES)
def test_stores(name: str, shards: tuple[int, ...] | None, tmp_path: Path) -> None:
    native, make = STORES[name]
    store = make(tmp_path / uuid.uuid4().hex)
    data = np.arange(60, dtype="int32").reshape(6, 10)
    array = zarr.create_array(
        store, name="a/b", shape=data.shape, chunks=(2, 3), shards=shards, dtype="int32"
    )
    array[:] = data
    array[1:3, 4] = data[1:3, 4] = -1
    array = zarr.open_array(store, path="a/b")
    assert np.array_equal(array[:], data)
    assert np.array_equal(array[1:5:3, ::4], data[1:5:3, ::4])
    assert np.array_equal(array.oindex[[4, 0], [9, 1]], data[np.ix_([4, 0], [9, 1])])
    array[0:4, 0:6] = data[0:4, 0:6] = 0  # the fill value: these go
    assert np.array_equal(array[:], data)
    assert nothing_ran_in_python()
    assert counted("python_store_batches" if native else "native_store_batches") == 0


def test_zip_archives_of_zarr_python(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    data = np.arange(60, dtype="int32").reshape(6, 10)
    # the archive's root has no metadata, and one folder has: keys count from the root all the same
    with ZipStore(path, mode="w") as store:
        array = zarr.create_array(store, name="a", shape=data.shape, chunks=(2, 3), dtype="int32")
        array[:] = data
    zarrive.zarr.reset_counters()
    with zipfile.ZipFile(path) as archive:
        assert all(name.startswith("a/") for name in archive.namelist() if name != "zarr.json")
    array = zarr.open_array(ZipStore(path, mode="r"), path="a")
    assert np.array_equal(array[::2], data[::2])
    assert counted("python_store_batches") == 0
    assert counted("native_store_batches") == 1


def test_a_directory_that_is_made_again(tmp_path: Path) -> None:
    import shutil

    store = LocalStore(tmp_path / "root")
    for value in (1, 2):
        array = zarr.create_array(store, shape=(4,), dtype="int32", overwrite=True)
        array[:] = value
        assert array[:].tolist() == [value] * 4
        shutil.rmtree(tmp_path / "root")
        assert array[:].tolist() == [0] * 4


def test_foreign_stores_are_asked_concurrently_and_for_ranges() -> None:
    store = Slow(MemoryStore())
    array = zarr.create_array(store, shape=(64,), chunks=(2,), dtype="int32", compressors=None)
    array[:] = np.arange(64)
    store.gets = store.most_at_once = 0
    with zarr.config.set({"async.concurrency": 4}):
        assert array[:].tolist() == list(range(64))
    assert store.gets == 32
    assert 2 <= store.most_at_once <= 4
    store = Slow(MemoryStore())
    sharded = zarr.create_array(
        store, shape=(64,), chunks=(2,), shards=(64,), dtype="int32", compressors=None
    )
    sharded[:] = np.arange(64)
    store.gets = 0
    assert sharded[10:12].tolist() == [10, 11]
    assert store.gets == 2  # the index, and one inner chunk


class Broken(WrapperStore[Any]):
    class OwnError(Exception):
        pass

    async def get(self, key: str, *args: Any, **kwargs: Any) -> Any:
        if "/c/" in key or key.startswith("c/"):
            raise self.OwnError(key)
        return await super().get(key, *args, **kwargs)

    async def set(self, key: str, value: Any) -> None:
        if key.endswith("c/1"):
            raise self.OwnError(key)
        await super().set(key, value)


def test_errors_of_foreign_stores_come_out_as_they_are() -> None:
    array = zarr.create_array(Broken(MemoryStore()), shape=(4,), chunks=(2,), dtype="int32")
    with pytest.raises(Broken.OwnError):
        array[:]
    with pytest.raises(Broken.OwnError, match="c/1"):
        array[2:] = 5


def test_corrupt_chunks_are_errors(tmp_path: Path) -> None:
    array = zarr.create_array(LocalStore(tmp_path), shape=(400,), dtype="int32", compressors=ZstdCodec())
    array[:] = np.arange(400)
    path = tmp_path / "c" / "0"
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(zarrive.CorruptChunkError, match="c/0"):
        array[:]


def test_read_only_stores_refuse(tmp_path: Path) -> None:
    zarr.create_array(LocalStore(tmp_path), shape=(4,), dtype="int32")[:] = 1
    array = zarr.open_array(LocalStore(tmp_path, read_only=True), mode="r")
    with pytest.raises(ValueError, match="read-only"):
        array[:] = 2
    assert array[:].tolist() == [1] * 4


# --- codecs that only Python knows ---


class Xor(BytesBytesCodec):
    """Async only, as third-party codecs are."""

    is_fixed_size = True

    def to_dict(self) -> dict[str, Any]:
        return {"name": "xor", "configuration": {}}

    @classmethod
    def from_dict(cls, data: Any) -> Xor:
        return cls()

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        return input_byte_length

    async def _encode_single(self, data: Any, chunk_spec: Any) -> Any:
        await asyncio.sleep(0)
        return chunk_spec.prototype.buffer.from_bytes((data.as_numpy_array() ^ 0xFF).tobytes())

    _decode_single = _encode_single


class Negate(ArrayArrayCodec):
    is_fixed_size = True

    def to_dict(self) -> dict[str, Any]:
        return {"name": "negate", "configuration": {}}

    @classmethod
    def from_dict(cls, data: Any) -> Negate:
        return cls()

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        return input_byte_length

    def _encode_sync(self, array: Any, chunk_spec: Any) -> Any:
        assert array.shape == chunk_spec.shape
        return chunk_spec.prototype.nd_buffer.from_numpy_array(-array.as_numpy_array())

    _decode_sync = _encode_sync

    async def _encode_single(self, array: Any, chunk_spec: Any) -> Any:
        return self._encode_sync(array, chunk_spec)

    _decode_single = _encode_single


class Reversed(ArrayBytesCodec):
    is_fixed_size = True

    def to_dict(self) -> dict[str, Any]:
        return {"name": "reversed", "configuration": {}}

    @classmethod
    def from_dict(cls, data: Any) -> Reversed:
        return cls()

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
        return input_byte_length

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
    zarrive.zarr.enable(strict=False)
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
    zarrive.zarr.enable(strict=False)
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
    zarrive.zarr.enable(strict=False)
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
    zarrive.zarr.enable(strict=True)
    with pytest.raises(NotImplementedError, match="strict.*Shifted"):
        zarr.open_array(array.store)[:]


# --- threads and processes ---


def test_one_worker_is_enough(tmp_path: Path) -> None:
    class Counting(
        LocalStore
    ):  # a subclass: asked through its async methods, which use the loop's one worker
        async def get(self, *args: Any, **kwargs: Any) -> Any:
            return await super().get(*args, **kwargs)

    program = [None]

    def work() -> None:
        array = zarr.create_array(
            Counting(tmp_path / "root"), shape=(1 << 20,), chunks=(1 << 14,), dtype="int32"
        )
        array[:] = 3
        program[0] = int(array[:].sum())

    with zarr.config.set({"threading.max_workers": 1}):
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(60)
    assert program[0] == 3 << 20


def test_many_threads(tmp_path: Path) -> None:
    array = zarr.create_array(LocalStore(tmp_path), shape=(64, 64), chunks=(8, 8), dtype="int32")
    array[:] = np.arange(4096).reshape(64, 64)
    wrong = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(20):
            rows, columns = np.sort(random.integers(0, 64, (2, 2)), axis=1)
            got = array[rows[0] : rows[1], columns[0] : columns[1]]
            if not np.array_equal(
                got, np.arange(4096).reshape(64, 64)[rows[0] : rows[1], columns[0] : columns[1]]
            ):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong


def _sum(array: zarr.Array) -> int:
    return int(array[:].sum())


def test_arrays_in_other_processes(tmp_path: Path) -> None:
    arrays = [
        zarr.create_array(zarrive.zarr.Store(tmp_path / "ours"), shape=(100,), chunks=(10,), dtype="int64"),
        zarr.create_array(LocalStore(tmp_path / "theirs"), shape=(100,), chunks=(10,), dtype="int64"),
    ]
    for array in arrays:
        array[:] = 2
        assert array[:].sum() == 200  # the parent's threads have run
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map_async(_sum, arrays * 2).get(timeout=120) == [200] * 4


# --- random arrays and selections ---


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    ndim = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(1, 9)) for _ in range(ndim))
    chunks = tuple(draw(st.integers(1, 5)) for _ in range(ndim))
    seed = draw(st.integers(0, 2**32 - 1))
    layout = draw(st.sampled_from(["v2 C", "v2 F", "v3", "shards"]))
    dtype = draw(st.sampled_from(["<i4", ">f8", "bool", "U3", "M8[s]", "string"]))
    return {"shape": shape, "chunks": chunks, "seed": seed, "layout": layout, "dtype": dtype}


def _data(shape: tuple[int, ...], dtype: str, random: np.random.Generator) -> np.ndarray[Any, Any]:
    numbers = random.integers(0, 100, shape)
    if dtype == "string":
        return numbers.astype("U3").astype(np.dtypes.StringDType())
    return numbers.astype("m8[s]").astype("M8[s]") if dtype == "M8[s]" else numbers.astype(dtype)


def _selection(kind: str, shape: tuple[int, ...], random: np.random.Generator) -> tuple[Any, Any]:
    """(for zarr-python, for NumPy)."""

    def part(n: int) -> slice:
        start, stop = np.sort(random.integers(0, n + 1, 2))
        return slice(int(start), int(stop), int(random.integers(1, 4)))

    if kind == "mask":
        mask = random.random(shape) < 0.3
        return mask, mask
    if kind == "coordinate":
        count = int(random.integers(1, 8))
        points = tuple(random.integers(0, n, count) for n in shape)
        return points, points
    items: list[Any] = []
    for n in shape:
        choice = int(random.integers(0, 4 if kind == "orthogonal" else 2))
        if choice == 0:
            items.append(int(random.integers(0, n)))
        elif choice == 1:
            items.append(part(n))
        elif choice == 2:
            items.append(random.integers(0, n, int(random.integers(1, 6))))
        else:
            items.append(random.random(n) < 0.5)
    if kind == "basic":
        return tuple(items), tuple(items)
    grid = [np.atleast_1d(np.arange(n)[item]) for n, item in zip(shape, items, strict=True)]
    return tuple(items), (np.ix_(*grid), tuple(i for i, item in enumerate(items) if isinstance(item, int)))


# Each example makes one array and tries so many selections on it, every fourth a
# write.
CASES = int(os.environ.get("ZARRIVE_INDEXING_CASES", "2000"))
SELECTIONS = 25
KINDS = ["basic", "orthogonal", "coordinate", "mask", "block"]


@settings(
    deadline=None,
    max_examples=max(1, CASES // SELECTIONS),
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(cases())
def test_random_selections_equal_numpy(case: dict[str, Any]) -> None:
    random = np.random.default_rng(case["seed"])
    data = _data(case["shape"], case["dtype"], random)
    layout = case["layout"]
    array = zarr.create_array(
        MemoryStore(),
        shape=data.shape,
        dtype=data.dtype,
        chunks=case["chunks"],
        shards=tuple(2 * n for n in case["chunks"]) if layout == "shards" else None,
        zarr_format=2 if layout.startswith("v2") else 3,
        **({"order": layout[-1]} if layout.startswith("v2") else {}),
    )
    array[...] = data
    for i in range(SELECTIONS):
        check_selection(array, data, case, KINDS[i % len(KINDS)], random, write=i % 4 == 3)
    assert np.array_equal(array[...], data)
    assert nothing_ran_in_python()


def check_selection(
    array: Any, data: Any, case: dict[str, Any], kind: str, random: np.random.Generator, write: bool
) -> None:
    if kind == "block":
        sizes = [2 * n for n in case["chunks"]] if case["layout"] == "shards" else case["chunks"]
        at = tuple(int(random.integers(0, -(-n // size))) for n, size in zip(data.shape, sizes, strict=True))
        there = tuple(slice(i * size, (i + 1) * size) for i, size in zip(at, sizes, strict=True))
        mine, place = array.blocks, at
    else:
        place, there = _selection(kind, data.shape, random)
        mine = {"basic": array, "orthogonal": array.oindex, "coordinate": array.vindex, "mask": array.vindex}[
            kind
        ]
    dropped: tuple[int, ...] = ()
    if kind == "orthogonal":
        there, dropped = there
    if not write:
        expected = np.squeeze(data[there], axis=dropped) if dropped else data[there]
        assert np.array_equal(mine[place], expected)
        return
    if kind in ("orthogonal", "coordinate"):
        # a place that comes twice may get either value: one value
        value = data.flat[0]
        mine[place] = value
        data[there] = value
        return
    value = _data(np.shape(data[there]), case["dtype"], random)
    mine[place] = value if value.shape else value[()]
    data[there] = value


def test_native_stores_take_what_is_asked() -> None:
    """Arrays in a counting store: one batch a read, no more requests than chunks."""
    counting = _core.counting_store(_core.memory_store())
    array = zarr.create_array(zarrive.zarr.Store(counting), shape=(100,), chunks=(10,), dtype="int32")
    array[:] = np.arange(100)
    counting.reset_counts()
    assert array[5:35].tolist() == list(range(5, 35))
    assert counting.counts["get_batches"] == 1
    assert counting.counts["get_requests"] == 4


@pytest.mark.parametrize("module", ["zarrive.zarr", "zarrive.zarr.store"])
def test_examples_in_docstrings(module: str) -> None:
    import doctest
    import importlib

    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
