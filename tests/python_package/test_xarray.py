"""The xarray backend, beside xarray's own engine on the same files."""

import asyncio
import doctest
import importlib
import json
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import zarrive

xr = pytest.importorskip("xarray", minversion="2024.10")
zarr = pytest.importorskip("zarr", minversion="3.1")
pd = pytest.importorskip("pandas")

import zarrive.xarray  # noqa: E402

# The class works where the package is not installed, too.
ENGINE = zarrive.xarray.ZarriveBackendEntrypoint
FORMATS = [2, 3]


def example(times=6):
    """A dataset with everything that is encoded in some way: times, scales, fill values, strings, coordinates without an index."""
    rng = np.random.default_rng(times)
    shape = (times, 5, 7)
    t2m = rng.normal(280, 10, shape)
    t2m[0, 1, 2] = np.nan
    return xr.Dataset(
        {
            "t2m": (("time", "lat", "lon"), t2m, {"units": "K"}),
            "packed": (("time", "lat", "lon"), np.round(t2m, 1), {"long_name": "scaled to int16"}),
            "count": (("lat", "lon"), rng.integers(0, 100, shape[1:], dtype="i4")),
            "flag": (("lat",), np.array([True, False, True, True, False])),
            "station": (("lat",), np.array(["a", "bb", "", "zürich", "日本"], dtype=object)),
            "wave": (("lon",), rng.normal(size=7) + 1j),
            "lag": (("time",), pd.to_timedelta(np.arange(times), "h")),
            "scalar": ((), 3.5),
        },
        coords={
            "time": pd.date_range("2020-01-01", periods=times, freq="6h"),
            "lat": np.linspace(-90, 90, 5),
            "lon": np.arange(7) * 51.0,
            "area": (("lat", "lon"), rng.random(shape[1:])),
        },
        attrs={"title": "example", "levels": [1, 2]},
    )


ENCODING = {
    "packed": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768, "chunks": (2, 5, 4)},
    "t2m": {"chunks": (2, 3, 7)},
}


def write(path, ds, zarr_format, **options):
    encoding = {name: dict(e) for name, e in ENCODING.items() if name in ds}
    if zarr_format == 3 and "t2m" in encoding:
        encoding["t2m"] = {"chunks": (1, 3, 7), "shards": (2, 6, 7)}
    ds.to_zarr(path, zarr_format=zarr_format, encoding=encoding, **options)
    return path


@pytest.fixture(params=[(f, c) for f in FORMATS for c in (True, False)], ids=lambda p: f"v{p[0]}-{'consolidated' if p[1] else 'plain'}")
def stored(request, tmp_path):
    zarr_format, consolidated = request.param
    return write(tmp_path / "x.zarr", example(), zarr_format, consolidated=consolidated)


def test_equal_to_xarrays_own_engine(stored):
    theirs = xr.open_dataset(stored, engine="zarr", consolidated=None)
    ours = xr.open_dataset(stored, engine=ENGINE)
    xr.testing.assert_identical(ours.load(), theirs.load())
    assert set(ours.indexes) == set(theirs.indexes)
    for name in ours.variables:
        assert ours[name].dtype == theirs[name].dtype, name
        for key in ("chunks", "shards", "scale_factor", "add_offset", "units", "dtype"):
            assert ours[name].encoding.get(key) == theirs[name].encoding.get(key), (name, key)
        for key in ("_FillValue", "fill_value"):
            one, other = (ds[name].encoding.get(key) for ds in (ours, theirs))
            assert (one is None) == (other is None), (name, key)
            if one is not None:
                np.testing.assert_array_equal(one, other)


