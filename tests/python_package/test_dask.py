"""Arrays under Dask: in threads, and in worker processes that get a handle each."""

import os
import pickle

import numpy as np
import pytest
import zarrive

da = pytest.importorskip("dask.array")
import dask  # noqa: E402


@pytest.fixture
def data():
    return np.random.default_rng(1).normal(size=(40, 30)).astype("f4")


LAYOUTS = {"plain": {"chunks": (7, 8)}, "sharded": {"chunks": (2, 5), "shards": (10, 15)}, "v2": {"chunks": (7, 8), "zarr_format": 2}}


@pytest.fixture(params=LAYOUTS)
def array(request, tmp_path, data):
    return zarrive.create_array(tmp_path / "a.zarr", data=data, **LAYOUTS[request.param])


def test_read(array, data):
    x = da.from_array(array, chunks=array.write_chunks)
    assert x.shape == data.shape and x.dtype == data.dtype
    assert type(x._meta) is np.ndarray
    assert x.chunks[0][0] == array.write_chunks[0]
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(x, data)
        np.testing.assert_allclose(x.mean(axis=0), data.mean(axis=0), rtol=1e-5)


def test_whole_stored_objects_are_the_default(array):
    """Without `chunks` Dask takes multiples of what is stored under one key: of a sharded array, of its shards."""
    with dask.config.set({"array.chunk-size": "2KiB"}):
        x = da.from_array(array)
    assert all(edges[0] % edge == 0 for edges, edge in zip(x.chunks, array.write_chunks, strict=True))


def test_each_stored_object_is_read_once(tmp_path, data):
    array = zarrive.create_array(tmp_path / "a.zarr", data=data, **LAYOUTS["sharded"])
    counting = zarrive.counting_store(array.store)
    counted = zarrive.open_array(counting)
    x = da.from_array(counted, chunks=counted.write_chunks)
    counting.reset_counts()
    np.testing.assert_array_equal(x.compute(scheduler="threads"), data)
    assert counting.counts["get_requests"] == 8


def test_indices_that_dask_folds_into_the_read(array, data):
    x = da.from_array(array, chunks=array.write_chunks)
    rows = [33, 2, 2, 17]
    for picked, expected in (
        (x[5:30:3, ::-1], data[5:30:3, ::-1]),
        (x[rows], data[rows]),
        (x[:, 4][10], data[10, 4]),
        (x[x > 1], data[data > 1]),
        (x.vindex[rows, [0, 1, 2, 29]], data[rows, [0, 1, 2, 29]]),
        (x[None, 3:5], data[None, 3:5]),
        (x[0:0], data[0:0]),
    ):
        np.testing.assert_array_equal(picked.compute(scheduler="sync"), expected)


@pytest.mark.parametrize(("layout", "scheduler"), [("plain", "threads"), ("v2", "threads"), ("sharded", "threads"), ("sharded", "processes")])
def test_write_without_a_lock(tmp_path, data, layout, scheduler):
    """Pieces that are whole stored objects are written at the same time."""
    target = zarrive.create_array(tmp_path / "b.zarr", shape=data.shape, dtype=data.dtype, **LAYOUTS[layout])
    with dask.config.set(scheduler=scheduler, num_workers=2):
        da.store(da.from_array(data, chunks=target.write_chunks) + 1, target, lock=False)
        np.testing.assert_array_equal(target[...], data + 1)
        stored = da.store(da.from_array(data[:20], chunks=(10, 15)), target, lock=False, regions=(slice(20, 40), slice(None)), return_stored=True)
        np.testing.assert_array_equal(target[20:], data[:20])
        np.testing.assert_array_equal(stored, data[:20])


def test_types(tmp_path):
    for i, values in enumerate(
        (
            np.array(["a", "ü", ""], np.dtypes.StringDType()),
            np.array(["2020-01-01", "NaT", "1999-12-31"], "M8[D]"),
            np.array([(1, 2.5), (3, 4.5), (0, 0)], [("x", "i2"), ("y", "f8")]),
            np.array([1 + 2j, 0, 3]),
        )
    ):
        array = zarrive.create_array(tmp_path / str(i), data=values, chunks=(2,))
        x = da.from_array(array, chunks=array.chunks)
        assert x.dtype == values.dtype
        np.testing.assert_array_equal(x.compute(scheduler="sync"), values)


def test_array_without_dimensions_and_empty_ones(tmp_path):
    for name, values in (("scalar", np.array(3.5)), ("empty", np.empty((0, 4)))):
        array = zarrive.create_array(tmp_path / name, data=values, **({"chunks": (2, 2)} if values.ndim else {}))
        np.testing.assert_array_equal(da.from_array(array).compute(scheduler="sync"), values)


def test_tokens(array, data, tmp_path):
    """The same array has the same name in a graph; another one has another."""
    name = da.from_array(zarrive.open_array(array.store)).name
    assert da.from_array(zarrive.open_array(array.store)).name == name
    other = zarrive.create_array(tmp_path / "other.zarr", data=data)
    assert da.from_array(other).name != name


def test_what_exists_in_this_process_only_says_so(data):
    array = zarrive.create_array(zarrive.memory_store(), data=data)
    np.testing.assert_array_equal(da.from_array(array).compute(scheduler="threads"), data)
    with pytest.raises(TypeError, match="exists in this process only"):
        pickle.dumps(array)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 2, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def test_cluster_of_processes(cluster, array, data, tmp_path):
    """Workers are processes of their own that open the store by themselves."""
    x = da.from_array(array, chunks=array.write_chunks)
    np.testing.assert_array_equal(x.compute(), data)
    target = zarrive.create_array(tmp_path / "b.zarr", shape=data.shape, dtype=data.dtype, chunks=(10, 15))
    da.store(x.rechunk((10, 15)) * 2, target, lock=False)
    np.testing.assert_array_equal(target[...], data * 2)
    where = cluster.run(os.getpid)
    assert len(where) == 2 and os.getpid() not in where.values()
    total = cluster.submit(lambda a: float(a[...].sum()), array).result()
    assert total == pytest.approx(data.sum(), rel=1e-4)


def test_errors_come_back_from_the_workers(cluster, tmp_path, data):
    """With their class and what they say."""
    array = zarrive.create_array(tmp_path / "a.zarr", data=data, chunks=(20, 30))
    array.store.set("c/1/0", b"not zstd")
    with pytest.raises(zarrive.CorruptChunkError, match="c/1/0") as caught:
        da.from_array(array, chunks=array.chunks).compute()
    assert caught.value.key == "c/1/0"


def test_xarray_on_a_cluster(cluster, tmp_path):
    xr = pytest.importorskip("xarray")
    from zarrive.xarray import ZarriveBackendEntrypoint

    group = zarrive.create_group(tmp_path / "x.zarr")
    values = np.arange(24.0).reshape(4, 6)
    group.create_array("v", data=values, chunks=(1, 3), dimension_names=["y", "x"])
    ds = xr.open_dataset(tmp_path / "x.zarr", engine=ZarriveBackendEntrypoint, chunks={})
    np.testing.assert_array_equal(ds.v.sum("y").compute(), values.sum(axis=0))
