"""Data types of Zarr as NumPy dtypes, and back."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np

from zarrive import _core

_PLAIN = {
    "bool": "?",
    "int8": "i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "uint8": "u1",
    "uint16": "<u2",
    "uint32": "<u4",
    "uint64": "<u8",
    "float16": "<f2",
    "float32": "<f4",
    "float64": "<f8",
    "complex64": "<c8",
    "complex128": "<c16",
    # One byte an element in memory, the value in full.
    "int2": "i1",
    "int4": "i1",
    "uint2": "u1",
    "uint4": "u1",
}


def _from_ml_dtypes(name: str, size: int) -> np.dtype:
    """bfloat16 and the small floats: of ml_dtypes where that is installed, else their bits as unsigned integers."""
    try:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        return np.dtype(f"u{size}")


@lru_cache(maxsize=256)
def to_numpy(data_type: _core.DataType) -> np.dtype:
    """The NumPy dtype whose elements lie in memory as those of the data type do.

    >>> to_numpy(_core.DataType.parse("datetime64[10us]"))
    dtype('<M8[10us]')
    >>> to_numpy(_core.DataType.parse("string"))
    StringDType()
    """
    kind = data_type.kind
    if kind in _PLAIN:
        return np.dtype(_PLAIN[kind])
    size = data_type.item_size
    if kind in ("raw", "custom"):
        return np.dtype(f"V{size}")
    if kind == "fixed_bytes":
        return np.dtype(f"S{size}")
    if kind == "fixed_utf32":
        return np.dtype(f"<U{size // 4}")
    if kind in ("datetime64", "timedelta64"):
        letter = "M" if kind == "datetime64" else "m"
        if data_type.unit == "generic":
            return np.dtype(f"<{letter}8")
        scale = data_type.unit_scale
        return np.dtype(f"<{letter}8[{scale if scale != 1 else ''}{data_type.unit}]")
    if kind == "string":
        return np.dtypes.StringDType()
    if kind in ("bytes", "object"):
        return np.dtype(object)
    if kind in ("structured", "optional"):
        names, formats, offsets = [], [], []
        for name, field, shape, offset in data_type.fields:
            if name == "" and field.kind == "raw":
                continue  # padding
            names.append(name)
            formats.append((to_numpy(field), shape) if shape else to_numpy(field))
            offsets.append(offset)
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})
    return _from_ml_dtypes(kind, size)


def from_numpy(dtype: Any) -> _core.DataType:
    """The data type of what NumPy takes as a dtype, or of the name of a Zarr data type.

    >>> from_numpy("<f4"), from_numpy(np.dtype("M8[ms]")), from_numpy(str), from_numpy("bfloat16")
    (<zarrive.DataType float32>, <zarrive.DataType datetime64[ms]>, <zarrive.DataType string>, <zarrive.DataType bfloat16>)
    """
    if isinstance(dtype, _core.DataType):
        return dtype
    if isinstance(dtype, dict):
        return _core.DataType.parse(json.dumps(dtype))
    if isinstance(dtype, str):
        if dtype in ("str", "T", "O"):
            return _core.DataType.parse("string")
        try:
            return _core.DataType.parse(dtype)
        except ValueError:
            pass  # "f4", "double", "i", ...: NumPy's own names
        except NotImplementedError:
            pass
    if dtype is str:
        return _core.DataType.parse("string")
    if dtype is bytes:
        return _core.DataType.parse("bytes")
    dtype = np.dtype(dtype)
    if dtype.kind in "TO":
        return _core.DataType.parse("string")
    if dtype.names is not None:
        return _core.DataType.from_v2(_fields(dtype))
    if dtype.kind == "V" and dtype.name not in ("void",) and not dtype.name.startswith("void"):
        return _core.DataType.parse(dtype.name)  # of ml_dtypes
    if dtype.subdtype is not None:
        raise TypeError(f"{dtype} is an array of elements; give its base type, and the shape to the array")
    return _core.DataType.parse(dtype.str)


def _fields(dtype: np.dtype) -> list:
    """A structured dtype as a v2 list of fields, with padding as fields of raw bytes without a name."""
    fields, at = [], 0
    for name in sorted(dtype.names, key=lambda name: dtype.fields[name][1]):
        field, offset = dtype.fields[name][:2]
        if offset > at:
            fields.append(["", f"|V{offset - at}"])
        base, shape = field.subdtype if field.subdtype is not None else (field, ())
        form = _fields(base) if base.names is not None else base.str
        fields.append([name, form, list(shape)] if shape else [name, form])
        at = offset + field.itemsize
    if dtype.itemsize > at:
        fields.append(["", f"|V{dtype.itemsize - at}"])
    return fields


def fill_value_json(value: Any, data_type: _core.DataType, zarr_format: int) -> Any:
    """A fill value in the JSON form of a metadata document."""
    dtype = to_numpy(data_type)
    kind = data_type.kind
    if kind in ("string", "bytes", "object"):
        if isinstance(value, bytes):
            import base64

            return base64.b64encode(value).decode()
        return value if kind == "object" else str(value)
    element = np.zeros((), dtype)
    if isinstance(value, np.ndarray | np.generic) or dtype.names is not None:
        element[()] = value
    else:
        element[()] = np.asarray(value, dtype) if dtype.kind not in "SU" else value
    return _core.element_json(element, data_type, zarr_format)


def as_dtype(value: Any, dtype: np.dtype) -> np.ndarray:
    """A value as elements of a dtype in native byte order, converted as NumPy's assignment does."""
    array = np.asarray(value)
    if array.dtype == dtype and array.dtype.isnative:
        return array
    if array.dtype.names is None and dtype.names is None and array.dtype.kind not in "OTSU" and dtype.kind not in "SU":
        return array.astype(dtype)
    if isinstance(value, np.ndarray | np.generic):
        result = np.empty(array.shape, dtype)
        result[...] = array
        return result
    return np.asarray(value, dtype)
