"""A codec chain of zarr-python as an array pipeline of the core.

The core is given the metadata document of an array of one chunk. Codecs that it does not know, or whose class
is not zarr-python's or numcodecs' own (a subclass, or a class of the user's under a known name, may do
anything), are handed to it as Python codecs: it calls them for their step, and does the steps before and
after itself.
"""

from __future__ import annotations

import functools
import json
import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from zarr.abc.codec import ArrayArrayCodec, Codec
from zarr.codecs import ShardingCodec
from zarr.codecs._v2 import V2Codec
from zarr.core.array_spec import ArraySpec

from zarrive import _core
from zarrive.errors import Error

from ._python_codecs import PythonCodec, PythonFilter

__all__ = ["Chain"]

# zarr-python's names for the order of inner chunks in a shard, and the core's
_SHARD_ORDERS = {"morton": "morton", "lexicographic": "C", "unordered": "C", "colexicographic": "F"}


class Chain:
    """The chain for chunks like `spec`.

    Attributes
    ----------
    native : the core's pipeline, or None when the chain cannot be the core's; `reason` then says why.
    python_codecs : names of the codecs that run in Python.
    dtype : NumPy's data type of decoded elements.
    unit : bytes that have to be decoded, at least, for one element of a chunk.
    has_shards : whether chunks are shards.
    shard_order : how inner chunks are laid out in the shards that are written, as the core names it.
    """

    def __init__(self, codecs: tuple[Codec, ...], spec: ArraySpec) -> None:
        self.dtype: np.dtype[Any] = spec.dtype.to_native_dtype()
        self.native: _core.ArrayPipeline | None = None
        self.reason: Exception | None = None
        shards = next((codec for codec in codecs if isinstance(codec, ShardingCodec)), None)
        self.has_shards = shards is not None
        self.shard_order = _SHARD_ORDERS[getattr(shards, "subchunk_write_order", "morton")]
        self.unit = math.prod(_inner_shape(codecs, spec.shape)) * self.dtype.itemsize
        self._python: list[PythonCodec | PythonFilter] = []  # alive as long as the chain
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # zarr-python has warned before
                self.native = _core.ArrayPipeline(json.dumps(self._document(codecs, spec)))
        except (Error, NotImplementedError, TypeError, ValueError) as error:
            self.reason = error
        self.python_codecs = tuple(step.name for step in self._python)

    # --- the metadata of an array of one chunk ---

    def _document(self, codecs: tuple[Codec, ...], spec: ArraySpec) -> dict[str, Any]:
        if not type(spec.dtype).__module__.startswith("zarr."):
            raise NotImplementedError(f"data type {type(spec.dtype).__name__} is known to Python only")
        if len(codecs) == 1 and type(codecs[0]) is V2Codec:
            return self._document_v2(codecs[0], spec)
        fill_value = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": spec.shape,
            "data_type": spec.dtype.to_json(zarr_format=3),
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": spec.shape}},
            "chunk_key_encoding": {"name": "default"},
            "fill_value": spec.dtype.to_json_scalar(fill_value, zarr_format=3),
            "codecs": self._codecs_v3(codecs, spec),
            "attributes": {},
        }

    def _codecs_v3(self, codecs: Iterable[Codec], spec: ArraySpec) -> list[dict[str, Any]]:
        out = []
        for codec in codecs:
            out.append(self._codec_v3(codec, spec))
            spec = codec.resolve_metadata(spec)
        return out

    def _codec_v3(self, codec: Codec, spec: ArraySpec) -> dict[str, Any]:
        if type(codec) is ShardingCodec:
            inner = ArraySpec(codec.chunk_shape, spec.dtype, spec.fill_value, spec.config, spec.prototype)
            document = codec.to_dict()
            document["configuration"]["codecs"] = self._codecs_v3(codec.codecs, inner)
            return document
        if type(codec).__module__.startswith(("zarr.codecs.", "numcodecs.")):
            document = codec.to_dict()
            if document["name"] in _known(3):
                return document
        if isinstance(codec, ArrayArrayCodec) and codec.resolve_metadata(spec).shape != spec.shape:
            raise NotImplementedError(
                f"codec {type(codec).__name__} is known to Python only, and changes the shape"
            )
        step = PythonCodec(codec, spec)
        self._python.append(step)
        return step.v3()

    def _document_v2(self, codec: V2Codec, spec: ArraySpec) -> dict[str, Any]:
        filters = []
        for i, item in enumerate(codec.filters or ()):
            if i > 0 and not _is_known_v2(item):
                raise NotImplementedError(
                    f"filter {type(item).__name__} is known to Python only, and is not the first"
                )
            filters.append(self._codec_v2(item, self.dtype))
        fill_value = spec.fill_value
        if fill_value is not None:
            fill_value = spec.dtype.to_json_scalar(fill_value, zarr_format=2)
        return {
            "zarr_format": 2,
            "shape": spec.shape,
            "chunks": spec.shape,
            "dtype": spec.dtype.to_json(zarr_format=2)["name"],
            "fill_value": fill_value,
            "order": spec.order,
            "filters": filters or None,
            "compressor": None if codec.compressor is None else self._codec_v2(codec.compressor, None),
        }

    def _codec_v2(self, codec: Any, dtype: np.dtype[Any] | None) -> dict[str, Any]:
        if _is_known_v2(codec):
            return codec.get_config()
        if self.dtype.hasobject:
            raise NotImplementedError(f"codec {type(codec).__name__} of objects is known to Python only")
        step = PythonFilter(codec, dtype)
        self._python.append(step)
        return step.v2()


@functools.cache
def _known(zarr_format: int) -> frozenset[str]:
    return frozenset(_core.codec_names(zarr_format))


def _is_known_v2(codec: Any) -> bool:
    return type(codec).__module__.startswith("numcodecs.") and codec.codec_id in _known(2)


def _inner_shape(codecs: tuple[Codec, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(codecs) == 1 and isinstance(codecs[0], ShardingCodec):
        return _inner_shape(codecs[0].codecs, codecs[0].chunk_shape)
    return shape
