"""What the counters of `zarrive.zarr` say."""

from __future__ import annotations

from typing import Any

import zarrive.zarr


def counted(name: str) -> Any:
    return zarrive.zarr.counters()[name]


def nothing_ran_in_python() -> bool:
    counts = zarrive.zarr.counters()
    return not (
        counts["chunks_read_in_python"] or counts["chunks_written_in_python"] or counts["python_codec_calls"]
    )
