"""Random selections of random arrays, read and written, against NumPy."""

import os

import numpy as np
import pytest
import zarrive
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

# Reads; ZARRIVE_INDEXING_CASES=10000 takes a minute. Each example makes one array and tries so many keys on it.
CASES = int(os.environ.get("ZARRIVE_INDEXING_CASES", "2000"))
KEYS = 20

COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck)}
if "ZARRIVE_NO_SHRINK" in os.environ:
    COMMON["phases"] = [Phase.explicit, Phase.generate]

DTYPES = ["?", "i1", "<i4", "u2", "<f4", "<f8", "c8", "M8[s]", "S3", "U2", [("x", "<i2"), ("y", "<f4", (2,))]]


@st.composite
def arrays(draw):
    """A NumPy array, and a Zarr array that holds the same."""
    ndim = draw(st.integers(1, 4))
    shape = tuple(draw(st.lists(st.integers(0, 7), min_size=ndim, max_size=ndim)))
    chunks = tuple(draw(st.integers(1, 4)) for _ in shape)
    shards = tuple(c * draw(st.integers(1, 2)) for c in chunks) if draw(st.booleans()) else None
    zarr_format = 3 if shards else draw(st.sampled_from([2, 3]))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    if dtype.names:
        zarr_format, shards = 2, None  # v3 has no fields that are subarrays
    count = int(np.prod(shape))
    seed = np.random.default_rng(draw(st.integers(0, 2**32)))
    raw = seed.integers(0, 2 if dtype.kind == "b" else 100, count * max(1, dtype.itemsize), dtype=np.uint8)
    if dtype.kind in "SU":
        data = np.array([f"{n:x}" for n in raw[:count]], dtype).reshape(shape)
    elif dtype.names:
        data = np.zeros(shape, dtype)
        data["x"], data["y"] = raw[:count].reshape(shape), raw[: count * 2].reshape(*shape, 2)
    else:
        data = raw[:count].reshape(shape).astype(dtype)
    order = draw(st.sampled_from("CF")) if zarr_format == 2 else "C"
    array = zarrive.create_array({}, shape=shape, dtype=dtype, chunks=chunks, shards=shards, zarr_format=zarr_format, order=order)
    array[...] = data
    return data, array


def positions(n):
    return st.integers(-n, n - 1) if n else st.nothing()


def slices(n):
    bound = st.none() | st.integers(-n - 2, n + 2)
    return st.builds(slice, bound, bound, st.none() | st.integers(-3, 3).filter(bool))


def lists(n, most=5):
    return st.lists(positions(n), max_size=most if n else 0).map(lambda p: np.array(p, np.int64))


def flags(n):
    return st.lists(st.booleans(), min_size=n, max_size=n).map(lambda f: np.array(f, bool))


@st.composite
def numpy_keys(draw, shape, newaxes=True):
    """Anything that NumPy takes between its brackets."""
    kind = draw(st.sampled_from(["basic", "basic", "lists", "lists", "mask", "one"]))
    if kind == "mask":
        return np.array(draw(st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))), bool).reshape(shape)
    if kind == "one" and shape[0]:
        return draw(positions(shape[0]) | slices(shape[0]) | lists(shape[0]).map(list) | st.just(...))
    ndim = draw(st.integers(0, len(shape)))
    fancy = kind == "lists"
    items = []
    # Lists of one key are broadcast: one shape for all of them.
    wide = draw(st.sampled_from([(3,), (1,), (2, 2), (0,)]))
    for n in shape[:ndim]:
        choice = draw(st.sampled_from(["int", "slice", "list", "flags"] if fancy else ["int", "slice"]))
        if choice == "int" and n:
            items.append(draw(positions(n)))
        elif choice == "list" and (n or wide == (0,)):
            count = int(np.prod(wide))
            items.append(np.array(draw(st.lists(positions(n), min_size=count, max_size=count) if n else st.just([])), np.int64).reshape(wide))
        elif choice == "flags" and not any(isinstance(i, np.ndarray) for i in items):
            items.append(draw(flags(n)))
            wide = (1,)  # others go with any number of flags
        else:
            items.append(draw(slices(n)))
    if ndim < len(shape) and draw(st.booleans()):
        items.append(...)
    elif draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), ...)
        if len(items) - 1 < len(shape) and items[-1] is not ...:
            items = [item for item in items if item is not ...] + [...]
    if newaxes and draw(st.integers(0, 4)) == 0:
        items.insert(draw(st.integers(0, len(items))), None)
    return tuple(items)


