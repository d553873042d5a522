"""Saving, loading and copying whole arrays and groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zarrive.array import Array
from zarrive.creating import create_array
from zarrive.group import Group, create_group, open
from zarrive.stores import StoreLike, open_store

Progress = Callable[[int, int], Any]


def save(store: StoreLike, *arrays: Any, path: str = "", zarr_format: int = 3, progress: Progress | None = None, **named: Any) -> Array | Group:
    """Writes one array, or several (or named ones) as a group, in place of what is there.

    >>> import numpy as np, zarrive
    >>> _ = zarrive.save("memory://saved", x=np.arange(3), y=np.ones(2))
    >>> zarrive.load("memory://saved")["x"]
    array([0, 1, 2])
    """
    opened = open_store(store, "a")
    if not arrays and not named:
        raise TypeError("nothing to save")
    if len(arrays) == 1 and not named:
        array = np.asarray(arrays[0])
        target = create_array(opened, path=path, shape=array.shape, dtype=array.dtype, zarr_format=zarr_format, overwrite=True)
        _fill(target, array, _Steps(array.nbytes, progress))
        return target
    named = {f"arr_{i}": array for i, array in enumerate(arrays)} | named
    group = create_group(opened, path=path, zarr_format=zarr_format, overwrite=True)
    values = {name: np.asarray(value) for name, value in named.items()}
    steps = _Steps(sum(value.nbytes for value in values.values()), progress)
    for name, value in values.items():
        _fill(group.create_array(name, shape=value.shape, dtype=value.dtype), value, steps)
    return group


def load(store: StoreLike, path: str = "", zarr_format: int | None = None) -> Any:
    """Reads a whole array; of a group, a dict of its arrays by name."""
    node = open(store, path=path, zarr_format=zarr_format)
    if isinstance(node, Array):
        return node[...]
    return {name: array[...] for name, array in node.arrays()}


def copy(source: Any, dest: StoreLike, *, path: str = "", overwrite: bool = False, progress: Progress | None = None, **changes: Any) -> Array | Group:
    """Copies an array or a group with everything below it, chunk by chunk in bounded memory.

    Parameters
    ----------
    source : Array, Group, or StoreLike
    dest : StoreLike
    path : str
        Where in `dest`.
    overwrite : bool
        Erases what is there first.
    progress : callable, optional
        Called as progress(done, total), in bytes of elements.
    **changes
        For arrays: chunks, shards, codecs, zarr_format, ... as `create_array` takes them. Absent: as the source has them.

    Examples
    --------
    >>> import zarrive
    >>> a = zarrive.create_array({}, data=list(range(10)), chunks=(3,))
    >>> b = zarrive.copy(a, "memory://copied", chunks=(5,), zarr_format=2)
    >>> b.chunks, b[:].tolist()
    ((5,), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    node = source if isinstance(source, Array | Group) else open(source)
    opened = open_store(dest, "a")
    steps = _Steps(_bytes_of(node), progress)
    if isinstance(node, Array):
        return _copy_array(node, opened, path, overwrite, steps, changes)
    zarr_format = changes.get("zarr_format", node.zarr_format)
    group = create_group(opened, path=path, zarr_format=zarr_format, attributes=node.attrs.asdict(), overwrite=overwrite)
    for name, child in node.members(max_depth=None):
        where = f"{path}/{name}" if path else name
        if isinstance(child, Array):
            _copy_array(child, opened, where, overwrite, steps, changes)
        else:
            create_group(opened, path=where, zarr_format=zarr_format, attributes=child.attrs.asdict(), overwrite=overwrite)
    return group


def _copy_array(source: Array, dest: Any, path: str, overwrite: bool, steps: _Steps, changes: dict[str, Any]) -> Array:
    zarr_format = changes.get("zarr_format", source.zarr_format)
    options: dict[str, Any] = {
        "shape": source.shape,
        "dtype": source.data_type,
        "chunks": source.chunks if source.chunks is not None else source.metadata["chunk_grid"],
        "shards": source.shards,
        "attributes": source.attrs.asdict(),
        "zarr_format": zarr_format,
    }
    if source.fill_value is not None:
        options["fill_value"] = source.fill_value
    if source.dimension_names is not None:
        options["dimension_names"] = source.dimension_names
    if zarr_format == source.zarr_format:
        options |= _same_codecs(source)
    if zarr_format == 2:
        options.pop("shards")
        if source.shards:
            options["chunks"] = source.chunks
    options |= {name: value for name, value in changes.items() if value is not None}
    target = create_array(dest, path=path, overwrite=overwrite, **options)
    if target.write_chunks is None or source.data_type.is_variable:
        for block in source.iter_blocks():
            target[block.selection] = block.data
            steps.done(block.data.nbytes)
        return target
    # By the target's chunks, so that each is written once.
    _fill(target, source, steps)
    return target


def _same_codecs(source: Array) -> dict[str, Any]:
    if source.zarr_format == 2:
        document = source.metadata
        return {
            "filters": document.get("filters") or [],
            "compressors": document.get("compressor"),
            "order": document["order"],
            "dimension_separator": document.get("dimension_separator", "."),
        }
    chain = [c if isinstance(c, dict) else {"name": c} for c in source.codecs]
    if source.shards:
        chain = next(c for c in chain if c["name"] == "sharding_indexed")["configuration"]["codecs"]
    return {"codecs": chain}


# At least so many bytes a step: less would be mostly overhead, more would be mostly memory.
_STEP_BYTES = 64 << 20


def _fill(target: Array, source: Any, steps: _Steps) -> None:
    """Writes all of `source`, which can be indexed, by whole chunks of the target."""
    if target.ndim == 0 or target.write_chunks is None:
        target[...] = source[...]
        steps.done(target.nbytes)
        return
    edges = list(target.write_chunks)
    # Boxes of several chunks, grown from the last dimension on.
    for d in reversed(range(target.ndim)):
        bytes_now = int(np.prod([min(e, n) for e, n in zip(edges, target.shape, strict=True)], dtype=np.int64)) * target.itemsize
        if bytes_now >= _STEP_BYTES:
            break
        edges[d] *= max(1, min(-(-target.shape[d] // edges[d]), _STEP_BYTES // max(1, bytes_now)))
    grid = [range(0, n, e) for n, e in zip(target.shape, edges, strict=True)]
    for starts in np.ndindex(*(len(r) for r in grid)):
        box = tuple(slice(r[i], min(r[i] + e, n)) for r, i, e, n in zip(grid, starts, edges, target.shape, strict=True))
        part = source[box]
        target[box] = part
        steps.done(part.nbytes)


def _bytes_of(node: Array | Group) -> int:
    if isinstance(node, Array):
        return node.nbytes
    return sum(child.nbytes for _, child in node.members(max_depth=None) if isinstance(child, Array))


class _Steps:
    """Counts what is done, and tells."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._done = total, progress, 0

    def done(self, nbytes: int) -> None:
        self._done += nbytes
        if self._progress is not None:
            self._progress(self._done, self._total)
