"""xarray's and Dask's own Zarr engines over our store, with our codec pipeline: they see zarr-python, the bytes go through zarrive."""

import numpy as np
import pytest
import zarrive

xr = pytest.importorskip("xarray", minversion="2024.10")
zarr = pytest.importorskip("zarr", minversion="3.1")
da = pytest.importorskip("dask.array")

import zarrive.zarr  # noqa: E402
from test_xarray import ENGINE, example, write  # noqa: E402

FORMATS = [2, 3]


@pytest.fixture(autouse=True)
def pipeline():
    zarrive.zarr.enable(strict=True)
    yield
    zarrive.zarr.disable()


def places(tmp_path):
    yield "directory", tmp_path / "x.zarr"
    yield "memory", f"memory://xarray-{tmp_path.name}"
    yield "zip", tmp_path / "x.zip"


def the_same(found, expected):
    """Equal, but for the type of strings: object before they are written, StringDType when they are read."""
    for name in expected.variables:
        if expected[name].dtype.kind == "O":
            assert found[name].values.tolist() == expected[name].values.tolist()
    text = [name for name in expected.variables if expected[name].dtype.kind == "O"]
    xr.testing.assert_identical(found.drop_vars(text).load(), expected.drop_vars(text).load())


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("kind", ["directory", "memory", "zip"])
def test_written_and_read_through_our_store(tmp_path, zarr_format, kind):
    place = dict(places(tmp_path))[kind]
    store = zarrive.zarr.Store(place, "w")
    ds = example()
    if kind == "zip":
        ds = ds.drop_vars("station") if zarr_format == 2 else ds
    write(store, ds, zarr_format, consolidated=True)
    store.close()
    again = zarrive.zarr.Store(place, "r")
    by_zarr = xr.open_zarr(again)
    assert by_zarr.t2m.chunks is not None
    the_same(by_zarr, xr.open_dataset(place, engine=ENGINE))
    xr.testing.assert_allclose(by_zarr.t2m.load(), ds.t2m)
    if kind == "directory":  # and by zarr-python alone
        zarrive.zarr.disable()
        the_same(xr.open_zarr(place), xr.open_dataset(place, engine=ENGINE))


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_append(tmp_path, zarr_format):
    ds = example(6).drop_vars("lag")
    store = zarrive.zarr.Store(tmp_path / "x.zarr", "a")
    first, second = ds.isel(time=slice(4)), ds.isel(time=slice(4, 6))
    first.to_zarr(store, zarr_format=zarr_format, encoding={"t2m": {"chunks": (2, 5, 7)}})
    second.to_zarr(store, append_dim="time")
    again = xr.open_dataset(tmp_path / "x.zarr", engine=ENGINE)
    xr.testing.assert_equal(again.t2m.load(), ds.t2m)
    assert (again.time.values == ds.time.values).all()


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_regions(tmp_path, zarr_format):
    """A template first, its parts by several writers, as it is done on clusters."""
    ds = example(6)[["t2m", "count"]].drop_vars("area")
    store = zarrive.zarr.Store(tmp_path / "x.zarr", "a")
    template = xr.zeros_like(ds.chunk({"time": 2}))
    template.to_zarr(store, zarr_format=zarr_format, compute=False, encoding={"t2m": {"chunks": (2, 5, 7)}})
    for start in (4, 0, 2):
        part = ds[["t2m"]].isel(time=slice(start, start + 2)).drop_vars(["lat", "lon", "time"])
        part.to_zarr(store, region={"time": slice(start, start + 2)})
    ds[["count"]].drop_vars(["lat", "lon"]).to_zarr(store, region={"lat": slice(0, 5), "lon": slice(0, 7)})
    again = xr.open_dataset(tmp_path / "x.zarr", engine=ENGINE)
    xr.testing.assert_equal(again.load(), ds)
    # By labels: xarray finds the place itself.
    half = ds[["t2m"]].isel(time=slice(2, 4)) * 2
    half.drop_vars(["lat", "lon"]).to_zarr(store, region="auto")
    np.testing.assert_array_equal(xr.open_dataset(tmp_path / "x.zarr", engine=ENGINE).t2m[2:4], half.t2m)


def test_trees(tmp_path):
    tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs={"a": 1}), "/coarse": example()[["t2m"]], "/coarse/inner": xr.Dataset({"z": ("k", [1, 2])})})
    tree.to_zarr(zarrive.zarr.Store(tmp_path / "x.zarr", "w"))
    xr.testing.assert_identical(xr.open_datatree(tmp_path / "x.zarr", engine=ENGINE).load(), tree)
    xr.testing.assert_identical(xr.open_datatree(zarrive.zarr.Store(tmp_path / "x.zarr", "r"), engine="zarr").load(), tree)
    # Our engine takes zarr-python's kind of store, too.
    xr.testing.assert_identical(xr.open_datatree(zarrive.zarr.Store(tmp_path / "x.zarr", "r"), engine=ENGINE).load(), tree)


def test_dask_to_and_from_zarr(tmp_path):
    import dask

    values = np.random.default_rng(3).random((20, 30))
    with dask.config.set(scheduler="threads"):
        x = da.from_array(values, chunks=(8, 10))
        x.to_zarr(zarrive.zarr.Store(tmp_path / "x.zarr", "a"), component="v")
        assert zarrive.open_array(tmp_path / "x.zarr", path="v").chunks == (8, 10)
        again = da.from_zarr(zarrive.zarr.Store(tmp_path / "x.zarr", "r"), component="v")
        assert again.chunks == x.chunks
        np.testing.assert_array_equal(again, values)
        # Into an array that is there, and a part of it.
        target = zarr.open_array(zarrive.zarr.Store(tmp_path / "x.zarr", "a"), path="v", mode="r+")
        da.to_zarr(da.from_array(values[:8] + 1, chunks=(8, 10)), target, region=(slice(8, 16), slice(None)))
        np.testing.assert_array_equal(zarrive.open_array(tmp_path / "x.zarr", path="v")[8:16], values[:8] + 1)


def test_cluster_writes_through_our_store(tmp_path):
    distributed = pytest.importorskip("distributed")
    ds = example(6)[["t2m"]].drop_vars("area")
    options = {"n_workers": 2, "threads_per_worker": 2, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        ds.chunk({"time": 2}).to_zarr(zarrive.zarr.Store(tmp_path / "x.zarr", "a"), zarr_format=3)
        found = xr.open_zarr(zarrive.zarr.Store(tmp_path / "x.zarr", "r")).compute()
    xr.testing.assert_equal(found, ds)
