"""An xarray backend: `xarray.open_dataset("era5.zarr", engine="zarrive")`.

xarray finds it by its entry point; nothing here is imported by `import zarrive`. Variables are read lazily, by zarrive and without zarr-python;
scales, fill values, times and strings are decoded by xarray, as they are with its own engine "zarr".

>>> import numpy as np, xarray, zarrive
>>> group = zarrive.create_group("memory://weather")
>>> _ = group.create_array("t2m", data=np.arange(6.0).reshape(2, 3), dimension_names=["lat", "lon"], attributes={"units": "K"})
>>> ds = xarray.open_dataset("memory://weather", engine=ZarriveBackendEntrypoint)
>>> ds.t2m.isel(lon=slice(None, None, -2)).values
array([[2., 0.],
       [5., 3.]])
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import posixpath
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from xarray import Dataset, DataTree, Variable
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint, StoreBackendEntrypoint
from xarray.backends.zarr import FillValueCoder
from xarray.core import indexing

from zarrive import _core
from zarrive.array import Array
from zarrive.group import Group, open_group

_DIMENSIONS = "_ARRAY_DIMENSIONS"  # the attribute in which xarray keeps the dimensions' names of v2 arrays

# Codecs between those of arrays (xarray's "filters") and those of bytes ("compressors") in a v3 chain.
_SERIALIZERS = ("bytes", "vlen-utf8", "vlen-bytes", "sharding_indexed", "packbits", "zfp", "optional")


class ZarriveBackendEntrypoint(BackendEntrypoint):
    """Zarr v2 and v3, directories, zip archives and every other store of zarrive."""

    description = "Open Zarr stores with zarrive"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Paths that end in .zarr or .zarr.zip, and zarrive's own stores and groups. Where zarr-python is installed xarray asks its own engine first."""
        if isinstance(filename_or_obj, str | os.PathLike):
            return os.fspath(filename_or_obj).rstrip("/").endswith((".zarr", ".zarr.zip"))
        return isinstance(filename_or_obj, _core.Store | Group)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        consolidated: bool | None = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> Dataset:
        """One group as a Dataset.

        Parameters
        ----------
        filename_or_obj
            What `zarrive.open_store` takes, a `zarrive.Group`, or a `zarrive.zarr.Store`.
        mask_and_scale, decode_times, concat_characters, decode_coords, use_cftime, decode_timedelta
            As in `xarray.open_dataset`.
        drop_variables : str or iterable of str, optional
            Not looked at at all: an array that cannot be opened can be left out in this way.
        group : str, optional
            Its path; absent, the root.
        consolidated : bool, optional
            True requires consolidated metadata, False does not look at it; absent: it is used when it is there.
        zarr_format : {2, 3}, optional
            Only this one.
        use_zarr_fill_value_as_mask : bool, optional
            Whether an array's fill value means "missing". Absent: in v2 yes, in v3 no (there `_FillValue` says it).
        """
        source = _open(filename_or_obj, group, consolidated, zarr_format)
        dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        return StoreBackendEntrypoint().open_dataset(
            _GroupStore(source, dropped, use_zarr_fill_value_as_mask),
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    # xarray finds these out of engines that it knows by name only.
    open_dataset_parameters: ClassVar[tuple | None] = tuple(inspect.signature(open_dataset).parameters)[1:]

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        consolidated: bool | None = None,
        zarr_format: int | None = None,
        **options: Any,
    ) -> dict[str, Dataset]:
        """A group and all groups below it, by their paths from it ("/", "/child", ...). Parameters as for `open_dataset`."""
        top = _open(filename_or_obj, group, consolidated, zarr_format)
        return {path: self.open_dataset(node, **options) for path, node in _groups(top)}

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        consolidated: bool | None = None,
        zarr_format: int | None = None,
        **options: Any,
    ) -> DataTree:
        """A group and all groups below it as a DataTree. Parameters as for `open_dataset`."""
        groups = self.open_groups_as_dict(filename_or_obj, group=group, consolidated=consolidated, zarr_format=zarr_format, **options)
        return DataTree.from_dict(groups)


def _open(source: Any, path: str | None, consolidated: bool | None, zarr_format: int | None) -> Group:
    """The group at a path, by the metadata that is consolidated in the root where there is such."""
    path = (path or "").strip("/")
    if isinstance(source, Group):
        return source[path] if path else source  # type: ignore[return-value]
    native = getattr(source, "native", None)  # of zarrive.zarr.Store
    store = native if isinstance(native, _core.Store) else source
    if path and consolidated is not False:
        try:
            root = open_group(store, zarr_format=zarr_format)
        except KeyError:
            root = None
        if root is not None and root.is_consolidated:
            node = root[path]
            if not isinstance(node, Group):
                raise ValueError(f"{node.name} is an array, not a group")
            return node
    return open_group(store, path=path, zarr_format=zarr_format, use_consolidated=consolidated)


def _groups(top: Group) -> Iterator[tuple[str, Group]]:
    yield "/", top
    for path, node in top.members(max_depth=None):
        if isinstance(node, Group):
            yield "/" + path, node


