"""zarrive for zarr-python 3 (3.1 to 3.4): a store over the native stores, and a codec pipeline that reads and
writes chunks natively.

>>> import zarr, zarrive.zarr
>>> zarrive.zarr.enable()
>>> array = zarr.create_array({}, shape=(6,), chunks=(2,), dtype="int32")
>>> array[:] = range(6)
>>> array[1:5:2]
array([1, 3], dtype=int32)
>>> zarrive.zarr.disable()
"""

from __future__ import annotations

from typing import Any

from zarr.core.config import config

from . import _direct
from ._counters import counters, reset_counters
from .pipeline import CodecPipeline
from .store import Store

__all__ = ["CodecPipeline", "Store", "counters", "disable", "enable", "reset_counters"]

_PATH = "zarrive.zarr.CodecPipeline"
_before: dict[str, Any] | None = None


def enable(*, strict: bool = False, direct: bool = False) -> None:
    """Makes zarr-python read and write chunks with zarrive: every array that is opened from now on, in this
    process.

    Parameters
    ----------
    strict : bool
        Raise when zarr-python would have to run a codec itself, instead of letting it.
    direct : bool
        Run reads and writes of `zarr.Array` on the thread that asks for them, instead of zarr-python's event
        loop. Each costs a few tenths of a millisecond less, and threads do not wait for each other. For that
        three private names of zarr-python are replaced; results and errors are the same, and stores whose
        methods are coroutines, and Python's codecs, still run on the loop.

    Raises
    ------
    NotImplementedError
        With `direct`, where zarr-python is not as it is in 3.1 to 3.4.

    Notes
    -----
    The same but for `direct` by configuration: `codec_pipeline.path` is "zarrive.zarr.CodecPipeline"
    (environment variable `ZARR_CODEC_PIPELINE__PATH`; the package need not be imported then), and
    `codec_pipeline.strict`.
    """
    global _before
    if direct:
        _direct.install(CodecPipeline)
    else:
        _direct.uninstall()
    if _before is None:
        _before = {"codec_pipeline.path": config.get("codec_pipeline.path")}
    config.set({"codec_pipeline.path": _PATH, "codec_pipeline.strict": strict})


def disable() -> None:
    """Gives arrays that are opened from now on the pipeline that was configured before `enable`, and all arrays
    zarr-python's event loop."""
    global _before
    _direct.uninstall()
    if _before is not None:
        config.set({**_before, "codec_pipeline.strict": False})
        _before = None
