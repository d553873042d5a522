"""What ran where: counted per process, for tests, bug reports and the curious."""

from __future__ import annotations

from collections import Counter

from ._threads import fork_safe_lock

_lock = fork_safe_lock()
_counts: Counter[str] = Counter()
_codec_calls: Counter[str] = Counter()

_NAMES = (
    "chunks_read",  # decoded by the core
    "chunks_written",  # encoded by the core
    "chunks_read_in_python",  # whole chain in zarr-python
    "chunks_written_in_python",
    "native_store_batches",  # batches whose bytes a native store moved
    "python_store_batches",  # batches for which a zarr-python store was asked
)


def count(name: str, number: int = 1) -> None:
    with _lock:
        _counts[name] += number


def count_codec(name: str) -> None:
    with _lock:
        _codec_calls[name] += 1


def counters() -> dict[str, int | dict[str, int]]:
    """Counts since the process began or `reset_counters`.

    Returns
    -------
    dict
        `chunks_read` and `chunks_written` by the native core; `chunks_read_in_python` and
        `chunks_written_in_python` for which the whole codec chain ran in zarr-python; `native_store_batches`
        and `python_store_batches`, by who moved the bytes; `python_codec_calls`, calls by codec name of
        codecs that only Python knows.
    """
    with _lock:
        result: dict[str, int | dict[str, int]] = {name: _counts[name] for name in _NAMES}
        result["python_codec_calls"] = dict(_codec_calls)
        return result


def reset_counters() -> None:
    """Sets all counts to zero."""
    with _lock:
        _counts.clear()
        _codec_calls.clear()
