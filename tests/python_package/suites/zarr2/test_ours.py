"""What zarr-python's own tests do not ask: contexts, batches, ranges, names, life beside other processes."""

import ctypes
import doctest
import importlib
import multiprocessing
import os
import pickle
import pkgutil
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numcodecs
import numpy as np
import pytest
import zarr
import zarr.context
import zarr.util
from conftest import KINDS, make_store

import zarrive.zarr2
from zarrive import _core
from zarrive.zarr2 import ConstantMap, Context, Store
from zarrive.zarr2.contexts import Wanted, space_of


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def counted():
    counting = _core.counting_store(_core.memory_store())
    return Store(counting), counting


# Batches


def test_a_batch_is_one_batch():
    store, counting = counted()
    values = {f"{i}": bytes([i]) * 10 for i in range(100)}
    store.setitems(values)
    assert counting.counts["set_batches"] == 1 and counting.counts["set_requests"] == 100
    assert store.getitems([*values, "absent"], contexts={}) == values
    assert counting.counts["get_batches"] == 1 and counting.counts["get_requests"] == 101
    counting.reset_counts()
    store.update({"a": b"1"}, b=b"2")
    assert counting.counts["set_batches"] == 1
    store.get_ranges([("0", (0, 1)), ("1", (2, 3)), ("0", (5, None))])
    assert counting.counts["get_batches"] == 1


def test_an_array_reads_and_writes_in_one_batch():
    store, counting = counted()
    z = zarr.create((100, 100), chunks=(10, 10), dtype="f4", store=store)
    counting.reset_counts()
    z[:] = 1
    assert counting.counts["set_batches"] == 1 and counting.counts["set_requests"] == 100
    counting.reset_counts()
    assert (z[:] == 1).all()
    assert counting.counts["get_batches"] <= 2  # the documents may be looked at
    assert 100 <= counting.counts["get_requests"] <= 101


def test_contexts_are_named_only():
    with pytest.raises(TypeError):
        Store().getitems(["a"], {})
    with pytest.raises(TypeError):
        Store().setitems({"a": b"1"}, {})
    assert Store().getitems(["a"], contexts={}) == Store().getitems(["a"]) == {}


def test_keys_are_normalized():
    store = Store(normalize_keys=True)
    store["/A//b\\C/"] = b"1"
    assert list(store) == ["a/b/c"]
    assert store.getitems(["a/b/c", "//a/B/c", "A/B/C"], contexts={}) == dict.fromkeys(
        ["a/b/c", "//a/B/c", "A/B/C"], b"1"
    )
    assert "" not in store and 5 not in store and store.getitems(["", "/"], contexts={}) == {}
    for bad in ("../a", "a/./b", "a/../b"):
        with pytest.raises(ValueError):
            store[bad] = b"1"


@pytest.mark.parametrize("kind", KINDS)
def test_values(kind):
    store = make_store(kind)
    fortran = np.asfortranarray(np.arange(12, dtype=">i4").reshape(3, 4))
    store.setitems(
        {
            "empty": b"",
            "empty array": np.empty((0, 3)),
            "view": memoryview(b"abc")[1:],
            "empty view": memoryview(b""),
            "dates": np.array(["2020-01-01"], "M8[D]"),
            "fortran": fortran,
            "mine": np.arange(3).view(np.ndarray),
        }
    )
    assert store["empty"] == store["empty array"] == store["empty view"] == b""
    assert store["view"] == b"bc"
    assert store["fortran"] == fortran.tobytes("A") != fortran.tobytes("C")
    assert np.frombuffer(store["dates"], "M8[D]")[0] == np.datetime64("2020-01-01")
    for wrong in ([1, 2], "text", None, 5, np.array([b"a", None])):
        with pytest.raises(TypeError):
            store["wrong"] = wrong
    with pytest.raises((TypeError, ValueError)):
        store["wrong"] = np.arange(10)[::2]
    assert "wrong" not in store


def test_a_failure_is_not_a_missing_key(tmp_path):
    path = tmp_path / "a.zip"
    with Store(path, mode="w") as store:
        z = zarr.create(100, chunks=10, dtype="u1", compressor=None, fill_value=7, store=store)
        z[:] = 201
    damaged = path.read_bytes().replace(b"\xc9" * 10, b"\xc9" * 9 + b"\xca", 1)
    path.write_bytes(damaged)
    store = Store(path, mode="r")
    with pytest.raises(Exception) as failure:
        zarr.open_array(store, mode="r")[:]
    assert not isinstance(failure.value, KeyError)