def test_not_decoded_it_is_equal_too(stored):
    options = {"decode_cf": False, "consolidated": None}
    xr.testing.assert_identical(xr.open_dataset(stored, engine=ENGINE, **options).load(), xr.open_dataset(stored, engine="zarr", **options).load())


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_fill_values_as_masks(tmp_path, zarr_format):
    """In v2 an array's fill value means "missing", in v3 it does not; both can be told otherwise."""
    names = {"dimension_names": ["x"]} if zarr_format == 3 else {"attributes": {"_ARRAY_DIMENSIONS": ["x"]}}
    group = zarrive.create_group(tmp_path / "x.zarr", zarr_format=zarr_format)
    group.create_array("v", shape=(4,), dtype="i2", chunks=(2,), fill_value=7, **names)[:2] = [1, 7]
    for as_mask in (None, True, False):
        ds = xr.open_dataset(tmp_path / "x.zarr", engine=ENGINE, use_zarr_fill_value_as_mask=as_mask)
        masked = zarr_format == 2 if as_mask is None else as_mask
        np.testing.assert_array_equal(ds.v, [1, np.nan, np.nan, np.nan] if masked else [1, 7, 7, 7])
        assert ds.v.encoding.get("_FillValue") == (7 if masked else None)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_consolidated_metadata_is_used_and_can_be_asked_for(tmp_path, zarr_format):
    path = write(tmp_path / "x.zarr", example(), zarr_format, consolidated=True)
    opens = {}
    for consolidated in (None, False):
        counting = zarrive.counting_store(zarrive.open_store(path))
        xr.open_dataset(counting, engine=ENGINE, consolidated=consolidated, create_default_indexes=False, decode_cf=False)
        opens[consolidated] = counting.counts["get_requests"]
    assert opens[None] < opens[False]
    plain = write(tmp_path / "plain.zarr", example(), zarr_format, consolidated=False)
    with pytest.raises((KeyError, ValueError)):
        xr.open_dataset(plain, engine=ENGINE, consolidated=True)
    with pytest.raises(KeyError):
        xr.open_dataset(path, engine=ENGINE, zarr_format=5 - zarr_format)


def test_lazy_indexing(stored):
    lazy, whole = xr.open_dataset(stored, engine=ENGINE), example()
    points = {"time": xr.DataArray([5, 0, 0], dims="p"), "lat": xr.DataArray([1, 4, 0], dims="p")}
    for pick in (
        lambda ds: ds.isel(time=2),
        lambda ds: ds.isel(time=slice(4, None, -2), lon=slice(None, None, 3)),
        lambda ds: ds.isel(time=[3, 1, 1], lat=[0, 4], lon=-1),
        lambda ds: ds.isel(lat=np.array([True, False, True, False, False])),
        lambda ds: ds.isel(points),
        lambda ds: ds.isel(points).isel(lon=[6, 0], p=[1]),
        lambda ds: ds.isel(time=slice(1, 5)).isel(time=[0, 3]).isel(lat=slice(3)),
        lambda ds: ds.sel(time="2020-01-01T18", lat=0, method="nearest"),
        lambda ds: ds.isel(time=slice(0, 0)),
        lambda ds: ds.isel(time=[]),
    ):
        xr.testing.assert_allclose(pick(lazy).load(), pick(whole))
        lazy = xr.open_dataset(stored, engine=ENGINE)


def test_only_what_is_asked_for_is_read(tmp_path):
    path = write(tmp_path / "x.zarr", example(), 2, consolidated=True)
    store = zarrive.counting_store(zarrive.open_store(path))
    ds = xr.open_dataset(store, engine=ENGINE, create_default_indexes=False)
    before = store.counts["get_requests"]
    ds.t2m.variable[0, 0, 0].load()
    assert store.counts["get_requests"] - before == 1


def test_dask(stored):
    pytest.importorskip("dask.array")
    whole = xr.open_dataset(stored, engine=ENGINE).load()
    lazy = xr.open_dataset(stored, engine=ENGINE, chunks={})
    # Pieces are whole stored objects: of a sharded array the shards.
    assert lazy.t2m.variable.chunks[:2] == ((2, 2, 2), (5,) if zarrive.open(stored).zarr_format == 3 else (3, 2))
    xr.testing.assert_identical(lazy.compute(scheduler="threads"), whole)
    xr.testing.assert_identical(xr.open_dataset(stored, engine=ENGINE, chunks={"time": 4}).compute(scheduler="threads"), whole)
    xr.testing.assert_allclose(lazy.t2m.mean("time").compute(scheduler="threads"), whole.t2m.mean("time"))
    theirs = xr.open_zarr(stored, consolidated=None, chunks={})
    xr.testing.assert_identical(lazy.compute(scheduler="sync"), theirs.compute(scheduler="sync"))


