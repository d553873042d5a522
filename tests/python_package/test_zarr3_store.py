"""zarr-python's own suites for stores, over `zarrive.zarr.Store`: StoreTests, and the stateful store and
hierarchy machines."""

from __future__ import annotations

import doctest
import importlib
import pickle
import uuid
from pathlib import Path
from typing import Any

import pytest

zarr = pytest.importorskip("zarr", minversion="3.1")
pytest.importorskip("pytest_asyncio")
pytest.importorskip("hypothesis")

import zarrive  # noqa: E402
import zarrive.zarr  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from hypothesis.stateful import run_state_machine_as_test  # noqa: E402
from zarr.abc.store import (  # noqa: E402
    OffsetByteRequest,
    RangeByteRequest,
    SuffixByteRequest,
    SupportsDeleteSync,
    SupportsGetSync,
    SupportsSetSync,
)
from zarr.core.buffer import Buffer, cpu, default_buffer_prototype  # noqa: E402
from zarr.testing.stateful import ZarrHierarchyStateMachine, ZarrStoreStateMachine  # noqa: E402
from zarr.testing.store import StoreTests  # noqa: E402
from zarrive import _core  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


class Suite(StoreTests[zarrive.zarr.Store, cpu.Buffer]):
    """What is the same for every store. Values are put and looked up by the native store, past the one that
    is tested."""

    store_cls = zarrive.zarr.Store
    buffer_cls = cpu.Buffer
    name_starts: str

    async def set(self, store: zarrive.zarr.Store, key: str, value: Buffer) -> None:
        native = store._native
        if native is None:  # not opened yet, and to stay so
            native = _core.open_store(store._url, "a")
        native.set(key, value.to_bytes())
        native.flush()

    async def get(self, store: zarrive.zarr.Store, key: str) -> Buffer:
        value = store.native.get(key)
        assert value is not None
        return self.buffer_cls.from_bytes(bytes(value))

    def test_store_repr(self, store: zarrive.zarr.Store) -> None:
        assert repr(store) == f"zarrive.zarr.Store({str(store)!r})"
        assert str(store).startswith(self.name_starts)

    def test_store_supports_writes(self, store: zarrive.zarr.Store) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: zarrive.zarr.Store) -> None:
        assert store.supports_listing

    def test_has_the_sync_methods(self, store: zarrive.zarr.Store) -> None:
        assert isinstance(store, SupportsGetSync)
        assert isinstance(store, SupportsSetSync)
        assert isinstance(store, SupportsDeleteSync)

    async def test_get_ranges_is_one_request(self, store: zarrive.zarr.Store) -> None:
        await store.set("k", self.buffer_cls.from_bytes(bytes(range(100))))
        counted = _core.counting_store(store.native)
        wanted = [
            RangeByteRequest(0, 4),
            SuffixByteRequest(3),
            OffsetByteRequest(90),
            None,
            RangeByteRequest(200, 300),
        ]
        batches = []
        counting = zarrive.zarr.Store(counted)
        async for batch in counting.get_ranges("k", wanted[:4], prototype=default_buffer_prototype()):
            batches.append(batch)
        assert counted.counts["get_requests"] == 1
        assert len(batches) == 1
        values = {i: value.to_bytes() for i, value in batches[0]}
        everything = bytes(range(100))
        assert values == {0: everything[:4], 1: everything[-3:], 2: everything[90:], 3: everything}
        # one that starts past the end is empty, as in zarr-python's stores
        found = dict(store.get_ranges_sync("k", wanted, prototype=default_buffer_prototype()))
        assert found[4].to_bytes() == b""
        assert found[0].to_bytes() == everything[:4]

    async def test_get_ranges_of_a_missing_key(self, store: zarrive.zarr.Store) -> None:
        prototype = default_buffer_prototype()
        with pytest.raises(BaseExceptionGroup) as raised:
            store.get_ranges_sync("absent", [RangeByteRequest(0, 4)], prototype=prototype)
        assert raised.value.subgroup(FileNotFoundError) is not None
        with pytest.raises(BaseExceptionGroup):
            async for _ in store.get_ranges("absent", [RangeByteRequest(0, 4)], prototype=prototype):
                pass
        assert store.get_ranges_sync("absent", [], prototype=prototype) == []

    async def test_large_values(self, store: zarrive.zarr.Store) -> None:
        # these go through a thread
        data = bytes(range(256)) * 4096
        await store.set("large", self.buffer_cls.from_bytes(data))
        prototype = default_buffer_prototype()
        assert (await store.get("large", prototype)).to_bytes() == data
        part = await store.get("large", prototype, RangeByteRequest(5, 500_000))
        assert part.to_bytes() == data[5:500_000]
        rest = await store.get("large", prototype, OffsetByteRequest(10))
        assert rest.to_bytes() == data[10:]
        await store.set_if_not_exists("large", self.buffer_cls.from_bytes(data[::-1]))
        assert (await store.get("large", prototype)).to_bytes() == data

    async def test_set_takes_buffers_only(self, store: zarrive.zarr.Store) -> None:
        with pytest.raises(TypeError, match="must be a Buffer instance"):
            await store.set("k", b"bytes")  # type: ignore[arg-type]

    async def test_partial_values_past_the_end_and_missing(self, store: zarrive.zarr.Store) -> None:
        await store.set("k", self.buffer_cls.from_bytes(b"abcd"))
        found = await store.get_partial_values(
            default_buffer_prototype(),
            [("k", RangeByteRequest(10, 20)), ("absent", None), ("k", SuffixByteRequest(2))],
        )
        assert [value if value is None else value.to_bytes() for value in found] == [b"", None, b"cd"]


