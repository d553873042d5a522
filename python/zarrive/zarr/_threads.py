"""Threads on which native calls run while zarr's event loop goes on.

Not the loop's own executor: zarr may bound that to one worker (`threading.max_workers`), and a foreign store
that is asked for bytes while a native call waits for them may need that very worker. These threads only wait;
they are made when needed and kept for the next call.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

_MAX_WAITING = 1024  # so many calls at once; each costs a thread that waits
_executor: ThreadPoolExecutor | None = None


def _get_executor() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(max_workers=_MAX_WAITING, thread_name_prefix="zarrive-zarr")
    return _executor


def _forget_executor() -> None:
    """In a forked child: its threads stayed with the parent."""
    global _executor
    _executor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_executor)


def fork_safe_lock() -> threading.Lock:
    """A lock of a module, open in a forked child: who held it there stayed with the parent."""
    lock = threading.Lock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)  # as the standard library's own modules do
    return lock


async def in_thread(function: Callable[..., T], *args: Any) -> T:
    """Runs `function(*args)`, which blocks without holding the GIL, beside the running event loop."""
    return await asyncio.get_running_loop().run_in_executor(_get_executor(), function, *args)
