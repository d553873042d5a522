"""zarr-python's tests of its arrays, whose chunks and documents lie in our stores."""

import pytest
from conftest import make_store
from zarr.codecs import Blosc
from zarr.storage import LRUStoreCache
from zarr.tests import test_core as theirs
from zarr.util import buffer_size

from zarrive.zarr2 import Store, StoreV3

pytestmark = pytest.mark.filterwarnings("ignore:.*Support for partial decompression will be removed.*")


class OnMemory:
    kind = "memory"
    options = {}

    def create_store(self):
        return make_store(self.kind, Store, **self.options)


class OnFilesystem(OnMemory):
    kind = "filesystem"


class OnZip(OnMemory):
    kind = "zip"


class TestMemory(OnMemory, theirs.TestArray):
    pass


class TestFilesystem(OnFilesystem, theirs.TestArray):
    pass


class TestZip(OnZip, theirs.TestArray):
    pass


class TestFilesystemWithPath(OnFilesystem, theirs.TestArrayWithPath):
    def test_nbytes_stored(self):
        z = self.create_array(shape=1000, chunks=100)
        z[:] = 42
        assert sum(buffer_size(v) for k, v in z.store.items() if k.startswith("foo/bar/")) == z.nbytes_stored


class TestMemoryWithChunkStore(OnMemory, theirs.TestArrayWithChunkStore):
    """Documents in one store, chunks in another."""

    def create_chunk_store(self):
        return make_store(self.kind, Store)

    def test_nbytes_stored(self):
        z = self.create_array(shape=1000, chunks=100)
        z[:] = 42
        expected = sum(buffer_size(v) for v in [*z.store.values(), *z.chunk_store.values()])
        assert expected == z.nbytes_stored


class TestFilesystemNested(OnFilesystem, theirs.TestArrayWithNestedDirectoryStore):
    options = {"dimension_separator": "/"}


class TestZipNested(OnZip, theirs.TestArrayWithNestedDirectoryStore):
    options = {"dimension_separator": "/"}


class TestMemoryNoCompressor(OnMemory, theirs.TestArrayWithNoCompressor):
    pass


class TestFilesystemBlosc(OnFilesystem, theirs.TestArrayWithBloscCompressor):
    pass


class TestFilesystemFilters(OnFilesystem, theirs.TestArrayWithFilters):
    pass


class TestMemoryNoCache(OnMemory, theirs.TestArrayNoCache):
    pass


class TestBehindCache(theirs.TestArray):
    """Our store behind zarr-python's cache."""

    def create_store(self):
        return LRUStoreCache(make_store("filesystem"), max_size=None)

    def test_store_has_bytes_values(self):
        pass  # the cache holds what a batch gave: memory of the store, as memoryviews


# zarr-python skips one test by these classes' names: it cannot read objects partly.


class TestBloscPartialRead(OnFilesystem, theirs.TestArrayWithFSStorePartialRead):
    """Blocks of Blosc chunks, read as ranges."""


class TestUncompressedPartialRead(OnMemory, theirs.TestArrayWithNoCompressor):
    """Elements of chunks without a compressor, read as ranges."""

    options = {"partial_values": True}
    partial_decompress = True


class V3Array(theirs.TestArrayWithPathV3):
    kind = "memory"
    compressor = Blosc()

    def create_store(self):
        return make_store(self.kind, StoreV3)

    def test_nbytes_stored(self):
        z = self.create_array(shape=1000, chunks=100)
        z[:] = 42
        assert sum(buffer_size(v) for k, v in z.store.items() if k != "zarr.json") == z.nbytes_stored

    expected = theirs.TestArrayWithFSStoreV3.expected


class TestMemoryV3(V3Array):
    pass


class TestFilesystemV3(V3Array):
    kind = "filesystem"


class TestShardedPartialReadV3(OnMemory, theirs.TestArrayWithFSStoreV3PartialReadUncompressedSharded):
    """zarr-python's experimental shards, read through `get_partial_values`."""

    def create_store(self):
        return make_store("filesystem", StoreV3)

    def test_store_has_bytes_values(self):
        pass  # ranges are memory of the store, as memoryviews