def test_pickled(stored):
    ds = xr.open_dataset(stored, engine=ENGINE)
    xr.testing.assert_identical(pickle.loads(pickle.dumps(ds)).load(), ds.load())


def test_read_by_other_processes(tmp_path):
    pytest.importorskip("dask.array")
    stored = write(tmp_path / "x.zarr", example(), 3)
    ds = xr.open_dataset(stored, engine=ENGINE).load()
    lazy = xr.open_dataset(stored, engine=ENGINE, chunks={})
    xr.testing.assert_identical(lazy.compute(scheduler="processes", num_workers=2), ds)


def test_several_at_once(tmp_path):
    pytest.importorskip("dask.array")
    parts = [example(4), example(5).assign_coords(time=pd.date_range("2021-01-01", periods=5))]
    paths = [write(tmp_path / f"{i}.zarr", part, 3) for i, part in enumerate(parts)]
    options = {"combine": "nested", "concat_dim": "time", "data_vars": "minimal", "coords": "minimal", "compat": "override", "join": "override"}
    xr.testing.assert_identical(
        xr.open_mfdataset(paths, engine=ENGINE, **options).load(), xr.open_mfdataset(paths, engine="zarr", **options).load()
    )


def test_asynchronous_loading(stored):
    ds = xr.open_dataset(stored, engine=ENGINE)
    if not hasattr(ds, "load_async"):
        pytest.skip("this xarray has no asynchronous loading")
    xr.testing.assert_identical(asyncio.run(ds.isel(time=[1, 3]).load_async()), xr.open_dataset(stored, engine=ENGINE).isel(time=[1, 3]).load())


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("consolidated", [True, False])
def test_groups_and_trees(tmp_path, zarr_format, consolidated):
    tree = xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs={"title": "root"}),
            "/coarse": example()[["t2m"]],
            "/coarse/inner": xr.Dataset({"z": ("time", np.arange(6))}),
            "/empty": xr.Dataset(),
        }
    )
    path = tmp_path / "tree.zarr"
    tree.to_zarr(path, zarr_format=zarr_format, consolidated=consolidated)
    options = {"consolidated": consolidated}
    theirs = xr.open_datatree(path, engine="zarr", **options)
    ours = xr.open_datatree(path, engine=ENGINE, **options)
    xr.testing.assert_identical(ours.load(), theirs.load())
    assert set(ours.groups) == set(theirs.groups)
    for group in ("coarse", "/coarse/inner", "coarse/inner/", "/"):
        xr.testing.assert_identical(
            xr.open_dataset(path, engine=ENGINE, group=group, **options).load(), xr.open_dataset(path, engine="zarr", group=group, **options).load()
        )
    under = xr.open_datatree(path, engine=ENGINE, group="/coarse", **options)
    xr.testing.assert_identical(under.load(), xr.open_datatree(path, engine="zarr", group="/coarse", **options).load())
    groups = xr.open_groups(path, engine=ENGINE, **options)
    assert set(groups) == {"/", "/coarse", "/coarse/inner", "/empty"}
    with pytest.raises(KeyError):
        xr.open_dataset(path, engine=ENGINE, group="absent")
    with pytest.raises((ValueError, KeyError)):
        xr.open_dataset(path, engine=ENGINE, group="coarse/t2m")


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_what_was_read_is_written_as_it_was(tmp_path, zarr_format):
    """Chunks, shards, codecs and fill values stay when a dataset that we opened is written with to_zarr."""
    ds = example()
    if zarr_format == 2:
        ds = ds.drop_vars("station")  # with either engine xarray 2026.9 writes strings that were read as StringDType as "<U6" with vlen-utf8
    first = write(tmp_path / "1.zarr", ds, zarr_format)
    second = tmp_path / "2.zarr"
    xr.open_dataset(first, engine=ENGINE).to_zarr(second, zarr_format=zarr_format)
    for name in ds.variables:
        one, other = (zarrive.open_array(path, path=name) for path in (first, second))
        assert (one.chunks, one.shards, one.codecs, one.data_type) == (other.chunks, other.shards, other.codecs, other.data_type), name
        np.testing.assert_array_equal(np.asarray(one.fill_value), np.asarray(other.fill_value))
    xr.testing.assert_identical(xr.open_dataset(second, engine=ENGINE).load(), xr.open_dataset(first, engine=ENGINE).load())