class _GroupStore(AbstractDataStore):
    """A group's arrays as variables that are not decoded yet, as xarray's engines hand them to it."""

    def __init__(self, group: Group, dropped: list[str], fill_value_is_mask: bool | None) -> None:
        self._group, self._dropped = group, dropped
        self._fill_value_is_mask = group.zarr_format == 2 if fill_value_is_mask is None else fill_value_is_mask

    def get_attrs(self) -> dict[str, Any]:
        return {name: value for name, value in self._group.attrs.asdict().items() if not name.lower().startswith("_nc")}

    def get_variables(self) -> dict[str, Variable]:
        names = [name for name in self._group.array_keys() if name not in self._dropped]
        return {name: self._variable(self._group[name]) for name in names}  # type: ignore[arg-type]

    def get_dimensions(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for variable in self.get_variables().values():
            sizes.update(variable.sizes)
        return sizes

    def get_encoding(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass  # a store closes itself when nothing refers to it any more

    def _variable(self, array: Array) -> Variable:
        dimensions, attributes = _dimensions_and_attributes(array)
        data = LazyArray(array)
        encoding = _encoding(array, dimensions)
        if data.dtype.kind == "T":
            encoding["dtype"] = data.dtype
        if self._fill_value_is_mask:
            if array.fill_value is not None:
                attributes["_FillValue"] = array.fill_value
        else:
            if array.zarr_format == 3:
                encoding["fill_value"] = array.fill_value
            if "_FillValue" in attributes:
                dtype: Any = "string" if data.dtype.kind == "T" else data.dtype
                attributes["_FillValue"] = FillValueCoder.decode(attributes["_FillValue"], dtype)
        return Variable(dimensions, indexing.LazilyIndexedArray(data), attributes, encoding)


def _dimensions_and_attributes(array: Array) -> tuple[tuple[Any, ...], dict[str, Any]]:
    attributes = array.attrs.asdict()
    if array.zarr_format == 3:
        names: Any = array.dimension_names or ()
        what = "`dimension_names` in its metadata"
    else:
        names = attributes.get(_DIMENSIONS)
        if names is None:
            names = [posixpath.basename(name) for name in _netcdf_names(array, attributes)]
        what = f"the attribute `{_DIMENSIONS}`"
        attributes = {n: v for n, v in attributes.items() if n != _DIMENSIONS and not n.lower().startswith("_nc")}
    if len(names) != array.ndim:
        raise KeyError(
            f"{array.name} has {array.ndim} dimensions, and names for {len(names)} of them: xarray needs {what}. "
            f"drop_variables={array.basename!r} leaves it out; zarrive.open_array reads it without names."
        )
    return tuple(names), attributes


def _netcdf_names(array: Array, attributes: dict[str, Any]) -> list[str]:
    """The fully qualified names that netCDF's own Zarr keeps in an attribute, or, before, in the array's document."""
    document = attributes.get("_nczarr_array")
    if document is None:
        stored = array.store.get(f"{array.path}/.zarray" if array.path else ".zarray")
        document = json.loads(bytes(stored)).get("_NCZARR_ARRAY") if stored is not None else None
    return (document or {}).get("dimrefs", [])


def _encoding(array: Array, dimensions: tuple[Any, ...]) -> dict[str, Any]:
    """How the array is stored, in the words of `Dataset.to_zarr`; and the shape in which to read it, of whole shards."""
    edges = array.write_chunks if array.write_chunks is not None else _rectilinear(array)
    encoding: dict[str, Any] = {
        "chunks": array.chunks if array.chunks is not None else edges,
        "preferred_chunks": dict(zip(dimensions, edges, strict=True)),
        "shards": array.shards,
    }
    if array.zarr_format == 2:
        document = array.metadata
        filters, compressor = document.get("filters"), document.get("compressor")
        encoding["filters"] = tuple(_numcodecs(codec) for codec in filters or ())
        encoding["compressors"] = (_numcodecs(compressor),) if compressor else ()
        return encoding
    chain = [codec if isinstance(codec, dict) else {"name": codec} for codec in array.codecs]
    if array.shards:
        sharding = next(codec for codec in chain if codec["name"] == "sharding_indexed")
        chain = sharding["configuration"]["codecs"]
    at = next((i for i, codec in enumerate(chain) if codec["name"] in _SERIALIZERS), None)
    if at is not None:
        encoding |= {"filters": tuple(chain[:at]), "serializer": chain[at], "compressors": tuple(chain[at + 1 :])}
    return encoding


def _rectilinear(array: Array) -> tuple[Any, ...]:
    """The edges of a grid that is not regular: a tuple of all of them, or one number, a dimension."""
    shapes = array.metadata["chunk_grid"]["configuration"]["chunk_shapes"]
    result: list[Any] = []
    for edges, extent in zip(shapes, array.shape, strict=True):
        if isinstance(edges, int):
            result.append(edges)
            continue
        # [edge, count] stands for a run of them; what lies behind the end is not there.
        runs = (edge if isinstance(edge, list) else (edge, 1) for edge in edges)
        expanded, left = [], extent
        for edge, count in runs:
            for _ in range(count):
                if left <= 0:
                    break
                expanded.append(min(edge, left))
                left -= edge
        result.append(tuple(expanded))
    return tuple(result)


def _numcodecs(configuration: dict[str, Any]) -> Any:
    """A v2 codec as zarr-python takes it when such a variable is written; as it stands where numcodecs is not there."""
    try:
        import numcodecs

        return numcodecs.get_codec(configuration)
    except (ImportError, ValueError):
        return configuration


class LazyArray(BackendArray):
    """An array as xarray's lazy indexing reads it."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        method = self._basic
        if isinstance(key, indexing.VectorizedIndexer):
            method = self._vectorized
        elif isinstance(key, indexing.OuterIndexer):
            method = self._outer
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.VECTORIZED, method)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        return await asyncio.to_thread(self.__getitem__, key)  # the GIL is released while it reads

    def _basic(self, key: tuple) -> np.ndarray:
        return np.asarray(self._array[key], self.dtype)

    def _outer(self, key: tuple) -> np.ndarray:
        return np.asarray(self._array.oindex[key], self.dtype)

    def _vectorized(self, key: tuple) -> np.ndarray:
        return np.asarray(self._array.vindex[key], self.dtype)
