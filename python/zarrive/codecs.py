"""Codecs by name, and codecs written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zarrive import _core


def register_codec(name: str, codec: Callable[..., Any], kind: str | None = None) -> None:
    """Makes a codec known under a name, for reading and writing, in both formats.

    Parameters
    ----------
    name : str
        As it stands in metadata.
    codec : callable
        Called with the codec's configuration as keyword arguments; gives an object with these methods, which are called from several threads:

        * kind "array_to_array": `encode(array, context)` and `decode(array, context)`, NumPy array to NumPy array of the same shape;
          and, when the type changes, `encoded_dtype(dtype)`.
        * kind "array_to_bytes": `encode(array, context)` -> bytes and `decode(data, shape, dtype, context)` -> array.
        * kind "bytes_to_bytes": `encode(data, context)` and `decode(data, context)`, bytes to bytes.

        `context` is a Context: the key, the chunk's place in the grid, per-chunk `codec_parameters` that the store gave, ...
    kind : str, optional
        Absent: the attribute `kind` of `codec`.

    Examples
    --------
    A scale that differs from chunk to chunk, as FITS files have it:

    >>> import numpy as np, zarrive
    >>> class FitsScale:
    ...     kind = "array_to_array"
    ...     def scale(self, context):
    ...         return (context.codec_parameters or {}).get("bscale", 1)
    ...     def decode(self, array, context):
    ...         return array * self.scale(context)
    ...     def encode(self, array, context):
    ...         return array / self.scale(context)
    >>> zarrive.register_codec("docs_fits_scale", FitsScale)
    >>> class Files(dict):
    ...     def get(self, key): return dict.get(self, key)
    ...     def set(self, key, value): self[key] = bytes(value)
    ...     def erase(self, key): self.pop(key, None)
    ...     def codec_parameters(self, key): return {"bscale": 10} if key.endswith("c/1") else None
    >>> files = zarrive.python_store(Files())
    >>> a = zarrive.create_array(files, shape=(4,), dtype="f4", chunks=(2,), codecs=["docs_fits_scale", "bytes"])
    >>> a[:] = [1, 2, 30, 40]
    >>> np.frombuffer(bytes(files.get("c/1")), "f4")
    array([3., 4.], dtype=float32)
    >>> a[:]
    array([ 1.,  2., 30., 40.], dtype=float32)
    """
    kind = kind or getattr(codec, "kind", None)
    if kind is None:
        raise TypeError("the codec has no attribute `kind`; give one: array_to_array, array_to_bytes or bytes_to_bytes")
    _core.register_codec(name, codec, kind)


def as_json(codec: Any) -> Any:
    """A codec as a metadata document has it: a name, a dict, or an object that can say so (zarr-python's and numcodecs' codecs)."""
    if codec == "bytes":
        return {"name": "bytes", "configuration": {"endian": "little"}}
    if isinstance(codec, str | dict):
        return codec
    for method in ("to_dict", "get_config"):
        if hasattr(codec, method):
            return getattr(codec, method)()
    raise TypeError(f"a codec is a name, a dict, or an object with to_dict() or get_config(), not {type(codec).__name__}")
