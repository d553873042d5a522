"""The store protocol of zarr-python 2.15 to 2.18: batches of keys, each with its context.

    import cupy, zarr, zarrive.zarr2

    # a directory, a zip archive, a URL, or a store of zarrive; for zarr-python a store like its own
    store = zarrive.zarr2.Store("era5.zarr")
    group = zarr.open_group(store, mode="r")
    on_gpu = zarr.open_group(store, mode="r", meta_array=cupy.empty(()))  # chunks are read to the GPU

    keys = ["t2m/.zarray", "t2m/0.0", "t2m/0.1"]
    contexts = zarrive.zarr2.ConstantMap(keys, constant=zarrive.zarr2.Context(meta_array=cupy.empty(())))
    values = store.getitems(keys, contexts=contexts)  # .zarray on the host, the chunks as CuPy arrays

`Store` and `StoreV3` are what zarr-python calls a Store and a StoreV3 when version 2 of it is installed.
Without it there is no `StoreV3`, and `Store` is a mapping with the same methods. `Context` and `ConstantMap`
do not need it.

>>> store = Store()
>>> store.setitems({"a/.zgroup": b"{}", "a/0": b"abc"})
>>> store.getitems(["a/0", "a/1"], contexts={"a/0": Context(prototype="host")})["a/0"] == b"abc"
True
>>> sorted(store), store.listdir("a"), store.getsize("a")
(['a/.zgroup', 'a/0'], ['.zgroup', '0'], 5)
"""

from __future__ import annotations

from zarrive.contexts import ConstantMap
from zarrive.zarr2 import zarr_python
from zarrive.zarr2.contexts import Context
from zarrive.zarr2.store import Store

__all__ = ["ConstantMap", "Context", "Store"]

if zarr_python.AVAILABLE:
    from zarrive.zarr2.store_v3 import StoreV3

    __all__ = ["ConstantMap", "Context", "Store", "StoreV3"]