# Contexts


def test_context_takes_zarr_pythons_place():
    ours, theirs = Context(meta_array="like"), zarr.context.Context(meta_array="like")
    assert ours == theirs == {"meta_array": "like"}
    keys = ["a", "b"]
    assert ConstantMap(keys, ours) == zarr.util.ConstantMap(keys, theirs) == {"a": ours, "b": ours}
    constant = ConstantMap(frozenset(keys), constant=ours)
    assert (
        sorted(constant) == keys and len(constant) == 2 and "c" not in constant and constant.get("c") is None
    )
    assert eval(repr(ConstantMap(keys, {"x": 1}))) == {"a": {"x": 1}, "b": {"x": 1}}
    with pytest.raises(KeyError):
        constant["c"]
    with pytest.raises(TypeError):
        constant["a"] = ours


def test_further_keys_reach_the_core():
    native = Wanted(
        Context(
            version=1,
            key="0.1",
            node="a/b",
            shape=(100, 50),
            dtype=">f4",
            chunk_shape=(10, 10),
            chunk_index=(0, 1),
            compressor=numcodecs.Blosc("zstd", 3),
            filters=[numcodecs.Delta("<f4")],
            fill_value=0,
            chunk_selection=(slice(0, 5), slice(2, 10)),
            output_selection=(slice(0, 5), slice(0, 8)),
            expected_size=400,
            codec_parameters={"bscale": 2.0},
            prototype="host",
        )
    ).native
    assert (native.version, native.key, native.node, native.prototype) == (1, "0.1", "a/b", "host")
    assert native.shape == (100, 50) and native.chunk_shape == (10, 10) and native.chunk_index == (0, 1)
    assert native.chunk_selection == (slice(0, 5), slice(2, 10)) and native.output_selection == (
        slice(0, 5),
        slice(0, 8),
    )
    assert native.expected_size == 400 and native.codec_parameters == {"bscale": 2.0}
    assert [codec["name"] for codec in native.codecs] == ["delta", "blosc"]
    assert native.codecs[1]["configuration"]["cname"] == "zstd"


def test_contexts_reach_stores_written_in_python():
    class Store_:
        takes_context = True
        seen = {}

        def get(self, key, context=None):
            self.seen[key] = context
            return None if key.startswith("absent") else key.encode()

    written = Store_()
    store = Store(written)
    assert not store.is_writeable() and not store.is_listable()
    context = Context(
        key="0.1",
        chunk_shape=(2, 3),
        dtype="i4",
        shape=(4, 6),
        compressor=numcodecs.LZ4(),
        prototype="pinned",
    )
    assert store.getitems(["a/0.1", "b/0", "absent"], contexts={"a/0.1": context}) == {
        "a/0.1": b"a/0.1",
        "b/0": b"b/0",
    }
    seen = written.seen["a/0.1"]
    assert (seen.key, seen.chunk_shape, seen.shape, seen.prototype) == ("0.1", (2, 3), (4, 6), "pinned")
    assert [codec["name"] for codec in seen.codecs] == ["lz4"]
    assert getattr(written.seen["b/0"], "key", None) != "0.1"


@pytest.mark.parametrize("constant_map", [ConstantMap, zarr.util.ConstantMap])
def test_on_the_host(constant_map):
    store = Store()
    store.setitems({"a": b"1", "b": b"2"})
    for context in (
        {},
        Context(meta_array=np.empty(())),
        Context(meta_array="no array"),
        Context(prototype="host"),
        Context(prototype="pinned"),
        Context(key="x", chunk_shape=(2,)),
        Context(dtype=object),
        Context(dtype=[("a", "i4")], fill_value=None),
        Context(compressor=None, filters=None, meta_array=None),
        {"unknown": 1},
    ):
        found = store.getitems(["a", "b", "c"], contexts=constant_map(["a", "b", "c"], constant=context))
        assert found == {"a": b"1", "b": b"2"}


