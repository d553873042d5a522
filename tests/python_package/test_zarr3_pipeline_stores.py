"""`zarrive.zarr.CodecPipeline` with zarr-python's stores and ours, and with many threads and processes at them."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3.1")

import zarrive.zarr  # noqa: E402
from zarr.codecs import ZstdCodec  # noqa: E402
from zarr.storage import (  # noqa: E402
    FsspecStore,
    LocalStore,
    LoggingStore,
    MemoryStore,
    WrapperStore,
    ZipStore,
)
from zarrive import _core  # noqa: E402

from pipeline_counters import counted, nothing_ran_in_python  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("native_pipeline")]


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


def test_native_stores_take_what_is_asked() -> None:
    """Arrays in a counting store: one batch a read, no more requests than chunks."""
    counting = _core.counting_store(_core.memory_store())
    array = zarr.create_array(zarrive.zarr.Store(counting), shape=(100,), chunks=(10,), dtype="int32")
    array[:] = np.arange(100)
    counting.reset_counts()
    assert array[5:35].tolist() == list(range(5, 35))
    assert counting.counts["get_batches"] == 1
    assert counting.counts["get_requests"] == 4


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
