"""Selections as NumPy means them, in terms of the kinds that the core has.

The core reads basic, orthogonal, coordinate and mask selections. NumPy's brackets mix them, and put the dimensions of the result in an
order of their own; a `Plan` says which selection to read, and how to turn what it gives into NumPy's result (and back, for writes).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


# Types of the items of basic selections. Not bool, which is a flag.
_BASIC = frozenset({int, slice, type(...)})


class Plan(NamedTuple):
    """What to ask of the core, and what to do with its result."""

    items: Any
    kind: str = "basic"
    fields: str | list[str] | None = None
    # Of a read's result; None when it is as it comes. Reshaped to `shape` first, then transposed by `axes`.
    shape: tuple[int, ...] | None = None
    axes: tuple[int, ...] | None = None

    def of_result(self, array: np.ndarray) -> np.ndarray:
        """What the core read, as NumPy's result."""
        if self.shape is None:
            return array
        shape, axes = self._with_subarray(array.shape)
        return array.reshape(shape).transpose(axes)

    def result_shape(self, core_shape: tuple[int, ...]) -> tuple[int, ...]:
        """The result's shape, of the shape that the core's selection has."""
        if self.shape is None:
            return core_shape
        shape, axes = self._with_subarray(core_shape)
        return tuple(shape[axis] for axis in axes)

    def of_value(self, value: np.ndarray, core_shape: tuple[int, ...], copy: bool | None = None) -> np.ndarray:
        """A value of the result's shape, as the core's selection wants it. copy=False: ValueError when that takes a copy."""
        if self.shape is None:
            return value
        _, axes = self._with_subarray(core_shape)
        return value.transpose(np.argsort(axes)).reshape(core_shape, copy=copy)

    def _with_subarray(self, core_shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and axes, with the further dimensions that a field which is a subarray has at its end."""
        assert self.shape is not None and self.axes is not None
        extra = core_shape[len(core_shape) - self._extra(core_shape) :]
        n = len(self.shape)
        return self.shape + extra, self.axes + tuple(range(n, n + len(extra)))

    def _extra(self, core_shape: tuple[int, ...]) -> int:
        assert self.shape is not None
        count = int(np.prod(self.shape, dtype=np.int64))
        total, extra = int(np.prod(core_shape, dtype=np.int64)), 0
        while total != count and extra < len(core_shape):
            extra += 1
            total = int(np.prod(core_shape[:-extra], dtype=np.int64))
        return extra


def is_list(item: Any) -> bool:
    """A list of positions or flags, rather than one position or a slice."""
    if isinstance(item, int | slice | type(...) | None | str):
        return False
    if isinstance(item, np.ndarray):
        return item.ndim > 0 or item.dtype == bool
    return isinstance(item, list | tuple | range) or (hasattr(item, "__array__") and not isinstance(item, np.generic))


def as_positions(item: Any) -> np.ndarray:
    """A list as int64 positions or bool flags."""
    array = np.asarray(item)
    if array.dtype == bool:
        return array
    if array.size == 0 and array.dtype.kind == "f" and isinstance(item, list | tuple):
        return array.astype(np.int64)  # []
    if array.dtype.kind not in "iu":
        raise IndexError(f"positions are whole numbers or flags, not {array.dtype}")
    return array.astype(np.int64, copy=False)


def split_fields(key: Any) -> tuple[Any, str | list[str] | None]:
    """Takes field names out of a key, as zarr-python has them: array["x"], array[2:4, "x", "y"], array[["x", "y"]]."""
    if isinstance(key, str):
        return (), key
    if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
        return (), key
    if isinstance(key, tuple):
        names = [item for item in key if isinstance(item, str)]
        lists = [item for item in key if isinstance(item, list) and item and all(isinstance(n, str) for n in item)]
        if lists:
            return tuple(item for item in key if item is not lists[0]), lists[0]
        if names:
            rest = tuple(item for item in key if not isinstance(item, str))
            return rest, names[0] if len(names) == 1 else names
    return key, None


def plain_items(key: Any) -> Any:
    """The items of an orthogonal, coordinate or block selection, lists as arrays."""
    items = key if isinstance(key, tuple) else (key,)
    return tuple(as_positions(item) if is_list(item) else item for item in items)


def numpy_plan(key: Any, shape: tuple[int, ...]) -> Plan:
    """What array[key] means in NumPy."""
    key, fields = split_fields(key)
    if type(key) is tuple:
        items = key
        if all(type(item) in _BASIC or isinstance(item, np.integer) for item in items):
            if len(items) > len(shape) + (... in items):
                raise IndexError(f"too many indices: the array has {len(shape)} dimensions, {len(items)} were indexed")
            return Plan(items, "basic", fields)
    elif type(key) in _BASIC or isinstance(key, np.integer):
        return Plan(key, "basic", fields)
    else:
        items = (key,)
    return _fancy_plan(items, fields, shape)


class _Entry(NamedTuple):
    """One item of a key: a slice along a dimension, positions along one, or a new dimension (None)."""

    item: Any
    dimension: int | None


def _fancy_plan(items: tuple, fields: Any, shape: tuple[int, ...]) -> Plan:
    items = tuple(as_positions(item) if is_list(item) or isinstance(item, bool | np.bool_) else item for item in items)
    if len(items) == 1 and _is_flags(items[0]) and items[0].shape == shape and shape:
        return Plan((np.ascontiguousarray(items[0]),), "mask", fields)
    entries, ellipsis = _entries(items, shape)
    has_lists = any(isinstance(entry.item, np.ndarray) for entry in entries)
    if not has_lists and not any(entry.item is None for entry in entries):
        return Plan(tuple(entry.item for entry in entries), "basic", fields)

    # Groups of dimensions of the result: each slice and each new dimension by its entry's number, and "lists", which are broadcast together.
    extents: dict[Any, tuple[int, ...]] = {}
    for i, (item, dimension) in enumerate(entries):
        if item is None:
            extents[i] = (1,)
        elif isinstance(item, slice):
            extents[i] = (len(range(*item.indices(shape[dimension]))),)
    advanced = [i for i, entry in enumerate(entries) if i not in extents] if has_lists else []
    order: list[Any] = sorted(extents)
    if has_lists:
        # NumPy: a single position beside a list is a list of one.
        lists = {i: _in_range(entries[i].item, shape[entries[i].dimension]) for i in advanced}
        extents["lists"] = np.broadcast_shapes(*(positions.shape for positions in lists.values()))
        side_by_side = advanced[-1] - advanced[0] + 1 == len(advanced) and not advanced[0] < ellipsis <= advanced[-1]
        before = sum(i < advanced[0] for i in order) if side_by_side else 0
        order.insert(before, "lists")

    slices = [i for i in sorted(i for i in extents if i != "lists") if entries[i].item is not None]
    if not has_lists:
        core = Plan(tuple(entry.item for entry in entries if entry.item is not None), "basic", fields)
        core_order: list[Any] = slices
    elif sum(lists[i].ndim > 0 for i in advanced) == 1:
        # One list: read along its dimension, the rest as it stands.
        where = next(i for i in advanced if lists[i].ndim > 0)
        core_items = tuple(lists[i].ravel() if i == where else entry.item for i, entry in enumerate(entries) if entry.item is not None)
        core = Plan(core_items, "orthogonal", fields)
        core_order = ["lists" if i == where else i for i in sorted([*slices, where])]
    else:
        # Several: element by element, the slices' positions as further lists behind them.
        core = Plan(_coordinates(entries, lists, slices, shape), "coordinate", fields)
        core_order = ["lists", *slices]
    core_order = core_order + [i for i in order if i != "lists" and entries[i].item is None]
    axes_of: dict[Any, list[int]] = {}
    full: list[int] = []
    for group in core_order:
        axes_of[group] = list(range(len(full), len(full) + len(extents[group])))
        full += extents[group]
    return core._replace(shape=tuple(full), axes=tuple(axis for group in order for axis in axes_of[group]))


def _coordinates(entries: list[_Entry], lists: dict[int, np.ndarray], slices: list[int], shape: tuple[int, ...]) -> tuple:
    arrays: list[Any] = [None] * len(shape)
    for i, positions in lists.items():
        arrays[entries[i].dimension] = positions.reshape(positions.shape + (1,) * len(slices))
    for k, i in enumerate(slices):
        item, dimension = entries[i]
        steps = np.arange(*item.indices(shape[dimension]), dtype=np.int64)
        arrays[dimension] = steps.reshape((-1,) + (1,) * (len(slices) - 1 - k))
    return tuple(np.ascontiguousarray(array) for array in arrays)


def _is_flags(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype == bool


def _entries(items: tuple, shape: tuple[int, ...]) -> tuple[list[_Entry], int]:
    """One entry a dimension, and those for new dimensions: flags as positions, the ellipsis as slices. And where the ellipsis stood, which
    parts what stands on its two sides even when it stands for nothing."""
    if sum(item is ... for item in items) > 1:
        raise IndexError("an index can have one ellipsis only")
    taken = sum(item.ndim if _is_flags(item) else 1 for item in items if item is not None and item is not ...)
    if taken > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} dimensions, {taken} were indexed")
    if ... not in [item for item in items if not isinstance(item, np.ndarray)]:
        items = (*items, ...)
    entries: list[_Entry] = []
    dimension = ellipsis = 0
    for item in items:
        if item is None:
            entries.append(_Entry(None, None))
        elif item is ...:
            ellipsis = len(entries)
            for _ in range(len(shape) - taken):
                entries.append(_Entry(slice(None), dimension))
                dimension += 1
        elif _is_flags(item):
            if item.ndim == 0:
                raise IndexError("a single flag selects along no dimension")
            if item.shape != shape[dimension : dimension + item.ndim]:
                raise IndexError(f"flags of shape {item.shape} for dimensions of {shape[dimension : dimension + item.ndim]}")
            for positions in item.nonzero():
                entries.append(_Entry(positions, dimension))
                dimension += 1
        else:
            entries.append(_Entry(item, dimension))
            dimension += 1
    return entries, ellipsis


def _in_range(positions: Any, extent: int) -> np.ndarray:
    array = np.asarray(positions, dtype=np.int64)
    if array.size and (array.min() < -extent or array.max() >= extent):
        wrong = array.min() if array.min() < -extent else array.max()
        raise IndexError(f"position {wrong} is out of bounds for a dimension of length {extent}")
    return array
