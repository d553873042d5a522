"""`zarrive.zarr.CodecPipeline`: zarr-python 3's reads and writes of chunks, done by the native core.

A read of zarr-python is one call of `read`: chunks, which part of each, and where in the output it goes. The
batch goes to the core as it is, which fetches, decodes and places the parts. Where the bytes come from is for
`_adapters`, what the codecs are for `_chain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import zarr.abc.codec
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from zarr.abc.codec import ArrayBytesCodecPartialDecodeMixin, ArrayBytesCodecPartialEncodeMixin
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, NDBuffer
from zarr.core.codec_pipeline import BatchedCodecPipeline, codecs_from_list
from zarr.core.config import config
from zarr.registry import register_pipeline

from zarrive.config import config as native_config
from zarrive.errors import Error

from ._adapters import Batch, batch_of
from ._buffers import from_native, to_native
from ._chain import Chain
from ._counters import count
from ._direct import is_direct, on_loop
from ._threads import in_thread

__all__ = ["CodecPipeline"]

T = TypeVar("T")

# Decoded bytes up to which a batch of a native store is read or written on the event loop itself. A hop to a
# thread and back costs .1 to .5 ms on two cores; one reader of a few chunks of 4 MiB would gain a quarter with a
# bound of 32 MiB. But the loop is one thread for all readers, and on it they wait for each other.
_SMALL = 1 << 20

_PRESENT = {"status": "present"}
_MISSING = {"status": "missing"}


@dataclass(frozen=True)
class CodecPipeline(zarr.abc.codec.CodecPipeline):
    """Reads and writes chunks with the native core. `zarrive.zarr.enable()` makes zarr-python use it.

    What the core does not know is done by zarr-python: one codec, when that is all
    (`zarrive.zarr.counters()["python_codec_calls"]`), or the whole chain for data types that only Python has.
    With `zarr.config.set({"codec_pipeline.strict": True})` such a chain is an error instead.
    """

    array_array_codecs: tuple[ArrayArrayCodec, ...]
    array_bytes_codec: ArrayBytesCodec
    bytes_bytes_codecs: tuple[BytesBytesCodec, ...]
    _chains: dict[Any, Chain] = field(default_factory=dict, init=False, repr=False, compare=False)

    # --- making ---

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec], *, batch_size: int | None = None) -> CodecPipeline:
        """`batch_size` is accepted for zarr-python's sake; a batch is what one read or write has."""
        return cls(*codecs_from_list(tuple(codecs)))

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> CodecPipeline:
        evolved: list[Codec] = []
        for codec in self:
            codec = codec.evolve_from_array_spec(array_spec=array_spec)
            evolved.append(codec)
            array_spec = codec.resolve_metadata(array_spec)
        return type(self)(*_split(evolved))

    def __iter__(self) -> Iterator[Codec]:
        yield from self.array_array_codecs
        yield self.array_bytes_codec
        yield from self.bytes_bytes_codecs

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.array_array_codecs, self.array_bytes_codec, self.bytes_bytes_codecs)

    # --- what zarr-python asks ---

    @property
    def supports_partial_decode(self) -> bool:
        return self._is_single and isinstance(self.array_bytes_codec, ArrayBytesCodecPartialDecodeMixin)

    @property
    def supports_partial_encode(self) -> bool:
        return self._is_single and isinstance(self.array_bytes_codec, ArrayBytesCodecPartialEncodeMixin)

    @property
    def _is_single(self) -> bool:
        return not self.array_array_codecs and not self.bytes_bytes_codecs

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        for codec in self:
            codec.validate(shape=shape, dtype=dtype, chunk_grid=chunk_grid)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        for codec in self:
            byte_length = codec.compute_encoded_size(byte_length, array_spec)
            array_spec = codec.resolve_metadata(array_spec)
        return byte_length

    # --- chains ---

    def _chain(self, spec: ArraySpec) -> Chain:
        fill_value = spec.fill_value
        if isinstance(fill_value, np.generic):
            fill_value = fill_value.tobytes()  # NaN equals itself, and 0.0 is not -0.0
        key = (spec.shape, spec.dtype, fill_value, spec.config.order)
        try:
            chain = self._chains.get(key)
        except TypeError:  # a fill value without a hash
            key = (spec.shape, spec.dtype, repr(fill_value), spec.config.order)
            chain = self._chains.get(key)
        if chain is None:
            chain = self._chains[key] = Chain(tuple(self), spec)
        if (chain.native is None or chain.python_codecs) and config.get("codec_pipeline.strict", False):
            raise _refusal(chain)
        return chain

    def _groups(self, specs: list[ArraySpec]) -> list[tuple[Chain, list[int]]]:
        """The chunks by chain: one group, unless the grid is not regular."""
        first = specs[0]
        if all(spec is first for spec in specs):
            return [(self._chain(first), list(range(len(specs))))]
        groups: dict[int, tuple[Chain, list[int]]] = {}
        for i, spec in enumerate(specs):
            chain = self._chain(spec)
            groups.setdefault(id(chain), (chain, []))[1].append(i)
        return list(groups.values())

    def _python(self) -> BatchedCodecPipeline:
        """The same chain, all of it in zarr-python."""
        return BatchedCodecPipeline(*_split(self), batch_size=config.get("codec_pipeline.batch_size"))

    # --- reading ---

    async def read(
        self,
        batch_info: Iterable[tuple[Any, ArraySpec, Any, Any, bool]],
        out: NDBuffer,
        drop_axes: tuple[int, ...] = (),
    ) -> tuple[Any, ...]:
        chunks = list(batch_info)
        if not chunks:
            return ()
        results: list[Any] = [None] * len(chunks)
        for chain, indices in self._groups([chunk[1] for chunk in chunks]):
            group = chunks if len(indices) == len(chunks) else [chunks[i] for i in indices]
            if chain.native is None:
                count("chunks_read_in_python", len(group))
                statuses = await on_loop(self._python().read(group, out, drop_axes))
                # zarr-python before 3.2 gives none
                found = [_PRESENT] * len(group) if statuses is None else list(statuses)
            else:
                stored = await self._read_group(chain, group, out, drop_axes)
                found = [_PRESENT if one else _MISSING for one in stored]
            for i, result in zip(indices, found, strict=True):
                results[i] = result
        return tuple(results)

    async def _read_group(
        self, chain: Chain, group: list[Any], out: NDBuffer, drop_axes: tuple[int, ...]
    ) -> list[bool]:
        native = chain.native
        assert native is not None
        batch = self._batch(chain, group, write=False)
        if batch is None:
            return await on_loop(self._read_group(chain, group, out, drop_axes))
        target = out.as_ndarray_like()
        # another type, byte order or choice of fields than the array's: by way of an array of its type
        same = target.dtype == chain.dtype
        array = target if same else _typed_copy(out, chain.dtype)
        items = [
            (key, chunk[1].shape, chunk[2], chunk[3], chunk[4])
            for key, chunk in zip(batch.keys, group, strict=True)
        ]
        small = len(group) * chain.unit + array.nbytes <= _SMALL
        options = native_config.read_options(coalesce_gap=0 if batch.coalesces else None)
        arguments = (batch.store, items, array, drop_axes, options)
        stored = await self._run(chain, batch, small, native.read, *arguments)
        if not same:
            out[...] = type(out).from_numpy_array(_as_wanted(array, target.dtype))
        count("chunks_read", len(group))
        return stored

    # --- writing ---

    async def write(
        self,
        batch_info: Iterable[tuple[Any, ArraySpec, Any, Any, bool]],
        value: NDBuffer,
        drop_axes: tuple[int, ...] = (),
    ) -> None:
        chunks = list(batch_info)
        if not chunks:
            return
        for chain, indices in self._groups([chunk[1] for chunk in chunks]):
            group = chunks if len(indices) == len(chunks) else [chunks[i] for i in indices]
            if chain.native is None:
                count("chunks_written_in_python", len(group))
                await on_loop(self._python().write(group, value, drop_axes))
            else:
                await self._write_group(chain, group, value, drop_axes)

    async def _write_group(
        self, chain: Chain, group: list[Any], value: NDBuffer, drop_axes: tuple[int, ...]
    ) -> None:
        native = chain.native
        assert native is not None
        spec = group[0][1]
        batch = self._batch(chain, group, write=True)
        if batch is None:
            await on_loop(self._write_group(chain, group, value, drop_axes))
            return
        source = value.as_ndarray_like()
        if source.dtype != chain.dtype:
            source = source.astype(chain.dtype)
        # "Complete" counts what lies in the array. Shards keep what lies beyond it, as in zarr-python: it is
        # there again when the array grows.
        whole_shards = self.supports_partial_encode
        items = [
            (key, chunk[1].shape, chunk[2], chunk[3], chunk[4] and not whole_shards)
            for key, chunk in zip(batch.keys, group, strict=True)
        ]
        options = native_config.write_options(
            write_empty_chunks=spec.config.write_empty_chunks, shard_order=chain.shard_order
        )
        small = len(group) * chain.unit <= _SMALL

        def write() -> None:
            try:
                native.write(batch.store, items, source, drop_axes, None, options)
            except (ValueError, IndexError, NotImplementedError):
                # Said before anything is written. A value of another shape than the selection's may still be
                # one that zarr-python takes.
                if source.ndim == 0 or batch.failed:
                    raise
                for key, shape, chunk_selection, part in _broadcast_parts(items, source, drop_axes):
                    item = (key, shape, chunk_selection, (slice(None),) * part.ndim)
                    native.write(batch.store, [item], part, (), None, options)

        await self._run(chain, batch, small, write)
        count("chunks_written", len(group))

    # --- calls of the core ---

    @staticmethod
    def _batch(chain: Chain, group: list[Any], *, write: bool) -> Batch | None:
        """Where the bytes of these chunks are; None when only the event loop can get at them and this is not
        it."""
        direct = is_direct()
        if direct and chain.python_codecs:
            return None
        return batch_of([chunk[0] for chunk in group], group[0][1], write=write, direct=direct)

    @staticmethod
    async def _run(chain: Chain, batch: Batch, small: bool, function: Callable[..., T], *args: Any) -> T:
        """A native call: on the caller's own thread; on the event loop's when it is over soon and asks nothing
        of Python; else beside that."""
        count("native_store_batches" if batch.adapter is None else "python_store_batches")
        try:
            if is_direct() or (small and batch.adapter is None and not chain.python_codecs):
                return function(*args)
            return await in_thread(function, *args)
        except Error:
            batch.raise_own_error()
            raise

    # --- whole chunks in memory ---

    async def decode(
        self, chunk_bytes_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        chunks = list(chunk_bytes_and_specs)
        results: list[NDBuffer | None] = [None] * len(chunks)
        for chain, indices in self._groups([spec for _, spec in chunks]) if chunks else ():
            group = [chunks[i] for i in indices]
            if chain.native is None:
                count("chunks_read_in_python", len(group))
                decoded = list(await self._python().decode(group))
            else:
                count("chunks_read", len(group))
                encoded = [(None if data is None else to_native(data), spec.shape) for data, spec in group]
                arrays = await in_thread(chain.native.decode, encoded, chain.dtype)
                decoded = [
                    None if array is None else spec.prototype.nd_buffer.from_numpy_array(array)
                    for array, (_, spec) in zip(arrays, group, strict=True)
                ]
            for i, result in zip(indices, decoded, strict=True):
                results[i] = result
        return results

    async def encode(
        self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        chunks = list(chunk_arrays_and_specs)
        results: list[Buffer | None] = [None] * len(chunks)
        for chain, indices in self._groups([spec for _, spec in chunks]) if chunks else ():
            group = [chunks[i] for i in indices]
            if chain.native is None:
                count("chunks_written_in_python", len(group))
                encoded = list(await self._python().encode(group))
            else:
                count("chunks_written", len(group))
                arrays = [self._to_encode(chain, array, spec) for array, spec in group]
                empty = group[0][1].config.write_empty_chunks
                buffers = await in_thread(chain.native.encode, arrays, empty, chain.shard_order)
                encoded = [
                    None if buffer is None else from_native(buffer, spec.prototype)
                    for buffer, (_, spec) in zip(buffers, group, strict=True)
                ]
            for i, result in zip(indices, encoded, strict=True):
                results[i] = result
        return results

    @staticmethod
    def _to_encode(chain: Chain, array: NDBuffer | None, spec: ArraySpec) -> Any:
        if array is None:
            return None
        if chain.has_shards and not spec.config.write_empty_chunks:
            # a shard without inner chunks is not stored
            fill_value = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value
            if array.all_equal(fill_value):
                return None
        return array.as_numpy_array().astype(chain.dtype, copy=False)


def _split(
    codecs: Iterable[Codec],
) -> tuple[tuple[ArrayArrayCodec, ...], ArrayBytesCodec, tuple[BytesBytesCodec, ...]]:
    """The three kinds of a chain whose order is right."""
    codecs = tuple(codecs)
    at = next(i for i, codec in enumerate(codecs) if isinstance(codec, ArrayBytesCodec))
    return codecs[:at], codecs[at], codecs[at + 1 :]  # type: ignore[return-value]


def _broadcast_parts(
    items: list[tuple[str, tuple[int, ...], Any, Any, bool]], source: Any, drop_axes: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...], Any, Any]]:
    """What of `source` goes to each chunk when NumPy assigns it, as zarr-python does: `chunk[chunk_selection]
    = source[out_selection]`."""
    parts = []
    for key, shape, chunk_selection, out_selection, _ in items:
        wanted = np.broadcast_to(np.zeros((), bool), shape)[chunk_selection].shape
        part = source[out_selection]
        if drop_axes:
            part = part[tuple(None if axis in drop_axes else slice(None) for axis in range(len(shape)))]
        try:
            parts.append((key, shape, chunk_selection, np.broadcast_to(part, wanted)))
        except ValueError:
            raise ValueError(
                f"shape mismatch: a value of shape {source.shape} has {part.shape} for the selection of {key}, "
                f"which has {wanted}"
            ) from None
    yield from parts


def _typed_copy(out: NDBuffer, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array like `out`, of `dtype`; what `out` holds is kept where it can be: a batch need not fill all of
    it."""
    array = np.zeros(out.shape, dtype)
    if out.dtype.names is None and dtype.names is None:
        array[...] = out.as_numpy_array()
    return array


def _as_wanted(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """`array` as elements of `dtype`; of structured types, the fields of these names."""
    if dtype.names is not None and array.dtype.names is not None and dtype != array.dtype:
        return array[list(dtype.names)].astype(dtype)
    return array.astype(dtype)


def _refusal(chain: Chain) -> Exception:
    if chain.native is None:
        return NotImplementedError(
            f"codec_pipeline.strict is set, and the native core cannot take this codec chain: {chain.reason}"
        )
    names = ", ".join(sorted(set(chain.python_codecs)))
    return NotImplementedError(f"codec_pipeline.strict is set, and only Python knows the codecs {names}")


# zarr-python finds pipelines by their path; this is the public one
CodecPipeline.__module__ = "zarrive.zarr"
register_pipeline(CodecPipeline)
