"""Opening and creating arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrive import _core
from zarrive.array import Array
from zarrive.codecs import as_json
from zarrive.data_types import fill_value_json, from_numpy
from zarrive.stores import StoreLike, open_store

def _options(shape: Any, dtype: Any, chunks: Any, shards: Any, codecs: Any, filters: Any, compressors: Any, serializer: Any, fill_value: Any,
             order: Any, zarr_format: int, attributes: Any, dimension_names: Any, chunk_key_encoding: Any, dimension_separator: Any,
             overwrite: bool) -> dict[str, Any]:
    shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    data_type = from_numpy(dtype)
    options: dict[str, Any] = {"shape": shape, "data_type": data_type, "zarr_format": zarr_format, "overwrite": overwrite}
    if chunks is not None and chunks != "auto":
        if chunks is False:
            chunks = shape
        if isinstance(chunks, dict):
            options["chunk_grid"] = chunks
        else:
            chunks = (chunks,) * len(shape) if isinstance(chunks, int) else tuple(chunks)
            if any(isinstance(edge, list | tuple) for edge in chunks):
                options["chunk_grid"] = {
                    "name": "rectilinear",
                    "configuration": {"kind": "inline", "chunk_shapes": [list(e) if isinstance(e, list | tuple) else e for e in chunks]},
                }
            else:
                options["chunks"] = tuple(int(c) for c in chunks)
    if shards is not None:
        options["shards"] = (shards,) * len(shape) if isinstance(shards, int) else tuple(int(s) for s in shards)
    if zarr_format == 3:
        chain = _chain(codecs, filters, compressors, serializer)
        if chain is not None:
            options["codecs"] = chain
    else:
        if codecs is not None:
            raise ValueError("v2 arrays have filters and compressors, not codecs")
        if filters not in (None, "auto"):
            options["filters"] = [as_json(f) for f in filters]
        if compressors is None:
            options["compressor"] = {"id": ""}
        elif compressors != "auto":
            one = compressors[0] if isinstance(compressors, list | tuple) else compressors
            options["compressor"] = as_json(one)
        options["order"] = order
        if dimension_separator is not None:
            options["dimension_separator"] = dimension_separator
    if fill_value is not _NO_FILL:
        options["fill_value_json"] = None if fill_value is None else fill_value_json(fill_value, data_type, zarr_format)
        if fill_value is None and zarr_format == 3:
            del options["fill_value_json"]
    if chunk_key_encoding is not None:
        options["chunk_key_encoding"] = chunk_key_encoding if isinstance(chunk_key_encoding, dict) else as_json(chunk_key_encoding)
    if dimension_names is not None:
        options["dimension_names"] = list(dimension_names)
    if attributes:
        options["attributes"] = dict(attributes)
    return options


def _chain(codecs: Any, filters: Any, compressors: Any, serializer: Any) -> list | None:
    """The v3 codec chain out of either way to say it; None: the default one."""
    if codecs is not None:
        return [as_json(codec) for codec in codecs]

    def several(given: Any) -> list:
        if given is None:
            return []
        return [as_json(codec) for codec in (given if isinstance(given, list | tuple) else [given])]

    auto = [value is None or (isinstance(value, str) and value == "auto") for value in (filters, serializer)]
    if all(auto) and isinstance(compressors, str) and compressors == "auto":
        return None
    chain = [] if auto[0] else several(filters)
    if not auto[1]:
        chain.append(as_json(serializer))
    default = isinstance(compressors, str) and compressors == "auto"
    return chain + ([{"name": "zstd", "configuration": {"level": 0, "checksum": False}}] if default else several(compressors))


class _NoFill:
    def __repr__(self) -> str:
        return "<the data type's default>"


_NO_FILL: Any = _NoFill()


def create_array(
    store: StoreLike,
    *,
    path: str = "",
    name: str | None = None,
    shape: int | tuple[int, ...] | None = None,
    dtype: Any = None,
    data: Any = None,
    chunks: Any = "auto",
    shards: Any = None,
    codecs: Any = None,
    filters: Any = "auto",
    compressors: Any = "auto",
    serializer: Any = "auto",
    fill_value: Any = _NO_FILL,
    order: str = "C",
    zarr_format: int = 3,
    attributes: dict[str, Any] | None = None,
    dimension_names: Any = None,
    chunk_key_encoding: Any = None,
    dimension_separator: str | None = None,
    overwrite: bool = False,
) -> Array:
    """Writes the metadata of a new array (and of groups above it that are not there), and `data` when it is given.

    Parameters
    ----------
    store : StoreLike
        As `open_store` takes it.
    path, name : str
        Of the array in the store; "" is the store's root.
    shape, dtype
        Of the array; absent: those of `data`. dtype: what NumPy takes, or a Zarr data type ("bfloat16", "string", a dict).
    data : array-like, optional
    chunks : tuple, int, "auto", or dict
        The chunk shape. "auto": about a mebibyte each. A dimension may have a list of edges (a rectilinear grid).
    shards : tuple, optional
        v3: chunks are kept in shards of this shape.
    codecs : list, optional
        v3: the whole chain, as names, dicts, or zarr-python's codec objects. Or, as zarr-python has them: `filters`, `serializer` and `compressors`
        ("auto" or None: none, the usual one, zstd; of `compressors` None means none).
    fill_value : optional
        Of elements that nobody wrote. Absent: zero, "", False, NaT. v2: None leaves it open.
    attributes, dimension_names, chunk_key_encoding, dimension_separator (v2: "." or "/"), order (v2)
    overwrite : bool
        Erases what is at the path first; else an existing array or group is an error.

    Examples
    --------
    >>> import zarrive
    >>> a = zarrive.create_array("memory://docs", path="t2m", shape=(31, 181, 360), dtype="f4", chunks=(1, 181, 360),
    ...                          dimension_names=["time", "lat", "lon"], attributes={"units": "K"}, fill_value=float("nan"))
    >>> a
    <zarrive.Array memory://docs/t2m shape=(31, 181, 360) dtype=float32>
    """
    if data is not None and not hasattr(data, "dtype"):
        data = np.asarray(data)
    if shape is None:
        if data is None:
            raise TypeError("a new array needs a shape and a dtype, or data")
        shape = data.shape
    if dtype is None:
        dtype = data.dtype if data is not None else np.float64
    options = _options(shape, dtype, chunks, shards, codecs, filters, compressors, serializer, fill_value, order, zarr_format, attributes,
                       dimension_names, chunk_key_encoding, dimension_separator, overwrite)
    array = Array(_core.create_array(open_store(store, "a"), name if name is not None else path, options))
    if data is not None:
        array[...] = data
    return array


def open_array(store: StoreLike, *, path: str = "", mode: str = "r", zarr_format: int | None = None, **create: Any) -> Array:
    """Opens an array; the format is found by itself.

    Parameters
    ----------
    store : StoreLike
        As `open_store` takes it.
    path : str
        Of the array in the store.
    mode : {"r", "r+", "a", "w", "w-"}
        "r": reading only. "r+": must exist. "a": made, by the other arguments, when it does not exist. "w": made anew. "w-": made, must not exist.
    zarr_format : {2, 3}, optional
        Only this one.
    **create
        As `create_array` takes them.

    Examples
    --------
    >>> import zarrive
    >>> a = zarrive.open_array("memory://opened", path="x", mode="a", shape=(3,), dtype="i2")
    >>> zarrive.open_array("memory://opened", path="x")[:]
    array([0, 0, 0], dtype=int16)
    """
    opened = open_store(store, mode)
    if mode in ("w", "w-"):
        return create_array(opened, path=path, overwrite=mode == "w", zarr_format=zarr_format or 3, **create)
    try:
        return Array(_core.open_array(opened, path, zarr_format))
    except KeyError:
        if mode != "a" or (create.get("shape") is None and create.get("data") is None):
            raise
    return create_array(opened, path=path, zarr_format=zarr_format or 3, **create)
