"""Every data type x codec x format against zarr-python: what we write it reads equal, and what it writes we read equal.

The program `exchange` (tests/interop) writes one small array a cell and says what it reads back. zarr-python reads the same array;
then it writes the same values into a fresh array with the same metadata document, which `exchange` reads.
"""

import base64
import collections
import json
import os
import shutil
import subprocess
import warnings

import numpy as np
import pytest
import zarr

EXCHANGE = os.path.join(os.environ["ZARRIVE_BUILD"], "bin", "exchange")
METADATA = ("zarr.json", ".zarray", ".zattrs")

warnings.filterwarnings("ignore")


def run(*arguments, text=None):
    return subprocess.run([EXCHANGE, *arguments], input=text, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def ours(tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("ours") / "store")
    lines = [json.loads(line) for line in run("write", directory).splitlines()]
    return directory, lines


def plain(value):
    """An element of an object array as `exchange` prints it."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, np.generic):
        return value.item()
    return value


def described(array):
    """The elements as `exchange` describes them."""
    values = array[...]
    if values.dtype == object or values.dtype.kind == "T":
        return {"values": [plain(value) for value in np.asarray(values, dtype=object).ravel()]}
    little = np.ascontiguousarray(values)
    return {"hex": little.astype(little.dtype.newbyteorder("<")).tobytes().hex()}


def elements(line, array):
    """The values that `exchange` reported, as NumPy values for zarr-python to write."""
    dtype = array.dtype
    if "values" in line:
        values = line["values"]
        if line["type"] == "bytes":
            values = [base64.b64decode(value) for value in values]
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out.reshape(array.shape)
    little = np.frombuffer(bytes.fromhex(line["hex"]), dtype=dtype.newbyteorder("<"))
    return little.astype(dtype).reshape(array.shape)






def opened(store, path, mode="r"):
    return zarr.open_array(store=store, path=path, mode=mode)


def cells(ours, minimum):
    directory, lines = ours
    assert not [(line["path"], line["error"]) for line in lines if "error" in line]
    wanted = [line for line in lines if "refused" not in line]
    assert len(wanted) >= minimum, f"only {len(wanted)} cells are written"
    return directory, wanted


def test_zarr_python_reads_what_we_write(ours):
    directory, wanted = cells(ours, 600)
    equal, refused, different = [], collections.Counter(), []
    for line in wanted:
        key = ("hex", "values")["values" in line]
        try:
            array = opened(directory, line["path"])
            got = described(array)
        except Exception as error:  # noqa: BLE001 - any refusal is counted and printed
            refused[f"v{line['format']} {line['type']}: {line['codec']}: {type(error).__name__}: {str(error)[:90]}"] += 1
            continue
        if got.get(key) == line[key]:
            equal.append(line)
        else:
            different.append((line["path"], line["type"], line["codec"], str(got)[:120], str(line[key])[:120]))
    print(f"\nzarr-python {zarr.__version__} reads {len(equal)} of {len(wanted)} cells equal; refuses {sum(refused.values())}")
    for reason in sorted(refused):
        print("  refused:", reason)
    assert not different, different[:10]
    assert len(equal) >= 0.8 * len(wanted)


def test_we_read_what_zarr_python_writes(ours, tmp_path):
    directory, wanted = cells(ours, 600)
    theirs = str(tmp_path / "theirs")
    written, refused = [], collections.Counter()
    for line in wanted:
        source, target = os.path.join(directory, line["path"]), os.path.join(theirs, line["path"])
        os.makedirs(target)
        for name in METADATA:
            if os.path.exists(os.path.join(source, name)):
                shutil.copy(os.path.join(source, name), target)
        try:
            array = opened(theirs, line["path"], mode="r+")
            array[...] = elements(line, array)
            written.append((line, described(opened(theirs, line["path"]))))
        except Exception as error:  # noqa: BLE001
            refused[f"v{line['format']} {line['type']}: {line['codec']}: {type(error).__name__}: {str(error)[:90]}"] += 1
    results = [json.loads(text) for text in run("read", theirs, text="".join(line["path"] + "\n" for line, _ in written)).splitlines()]
    assert len(results) == len(written)
    different = []
    for (line, expected), result in zip(written, results):
        key = next(iter(expected))
        if result.get(key) != expected[key]:
            different.append((line["path"], line["type"], line["codec"], str(result.get(key, result.get("error")))[:120], str(expected[key])[:120]))
    print(f"\nwe read {len(written) - len(different)} of {len(written)} cells that zarr-python writes equal; it refuses {sum(refused.values())}")
    for reason in sorted(refused):
        print("  refused:", reason)
    assert not different, different[:10]
    assert len(written) >= 0.8 * len(wanted)


def test_tensorstore_reads_what_we_write(ours):
    tensorstore = pytest.importorskip("tensorstore")
    directory, wanted = cells(ours, 600)
    equal, different = 0, []
    for line in wanted:
        if "hex" not in line:
            continue
        driver = "zarr" if line["format"] == 2 else "zarr3"
        spec = {"driver": driver, "kvstore": {"driver": "file", "path": os.path.join(directory, line["path"]) + "/"}}
        try:
            values = tensorstore.open(spec, read=True).result().read().result()
            got = np.ascontiguousarray(values)
            if got.dtype.itemsize == 0:  # raw types come out as |V0, without their bytes
                continue
            if got.dtype.name == "int4":  # held in the low bits there, sign-extended here
                got = got.astype(np.int8)
            got = got.astype(got.dtype.newbyteorder("<")).tobytes().hex()
        except Exception:  # noqa: BLE001 - types and codecs that TensorStore lacks
            continue
        if got == line["hex"]:
            equal += 1
        else:
            different.append((line["path"], line["type"], line["codec"]))
    print(f"\nTensorStore reads {equal} cells equal")
    assert not different, different[:10]
    assert equal >= 150


def is_zarrs_fault(line):
    """zarrs 0.2.3 reads part of a chunk (an edge chunk here) of big-endian complex numbers with the two parts of each exchanged."""
    return line["type"].startswith("complex") and line["codec"] == "bytes big"


def test_zarrs_reads_what_we_write(ours):
    pytest.importorskip("zarrs")
    directory, wanted = cells(ours, 600)
    equal, faults, refused, different = 0, 0, collections.Counter(), []
    # Strict: a type or codec that zarrs lacks is an error, where it would else leave the array to zarr-python.
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}):
        for line in wanted:
            key = ("hex", "values")["values" in line]
            try:
                array = opened(directory, line["path"])
                got = described(array)[key]
            except Exception as error:  # noqa: BLE001 - any refusal is counted and printed
                refused[f"{type(error).__name__}: {str(error)[:80]}"] += 1
                continue
            if got == line[key]:
                equal += 1
            elif is_zarrs_fault(line) and got[: len(got) * 4 // 7] == line[key][: len(got) * 4 // 7]:
                faults += 1  # the whole chunk, 4 rows of 7, is right
            else:
                different.append((line["path"], line["type"], line["codec"], got[:120], line[key][:120]))
    print(f"\nzarrs reads {equal} of {len(wanted)} cells equal, {faults} wrong by a fault of its own; refuses {sum(refused.values())}")
    for reason, count in sorted(refused.items()):
        print(f"  refused {count}: {reason}")
    assert not different, different[:10]
    assert equal >= 440


def sharded_cells(ours):
    directory, wanted = cells(ours, 600)
    return directory, [line for line in wanted if line["codec"].startswith("sharded") and "hex" in line]


def check_that_we_read(theirs, written, program, minimum):
    text = "".join(line["path"] + "\n" for line in written)
    results = [json.loads(result) for result in run("read", theirs, text=text).splitlines()]
    different = [(line["path"], line["type"], line["codec"], str(result)[:160]) for line, result in zip(written, results) if result.get("hex") != line["hex"]]
    print(f"\nwe read {len(written) - len(different)} of {len(written)} sharded cells that {program} writes equal")
    assert len(results) == len(written)
    assert not different, different[:10]
    assert len(written) >= minimum


def copy_metadata(line, source, target):
    source, target = os.path.join(source, line["path"]), os.path.join(target, line["path"])
    os.makedirs(target)
    for name in METADATA:
        if os.path.exists(os.path.join(source, name)):
            shutil.copy(os.path.join(source, name), target)
    return target


def test_we_read_shards_that_tensorstore_writes(ours, tmp_path):
    tensorstore = pytest.importorskip("tensorstore")
    directory, wanted = sharded_cells(ours)
    written = []
    for line in wanted:
        kvstore = {"driver": "file", "path": copy_metadata(line, directory, str(tmp_path)) + "/"}
        try:
            array = tensorstore.open({"driver": "zarr3", "kvstore": kvstore}, read=True, write=True).result()
            values = np.frombuffer(bytes.fromhex(line["hex"]), array.dtype.numpy_dtype.newbyteorder("<")).reshape(array.shape)
            array.write(values).result()
        except Exception:  # noqa: BLE001 - types and codecs that TensorStore lacks
            continue
        written.append(line)
    check_that_we_read(str(tmp_path), written, "TensorStore", 40)


def test_we_read_shards_that_zarrs_writes(ours, tmp_path):
    pytest.importorskip("zarrs")
    directory, wanted = sharded_cells(ours)
    written = []
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}):
        for line in wanted:
            copy_metadata(line, directory, str(tmp_path))
            try:
                array = opened(str(tmp_path), line["path"], mode="r+")
                array[...] = elements(line, array)
            except Exception:  # noqa: BLE001 - types and codecs that zarrs lacks
                continue
            written.append(line)
    check_that_we_read(str(tmp_path), written, "zarrs", 40)