def test_arrays_without_names_say_so_and_can_be_dropped(tmp_path):
    path = tmp_path / "x.zarr"
    for zarr_format in FORMATS:
        group = zarrive.create_group(path, zarr_format=zarr_format, overwrite=True)
        group.create_array("nameless", data=np.arange(3))
        group.create_array("named", data=np.arange(3), **({"dimension_names": ["x"]} if zarr_format == 3 else {"attributes": {"_ARRAY_DIMENSIONS": ["x"]}}))
        with pytest.raises(KeyError, match="nameless has 1 dimensions"):
            xr.open_dataset(path, engine=ENGINE)
        ds = xr.open_dataset(path, engine=ENGINE, drop_variables="nameless")
        assert list(ds) == ["named"]
        assert ds.named.attrs == {}


def test_netcdf_zarr(tmp_path):
    path = tmp_path / "x.zarr"
    store = zarrive.open_store(path, "a")
    zarrive.create_group(store, zarr_format=2, attributes={"_NCProperties": "version=2", "title": "t"})
    array = zarrive.create_array(store, path="v", data=np.arange(6).reshape(2, 3), zarr_format=2, attributes={"units": "m", "_nczarr_attrs": {}})
    document = array.metadata | {"_NCZARR_ARRAY": {"dimrefs": ["/y", "/g/x"]}}
    store.set("v/.zarray", json.dumps(document).encode())
    ds = xr.open_dataset(path, engine=ENGINE)
    assert ds.v.dims == ("y", "x") and ds.v.attrs == {"units": "m"} and ds.attrs == {"title": "t"}


def test_grids_that_are_not_regular(tmp_path):
    path = tmp_path / "x.zarr"
    group = zarrive.create_group(path)
    group.create_array("v", data=np.arange(60).reshape(6, 10), chunks=([1, 2, 3], 4), dimension_names=["y", "x"])
    pytest.importorskip("dask.array")
    ds = xr.open_dataset(path, engine=ENGINE, chunks={})
    assert ds.v.chunks == ((1, 2, 3), (4, 4, 2))
    np.testing.assert_array_equal(ds.v.compute(scheduler="sync"), np.arange(60).reshape(6, 10))


def test_stores_of_all_kinds(tmp_path):
    ds = example()
    path = write(tmp_path / "x.zarr", ds, 3)
    expected = xr.open_dataset(path, engine=ENGINE).load()
    zarrive.copy(path, str(tmp_path / "x.zarr.zip"))
    named = zarrive.open_store("memory://xarray-test", "a")
    zarrive.copy(path, named)
    values = {}
    zarrive.copy(path, values)
    for source in (str(path), path, tmp_path / "x.zarr.zip", "memory://xarray-test", named, zarrive.open_group(path), values):
        xr.testing.assert_identical(xr.open_dataset(source, engine=ENGINE).load(), expected)
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(tmp_path / "absent.zarr", engine=ENGINE)


def test_guesses():
    backend = ENGINE()
    assert all(backend.guess_can_open(name) for name in ("a.zarr", "a.zarr/", Path("b.zarr"), "c.zarr.zip", zarrive.memory_store()))
    assert not any(backend.guess_can_open(name) for name in ("a.nc", "zarr", b"bytes", 3))


def test_entry_point_and_imports():
    """The entry point names the class; `import zarrive` imports neither xarray nor zarr-python, and the backend no zarr-python."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, name = project["entry-points"]["xarray.backends"]["zarrive"].split(":")
    assert getattr(importlib.import_module(module), name) is ENGINE
    code = "import sys, zarrive; assert not {'xarray', 'zarr', 'dask'} & set(sys.modules); import zarrive.xarray; assert 'zarr' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_examples():
    assert doctest.testmod(zarrive.xarray).failed == 0