class TestMemory(Suite):
    name_starts = "memory://"

    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        url = f"memory://{uuid.uuid4().hex}"
        _core.open_store(url, "a")  # it must be there to be opened for reading
        return {"store": url, "read_only": False}

    def test_nameless_stores_are_not_pickled(self) -> None:
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(zarrive.zarr.Store(_core.memory_store()))


class TestFilesystem(Suite):
    name_starts = "/"

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        (tmp_path / "root").mkdir()
        return {"store": str(tmp_path / "root"), "read_only": False}

    async def test_a_path_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            await zarrive.zarr.Store.open(tmp_path / "absent", read_only=True)
        store = await zarrive.zarr.Store.open(tmp_path / "new")
        assert (tmp_path / "new").is_dir()
        assert await store.is_empty("")

    async def test_modes(self, tmp_path: Path) -> None:
        store = await zarrive.zarr.Store.open(tmp_path / "root", "w")
        await store.set("k", self.buffer_cls.from_bytes(b"1"))
        again = await zarrive.zarr.Store.open(tmp_path / "root", "r")
        assert again.read_only
        assert await again.exists("k")
        with pytest.raises(FileExistsError):
            await zarrive.zarr.Store.open(tmp_path / "root", "w-")
        assert await (await zarrive.zarr.Store.open(tmp_path / "root", "r+")).exists("k")
        assert not await (await zarrive.zarr.Store.open(tmp_path / "root", "w")).exists("k")
        with pytest.raises(ValueError, match="Invalid mode"):
            zarrive.zarr.Store(tmp_path, "q")


class TestZip(Suite):
    name_starts = "/"

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        path = str(tmp_path / "archive.zip")
        native = _core.open_store(path, "a")  # an archive must be there to be opened for reading
        native.set("first", b"1")
        native.erase("first")
        native.flush()
        return {"store": path, "read_only": False}

    async def test_close_writes_the_directory(self, tmp_path: Path) -> None:
        import zipfile

        path = tmp_path / "new.zip"
        store = await zarrive.zarr.Store.open(path)
        await store.set("a/b", self.buffer_cls.from_bytes(b"1"))
        await store.set("a/b", self.buffer_cls.from_bytes(b"2"))
        store.close()
        with zipfile.ZipFile(path) as archive:
            assert archive.namelist() == ["a/b"]
        assert (await store.get("a/b", default_buffer_prototype())).to_bytes() == b"2"


