"""What the peers' programs share: the command line, the watch, the check of the data, and the line of JSON. The twin of support/process.hpp."""

import argparse
import json
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import workload as w  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    parser.add_argument("array", help="A to G, S, or - for tasks without one")
    parser.add_argument("--data", default="build-bench/data")
    parser.add_argument("--size", default="full", choices=w.SCALE)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="that the library may use")
    parser.add_argument("--concurrency", type=int, default=1, help="requests that the caller has out at once")
    parser.add_argument("--out", help="where roundtrip writes")
    parser.add_argument("--chunk", type=int, default=64, help="edge, of the sharding benchmark")
    parser.add_argument("--sharded", action="store_true")
    parser.add_argument("--pipeline", default="default", choices=["default", "fused", "zarrs", "zarrive"])
    a = parser.parse_args()
    a.scale = w.SCALE[a.size]
    a.path = f"{a.data}/{a.size}/{a.array}.zarr"
    if a.array in w.EDGE:
        a.edge = w.EDGE[a.array] // a.scale
        a.chunks = w.CHUNK[a.array] // a.scale
        a.inner = w.INNER.get(a.array, w.CHUNK[a.array]) // a.scale
        a.dtype = np.dtype("float32" if a.array == "G" else "uint16")
    return a


def status_bytes(name):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    return 0


class Watch:
    """Takes time in pieces: `with watch:`. The first one makes the peak of resident memory start from what is resident then."""

    def __init__(self):
        self.seconds = 0.0
        self.base = None

    def __enter__(self):
        if self.base is None:
            try:
                Path("/proc/self/clear_refs").write_text("5")
            except OSError:
                pass
            self.base = status_bytes("VmRSS")
        self.start = time.perf_counter()

    def __exit__(self, *_):
        self.seconds += time.perf_counter() - self.start
        self.peak = status_bytes("VmHWM")  # before the sums are taken


def report(program, a, watch, total):
    line = {
        "program": program,
        "task": a.task,
        "array": a.array,
        "seconds": round(watch.seconds, 6),
        "sum": int(total),
        "peak_bytes": watch.peak,
        "base_bytes": watch.base,
    }
    print(json.dumps(line), flush=True)


def values(start, extent):
    """The uint16 values of a box."""
    z, y, x = (np.arange(s, s + e, dtype=np.uint64) for s, e in zip(start, extent))
    offsets = (z * z * z)[:, None, None] + (y * y // 32)[None, :, None]
    return ((offsets + x) & np.uint64(0xFFFF)).astype(np.uint16)


def check_box(data, start, extent):
    """Compares a box whole; its sum."""
    expected = values(start, extent).reshape(data.shape)
    if not np.array_equal(data, expected):
        sys.exit(f"wrong values in the box {extent} at {start}")
    return int(expected.sum(dtype=np.uint64))


def check_cube(data, threads):
    """Compares a thousand places, and sums all."""
    random = w.Random(7)
    for _ in range(1000):
        place = tuple(random.below(e) for e in data.shape)
        if data[place] != (place[2] + w.row_offset(place[0], place[1])) % 65536:
            sys.exit(f"wrong value at {place}: {data[place]}")
    total = np.float64 if data.dtype.kind == "f" else np.uint64  # sums of G stay below 2^53: exact
    with ThreadPoolExecutor(threads) as pool:
        return sum(int(s) for s in pool.map(lambda z: data[z].sum(dtype=total), range(data.shape[0])))


def sample_box(data, start):
    """Sums the first and last row of each z, after comparing them with their closed form."""
    total = 0
    last = data.shape[1] - 1
    for y in (0, last) if last else (0,):
        found = int(data[:, y, :].sum(dtype=np.float64 if data.dtype.kind == "f" else np.uint64))
        total += found
    return total


def box(start, extent):
    return tuple(slice(s, s + e) for s, e in zip(start, extent))


def present(shape, dtype):
    """Memory as a caller brings it along, every page written to."""
    out = np.empty(shape, dtype)
    out.view(np.uint8).fill(0xA5)
    return out


def for_each(items, concurrency, body):
    """body(worker, item) for all items, `concurrency` at a time; returns the results."""
    if concurrency == 1:
        return [body(0, item) for item in items]
    import itertools
    import threading

    counter = itertools.count()
    local = threading.local()

    def call(item):
        if not hasattr(local, "worker"):
            local.worker = next(counter)
        return body(local.worker, item)

    with ThreadPoolExecutor(concurrency) as pool:
        return list(pool.map(call, items))


def copy_by_chunks(a, watch, open_array):
    """The task roundtrip: into a copy with the same metadata, `a.threads` chunks at a time."""
    source = open_array(a.path, mode="r")
    shutil.rmtree(a.out, ignore_errors=True)
    Path(a.out).mkdir(parents=True)
    for name in ("zarr.json", ".zarray"):
        if (Path(a.path) / name).exists():
            shutil.copy(Path(a.path) / name, a.out)
    copy = open_array(a.out, mode="r+")
    extent = (a.chunks,) * 3

    def pass_on(_, place):
        copy[box(place, extent)] = source[box(place, extent)]

    with watch:
        for_each(w.tiles(a.edge, a.chunks), a.threads, pass_on)
    return 0
