"""Selections of `zarr.Array` on the thread that asks for them (`zarrive.zarr.enable(direct=True)`).

zarr-python gives each read and write of an Array to its event loop, a thread of its own that all readers share,
and waits. That costs a tenth to half a millisecond, and nothing in the loop helps a native read. Here the same
coroutine runs on the caller's thread, to its end; what does need the loop, because a store's methods are
coroutines or a codec is Python's, it hands over with `on_loop`.

zarr-python has no place to say so: `AsyncArray._get_selection`, `AsyncArray._set_selection` and the `sync` that
`zarr.core.array` calls are replaced, and put back by `uninstall`.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

import zarr
import zarr.core.array
import zarr.core.sync
from zarr import AsyncArray

__all__ = ["install", "is_direct", "on_loop", "uninstall"]

T = TypeVar("T")

_SELECTIONS = ("_get_selection", "_set_selection")


class _Thread(threading.local):
    direct = False


_thread = _Thread()
_replaced: dict[str, Any] = {}


def is_direct() -> bool:
    """Whether the coroutine that asks runs on its caller's thread, where it must not wait for an event loop."""
    return _thread.direct


async def on_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Awaits `coroutine`, on zarr-python's event loop wherever this runs."""
    return await (_Handover(coroutine) if _thread.direct else coroutine)


class _Handover:
    """What a direct coroutine yields to have another one run on the event loop."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.coroutine = coroutine

    def __await__(self) -> Generator[_Handover, Any, Any]:
        return (yield self)


class _Selection:
    """A read or write that `sync` may run directly; awaited, it is the coroutine that it holds."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.coroutine.__await__()


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Runs `coroutine` on this thread."""
    resume: Callable[[Any], Any] = coroutine.send
    argument: Any = None
    outer = _thread.direct
    _thread.direct = True
    try:
        while True:
            request = resume(argument)
            try:
                resume, argument = coroutine.send, zarr.core.sync.sync(request.coroutine)
            except BaseException as error:
                resume, argument = coroutine.throw, error
    except StopIteration as end:
        return end.value
    finally:
        _thread.direct = outer


def _sync(coro: Any, loop: asyncio.AbstractEventLoop | None = None, timeout: float | None = None) -> Any:
    """In place of `zarr.core.sync.sync`: runs selections directly, but for calls out of the loop itself, which
    are an error there."""
    if type(coro) is _Selection:
        running = asyncio._get_running_loop()
        if running is None or running is not zarr.core.sync.loop[0]:
            return _run(coro.coroutine)
        coro = coro.coroutine
    return zarr.core.sync.sync(coro, loop=loop, timeout=timeout)


def _direct_with(pipeline: type, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def select(self: Any, *args: Any, **kwargs: Any) -> Any:
        coroutine = method(self, *args, **kwargs)
        return _Selection(coroutine) if isinstance(self.codec_pipeline, pipeline) else coroutine

    return select


def install(pipeline: type) -> None:
    """Makes selections of arrays direct whose codec pipeline is a `pipeline`."""
    if _replaced:
        return
    missing = [name for name in _SELECTIONS if not hasattr(AsyncArray, name)]
    if missing or getattr(zarr.core.array, "sync", None) is not zarr.core.sync.sync:
        raise NotImplementedError(
            f"direct=True needs zarr-python 3.1 to 3.4 as it is; in zarr-python {zarr.__version__} "
            f"{' and '.join(f'AsyncArray.{name}' for name in missing) or 'zarr.core.array.sync'} is not what it was. "
            "Use zarrive.zarr.enable() without it"
        )
    for name in _SELECTIONS:
        _replaced[name] = getattr(AsyncArray, name)
        setattr(AsyncArray, name, _direct_with(pipeline, _replaced[name]))
    zarr.core.array.sync = _sync


def uninstall() -> None:
    """Undoes `install`."""
    if not _replaced:
        return
    for name in _SELECTIONS:
        setattr(AsyncArray, name, _replaced[name])
    zarr.core.array.sync = zarr.core.sync.sync
    _replaced.clear()