class TestReadOnly:
    """A store that is read-only by itself, not by a flag of the adapter."""

    async def test_reads_and_refuses(self) -> None:
        base = _core.memory_store()
        base.set("a/zarr.json", b"{}")
        base.set("a/c/0", b"0123")
        store = await zarrive.zarr.Store.open(_core.read_only_store(base))
        assert not store.supports_writes
        assert not store.supports_deletes
        prototype = default_buffer_prototype()
        assert (await store.get("a/c/0", prototype, RangeByteRequest(1, 3))).to_bytes() == b"12"
        assert [key async for key in store.list()] == ["a/c/0", "a/zarr.json"]
        assert sorted([name async for name in store.list_dir("a")]) == ["c", "zarr.json"]
        assert await store.getsize_prefix("a") == 6
        for write in (
            store.set("k", cpu.Buffer.from_bytes(b"")),
            store.set_if_not_exists("k", cpu.Buffer.from_bytes(b"")),
            store.delete("a/c/0"),
            store.delete_dir("a"),
            store.clear(),
        ):
            with pytest.raises(ValueError, match="read-only mode"):
                await write
        with pytest.raises(ValueError, match="read-only mode"):
            store.delete_sync("a/c/0")
        with pytest.raises(ValueError, match="read-only"):
            store.with_read_only(False)
        assert base.list() == ["a/c/0", "a/zarr.json"]

    async def test_arrays_of_a_read_only_view(self, tmp_path: Path) -> None:
        writer = zarrive.zarr.Store(tmp_path / "root")
        array = zarr.create_array(writer, shape=(4,), dtype="int32")
        array[:] = 7
        reader = zarr.open_array(zarrive.zarr.Store(tmp_path / "root", "r"))
        assert reader[:].tolist() == [7, 7, 7, 7]
        with pytest.raises(ValueError, match="read-only"):
            reader[:] = 8


class TestOpening:
    def test_wants_a_store_or_a_name(self) -> None:
        with pytest.raises(TypeError, match="zarrive.zarr.enable"):
            zarrive.zarr.Store(zarr.storage.MemoryStore())

    def test_equality(self) -> None:
        native = _core.memory_store()
        assert zarrive.zarr.Store(native) == zarrive.zarr.Store(native)
        assert zarrive.zarr.Store(native) != zarrive.zarr.Store(native, read_only=True)
        assert zarrive.zarr.Store(native) != zarrive.zarr.Store(_core.memory_store())
        assert zarrive.zarr.Store("memory://a") != zarrive.zarr.Store("memory://b")
        assert zarrive.zarr.Store(native) != native


# --- the stateful machines; zarr-python skips LocalStore (a deleted key leaves its directory) and ZipStore
# (no delete), for ours neither holds ---


def _stores(tmp_path: Path) -> dict[str, zarrive.zarr.Store]:
    return {
        "memory": zarrive.zarr.Store(_core.memory_store()),
        "filesystem": zarrive.zarr.Store(tmp_path / "root"),
        "zip": zarrive.zarr.Store(tmp_path / "archive.zip"),
    }


_settings = settings(
    deadline=None,
    max_examples=12,
    stateful_step_count=25,
    suppress_health_check=list(HealthCheck),
    database=None,
)


@pytest.mark.parametrize("kind", ["memory", "filesystem", "zip"])
def test_store_machine(kind: str, tmp_path: Path) -> None:
    store = _stores(tmp_path)[kind]

    class Machine(ZarrStoreStateMachine):
        def __init__(self) -> None:
            super().__init__(store)

    with zarr.config.set({"array.rectilinear_chunks": True}):
        run_state_machine_as_test(Machine, settings=_settings)


@pytest.mark.parametrize("pipeline", ["zarr", "zarrive"])
@pytest.mark.parametrize("kind", ["memory", "filesystem", "zip"])
def test_hierarchy_machine(kind: str, pipeline: str, tmp_path: Path) -> None:
    store = _stores(tmp_path)[kind]

    class Machine(ZarrHierarchyStateMachine):
        def __init__(self) -> None:
            super().__init__(store)

    if pipeline == "zarrive":
        zarrive.zarr.enable()
    try:
        with zarr.config.set({"array.rectilinear_chunks": True}):
            run_state_machine_as_test(Machine, settings=_settings)
    finally:
        zarrive.zarr.disable()


@pytest.mark.parametrize("module", ["zarrive.zarr", "zarrive.zarr.store"])
def test_examples_in_docstrings(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
