"""Less free memory while something is measured.

A virtual machine may give memory that was freed back to its host. What a process touches first is then sometimes still there and sometimes
has to be fetched again, which costs several times as much, and with much free memory the two come by turns. With little more than a run needs
they all get what the one before them left; and with its pages put together, so that large ones can be had whoever that was.
"""

import contextlib
import mmap
import sys
from pathlib import Path

STEP = 256 << 20
POPULATE_WRITE = 23  # madvise, Linux 5.14; the mmap module has no name for it


def free_bytes():
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("MemFree")) << 10


def hold_all_but(left):
    """Blocks that leave about `left` bytes of the machine's memory free as long as they are kept."""
    held = []
    while free_bytes() > left + STEP:
        block = mmap.mmap(-1, STEP)
        try:
            block.madvise(mmap.MADV_HUGEPAGE)
            block.madvise(POPULATE_WRITE)
        except OSError:
            sys.exit("bench: --leave needs Linux 5.14 or newer")
        held.append(block)
    return held


def compact():
    """Puts free pages together, where this process may ask for that (as root)."""
    with contextlib.suppress(OSError):
        Path("/proc/sys/vm/compact_memory").write_text("1")