def outcome(function):
    try:
        return function(), None
    except (IndexError, ValueError) as error:
        return None, error


def same(a, b):
    if isinstance(a, np.generic) and a.dtype.kind in "SU":
        return np.shape(b) == () and a == b  # a single text has a type of its own length
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b)


@settings(max_examples=max(1, CASES // KEYS), **COMMON)
@given(st.data())
def test_reads_are_numpys(data):
    expected, array = data.draw(arrays())
    for _ in range(KEYS):
        key = data.draw(numpy_keys(expected.shape))
        want, refused = outcome(lambda: expected[key])  # noqa: B023
        if refused is not None:
            with pytest.raises((IndexError, ValueError)):
                array[key]
            continue
        got = array[key]
        assert same(got, want), f"{key!r} of {expected.shape}: {got!r}, NumPy has {want!r}"


@settings(max_examples=max(1, CASES // KEYS // 4), **COMMON)
@given(st.data())
def test_writes_are_numpys(data):
    expected, array = data.draw(arrays())
    for _ in range(KEYS // 2):
        key = data.draw(numpy_keys(expected.shape))
        want, refused = outcome(lambda: expected[key])  # noqa: B023
        if refused is not None:
            continue
        value = np.resize(expected[::-1].ravel(), np.shape(want)) if expected.size else want
        if data.draw(st.booleans()):
            value = np.asarray(value).ravel()[:1].reshape(()) if np.size(value) else value
        expected[key] = value
        array[key] = value
        assert same(array[...], expected), f"after writing {key!r} of {expected.shape}"


@settings(max_examples=max(1, CASES // KEYS // 4), **COMMON)
@given(st.data())
def test_oindex_and_blocks(data):
    expected, array = data.draw(arrays())
    for _ in range(KEYS // 2):
        key = tuple(data.draw(slices(n) | lists(n) | flags(n)) for n in expected.shape)
        each = [np.arange(n)[k] if isinstance(k, slice) else (k.nonzero()[0] if k.dtype == bool else k) for n, k in zip(expected.shape, key, strict=True)]
        assert same(array.oindex[key], expected[np.ix_(*each)])
        grid = [-(-n // c) for n, c in zip(expected.shape, array.write_chunks, strict=True)]
        if all(grid):
            block = tuple(data.draw(st.integers(0, g - 1)) for g in grid)
            box = tuple(slice(b * c, (b + 1) * c) for b, c in zip(block, array.write_chunks, strict=True))
            assert same(array.blocks[block], expected[box])


def test_an_ellipsis_for_nothing_parts_lists():
    expected = np.arange(21.0).reshape(1, 7, 3)
    array = zarrive.create_array({}, data=expected, chunks=(1, 3, 2))
    for key in [np.s_[::-1, 2, ..., [True, False, True]], np.s_[0, ..., :, [1, 0]], np.s_[:, [1, 2], ..., [0, 1]], np.s_[None, [0], ..., [1], 2]]:
        assert same(array[key], expected[key])


def test_fields():
    data = np.zeros((4, 5), [("x", "<i2"), ("y", "<f4", (2,))])
    data["x"], data["y"] = np.arange(20).reshape(4, 5), np.arange(40).reshape(4, 5, 2)
    array = zarrive.create_array({}, data=data, chunks=(2, 3), zarr_format=2)
    assert same(array["x"], data["x"])
    assert same(array["y", 1:3, ::2], data["y"][1:3, ::2])
    assert same(array[[3, 1], "y"], data[[3, 1]]["y"])
    assert same(array[1, [0, 2], "y"], data[1, [0, 2]]["y"])
    array["x", 0] = 7
    assert (array["x"][0] == 7).all() and same(array["y"], data["y"])
