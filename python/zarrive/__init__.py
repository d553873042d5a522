"""Zarr arrays, read and written straight to and from the memory you compute in.

>>> import numpy as np, zarrive
>>> a = zarrive.create_array("memory://first", shape=(31, 181, 360), dtype="f4", chunks=(1, 181, 360))
>>> a[0] = np.full((181, 360), 273.15)
>>> zarrive.open_array("memory://first")[0, 90, ::120]
array([273.15, 273.15, 273.15], dtype=float32)
"""

from zarrive._core import (
    Buffer,
    Context,
    DataType,
    NDArray,
    Store,
    __version__,
    counting_store,
    gpu_info,
    memory_store,
    prefix_store,
    python_store,
    read_only_store,
)
from zarrive.array import Array, Block
from zarrive.codecs import register_codec
from zarrive.config import config
from zarrive.contexts import ConstantMap
from zarrive.copying import copy, load, save
from zarrive.creating import create_array, open_array
from zarrive.errors import (
    CancelledError,
    CorruptChunkError,
    CorruptStoreError,
    Error,
    InternalError,
    InvalidArgumentError,
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    OutOfBoundsError,
    ResourceLimitError,
    StorePermissionError,
    UnavailableError,
    UnsupportedCodecError,
    UnsupportedDataTypeError,
    UnsupportedError,
)
from zarrive.group import Group, Tree, consolidate_metadata, create_group, open, open_group, tree
from zarrive.stores import getitems, open_store, setitems

__all__ = [
    "Array",
    "Block",
    "Buffer",
    "CancelledError",
    "ConstantMap",
    "Context",
    "CorruptChunkError",
    "CorruptStoreError",
    "DataType",
    "Error",
    "Group",
    "InternalError",
    "InvalidArgumentError",
    "MetadataError",
    "NDArray",
    "NodeExistsError",
    "NodeNotFoundError",
    "OutOfBoundsError",
    "ResourceLimitError",
    "Store",
    "StorePermissionError",
    "Tree",
    "UnavailableError",
    "UnsupportedCodecError",
    "UnsupportedDataTypeError",
    "UnsupportedError",
    "__version__",
    "config",
    "consolidate_metadata",
    "copy",
    "counting_store",
    "create_array",
    "create_group",
    "getitems",
    "gpu_info",
    "load",
    "memory_store",
    "open",
    "open_array",
    "open_group",
    "open_store",
    "prefix_store",
    "python_store",
    "read_only_store",
    "register_codec",
    "save",
    "setitems",
    "tree",
]
