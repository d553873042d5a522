"""Arrays, groups, stores and the process around them."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import zarrive


@pytest.fixture(params=["directory", "zip", "memory", "dict"])
def place(request, tmp_path):
    if request.param == "directory":
        yield str(tmp_path / "a.zarr")
    elif request.param == "zip":
        yield str(tmp_path / "a.zip")
    elif request.param == "memory":
        yield f"memory://{request.node.name}"
    else:
        yield {}


def cube():
    return np.arange(6 * 7 * 8, dtype="f4").reshape(6, 7, 8)


# --- what comes back is what was written ---


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_round_trip(place, zarr_format):
    store = zarrive.open_store(place, "a")
    a = zarrive.create_array(store, path="x/y", data=cube(), chunks=(2, 3, 4), zarr_format=zarr_format, attributes={"units": "K"})
    store.flush()
    b = zarrive.open_array(store, path="x/y")
    assert np.array_equal(b[...], cube()) and b.dtype == a.dtype and b.attrs["units"] == "K"
    assert b.chunks == (2, 3, 4) and b.shards is None and b.nchunks == 18 and b.zarr_format == zarr_format


VALUES = {
    "string": np.array([["", "ä"], ["𝔷arr", "x" * 300]], np.dtypes.StringDType()),
    "bytes": np.array([[b"", b"\0"], [b"abc", b"\xff" * 9]], object),
    "datetime64": np.array([["2026-11-30", "NaT"], ["1969-12-31", "2000-01-01"]], "M8[D]"),
    "timedelta64": np.array([[1, 2], [-3, 4]], "m8[10us]"),
    "fixed": np.array([[b"a", b""], [b"abc", b"zz"]], "S3"),
    "unicode": np.array([["a", ""], ["äöü", "zz"]], "U3"),
    "bool": np.array([[True, False], [False, True]]),
    "complex": np.array([[1 + 2j, 0], [np.nan, -1j]], "c16"),
    "half": np.array([[1, 2], [0.5, -4]], "f2"),
    "struct": np.array([[(1, 2.5), (3, 4)], [(5, 6), (7, 8)]], [("a", "i2"), ("b", "f8")]),
    "big-endian": np.array([[1, 2], [3, 4]], ">i4"),
}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", VALUES)
def test_types(name, zarr_format):
    value = VALUES[name]
    if name == "bytes" and zarr_format == 2:
        pytest.skip("v2 has an object codec for them, tested in the core")
    dtype = "bytes" if name == "bytes" else value.dtype
    a = zarrive.create_array({}, shape=value.shape, dtype=dtype, chunks=(1, 2), zarr_format=zarr_format)
    fill = a[0, 0]
    a[...] = value
    got = a[...]
    assert np.array_equal(got, value, equal_nan=value.dtype.kind in "cMf")
    assert np.array_equal(a[::-1, 1], value[::-1, 1], equal_nan=value.dtype.kind in "cMf")
    assert a[1, 0] == value[1, 0] or value[1, 0] != value[1, 0]
    a[0, 0] = fill
    assert np.array_equal(a[1], value[1], equal_nan=value.dtype.kind in "cMf")


def test_json_objects():
    a = zarrive.create_array({}, shape=(2,), dtype="|O", zarr_format=2, filters=[{"id": "json2"}])
    a[0] = "text"
    assert a[0] == "text"


def test_fill_values():
    for dtype, value in [("f4", np.nan), ("i8", -5), ("M8[s]", np.datetime64("NaT")), ("?", True), ("U4", "none"), ("string", "gone"), ("c8", 1 - 2j)]:
        for zarr_format in (2, 3):
            a = zarrive.create_array({}, shape=(2,), dtype=dtype, fill_value=value, zarr_format=zarr_format)
            got = zarrive.open_array(a.store).fill_value
            assert got == value or got != got and value != value
            assert a[0] == value or value != value
    assert zarrive.create_array({}, shape=2, dtype="f4", zarr_format=2, fill_value=None).fill_value is None


def test_out_takes_any_strides_and_converts():
    a = zarrive.create_array({}, data=cube(), chunks=(2, 3, 4))
    out = np.zeros((8, 7, 6), "f4").T
    assert a.read(out=out) is out and np.array_equal(out, cube())
    doubles = np.zeros((6, 4), "f8")[:, ::2]
    a.read(np.s_[:, 0, 2:4], out=doubles)
    assert np.array_equal(doubles, cube()[:, 0, 2:4])
    with pytest.raises(ValueError, match="shape"):
        a.read(np.s_[0], out=np.zeros((3, 3), "f4"))
    frozen = np.zeros((6, 7, 8), "f4")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a.read(out=frozen)
    assert np.array_equal(np.from_dlpack(a), cube()) and np.array_equal(np.asarray(a), cube())


def test_text_selections():
    a = zarrive.create_array({}, data=cube(), chunks=(2, 3, 4))
    assert np.array_equal(a.read("1:5, ..., ::-2"), cube()[1:5, ..., ::-2])


def test_resize_append_blocks():
    a = zarrive.create_array({}, data=np.arange(10), chunks=(4,))
    a.resize((6,))
    a.resize((8,))
    assert a[...].tolist() == [0, 1, 2, 3, 4, 5, 0, 0]
    assert a.append([9, 9]) == (10,) and a.shape == (10,) and len(a) == 10
    assert a.blocks[1].tolist() == [4, 5, 0, 0] and list(a)[-1] == 9
    out = np.zeros(10, int)
    for block in a.iter_blocks(np.s_[::-1]):
        out[block.place] = block.data
    assert out.tolist() == a[::-1].tolist()


def test_chunk_grid_of_shards():
    a = zarrive.create_array({}, shape=(5, 8), dtype="i1", chunks=(2, 2), shards=(4, 8))
    assert a.cdata_shape == (3, 4) and a.nchunks == 12  # as in zarr-python: those that lie in the array


def test_relative_paths_are_pickled_as_whole_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a = zarrive.create_array("a.zarr", data=np.arange(4))
    monkeypatch.chdir("/")
    assert pickle.loads(pickle.dumps(a))[3] == 3


def test_sharded_counts():
    store = zarrive.counting_store(zarrive.memory_store())
    a = zarrive.create_array(store, data=np.arange(64.0).reshape(8, 8), chunks=(2, 2), shards=(4, 8))
    assert a.chunks == (2, 2) and a.shards == (4, 8) and a.nchunks == 16 and a.nchunks_initialized == 16 and a.nshards_initialized == 2
    b = zarrive.open_array(store)
    store.reset_counts()
    assert b[0, 0] == 0
    first = store.counts
    assert b[3, 7] == 31
    second = store.counts
    assert first["get_requests"] == 2 and second["get_requests"] - first["get_requests"] == 1  # index and chunk, then a chunk


def test_groups(place):
    store = zarrive.open_store(place, "a")
    root = zarrive.create_group(store, attributes={"title": "t"})
    root["a"] = np.arange(3)
    sub = root.create_group("b/c")
    sub.create_array("d", shape=(2,), dtype="string")
    store.flush()
    assert list(root) == ["a", "b"] and len(root) == 2 and "b/c/d" in root and "x" not in root
    assert [name for name, _ in root.members(None)] == ["a", "b", "b/c", "b/c/d"]
    assert isinstance(root["b"], zarrive.Group) and root.get("nothing") is None
    with pytest.raises(KeyError):
        root["nothing"]
    with pytest.raises(FileNotFoundError):
        zarrive.open(store, path="nothing")
    assert zarrive.consolidate_metadata(store).is_consolidated
    assert zarrive.open_group(store).is_consolidated
    with pytest.raises(FileExistsError):
        zarrive.create_group(store)
    if not isinstance(place, str) or not place.endswith("zip"):
        del root["a"]
        assert "a" not in zarrive.open_group(store, use_consolidated=False)
    assert "b" in repr(root.tree()) and "<svg" in zarrive.create_array({}, shape=(4, 4), dtype="i1", chunks=(2, 2))._repr_html_()


def test_copy_keeps_what_it_copies(tmp_path):
    source = zarrive.create_group(str(tmp_path / "s.zarr"), attributes={"a": 1})
    source.create_array("x/y", data=cube(), chunks=(2, 3, 4), shards=(4, 6, 8), dimension_names=["t", "y", "x"], fill_value=7)
    source["words"] = np.array(["a", "bc"])
    told = []
    target = zarrive.copy(source, str(tmp_path / "t.zip"), progress=lambda done, total: told.append((done, total)))
    target.store.flush()
    again = zarrive.open_group(str(tmp_path / "t.zip"))
    y = again["x/y"]
    assert np.array_equal(y[...], cube()) and y.shards == (4, 6, 8) and y.chunks == (2, 3, 4) and y.dimension_names == ("t", "y", "x") and y.fill_value == 7
    assert again.attrs.asdict() == {"a": 1} and again["words"][1] == "bc" and told[-1][0] == told[-1][1]
    old = zarrive.copy(source["x/y"], {}, zarr_format=2)
    assert old.zarr_format == 2 and np.array_equal(old[...], cube()) and old.chunks == (2, 3, 4)


# --- errors ---


def test_errors_are_pythons_and_say_where(tmp_path):
    path = str(tmp_path / "e.zarr")
    a = zarrive.create_array(path, path="t", data=np.arange(8), chunks=(4,))
    for expected in (KeyError, FileNotFoundError, zarrive.NodeNotFoundError, zarrive.Error):
        with pytest.raises(expected):
            zarrive.open_array(path, path="u")
    with pytest.raises(IndexError):
        a[8]
    with pytest.raises(IndexError):
        a[0, 0]
    with pytest.raises(ValueError, match="shape"):
        a[:] = np.zeros(3)
    with pytest.raises(PermissionError):
        zarrive.open_array(path, path="t")[0] = 1
    with pytest.raises(FileExistsError):
        zarrive.create_array(path, path="t", shape=1, dtype="i1")
    with pytest.raises(ValueError):
        zarrive.create_array({}, shape=(-1,), dtype="i1")
    with pytest.raises(NotImplementedError):
        zarrive.create_array({}, shape=1, dtype="i1", codecs=["bytes", "no_such_codec"])
    chunk = tmp_path / "e.zarr" / "t" / "c" / "0"
    chunk.write_bytes(chunk.read_bytes()[:-3])
    with pytest.raises(zarrive.CorruptChunkError) as caught:
        a[0]
    assert caught.value.code == "corrupt_chunk" and caught.value.node == "t" and "c/0" in caught.value.key and path in caught.value.store
    assert str(caught.value).startswith("[corrupt_chunk]") and a[4] == 4
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is zarrive.CorruptChunkError and str(again) == str(caught.value) and again.node == "t"
    chunk.unlink()
    assert a[0] == 0  # missing is the fill value


# --- stores ---


def test_store_calls():
    store = zarrive.memory_store()
    store.setitems({"a/b": b"0123456789", "a/c": np.arange(3, dtype="u1")})
    assert bytes(store.get("a/b", ("range", 2, 3))) == b"234" and bytes(store.get("a/b", ("suffix", 2))) == b"89"
    assert [bytes(v) for v in store.get_ranges("a/b", [("range", 0, 1), ("from", 8)])] == [b"0", b"89"]
    assert store.get_ranges("x", [("from", 0)]) is None and store.get("x") is None
    values = store.get_partial_values([("a/b", ("range", 0, 2)), ("x", None), ("a/c", None)])
    assert [None if v is None else bytes(v) for v in values] == [b"01", None, b"\0\1\2"]
    assert store.list() == ["a/b", "a/c"] and store.list_dir() == ([], ["a"]) and store.size("a/b") == 10 and not store.exists("x")
    assert not store.set_if_absent("a/b", b"other") and store.set_if_absent("d", b"new")
    with pytest.raises(PermissionError):
        zarrive.read_only_store(store).set("e", b"")
    part = zarrive.prefix_store(store, "a")
    assert part.list() == ["b", "c"]
    store.erase_many(["d"])
    store.erase_prefix("a")
    assert store.list() == []
    with pytest.raises(ValueError):
        store.get("a//b")


def test_values_outlive_their_owners():
    store = zarrive.memory_store()
    value = np.arange(100000, dtype="u1")
    store.set("k", value)
    got = np.frombuffer(store.get("k"), "u1")
    store.erase("k")
    del store
    assert np.array_equal(got, value) and not got.flags.writeable


class Recorder:
    """A store in Python that keeps the contexts it got."""

    def __init__(self):
        self.files, self.contexts, self.batches = {}, {}, 0

    def getitems(self, keys, contexts):
        self.batches += 1
        self.contexts.update(contexts)
        return {key: self.files[key] for key in keys if key in self.files}

    def set(self, key, value):
        self.files[key] = bytes(value)

    def erase(self, key):
        self.files.pop(key, None)

    def list(self, prefix):
        return [key for key in self.files if key.startswith(prefix)]


def test_a_store_in_python_gets_one_batch_with_contexts():
    recorder = Recorder()
    a = zarrive.create_array(zarrive.python_store(recorder), path="n", data=cube(), chunks=(3, 7, 4))
    recorder.batches = 0
    recorder.contexts.clear()
    assert np.array_equal(a[1:, :, :5], cube()[1:, :, :5])
    assert recorder.batches == 1 and sorted(recorder.contexts) == ["n/c/0/0/0", "n/c/0/0/1", "n/c/1/0/0", "n/c/1/0/1"]
    context = recorder.contexts["n/c/0/0/1"]
    assert context.node == "n" and context.shape == (6, 7, 8) and str(context.dtype) == "float32" and context.chunk_index == (0, 0, 1)
    assert context.chunk_shape == (3, 7, 4) and context.chunk_selection == (slice(1, 3), slice(0, 7), slice(0, 1))
    assert context.output_selection == (slice(0, 2), slice(0, 7), slice(4, 5)) and context.fill_value == 0
    assert [codec["name"] for codec in context.codecs] == ["bytes", "zstd"]


def test_faults_of_python_stores_are_errors_not_fill():
    class Broken(Recorder):
        def getitems(self, keys, contexts):
            if any("c/" in key for key in keys):
                raise OSError("the line is dead")
            return super().getitems(keys, contexts)

    a = zarrive.create_array(zarrive.python_store(Broken()), shape=(4,), dtype="i4", chunks=(2,))
    with pytest.raises(zarrive.UnavailableError, match="the line is dead"):
        a[...]
    Broken.getitems = lambda self, keys, contexts: {key: 3.5 for key in keys}
    with pytest.raises(zarrive.Error):
        a[...]


def test_getitems_with_contexts():
    store = zarrive.memory_store()
    store.setitems({"a": b"1", "b": b"2"})
    keys = ["a", "b", "c"]
    pinned = zarrive.getitems(store, keys, contexts=zarrive.ConstantMap(keys, zarrive.Context(prototype="pinned")))
    assert {key: (value.space, bytes(value)) for key, value in pinned.items()} == {"a": ("pinned", b"1"), "b": ("pinned", b"2")}
    mixed = zarrive.getitems(store, keys, contexts={"a": zarrive.Context(prototype="pinned")})
    assert mixed["a"].space == "pinned" and mixed["b"].space == "host"


# --- processes and threads ---


def test_pickling(tmp_path):
    a = zarrive.create_array(str(tmp_path / "p.zarr"), path="g/x", data=np.arange(5))
    for thing in (a, a.store, zarrive.open_group(a.store, path="g"), a.data_type):
        again = pickle.loads(pickle.dumps(thing))
        assert type(again) is type(thing)
    b = pickle.loads(pickle.dumps(a))
    b[0] = 9  # a store opened for writing stays so
    assert a[0] == 9 and a == b
    readable = pickle.loads(pickle.dumps(zarrive.open_array(str(tmp_path / "p.zarr"), path="g/x")))
    with pytest.raises(PermissionError):
        readable[0] = 1
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(zarrive.create_array(zarrive.memory_store(), shape=1, dtype="i1"))


def _sum_of(array):
    return int(array[...].sum())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes(tmp_path, method):
    a = zarrive.create_array(str(tmp_path / "m.zarr"), data=np.arange(100000), chunks=(1000,))
    assert _sum_of(a) == 4999950000  # the parent's threads are there
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(_sum_of, [a] * 4).get(timeout=60) == [4999950000] * 4


def test_many_threads(tmp_path):
    a = zarrive.create_array(str(tmp_path / "t.zarr"), data=np.arange(40000).reshape(200, 200), chunks=(50, 50))
    recorder = zarrive.create_array(zarrive.python_store(Recorder()), data=np.arange(1000), chunks=(100,))
    wrong = []

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(30):
            row, column = random.integers(0, 200, 2)
            if a[row, column] != row * 200 + column or a[row : row + 3].shape != (min(3, 200 - row), 200) or recorder[row] != row:
                wrong.append((row, column))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_ctrl_c_stops_a_long_read():
    program = """
