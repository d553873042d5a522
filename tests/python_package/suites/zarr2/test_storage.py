"""zarr-python's tests of stores, over ours; also as the experimental version 3."""

import os

import numpy as np
import pytest
import zarr
from conftest import make_store
from zarr.tests import test_storage as theirs
from zarr.tests import test_storage_v3 as theirs_v3

from zarrive.zarr2 import Store, StoreV3


class TestMemory(theirs.StoreTests):
    kind = "memory"

    def create_store(self, **options):
        return make_store(self.kind, Store, **options)

    def test_store_contains_bytes(self):
        store = self.create_store()
        store["foo"] = np.array([97, 98, 99, 100, 101], dtype=np.uint8)
        assert store["foo"] == b"abcde"

    def test_deep_ndim(self):
        store = self.create_store()
        foo = zarr.open_group(store=store)
        baz = foo.create_group("bar").create_dataset("baz", shape=(4, 4, 4), chunks=(2, 2, 2), dtype="i8")
        baz[:] = 1
        assert set(store.listdir()) == {".zgroup", "bar"}
        assert foo["bar"]["baz"][(0, 0, 0)] == 1

    def test_nested_listdir(self):
        store = self.create_store(dimension_separator="/")
        z = zarr.zeros((10, 10), chunks=(5, 5), store=store)
        z[:] = 1
        assert store.listdir() == [".zarray", "0/0", "0/1", "1/0", "1/1"]
        assert all(store.get(key) is not None for key in store.listdir())
        assert z.nchunks_initialized == 4

    test_normalize_keys = theirs.TestDirectoryStore.test_normalize_keys


class TestFilesystem(TestMemory):
    kind = "filesystem"

    # Where a name is a file or a directory, a key takes the place of those below it.
    test_setdel = theirs.TestDirectoryStore.test_setdel
    test_pickle_ext = theirs.TestDirectoryStore.test_pickle_ext

    def test_filesystem_path(self, tmp_path):
        store = Store(tmp_path / "data" / "store")
        assert len(store) == 0 and "foo" not in store and store.listdir() == []
        assert not os.path.exists(store.path)  # asking makes nothing
        store["foo"] = b"bar"
        assert os.path.isdir(store.path)
        umask = os.umask(0)
        os.umask(umask)
        assert os.stat(store.path).st_mode & 0o666 == 0o666 & ~umask


class TestZip(TestMemory):
    kind = "zip"

    def test_mode(self, tmp_path):
        with Store(tmp_path / "store.zip", mode="w") as store:
            store["foo"] = b"bar"
        store = Store(tmp_path / "store.zip", mode="r")
        with pytest.raises(PermissionError):
            store["foo"] = b"bar"
        with pytest.raises(PermissionError):
            store.clear()

    def test_flush(self, tmp_path):
        store = Store(tmp_path / "store.zip", mode="w")
        store["foo"] = b"bar"
        store.flush()
        assert store["foo"] == b"bar"
        store.close()
        store = Store(tmp_path / "store.zip", mode="r")
        store.flush()  # does nothing

    def test_permissions(self, tmp_path):
        with Store(tmp_path / "store.zip", mode="w") as store:
            store["foo"] = b"bar"
        info = theirs.ZipFile(tmp_path / "store.zip").getinfo("foo")
        assert oct(info.external_attr >> 16) in ("0o644", "0o100644")


class V3Tests(theirs_v3.StoreV3Tests):
    def create_store(self, **options):
        return make_store(self.kind, StoreV3, **options)


class TestMemoryV3(V3Tests):
    kind = "memory"


class TestFilesystemV3(V3Tests):
    kind = "filesystem"


class TestZipV3(V3Tests):
    kind = "zip"


@pytest.mark.parametrize("kind", ["memory", "filesystem", "zip"])
def test_modify_consolidated(kind):
    store = make_store(kind)
    root = zarr.open_group(store, mode="w")
    root.zeros("baz", shape=(10000, 10000), chunks=(1000, 1000), dtype="i4")
    zarr.consolidate_metadata(store)
    root = zarr.open_consolidated(store, mode="r+")
    root["baz"][0, 0] = 7
    root = zarr.open_consolidated(store, mode="r")
    assert root["baz"][0, 0] == 7
    with pytest.raises(zarr.errors.ReadOnlyError):
        root["baz"][0, 0] = 8


@pytest.mark.parametrize("kind", ["filesystem", "zip"])
def test_read_only(kind):
    store = make_store(kind)
    store["foo"] = b"bar"
    store.close()
    store = Store(store.path, mode="r")
    assert (
        not store.is_writeable() and not store.is_erasable() and store.is_readable() and store.is_listable()
    )
    for write in (
        lambda: store.__setitem__("foo", b"hex"),
        lambda: store.__delitem__("foo"),
        lambda: store.setitems({"foo": b"baz"}),
        lambda: store.setitems({}),
        lambda: store.clear(),
        lambda: store.rmdir("anydir"),
        lambda: store.rename("foo", "fop"),
        lambda: store.set_ranges([("foo", 0, b"x")]),
    ):
        with pytest.raises(zarr.errors.ReadOnlyError):
            write()
    assert store["foo"] == b"bar"
