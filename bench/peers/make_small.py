"""make_small.py FOLDER: the array S of the Python bench, in chunks of 4 KiB, made by zarr-python. What is there, complete, stays."""

import shutil
import sys
from pathlib import Path

import zarr
from common import values, w

folder = Path(sys.argv[1])
stamp = folder.with_suffix(".done")
if not stamp.exists():
    shutil.rmtree(folder, ignore_errors=True)
    array = zarr.create_array(folder, shape=(w.SMALL_EDGE,) * 3, chunks=w.SMALL_CHUNK, dtype="uint16", compressors=zarr.codecs.ZstdCodec(level=0))
    array[...] = values((0, 0, 0), array.shape)
    stamp.touch()
