"""zarr-python with one of its pipelines (--pipeline default, fused or zarrs) or with ours (zarrive): one task of the bench."""

import os
import sys

import numpy as np
import zarr
from common import arguments, box, check_box, check_cube, copy_by_chunks, for_each, present, report, sample_box, w, Watch
from zarr.core.buffer import default_buffer_prototype

PIPELINES = {
    "default": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "zarrs": "zarrs.ZarrsCodecPipeline",
    "zarrive": "zarrive.zarr.CodecPipeline",
}


def into(array, selection, out):
    """Reads into memory that is there."""
    array.get_basic_selection(selection, out=default_buffer_prototype().nd_buffer.from_numpy_array(out))


def read_all(a, watch):
    array = zarr.open_array(a.path, mode="r")
    with watch:
        data = array[...]
    return check_cube(data, a.threads)


def read_into(a, watch):
    array = zarr.open_array(a.path, mode="r")
    data = present(array.shape, array.dtype)
    with watch:
        into(array, Ellipsis, data)
    return check_cube(data, a.threads)


def tiles(a, watch, piece):
    array = zarr.open_array(a.path, mode="r")
    extent = (piece,) * 3
    with watch:
        buffers = [np.empty(extent, array.dtype) for _ in range(a.concurrency)]

        def read(worker, place):
            into(array, box(place, extent), buffers[worker])
            return sample_box(buffers[worker], place)

        sums = for_each(w.tiles(a.edge, piece), a.concurrency, read)
    return sum(sums)


def read_chunks(a, watch):
    return tiles(a, watch, a.chunks)


def read_subchunks(a, watch):
    return tiles(a, watch, a.inner)


def slices(a, watch):
    array = zarr.open_array(a.path, mode="r")
    extent = w.slice_extent(a.edge)
    total = 0
    for place in w.slice_places(a.edge):
        with watch:
            data = array[box(place, extent)]
        total += check_box(data, place, extent)
    return total


def plane(a, watch):
    array = zarr.open_array(a.path, mode="r")
    x = w.plane_x(a.edge)
    with watch:
        data = array[:, :, x]
    return check_box(data, (0, 0, x), (a.edge, a.edge, 1))


def gather(a, watch):
    array = zarr.open_array(a.path, mode="r")
    rows = np.array(w.gather_rows(a.edge))
    y = w.gather_y(a.edge)
    with watch:
        data = array.oindex[rows, y, :]
    return sum(check_box(data[i], (z, y, 0), (1, 1, a.edge)) for i, z in enumerate(rows.tolist()))


def small_reads(a, watch):
    array = zarr.open_array(a.path, mode="r")
    places = [box(place, w.SMALL_CHUNK) for place in w.small_places()]
    with watch:
        found = [array[place] for place in places]
    return sum(check_box(data, place, w.SMALL_CHUNK) for data, place in zip(found, w.small_places()))


def roundtrip(a, watch):
    return copy_by_chunks(a, watch, zarr.open_array)


def open_(a, watch):
    with watch:
        group = zarr.open_group(f"{a.data}/{a.size}/group.zarr", mode="r", use_consolidated=True)
        array = group[w.GROUP_ARRAY]
    return array.size + len(group.metadata.consolidated_metadata.flattened_metadata)


def main():
    a = arguments()
    zarr.config.set(
        {
            "codec_pipeline.path": PIPELINES[a.pipeline],
            "codec_pipeline.max_workers": a.threads,
            "threading.max_workers": a.threads,
        }
    )
    if a.pipeline == "zarrs":
        import zarrs  # noqa: F401
    elif a.pipeline == "zarrive":
        os.environ["ZARRIVE_NUM_THREADS"] = str(a.threads)  # read when the package is imported
        import zarrive.zarr

        zarrive.zarr.enable(strict=True, direct=True)
    watch = Watch()
    tasks = {
        f.__name__.rstrip("_"): f
        for f in (read_all, read_into, read_chunks, read_subchunks, slices, plane, gather, small_reads, roundtrip, open_)
    }
    if a.task not in tasks:
        sys.exit(f"no task {a.task}")
    total = tasks[a.task](a, watch)
    report("zarr-python " + a.pipeline, a, watch, total)


main()
