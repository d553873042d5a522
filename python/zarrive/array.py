"""Arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from zarrive import _core
from zarrive.config import config
from zarrive.data_types import as_dtype, from_numpy, to_numpy
from zarrive.destination import DeviceView, device_dtype, in_device_memory, like, memory_of, on_device, stream_handle
from zarrive.info import Info
from zarrive.node import Node
from zarrive.selection import Plan, numpy_plan, plain_items, split_fields


class Array(Node):
    """An array of a store, read and written through NumPy's brackets.

    Made by `open_array`, `create_array` and groups. Picklable when its store is.

    Examples
    --------
    >>> import numpy as np, zarrive
    >>> a = zarrive.create_array({}, shape=(4, 6), dtype="i4", chunks=(2, 3))
    >>> a[...] = np.arange(24).reshape(4, 6)
    >>> a[1:3, ::-2]
    array([[11,  9,  7],
           [17, 15, 13]], dtype=int32)
    >>> a.oindex[[3, 0], [True, False, False, False, False, True]]
    array([[18, 23],
           [ 0,  5]], dtype=int32)
    """

    def __init__(self, core: _core.Array) -> None:
        self._core = core
        self._learn()

    def _learn(self) -> None:
        self._type = self._core.data_type
        self._dtype = to_numpy(self._type)
        self._shape = self._core.shape
        self._variable = self._type.is_variable

    # --- what it is ---

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions, in elements."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype of what reads give. Strings are StringDType, bytes of variable length and JSON objects are object."""
        return self._dtype

    @property
    def data_type(self) -> _core.DataType:
        """The data type by Zarr's name."""
        return self._type

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self._shape)

    @property
    def itemsize(self) -> int:
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory, of fixed-size types."""
        return self.size * self.itemsize

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The chunk shape (of a sharded array, of the chunks in its shards); None for a grid that is not regular."""
        return self._core.inner_chunks or self._core.grid_chunks

    @property
    def shards(self) -> tuple[int, ...] | None:
        """The shape of the shards; None without."""
        return self._core.grid_chunks if self._core.inner_chunks else None

    @property
    def write_chunks(self) -> tuple[int, ...] | None:
        """The shape of what is stored under one key: the shard, or the chunk. Writes that cover whole ones read nothing."""
        return self._core.grid_chunks

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """The shape of the grid of chunks (of a sharded array, of the chunks in its shards)."""
        if self.shards:
            return tuple(-(-n // c) for n, c in zip(self._shape, self.chunks, strict=True))
        return self._core.grid_shape

    @property
    def fill_value(self) -> Any:
        """The value of elements that nobody wrote; None when a v2 array leaves it open (they read as zeros)."""
        if self._core.fill_value_undefined:
            return None
        return self._from_core(self._core.fill_value_element, self._dtype)[()]

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        return self._core.dimension_names

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata document as it is stored: zarr.json, or .zarray of v2."""
        documents = self._core.documents
        return documents.get("zarr.json") or documents[".zarray"]

    @property
    def order(self) -> str:
        """Of v2: the order of elements in a chunk, "C" or "F". Results are in C order."""
        return self.metadata.get("order", "C")

    @property
    def codecs(self) -> tuple[Any, ...]:
        """The codec chain as it stands in the metadata (of v2: the filters, then the compressor)."""
        document = self.metadata
        if self.zarr_format == 3:
            return tuple(document["codecs"])
        chain = list(document.get("filters") or [])
        return tuple(chain + ([document["compressor"]] if document.get("compressor") else []))

    @property
    def nchunks(self) -> int:
        """Number of chunks of the grid (of a sharded array, of the chunks in its shards)."""
        return math.prod(self.cdata_shape)

    @property
    def nchunks_initialized(self) -> int:
        """How many of them are stored. A stored shard counts as all of its chunks."""
        per_shard = math.prod(s // c for s, c in zip(self.shards, self.chunks, strict=True)) if self.shards else 1
        return self._core.stored_chunk_count() * per_shard

    @property
    def nshards_initialized(self) -> int:
        """How many stored objects there are: shards, or chunks."""
        return self._core.stored_chunk_count()

    def nbytes_stored(self) -> int:
        """Bytes in the store below this array, its metadata included."""
        return sum(self.store.size(key) or 0 for key in self.store.list(self.path))

    @property
    def info(self) -> Info:
        """What it is, for people."""
        return Info(self)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an array without dimensions")
        return self._shape[0]

    def __repr__(self) -> str:
        return f"<zarrive.Array {self.store.name}/{self.path} shape={self._shape} dtype={self._type.name}>"

    def _repr_html_(self) -> str:
        from zarrive.html import array_html

        return array_html(self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Array)
            and self.path == other.path
            and self.store.same_as(other.store)
            and self._core.documents == other._core.documents
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return Array, (self._core,)

    # --- reading ---

    def read(
        self,
        selection: Any = (),
        *,
        out: Any = None,
        kind: str | None = None,
        device: str | None = None,
        meta_array: Any = None,
        prototype: Any = None,
        stream: Any = None,
        max_concurrency: int | None = None,
        verify_checksums: bool | None = None,
    ) -> Any:
        """Reads a selection into new memory, or into `out`.

        Parameters
        ----------
        selection
            What goes between NumPy's brackets; or text, "0:10, ..., ::-2".
        out : array, optional
            Takes the elements: any strides, in host or device memory (`__cuda_array_interface__`). Of the selection's shape; of
            another numeric type the elements are converted.
        kind : {"basic", "orthogonal", "coordinate", "mask", "block"}, optional
            How the selection is meant. Absent: as NumPy means it.
        device : str, optional
            Where the result is: "cpu", "cuda", "cuda:1", "pinned".
        meta_array : array, optional
            The result is of this array's kind, and in memory of its kind: NumPy, CuPy, PyTorch (zarr-python 2's meta_array).
        prototype : optional
            A device name, or zarr-python 3's buffer prototype.
        stream : int or object with `ptr` or `cuda_stream`, optional
            Of results in device memory: a CUDA stream; the call may return before the data is there, what is put into the stream after it sees it.
        max_concurrency : int, optional
            Chunks at a time.
        verify_checksums : bool, optional

        Returns
        -------
        numpy.ndarray, a NumPy scalar for a single element, or an array in device memory: `meta_array`'s kind, CuPy's when that is
        installed, else an object with `__cuda_array_interface__` and `__dlpack__`.

        Examples
        --------
        >>> import numpy as np, zarrive
        >>> a = zarrive.create_array({}, data=np.arange(6.0), chunks=(2,))
        >>> mine = np.empty(3, "f4")
        >>> a.read(np.s_[::2], out=mine)
        array([0., 2., 4.], dtype=float32)
        """
        plan = self._plan(selection, kind)
        place = memory_of(device, meta_array, prototype) if out is None else "host"
        options = config.read_options(
            max_concurrency=max_concurrency,
            verify_checksums=verify_checksums,
            prototype=None if place == "host" else place,
            stream=stream_handle(stream),
        )
        if out is not None:
            return self._read_into(plan, out, options)
        if place == "host":
            return like(self._read(plan, options), meta_array)
        if place == "pinned":
            return like(self._read(plan, options), meta_array)
        if plan.shape is None:
            return on_device(self._core.read(plan.items, plan.kind, plan.fields, options), meta_array)
        result_shape = plan.result_shape(self._core.result_shape(plan.items, plan.kind, plan.fields))
        result = _core.NDArray(result_shape, self._core.result_type(plan.fields), place)
        self._read_into(plan, result, options)
        return on_device(result, meta_array)

    def _plan(self, selection: Any, kind: str | None) -> Plan:
        if isinstance(selection, str) and kind is None and self._dtype.names is None:
            return Plan(selection)
        if kind is None:
            return numpy_plan(selection, self._shape)
        selection, fields = split_fields(selection)
        return Plan(plain_items(selection), kind, fields)

    def _result_dtype(self, fields: Any) -> np.dtype:
        return self._dtype if fields is None else to_numpy(self._core.result_type(fields))

    def _read(self, plan: Plan, options: _core.ReadOptions) -> Any:
        if self._variable:
            result = self._from_core(self._core.read(plan.items, plan.kind, plan.fields, options), self._dtype)
        else:
            dtype = self._result_dtype(plan.fields)
            result = self._core.read_numpy(plan.items, plan.kind, plan.fields, options, dtype)
        result = plan.of_result(result)
        return result if result.ndim else result[()]

    def _read_into(self, plan: Plan, out: Any, options: _core.ReadOptions) -> Any:
        if in_device_memory(out):
            self._read_into_device(plan, out, options)
            return out
        if not isinstance(out, np.ndarray):
            into = np.from_dlpack(out)  # shares the memory
            self._read_into(plan, into, options)
            return out
        if self._variable or plan.shape is not None or not out.dtype.isnative:
            result = self._read(plan, options)
            if np.shape(result) != out.shape:
                raise ValueError(f"the selection has the shape {np.shape(result)}, out has {out.shape}")
            out[...] = result
            return out
        type_, options = self._type_of(out.dtype, plan.fields, options)
        self._core.read_into(plan.items, plan.kind, plan.fields, out, type_, options)
        return out

    def _read_into_device(self, plan: Plan, out: Any, options: _core.ReadOptions) -> None:
        if plan.shape is not None:
            core_shape = self._core.result_shape(plan.items, plan.kind, plan.fields)
            wanted, found = plan.result_shape(core_shape), tuple(out.__cuda_array_interface__["shape"])
            if wanted != found:
                raise ValueError(f"the selection has the shape {wanted}, out has {found}")
            out = DeviceView(out, lambda array: plan.of_value(array, core_shape, copy=False))
        type_, options = self._type_of(device_dtype(out), plan.fields, options)
        self._core.read_into(plan.items, plan.kind, plan.fields, out, type_, options)

    def _type_of(self, dtype: np.dtype, fields: Any, options: Any) -> tuple[_core.DataType, Any]:
        """The type of the caller's elements, and `options` with conversion allowed when that is not the array's."""
        wanted = self._result_dtype(fields)
        # Some libraries have no names for fields: elements of the right size are taken for structures.
        if dtype == wanted or (dtype.kind == "V" and dtype.names is None and dtype.itemsize == wanted.itemsize):
            return self._core.result_type(fields), options
        options = type(options)(options)
        options.convert = True
        return from_numpy(dtype), options

    def _from_core(self, array: _core.NDArray, dtype: np.dtype) -> np.ndarray:
        """NumPy's view of what the core read; strings are copied."""
        if not self._variable:
            return np.ndarray(array.shape, dtype, array) if array.nbytes else np.empty(array.shape, dtype)
        items = array.items()
        if self._type.kind == "object":
            items = [json.loads(item) if item else None for item in items]
        result = np.empty(len(items), dtype)
        result[:] = items
        return result.reshape(array.shape)

    def __getitem__(self, key: Any) -> Any:
        return self._read(numpy_plan(key, self._shape), config.read_options())

    def __iter__(self) -> Iterator[Any]:
        """Along the first dimension; chunks are read once."""
        if not self._shape:
            raise TypeError("an array without dimensions cannot be iterated over")
        step = max(1, (self.write_chunks or (1,))[0])
        for start in range(0, self._shape[0], step):
            yield from self[start : start + step]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("reading an array makes a copy")
        result = np.asarray(self[...])
        return result if dtype is None else result.astype(dtype, copy=False)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        """All of it, read into host memory."""
        return np.asarray(self).__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    @property
    def oindex(self) -> Indexer:
        """Orthogonal selections: `a.oindex[[3, 1, 1], mask, :]`, each list along its own dimension."""
        return Indexer(self, "orthogonal")

    @property
    def vindex(self) -> Indexer:
        """Coordinate selections: `a.vindex[rows, columns]`, one list a dimension; and masks of the array's shape."""
        return Indexer(self, "coordinate")

    @property
    def blocks(self) -> Indexer:
        """Block selections: `a.blocks[1, 0:2]`, by indices into the grid of stored chunks (or shards)."""
        return Indexer(self, "block")

    def iter_blocks(self, selection: Any = (), *, read_ahead: int = 4) -> Iterator[Block]:
        """The selection chunk by chunk (shard by shard), the next ones read while the caller works on one.

        >>> import zarrive
        >>> a = zarrive.create_array({}, data=[[1, 2, 3], [4, 5, 6]], chunks=(2, 2))
        >>> [(block.place, block.data.tolist()) for block in a.iter_blocks()]  # doctest: +NORMALIZE_WHITESPACE
        [((slice(0, 2, None), slice(0, 2, None)), [[1, 2], [4, 5]]), ((slice(0, 2, None), slice(2, 3, None)), [[3], [6]])]
        """
        plan = self._plan(selection, None)
        if plan.shape is not None:
            raise NotImplementedError("a selection whose dimensions NumPy puts in another order cannot be read by blocks")
        dtype = self._result_dtype(plan.fields)
        blocks = self._core.blocks(plan.items, plan.kind, plan.fields, config.read_options(), read_ahead)
        for array, where, place, chunk in blocks:
            yield Block(self._from_core(array, dtype), where, place, chunk)

    # --- writing ---

    def write(self, selection: Any, value: Any, *, kind: str | None = None, stream: Any = None, write_empty_chunks: bool | None = None,
              max_concurrency: int | None = None) -> None:
        """Writes a selection: `value` is an array of its shape or one that broadcasts to it, in host or device memory."""
        plan = self._plan(selection, kind)
        options = config.write_options(write_empty_chunks=write_empty_chunks, max_concurrency=max_concurrency, stream=stream_handle(stream))
        self._write(plan, value, options)

    def _write(self, plan: Plan, value: Any, options: _core.WriteOptions) -> None:
        core_shape = self._core.result_shape(plan.items, plan.kind, plan.fields)
        wanted = plan.result_shape(core_shape)

        def fitted(array: np.ndarray, copy: bool | None = None) -> np.ndarray:
            if array.shape != wanted:
                try:
                    array = np.broadcast_to(array, wanted)
                except ValueError:
                    raise ValueError(f"a value of shape {array.shape} does not fit a selection of shape {wanted}") from None
            return plan.of_value(array, core_shape, copy)

        if in_device_memory(value):
            type_, options = self._type_of(device_dtype(value), plan.fields, options)
            source: Any = DeviceView(value, lambda array: fitted(array, copy=False))
            self._core.write(plan.items, plan.kind, plan.fields, source, type_, options)
            return
        array = fitted(self._as_objects(value) if self._variable else as_dtype(value, self._result_dtype(plan.fields)))
        source = (core_shape, array.ravel().tolist()) if self._variable else array
        self._core.write(plan.items, plan.kind, plan.fields, source, self._core.result_type(plan.fields), options)

    def _as_objects(self, value: Any) -> np.ndarray:
        kind = self._type.kind
        if kind == "object":
            array = np.asarray(value, dtype=object)
            result = np.empty(array.shape, object)
            for i, item in np.ndenumerate(array):
                result[i] = json.dumps(item)
            return result
        array = np.asarray(value)
        if kind == "string":
            if array.dtype.kind == "O":
                wrong = next((item for item in array.flat if not isinstance(item, str)), None)
                if wrong is not None:
                    raise TypeError(f"the array holds strings; {wrong!r} is {type(wrong).__name__}")
                return array
            if array.dtype.kind not in "TU":
                raise TypeError(f"the array holds strings, not {array.dtype}")
            return array.astype(object)
        return array.astype(object)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._write(numpy_plan(key, self._shape), value, config.write_options())

    # --- other shapes ---

    def resize(self, shape: int | tuple[int, ...]) -> None:
        """Gives every dimension a new length. New elements are the fill value; those that fall outside are gone, their chunks erased."""
        self._core.resize(shape)
        self._learn()

    def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Adds `data` behind the end along `axis`; its other lengths are those of the array. Gives the new shape."""
        options, type_ = config.write_options(), self._type
        if in_device_memory(data):
            type_, options = self._type_of(device_dtype(data), None, options)
            source: Any = data
        elif self._variable:
            array = self._as_objects(data)
            source = (array.shape, array.ravel().tolist())
        else:
            source = as_dtype(data, self._dtype)
        shape = self._core.append(source, type_, axis, options)
        self._learn()
        return shape

    # --- as zarr-python names them ---

    def get_basic_selection(self, selection: Any = ..., *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        return self._selected(selection, "basic", fields, out, prototype)

    def get_orthogonal_selection(self, selection: Any, *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        return self._selected(selection, "orthogonal", fields, out, prototype)

    def get_coordinate_selection(self, selection: Any, *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        return self._selected(selection, "coordinate", fields, out, prototype)

    def get_mask_selection(self, mask: Any, *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        return self._selected(mask, "mask", fields, out, prototype)

    def get_block_selection(self, selection: Any, *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        return self._selected(selection, "block", fields, out, prototype)

    def _selected(self, selection: Any, kind: str, fields: Any, out: Any, prototype: Any) -> Any:
        plan = Plan(plain_items(selection), kind, fields)
        place = memory_of(None, None, prototype)
        options = config.read_options(prototype=None if place == "host" else place)
        if out is not None:
            return self._read_into(plan, out, options)
        if place.startswith("cuda"):
            return on_device(self._core.read(plan.items, plan.kind, plan.fields, options), None)
        return self._read(plan, options)

    def set_basic_selection(self, selection: Any, value: Any, *, fields: Any = None) -> None:
        self._set(selection, "basic", value, fields)

    def set_orthogonal_selection(self, selection: Any, value: Any, *, fields: Any = None) -> None:
        self._set(selection, "orthogonal", value, fields)

    def set_coordinate_selection(self, selection: Any, value: Any, *, fields: Any = None) -> None:
        self._set(selection, "coordinate", value, fields)

    def set_mask_selection(self, mask: Any, value: Any, *, fields: Any = None) -> None:
        self._set(mask, "mask", value, fields)

    def set_block_selection(self, selection: Any, value: Any, *, fields: Any = None) -> None:
        self._set(selection, "block", value, fields)

    def _set(self, selection: Any, kind: str, value: Any, fields: Any) -> None:
        self._write(Plan(plain_items(selection), kind, fields), value, config.write_options())


class Block:
    """What a selection has of one stored chunk: `data` are the elements `array[selection]`, their place in the whole result is `place`."""

    __slots__ = ("chunk", "data", "place", "selection")

    def __init__(self, data: np.ndarray, selection: tuple, place: tuple, chunk: tuple[int, ...]) -> None:
        self.data, self.selection, self.place, self.chunk = data, selection, place, chunk

    def __repr__(self) -> str:
        return f"<zarrive.Block {self.chunk} at {self.place} shape={self.data.shape}>"


class Indexer:
    """Brackets of one kind of selection."""

    def __init__(self, array: Array, kind: str) -> None:
        self._array, self._kind = array, kind

    def _plan(self, key: Any) -> Plan:
        key, fields = split_fields(key)
        items = plain_items(key)
        kind = self._kind
        if kind == "coordinate" and len(items) == 1 and isinstance(items[0], np.ndarray) and items[0].dtype == bool:
            return Plan((np.ascontiguousarray(items[0]),), "mask", fields)
        return Plan(items, kind, fields)

    def __getitem__(self, key: Any) -> Any:
        return self._array._read(self._plan(key), config.read_options())

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array._write(self._plan(key), value, config.write_options())