import time, numpy as np, zarrive
class Slow(dict):
    def get(self, key):
        if "c/" in key:
            print("reading", flush=True)
            time.sleep(0.05)
        return dict.get(self, key)
    def set(self, key, value): self[key] = bytes(value)
a = zarrive.create_array(zarrive.python_store(Slow()), shape=(1000, 100, 100), dtype="f8", chunks=(1, 100, 100))
try:
    a[...]
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline().startswith("reading")
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate(timeout=60)
    assert output.splitlines()[-1] == "stopped" and child.returncode == 0
    assert time.monotonic() - start < 20  # all of it would take 25 s and more


def test_import_brings_numpy_only():
    code = "import sys, zarrive; print(sorted({m.split('.')[0] for m in sys.modules} & {'zarr', 'xarray', 'dask', 'torch', 'asyncio', 'numcodecs', 'cupy', 'pandas'}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_config(monkeypatch):
    with zarrive.config.set(max_concurrency=1, write_empty_chunks=True):
        a = zarrive.create_array({}, shape=(4,), dtype="i4", chunks=(2,))
        a[...] = 0
        assert a.nchunks_initialized == 2
    a[...] = 0
    assert a.nchunks_initialized == 0
    with pytest.raises(AttributeError):
        zarrive.config.no_such_thing  # noqa: B018
    with pytest.raises(ValueError):
        zarrive.config.device_decode = "sometimes"
    assert zarrive.config.device_decode == "automatic"
    out = subprocess.run([sys.executable, "-c", "import zarrive; print(zarrive.config.threads, zarrive.config.max_concurrency)"],
                         env=os.environ | {"ZARRIVE_NUM_THREADS": "3", "ZARRIVE_MAX_CONCURRENCY": "2"}, capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["3", "2"]
