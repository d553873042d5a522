"""What a batch says about its keys: `Context`, as in zarr-python 2.15 to 2.18, with further keys.

It does not need zarr-python. zarr's own `zarr.context.Context` (a dict when the program runs) and
`zarr.util.ConstantMap` are taken wherever ours are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

import numpy as np

from zarrive import _core
from zarrive.destination import space_of


class Context(TypedDict, total=False):
    """What is known about one key. A dict; every key is optional, and a store works without it.

    zarr-python itself only sends `meta_array`.

    >>> Context(prototype="host", key="0.0")
    {'prototype': 'host', 'key': '0.0'}
    """

    version: int
    """Of this structure: 1."""
    meta_array: Any
    """An array like the wanted result: a CuPy array for values on its GPU, a NumPy array for values on the
    host."""
    prototype: str
    """The same by name: "host", "pinned", "cuda:0". Comes before meta_array."""
    key: str
    """The key as the array calls it, where that is not the key of the store."""
    node: str
    """The path of the array, for messages."""
    compressor: Any
    """The array's compressor: a numcodecs codec, its configuration, or None."""
    filters: Any
    """The array's filters: a sequence of numcodecs codecs or their configurations, or None."""
    shape: tuple[int, ...]
    """Of the array."""
    dtype: Any
    fill_value: Any
    chunk_shape: tuple[int, ...]
    chunk_index: tuple[int, ...]
    """The chunk's place in the grid of chunks."""
    chunk_selection: Any
    """The part of the chunk that is wanted: a tuple of slices."""
    output_selection: Any
    """Its place in the output: a tuple of slices."""
    expected_size: int
    """Bytes of the value, where the codecs fix them."""
    codec_parameters: Mapping[str, Any]
    """For codecs whose parameters differ from chunk to chunk."""


_METADATA_NAMES = frozenset({".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json"})


def is_metadata(key: str) -> bool:
    """Whether a key holds a document, which is always read on the host. "meta/" is where zarr-python 2's
    experimental version 3 keeps them.

    >>> is_metadata("a/b/.zarray"), is_metadata("meta/root/a.array.json"), is_metadata("a/0.0")
    (True, True, False)
    """
    return key.rpartition("/")[2] in _METADATA_NAMES or key.startswith("meta/")


_GIVEN_AS_THEY_ARE = (
    "version",
    "key",
    "node",
    "chunk_shape",
    "chunk_index",
    "chunk_selection",
    "output_selection",
    "expected_size",
    "codec_parameters",
)


def _codec(codec: Any) -> dict[str, Any]:
    """A codec of numcodecs as the core names codecs."""
    configuration = dict(codec if isinstance(codec, Mapping) else codec.get_config())
    return {"name": configuration.pop("id"), "configuration": configuration}


class Wanted:
    """A context as the core takes it, and what its values are to be made into.

    `like` is an array whose kind the values get; None: whatever there is for the place they lie in.
    """

    __slots__ = ("like", "native", "on_device")

    def __init__(self, context: Mapping[str, Any]) -> None:
        known = {name: context[name] for name in _GIVEN_AS_THEY_ARE if context.get(name) is not None}
        meta_array = context.get("meta_array")
        place = space_of(meta_array)
        space = context.get("prototype") or place
        if space is not None:
            known["prototype"] = space
        if context.get("shape") is not None:
            known["shape"] = context["shape"]
        dtype = context.get("dtype")
        if dtype is not None and not (dtype := np.dtype(dtype)).hasobject and dtype.names is None:
            known["dtype"] = dtype.str
            fill_value = context.get("fill_value")
            if fill_value is not None and dtype.kind in "biu":
                known["fill_value"] = np.asarray(fill_value, dtype=dtype).item()
        if "compressor" in context or "filters" in context:
            chain = [*(context.get("filters") or ()), context.get("compressor")]
            known["codecs"] = [_codec(codec) for codec in chain if codec is not None]
        self.on_device = space is not None and space.startswith("cuda")
        self.like = meta_array if self.on_device and place == space else None
        self.native = _core.Context(**known)


def wanted_by(contexts: Mapping[str, Mapping[str, Any]] | None, keys: Iterable[str]) -> dict[str, Wanted]:
    """The contexts of those keys that have one. A context that many keys share is converted once, however the
    mapping shares it.

    Documents are read on the host whatever is wanted, so theirs are left out.
    """
    if not contexts:
        return {}
    converted: dict[int, tuple[Any, Wanted]] = {}  # with the context, so that no other one gets its id
    found = {}
    for key in keys:
        context = contexts.get(key)
        if context is None or is_metadata(key):
            continue
        if id(context) not in converted:
            converted[id(context)] = (context, Wanted(context))
        found[key] = converted[id(context)][1]
    return found
