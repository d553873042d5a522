"""zarr-python's tests of `meta_array`, over our stores: chunks are read to where it lies. With CuPy, or its
double."""

import numpy as np
import pytest
import zarr.storage
from conftest import make_store
from numcodecs.registry import register_codec
from zarr.storage import DirectoryStore, MemoryStore, ZipStore
from zarr.tests import test_meta_array as theirs
from zarr.tests.test_meta_array import *  # noqa: F403


class CuPyCPUCompressor(theirs.CuPyCPUCompressor):
    """Of zarr-python's tests: a codec of the host for arrays on a device. It takes for granted that stores
    give bytes on the host, whatever their contexts ask for. Ours do as they are asked, so it has to fetch
    them."""

    def decode(self, chunk, out=None):
        if self.compressor and hasattr(chunk, "__cuda_array_interface__"):
            import cupy

            chunk = cupy.asnumpy(chunk)
        return super().decode(chunk, out)


register_codec(CuPyCPUCompressor)
for _, codec in theirs.param_module_and_compressor:
    if codec is not None:
        codec.__class__ = CuPyCPUCompressor

_KINDS = {None: "memory", MemoryStore: "memory", DirectoryStore: "filesystem", ZipStore: "zip"}


@pytest.fixture(autouse=True)
def _our_stores(monkeypatch):
    normalize = zarr.storage._normalize_store_arg_v2
    monkeypatch.setattr(
        zarr.storage,
        "_normalize_store_arg_v2",
        lambda store, *options, **named: normalize(
            make_store("memory") if store is None else store, *options, **named
        ),
    )
    monkeypatch.setattr(theirs, "init_store", lambda _, kind: make_store(_KINDS[kind]))


def test_chunks_are_on_the_device():
    """That the tests above have something to show: it is device memory that the codecs get."""
    cupy = pytest.importorskip("cupy")
    seen = []

    class Seeing(zarr.codecs.Codec if hasattr(zarr.codecs, "Codec") else theirs.Codec):
        codec_id = "seeing"

        def encode(self, data):
            return data

        def decode(self, data, out=None):
            seen.append(type(data))
            if out is None:
                return data
            cupy.copyto(out, data.view(out.dtype).reshape(out.shape))
            return out

    register_codec(Seeing)
    z = zarr.array(
        cupy.arange(100),
        chunks=10,
        compressor=Seeing(),
        store=make_store("filesystem"),
        meta_array=cupy.empty(()),
    )
    np.testing.assert_array_equal(cupy.asnumpy(z[:]), np.arange(100))
    assert seen == [cupy.ndarray] * 10
