"""TensorStore: one task of the bench."""

import shutil
import sys
from pathlib import Path

import numpy as np
import tensorstore as ts
from common import arguments, box, check_box, check_cube, for_each, present, report, sample_box, w, Watch


def context(a, **more):
    return {"data_copy_concurrency": {"limit": a.threads}, **more}


def open_array(a, path, **more):
    driver = "zarr" if (Path(path) / ".zarray").exists() else "zarr3"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(path) + "/"}, "context": context(a, **more)}
    return ts.open(spec).result()


def into(array, out):
    """Copies into memory that is there, without an array between."""
    ts.array(out, copy=False).write(array).result()


def read_all(a, watch):
    array = open_array(a, a.path)
    with watch:
        data = array.read().result()
    return check_cube(data, a.threads)


def read_into(a, watch):
    array = open_array(a, a.path)
    data = present(array.shape, a.dtype)
    with watch:
        into(array, data)
    return check_cube(data, a.threads)


def tiles(a, watch, piece):
    # The shard index stays in the cache; without one it would be read again for each inner chunk.
    array = open_array(a, a.path, cache_pool={"total_bytes_limit": 64 << 20}) if a.array == "C" else open_array(a, a.path)
    extent = (piece,) * 3

    def read(_, place):
        return sample_box(array[box(place, extent)].read().result(), place)

    with watch:
        sums = for_each(w.tiles(a.edge, piece), a.concurrency, read)
    return sum(sums)


def read_chunks(a, watch):
    return tiles(a, watch, a.chunks)


def read_subchunks(a, watch):
    return tiles(a, watch, a.inner)


def slices(a, watch):
    array = open_array(a, a.path)
    extent = w.slice_extent(a.edge)
    total = 0
    for place in w.slice_places(a.edge):
        with watch:
            data = array[box(place, extent)].read().result()
        total += check_box(data, place, extent)
    return total


def plane(a, watch):
    array = open_array(a, a.path)
    x = w.plane_x(a.edge)
    with watch:
        data = array[:, :, x].read().result()
    return check_box(data, (0, 0, x), (a.edge, a.edge, 1))


def gather(a, watch):
    array = open_array(a, a.path)
    rows = np.array(w.gather_rows(a.edge))
    y = w.gather_y(a.edge)
    with watch:
        data = array.oindex[rows, y, :].read().result()
    return sum(check_box(data[i], (z, y, 0), (1, 1, a.edge)) for i, z in enumerate(rows.tolist()))


def small_reads(a, watch):
    array = open_array(a, a.path)
    places = [box(place, w.SMALL_CHUNK) for place in w.small_places()]
    with watch:
        found = [array[place].read().result() for place in places]
    return sum(check_box(data, place, w.SMALL_CHUNK) for data, place in zip(found, w.small_places()))


def roundtrip(a, watch):
    source = open_array(a, a.path)
    shutil.rmtree(a.out, ignore_errors=True)
    Path(a.out).mkdir(parents=True)
    for name in ("zarr.json", ".zarray"):
        if (Path(a.path) / name).exists():
            shutil.copy(Path(a.path) / name, a.out)
    # None of the contestants waits for the disk.
    copy = open_array(a, a.out, file_io_sync=False)
    extent = (a.chunks,) * 3

    def pass_on(_, place):
        copy[box(place, extent)].write(source[box(place, extent)]).result()

    with watch:
        for_each(w.tiles(a.edge, a.chunks), a.threads, pass_on)
    return 0


def sharding(a, watch):
    """See tasks/sharding.cpp."""
    edge = w.SHARDING_EDGE // a.scale
    z, y, x = (np.arange(edge, dtype=np.uint64) for _ in range(3))
    source = np.empty((edge,) * 3, np.uint8)
    for i in range(edge):
        source[i] = ((z[i] ** 3 + y * y // 32)[:, None] + x).astype(np.uint8)
    inner = [a.chunk] * 3
    shard = {"name": "sharding_indexed", "configuration": {"chunk_shape": inner, "codecs": [{"name": "bytes"}]}}
    array = ts.open(
        {
            "driver": "zarr3",
            "kvstore": "memory://",
            "context": context(a),
            "metadata": {
                "shape": [edge] * 3,
                "chunk_grid": {
                    "name": "regular",
                    "configuration": {"chunk_shape": [edge] * 3 if a.sharded else inner},
                },
                "data_type": "uint8",
                "fill_value": 42,
                "codecs": [shard if a.sharded else {"name": "bytes"}],
            },
        },
        create=True,
    ).result()
    idle = Watch()
    with watch if a.task == "sharding_write" else idle:
        array.write(source).result()
    with watch if a.task == "sharding_read" else idle:
        data = array.read().result()
    if not np.array_equal(data, source):
        sys.exit("what was read is not what was written")
    return data.sum(dtype=np.uint64)


def main():
    a = arguments()
    watch = Watch()
    tasks = {f.__name__: f for f in (read_all, read_into, read_chunks, read_subchunks, slices, plane, gather, small_reads, roundtrip)}
    tasks["sharding_read"] = tasks["sharding_write"] = sharding
    if a.task not in tasks:
        sys.exit(f"no task {a.task}")
    total = tasks[a.task](a, watch)
    report("tensorstore", a, watch, total)


main()
