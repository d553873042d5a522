"""`zarrive.zarr.enable(direct=True)`: reads and writes on the thread that asks for them. (That they give what
they give on the event loop is for the other tests of the pipeline, which run both ways.)"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3.1")

import zarr.core.array  # noqa: E402
import zarr.core.sync  # noqa: E402
import zarrive.zarr  # noqa: E402
from zarr.storage import LocalStore, MemoryStore, WrapperStore  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

PIPELINE = zarrive.zarr.CodecPipeline


@pytest.fixture
def direct() -> Iterator[None]:
    zarrive.zarr.enable(strict=True, direct=True)
    yield
    zarrive.zarr.disable()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the threads on which the pipeline calls the core."""
    names: list[str] = []
    run = PIPELINE._run

    async def watched(*args: Any) -> Any:
        names.append(threading.current_thread().name)
        return await run(*args)

    monkeypatch.setattr(PIPELINE, "_run", staticmethod(watched))
    return names


class Foreign(WrapperStore):
    """A store that only Python can ask."""

    _supports_sync_io = False


class Failing(MemoryStore):
    async def get(self, *args: Any, **kwargs: Any) -> Any:
        if "c/" in args[0]:
            raise ConnectionError("no answer")
        return await super().get(*args, **kwargs)


def _array(store: Any, **options: Any) -> Any:
    return zarr.create_array(store, shape=(40, 50), chunks=(16, 16), dtype="i4", **options)


DATA = np.arange(2000, dtype="i4").reshape(40, 50)


@pytest.mark.parametrize("make", [LocalStore, lambda _: MemoryStore()], ids=["LocalStore", "MemoryStore"])
def test_native_stores_are_read_by_the_caller(
    direct: None, threads: list[str], tmp_path: Path, make: Any
) -> None:
    array = _array(make(tmp_path / "a.zarr"))
    array[...] = DATA
    assert np.array_equal(array[3:30:2, -4], DATA[3:30:2, -4])
    assert np.array_equal(array.oindex[[39, 0], 5:9], DATA[[39, 0], 5:9])
    assert set(threads) == {threading.current_thread().name}
    del threads[:]
    assert (
        asyncio.run(array.async_array.getitem((3, 4))) == DATA[3, 4]
    )  # the async interface has its own loop
    assert len(threads) == 1


def test_large_reads_are_the_callers_too(direct: None, threads: list[str], tmp_path: Path) -> None:
    array = zarr.create_array(LocalStore(tmp_path), shape=(2000, 1000), chunks=(500, 500), dtype="i4")
    array[...] = 7
    assert array[...].sum() == 14_000_000
    assert set(threads) == {threading.current_thread().name}


def test_foreign_stores_are_asked_on_the_loop(direct: None, threads: list[str]) -> None:
    array = _array(Foreign(MemoryStore()), shards=(32, 32))
    array[...] = DATA
    assert np.array_equal(array[10:20, 3], DATA[10:20, 3])
    array[1, 2] = -5
    assert array[1, 2] == -5
    assert threading.current_thread().name not in threads
    assert len(threads) == 4


def test_errors_are_the_stores_own(direct: None, tmp_path: Path) -> None:
    failing = Failing()
    array = _array(failing)
    with pytest.raises(ConnectionError, match="no answer"):
        array[...]
    local = _array(LocalStore(tmp_path / "a.zarr"))
    local[...] = DATA
    (tmp_path / "a.zarr" / "c" / "0" / "0").write_bytes(b"nonsense")
    with pytest.raises(zarrive.CorruptChunkError):
        local[0, 0]
    assert local[20, 20] == DATA[20, 20]  # and the next read is as if nothing had been
    with pytest.raises(IndexError):
        local[100, 0]


def test_inside_a_running_loop(direct: None, threads: list[str], tmp_path: Path) -> None:
    """As in a notebook: this thread's loop is not zarr-python's."""
    array = _array(LocalStore(tmp_path / "a.zarr"))
    foreign = _array(Foreign(MemoryStore()))

    async def cell() -> None:
        for each in (array, foreign):
            each[...] = DATA
            assert np.array_equal(each[5:9], DATA[5:9])

    asyncio.run(cell())
    assert threads.count(threading.current_thread().name) == 2


def test_not_on_zarrs_own_loop(direct: None) -> None:
    array = _array(MemoryStore())

    async def read() -> Any:
        return array[0, 0]

    with pytest.raises(zarr.core.sync.SyncError):
        zarr.core.sync.sync(read())


def test_many_threads_at_once(direct: None, tmp_path: Path) -> None:
    stores = [LocalStore(tmp_path / "a.zarr"), Foreign(MemoryStore())]
    arrays = [_array(store) for store in stores]
    for array in arrays:
        array[...] = DATA

    def read(i: int) -> bool:
        return np.array_equal(arrays[i % 2][i % 40], DATA[i % 40])

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(read, range(400)))


def test_only_arrays_with_our_pipeline(threads: list[str]) -> None:
    theirs = _array(MemoryStore())
    zarrive.zarr.enable(direct=True)
    try:
        theirs[...] = DATA
        assert np.array_equal(theirs[...], DATA)
        assert not threads
    finally:
        zarrive.zarr.disable()


def test_switching_off_puts_zarr_back() -> None:
    names = (zarr.AsyncArray._get_selection, zarr.AsyncArray._set_selection, zarr.core.array.sync)
    zarrive.zarr.enable(direct=True)
    zarrive.zarr.enable(direct=True)
    array = _array(MemoryStore())
    assert zarr.core.array.sync is not names[2]
    zarrive.zarr.enable()  # without
    assert (zarr.AsyncArray._get_selection, zarr.AsyncArray._set_selection, zarr.core.array.sync) == names
    zarrive.zarr.enable(direct=True)
    zarrive.zarr.disable()
    assert (zarr.AsyncArray._get_selection, zarr.AsyncArray._set_selection, zarr.core.array.sync) == names
    array[...] = DATA  # an array that is open keeps its pipeline, and goes by the loop again
    assert np.array_equal(array[...], DATA)


def test_another_zarr_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    path = zarr.config.get("codec_pipeline.path")
    monkeypatch.delattr(zarr.AsyncArray, "_set_selection")
    with pytest.raises(NotImplementedError, match=r"AsyncArray\._set_selection is not what it was"):
        zarrive.zarr.enable(direct=True)
    monkeypatch.undo()
    monkeypatch.setattr(zarr.core.array, "sync", lambda *args: None)
    with pytest.raises(NotImplementedError, match=r"zarr\.core\.array\.sync is not"):
        zarrive.zarr.enable(direct=True)
    monkeypatch.undo()
    assert zarr.config.get("codec_pipeline.path") == path