def test_a_mapping_may_make_contexts_as_it_is_asked():
    class Making(dict):
        def get(self, key, default=None):
            return Context(prototype="host", node=key)

    store = Store()
    store.setitems({str(i): b"x" for i in range(50)})
    assert len(store.getitems([str(i) for i in range(50)], contexts=Making(a=1))) == 50


def test_each_key_where_it_is_wanted(cupy):
    store = make_store("filesystem")
    values = {
        "x/.zarray": b"{}",
        ".zmetadata": b"{}",
        "x/0": b"host",
        "y/0": b"device",
        "y/1": b"",
        "z/0": b"unasked",
    }
    store.setitems(values)
    on_device = Context(meta_array=cupy.empty(()))
    contexts = {key: on_device for key in values if key not in ("x/0", "z/0")}
    contexts["x/0"] = Context(meta_array=np.empty(()))
    found = store.getitems([*values, "absent"], contexts=contexts)
    assert set(found) == set(values)
    for key, value in found.items():
        if key.startswith("y/"):
            assert isinstance(value, cupy.ndarray)
            assert cupy.asnumpy(value).tobytes() == values[key]
        else:
            assert value == values[key]
    named = store.getitems(["y/0"], contexts={"y/0": Context(prototype="cuda:0")})["y/0"]
    assert isinstance(named, cupy.ndarray) and cupy.asnumpy(named).tobytes() == b"device"
    assert space_of(cupy.empty(())) == "cuda:0"
    first, missing, last = store.get_ranges(
        [("y/0", (1, 2)), ("y/9", (0, 1)), ("y/0", (-3, 2))], contexts=ConstantMap(["y/0", "y/9"], on_device)
    )
    assert missing is None
    assert cupy.asnumpy(first).tobytes() == b"ev" and cupy.asnumpy(last).tobytes() == b"ic"


@pytest.mark.parametrize("kind", KINDS)
def test_values_from_a_device(cupy, kind):
    store = make_store(kind)
    array = cupy.arange(100)
    store.setitems({"a": array, "b": b"host"})
    assert store["a"] == np.arange(100).tobytes() and store["b"] == b"host"
    with pytest.raises((TypeError, ValueError)):
        store["c"] = array[::2]


def test_values_that_a_stream_has_yet_to_write(cupy):
    """Of the double alone: the streams of its driver do nothing until somebody waits for them."""
    cupy_double = pytest.importorskip("cupy_double")

    class Late:
        def __init__(self, value, stream):
            self._array = cupy.empty(len(value), "u1")
            self._stream = stream
            driver, image = cupy_double.driver(), np.frombuffer(value, "u1")
            driver.call_in_context(
                "cuMemcpyHtoDAsync_v2",
                ctypes.c_ulonglong(self._array.__cuda_array_interface__["data"][0]),
                ctypes.c_void_p(image.ctypes.data),
                ctypes.c_size_t(image.nbytes),
                self._stream,
                wait=False,
            )

        @property
        def __cuda_array_interface__(self):
            return self._array.__cuda_array_interface__ | {
                "stream": self._stream.value if self._stream else 1
            }

    own = ctypes.c_void_p()
    cupy_double.driver().call_in_context("cuStreamCreate", ctypes.byref(own), 0)
    store = Store()
    for stream in (own, None):
        store["late"] = Late(b"written late", stream)
        assert store["late"] == b"written late"


# Ranges


@pytest.mark.parametrize("kind", KINDS)
def test_ranges(kind):
    store = make_store(kind)
    value = bytes(range(50))
    store["a"] = value
    ranges = [(start, length) for start in range(-60, 61, 7) for length in (None, 0, 1, 13, 100)]
    expected = [
        value[start:]
        if length is None
        else value[start : start + length if start >= 0 or start + length < 0 else None]
        for start, length in ranges
    ]
    assert store.get_ranges([("a", both) for both in ranges]) == expected
    assert store.get_ranges([("b", both) for both in ranges]) == [None] * len(ranges)
    assert store.get_ranges([]) == []


def test_partial_values_only_on_request():
    assert not hasattr(Store(), "get_partial_values")  # else no contexts would come
    store = Store(partial_values=True)
    store["a"] = b"abcdef"
    assert store.supports_efficient_get_partial_values and not store.supports_efficient_set_partial_values()
    assert store.get_partial_values([("a", (2, 2))]) == [b"cd"]
    store.set_partial_values([("a", 2, b"XY"), ("a", -1, b"Z")])
    assert store["a"] == b"abXYeZ"
    assert pickle.loads(pickle.dumps(store)).get_partial_values([("a", (2, 2))]) == [b"XY"]


