"""`Store`: any store of Zarrive as a store of zarr-python 2.15 to 2.18."""

from __future__ import annotations

from zarrive.zarr2 import zarr_python
from zarrive.zarr2.over_core import StoreOverCore


class Store(StoreOverCore, zarr_python.Store):
    """Any store of Zarrive as a store of zarr-python 2: where zarr-python takes a store, it takes this.

    Parameters
    ----------
    store : path, URL, zarrive.Store, Store, mapping, or object with `get` or `getitems`, optional
        A directory, a zip archive, "memory://name", or what `zarrive.open_store` takes. None: in memory.
    mode : {"r", "r+", "a", "w", "w-"}, optional
        "r" reads (every write is a ReadOnlyError), "r+" must exist, "a" is made when it is not there, "w" is
        emptied, "w-" must be empty. Without a mode it is made by the first write, and asking for what is not
        there finds nothing.
    dimension_separator : {".", "/"}, optional
        Of arrays that are created here, and of those whose documents do not tell.
    normalize_keys : bool
        Keys in lower case.
    partial_values : bool
        See below.

    Notes
    -----
    A batch stays a batch: `getitems` and `setitems` are one call of the core each, with the context of each
    key.

    zarr-python 2.18 asks a store by the methods it has, and two of them it had better not find here:

    - `get_partial_values`: an array whose store has it reads whole chunks through it, too, and then sends no
      contexts. So it is there only with `partial_values=True`, for arrays without a compressor that are
      opened with `partial_decompress=True`. `get_ranges` is the same, with contexts, and always there.
    - `delitems`: an array with `write_empty_chunks=False` sends it to the store of its metadata even when its
      chunks lie in another one, whose old chunks then stay.

    And two kinds of writes go chunk by chunk, as zarr-python's batches of them fail: `zarr_python.py`.
    """


zarr_python.repair_writes_in_batches(StoreOverCore)
