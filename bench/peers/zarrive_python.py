"""zarrive's own Python package: one task of the bench."""

import os

import numpy as np
from common import arguments, box, check_box, check_cube, copy_by_chunks, report, w, Watch


def read_all(a, watch):
    array = zarrive.open_array(a.path)
    with watch:
        data = array[...]
    return check_cube(data, a.threads)


def slices(a, watch):
    array = zarrive.open_array(a.path)
    extent = w.slice_extent(a.edge)
    total = 0
    for place in w.slice_places(a.edge):
        with watch:
            data = array[box(place, extent)]
        total += check_box(data, place, extent)
    return total


def gather(a, watch):
    array = zarrive.open_array(a.path)
    rows = np.array(w.gather_rows(a.edge))
    y = w.gather_y(a.edge)
    with watch:
        data = array.oindex[rows, y, :]
    return sum(check_box(data[i], (z, y, 0), (1, 1, a.edge)) for i, z in enumerate(rows.tolist()))


def small_reads(a, watch):
    array = zarrive.open_array(a.path)
    places = [box(place, w.SMALL_CHUNK) for place in w.small_places()]
    with watch:
        found = [array[place] for place in places]
    return sum(check_box(data, place, w.SMALL_CHUNK) for data, place in zip(found, w.small_places()))


def roundtrip(a, watch):
    return copy_by_chunks(a, watch, zarrive.open_array)


if __name__ == "__main__":
    a = arguments()
    os.environ["ZARRIVE_NUM_THREADS"] = str(a.threads)  # read when the package is imported
    import zarrive

    tasks = {f.__name__: f for f in (read_all, slices, gather, small_reads, roundtrip)}
    if a.task not in tasks:
        raise SystemExit(f"no task {a.task}")
    watch = Watch()
    total = tasks[a.task](a, watch)
    report("zarrive-python", a, watch, total)