def test_uncompressed_partial_reads_only_what_it_needs():
    counting = _core.counting_store(_core.memory_store())
    store = Store(counting, partial_values=True)
    z = zarr.create(100_000, dtype="u1", chunks=100_000, compressor=None, store=store)
    z[:] = np.arange(100_000) % 251
    z = zarr.Array(store, partial_decompress=True)
    counting.reset_counts()
    assert z[5_000:5_010].tolist() == [i % 251 for i in range(5_000, 5_010)]
    assert counting.counts["bytes_read"] < 2_000


def test_set_ranges():
    store = Store()
    store.set_ranges([("a", 0, b"abc"), ("a", 3, b"def"), ("b", 0, b"x"), ("a", 1, b"--")])
    assert store["a"] == b"a--def" and store["b"] == b"x"
    with pytest.raises(ValueError):
        store.set_ranges([("b", 2, b"y")])
    assert store["b"] == b"x"


# Names


@pytest.mark.parametrize("kind", KINDS)
def test_rename(kind):
    store = make_store(kind)
    store.setitems({f"a/b/{i}": bytes([i]) for i in range(200)} | {"old/0": b"", "a/x": b"x", "k": b"k"})
    store.rename("a/b", "old")  # replaces what was there
    assert {key: store[key] for key in store if key.startswith("old/")} == {
        f"old/{i}": bytes([i]) for i in range(200)
    }
    store.rename("/old/", "new/place")
    assert store.listdir() == ["a", "k", "new"] and len(store.listdir("new/place")) == 200
    store.rename("k", "new/k")
    assert store["new/k"] == b"k" and "k" not in store
    store.rename("a", "a")
    for wrong, error in (
        (("a", "a/b"), ValueError),
        (("nothing", "b"), KeyError),
        (("", "b"), ValueError),
        (("new", ""), ValueError),
    ):
        with pytest.raises(error):
            store.rename(*wrong)
    assert store.listdir() == ["a", "new"] and store.listdir("new") == ["k", "place"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_like_a_dict(kind, seed):
    """Random calls; a dict says what they should do. Folders are called d, keys k: any store has both."""
    rng = random.Random(seed)
    store, model = make_store(kind), {}

    def folder():
        return "/".join(f"d{rng.randrange(3)}" for _ in range(rng.randrange(3)))

    def key():
        return "/".join(filter(None, [folder(), f"k{rng.randrange(4)}"]))

    def below(path):
        return [k for k in model if not path or k.startswith(path + "/")]

    for _ in range(300):
        act = rng.randrange(10)
        path, name = folder(), key()
        if act <= 2:
            new = {key(): rng.randbytes(rng.randrange(20)) for _ in range(rng.randrange(5))}
            store.setitems(new)
            model.update(new)
        elif act == 3:
            assert (name in store) == (name in model)
            if name in model:
                del store[name], model[name]
        elif act == 4 and rng.random() < 0.3:
            store.rmdir(path)
            for k in below(path):
                del model[k]
        elif act == 5:
            other = folder()
            if (
                path
                and other
                and below(path)
                and not (f"{other}/".startswith(f"{path}/") or f"{path}/".startswith(f"{other}/"))
            ):
                store.rename(path, other)
                moved = {other + k[len(path) :]: model[k] for k in below(path)}
                for k in {*below(path), *below(other)}:
                    del model[k]
                model.update(moved)
        elif act == 6:
            keys = [key() for _ in range(6)]
            assert store.getitems(keys, contexts={}) == {k: model[k] for k in keys if k in model}
        elif act == 7:
            start = len(path) + 1 if path else 0
            assert store.listdir(path) == sorted({k[start:].split("/")[0] for k in below(path)})
            assert store.getsize(path) == sum(len(model[k]) for k in below(path) if "/" not in k[start:])
        elif act == 8 and name in model:
            store.set_ranges([(name, len(model[name]), b"+")])
            model[name] += b"+"
        elif act == 9 and rng.random() < 0.2:
            store.close()
            store = pickle.loads(pickle.dumps(store))
        assert len(store) == len(model)
    assert dict(store.items()) == model


def test_chunks_of_another_store_are_removed():
    documents, chunks = Store(), Store()
    z = zarr.create(
        20, chunks=10, dtype="i4", fill_value=0, write_empty_chunks=False, store=documents, chunk_store=chunks
    )
    z[:] = 1
    assert sorted(chunks) == ["0", "1"]
    z[:10] = 0
    assert sorted(chunks) == ["1"] and z[:].tolist() == [0] * 10 + [1] * 10


# Life


@pytest.mark.parametrize("kind", ["filesystem", "zip"])
def test_pickles_name_the_place(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "a.zip" if kind == "zip" else "a.zarr"
    store = Store(name, mode="w", dimension_separator="/", normalize_keys=True)
    store["X"] = b"1"
    dump = pickle.dumps(store)
    monkeypatch.chdir("/")
    again = pickle.loads(dump)
    assert (
        again["x"] == b"1" and again == store and again._dimension_separator == "/"
    )  # not emptied a second time
    read_only = pickle.loads(pickle.dumps(Store(tmp_path / name, mode="r")))
    with pytest.raises(PermissionError):
        read_only["x"] = b"2"
    assert Store(_core.open_store(str(tmp_path / name), "r")) == read_only
    assert Store(tmp_path / "other.zarr") != store


def test_modes(tmp_path):
    path = tmp_path / "a.zarr"
    for mode in ("r", "r+"):
        with pytest.raises(FileNotFoundError):
            Store(path, mode=mode)
    Store(path, mode="a")["a"] = b"1"
    assert Store(path, mode="r+")["a"] == b"1"
    with pytest.raises(FileExistsError):
        Store(path, mode="w-")
    assert len(Store(path, mode="w")) == 0
    with pytest.raises(ValueError):
        Store(path, mode="q")
    with pytest.raises(ValueError):
        Store(path, dimension_separator="-")
    with pytest.raises(TypeError):
        Store(5)


def test_memory_stores_with_a_name():
    a = Store("memory://zarr2-named")
    assert not a
    a["k"] = b"1"
    assert Store("memory://zarr2-named")["k"] == b"1"
    a.close()
    assert a["k"] == b"1"
    assert pickle.loads(pickle.dumps(a)) == a


def test_many_threads(tmp_path):
    store = Store(tmp_path / "a.zip")
    z = zarr.create((64, 64), chunks=(8, 8), dtype="i4", store=store)

    def work(i):
        z[8 * i : 8 * i + 8] = i
        return z[8 * i : 8 * i + 8].tolist() == [[i] * 64] * 8

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    store.close()
    assert (zarr.open_array(Store(tmp_path / "a.zip"), mode="r")[:, 0] == np.arange(64) // 8).all()


def _sum(z):
    return int(z[:].sum())


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_other_processes(how, tmp_path):
    z = zarr.create(100, chunks=10, store=Store(tmp_path / "a.zarr"), dtype="i8")
    z[:] = np.arange(100)
    assert _sum(z) == 4950
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map(_sum, [z] * 4) == [4950] * 4


def test_without_zarr_python():
    program = """
import importlib.metadata as metadata, sys
def version(name):
    raise metadata.PackageNotFoundError(name)
metadata.version = version
import zarrive.zarr2
store = zarrive.zarr2.Store()
store["a"] = b"1"
with store:
    contexts = zarrive.zarr2.ConstantMap(["a"], zarrive.zarr2.Context(prototype="host"))
    assert store.getitems(["a", "b"], contexts=contexts) == {"a": b"1"}
assert store.is_listable() and not hasattr(zarrive.zarr2, "StoreV3")
assert "zarr" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_documented_examples():
    tried = 0
    for module in pkgutil.walk_packages(zarrive.zarr2.__path__, "zarrive.zarr2."):
        tried += doctest.testmod(importlib.import_module(module.name), raise_on_error=True).attempted
    tried += doctest.testmod(zarrive.zarr2, raise_on_error=True).attempted
    page = os.path.join(os.environ["ZARRIVE_SOURCE"], "docs", "zarr-python-2.md")
    tried += doctest.testfile(page, module_relative=False, raise_on_error=True).attempted
    assert tried >= 17
