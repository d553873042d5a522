"""The core's ArrayPipeline: lists of chunks with NumPy selections, as zarr-python's indexers make them."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest

from zarrive import _core

SHARDS = [
    {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": None,
            "codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "zstd", "configuration": {"level": 1}},
            ],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
        },
    }
]


def pipeline(chunk, dtype="int32", fill_value=0, codecs=None, inner=None):
    if codecs is None:
        codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    if inner is not None:
        codecs = json.loads(json.dumps(SHARDS))
        codecs[0]["configuration"]["chunk_shape"] = inner
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": chunk,
        "data_type": dtype,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": fill_value,
        "codecs": codecs,
        "attributes": {},
    }
    return _core.ArrayPipeline(json.dumps(document))


def key(*index):
    return "/".join(["a", "c", *map(str, index)])


def filled(values, chunk, pipe):
    """A memory store with the chunks of `values`, written by the pipeline, and the list of all of them."""
    store = _core.memory_store()
    items = []
    for index in itertools.product(*(range(-(-n // c)) for n, c in zip(values.shape, chunk))):
        inside = tuple(slice(0, min(c, n - i * c)) for i, n, c in zip(index, values.shape, chunk))
        places = tuple(slice(i * c, i * c + s.stop) for i, s, c in zip(index, inside, chunk))
        items.append((key(*index), chunk, inside, places, True))
    pipe.write(store, items, values)
    return store, items


@pytest.mark.parametrize("inner", [None, (2, 2)])
def test_whole_arrays(inner):
    values = np.arange(63, dtype="i4").reshape(9, 7)
    pipe = pipeline((4, 4), inner=inner)
    store, items = filled(values, (4, 4), pipe)
    for order in "CF":
        out = np.full((9, 7), -1, dtype="i4", order=order)
        assert pipe.read(store, items, out) == [True] * 6
        np.testing.assert_array_equal(out, values)
    reversed_out = np.empty((9, 14), dtype="i4")[::-1, ::2]
    pipe.read(store, items, reversed_out)
    np.testing.assert_array_equal(reversed_out, values)


def test_missing_chunks_are_told_and_filled():
    pipe = pipeline((4,), fill_value=7)
    store = _core.memory_store()
    pipe.write(store, [(key(1), (4,), (slice(0, 4),), (slice(0, 4),), True)], np.arange(4, dtype="i4"))
    out = np.zeros(8, dtype="i4")
    items = [(key(i), (4,), (slice(0, 4),), (slice(4 * i, 4 * i + 4),)) for i in range(2)]
    assert pipe.read(store, items, out) == [False, True]
    np.testing.assert_array_equal(out, [7, 7, 7, 7, 0, 1, 2, 3])


@pytest.mark.parametrize(
    ("chunk_selection", "drop_axes"),
    [
        ((), ()),
        ((Ellipsis,), ()),
        ((Ellipsis, 2), ()),
        ((slice(None), slice(None, None, 2)), ()),
        ((slice(3, 0, -2), slice(1, 5)), ()),
        ((1, slice(0, 5)), ()),
        ((np.int64(1), np.int64(2)), ()),
        ((np.array([3, 0, 0]), slice(0, 4)), ()),
        ((slice(0, 4), np.array([5, 1, -1])), ()),
        ((slice(0, 4), [5, 1]), ()),
        ((2, np.array([4, 0], dtype="u1")), ()),
        ((np.array([True, False, True, True]), slice(1, 3)), ()),
        (np.ix_([3, 1], [0, 4, 2]), ()),
        (np.ix_([3, 1], range(2, 5)), ()),
        (np.ix_([True, False, True, False], [5, 0]), ()),
        (np.ix_([2], [0, 4, 2]), (0,)),
        (np.ix_([0, 2], [3]), (1,)),
        ((np.array([0, 3, 3]), np.array([5, 0, 1])), ()),
        ((np.array([0, 3, 3])[::-1], np.array([2])), ()),
        ((np.array([0, 3, 1], dtype="i2"), 4), ()),
        ((np.arange(3), np.arange(3) * 2), ()),
    ],
)
@pytest.mark.parametrize("inner", [None, (2, 3)])
def test_selections_mean_what_they_mean_to_numpy(chunk_selection, drop_axes, inner):
    chunk = np.arange(24, dtype="i4").reshape(4, 6)
    pipe = pipeline((4, 6), inner=inner)
    store, _ = filled(chunk, (4, 6), pipe)
    expected = chunk[tuple(chunk_selection)].squeeze(axis=drop_axes)
    for places in places_for(expected.shape):
        wanted = np.full([2 * n + 3 for n in expected.shape], -1, dtype="i4")
        out = wanted.copy()
        wanted[places] = expected
        assert pipe.read(store, [(key(0, 0), (4, 6), chunk_selection, places)], out, drop_axes) == [True]
        np.testing.assert_array_equal(out, wanted)

        value = np.arange(1000, 1000 + out.size, dtype="i4").reshape(out.shape)
        target = chunk.copy()
        taken = value[places]
        target[tuple(chunk_selection)] = np.expand_dims(taken, drop_axes) if drop_axes else taken
        copy, _ = filled(chunk, (4, 6), pipe)
        pipe.write(copy, [(key(0, 0), (4, 6), chunk_selection, places, False)], value, drop_axes)
        np.testing.assert_array_equal(read_chunk(pipe, copy, (4, 6)), target)


def places_for(shape):
    if len(shape) == 1:
        n = shape[0]
        return [
            slice(2, 2 + n),
            (slice(1, 1 + n),),
            (slice(1, 2 * n + 1, 2),),
            np.arange(n)[::-1],
            (np.arange(n) * 2,),
        ]
    if len(shape) == 2:
        n, m = shape
        return [
            (slice(2, 2 + n), slice(0, m)),
            (slice(0, n), np.arange(m)[::-1]),
            np.ix_(np.arange(n)[::-1], range(1, 1 + m)),
        ]
    return [()]


def read_chunk(pipe, store, shape, dtype="i4"):
    out = np.empty(shape, dtype=dtype)
    index = (0,) * len(shape)
    pipe.read(store, [(key(*index), shape, (slice(None),) * len(shape), (slice(None),) * len(shape))], out)
    return out


def test_a_scalar_goes_everywhere():
    pipe = pipeline((4, 4))
    for selection in [
        (slice(1, 3), slice(0, 4)),
        np.ix_([0, 3], [1, 2]),
        (np.array([0, 3]), np.array([1, 1])),
        (2, 3),
    ]:
        store, _ = filled(np.zeros((4, 4), "i4"), (4, 4), pipe)
        expected = np.zeros((4, 4), "i4")
        expected[selection] = 9
        pipe.write(
            store, [(key(0, 0), (4, 4), selection, (slice(0, 99), slice(7, 8)), False)], np.array(9, "i4")
        )
        np.testing.assert_array_equal(read_chunk(pipe, store, (4, 4)), expected)


def test_zero_dimensions():
    pipe = pipeline((), dtype="float64", fill_value=1.5)
    store = _core.memory_store()
    out = np.zeros(())
    assert pipe.read(store, [("a/c", (), (), ())], out) == [False]
    assert out == 1.5
    pipe.write(store, [("a/c", (), (), (), True)], np.array(2.5))
    assert pipe.read(store, [("a/c", (), (), ())], out) == [True]
    assert out == 2.5


@pytest.mark.parametrize(
    ("data_type", "dtype"),
    [
        ("int16", ">i2"),
        ("float32", ">f4"),
        ("complex128", ">c16"),
        ({"name": "numpy.datetime64", "configuration": {"unit": "ms", "scale_factor": 1}}, ">M8[ms]"),
        ({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}, ">U3"),
    ],
)
def test_the_other_byte_order(data_type, dtype):
    fill = "" if "U" in dtype else "NaT" if "M8" in dtype else [0, 0] if "c" in dtype else 0
    pipe = pipeline((3, 2), dtype=data_type, fill_value=fill)
    values = (
        np.arange(15).astype(dtype).reshape(5, 3)
        if "U" not in dtype
        else np.array(list("abcdefghijklmno"), dtype).reshape(5, 3)
    )
    store, items = filled(values, (3, 2), pipe)
    for other in (np.dtype(dtype), np.dtype(dtype).newbyteorder("=")):
        out = np.zeros((5, 3), other)
        pipe.read(store, items, out)
        np.testing.assert_array_equal(out, values)
    # Only what is read is turned around.
    out = np.zeros((5, 3), dtype)
    out[...] = values
    pipe.read(store, items[:1], out)
    np.testing.assert_array_equal(out, values)


def test_structured_elements():
    data_type = {
        "name": "structured",
        "configuration": {"fields": [["a", "uint8"], ["b", "int32"], ["c", "float64"]]},
    }
    dtype = np.dtype([("a", "u1"), ("b", ">i4"), ("c", "<f8")])
    pipe = pipeline((4,), dtype=data_type, fill_value="AAAAAAAAAAAAAAAAAA==")
    values = np.array([(i, 1000 * i, i / 3) for i in range(6)], dtype)
    store, items = filled(values, (4,), pipe)
    out = np.zeros(6, dtype)
    pipe.read(store, items, out)
    np.testing.assert_array_equal(out, values)


STRINGS = ["object", "StringDType", "<U9"]


@pytest.mark.parametrize("kind", STRINGS)
def test_strings(kind):
    if kind == "StringDType" and not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy 1 has no StringDType")
    dtype = np.dtypes.StringDType() if kind == "StringDType" else np.dtype(kind)
    pipe = pipeline((4,), dtype="string", fill_value="fill", codecs=[{"name": "vlen-utf8"}])
    values = np.array(["", "a", "bcd", "αβγ", "e", "last one"], dtype)
    store, items = filled(values, (4,), pipe)
    out = np.zeros(6, dtype)
    assert pipe.read(store, items, out) == [True, True]
    assert out.tolist() == values.tolist()
    missing = [(key(5), (4,), (slice(0, 2),), (np.array([4, 0]),))]
    assert pipe.read(store, missing, out) == [False]
    assert out.tolist() == ["fill", "a", "bcd", "αβγ", "fill", "last one"]
    reversed_out = np.zeros(6, dtype)[::-1]
    pipe.read(store, items, reversed_out)
    assert reversed_out.tolist() == values.tolist()
    pipe.write(store, [(key(0), (4,), (slice(1, 3),), (), False)], np.array("every", dtype))
    pipe.read(store, items, out)
    assert out.tolist() == ["", "every", "every", "αβγ", "e", "last one"]
    with pytest.raises(TypeError):
        pipe.write(store, items, np.array([1.5] * 6, object))


def test_bytes():
    pipe = pipeline((4,), dtype="variable_length_bytes", fill_value="", codecs=[{"name": "vlen-bytes"}])
    values = np.array([b"", b"a", b"\0\xff", None], object)
    store, items = filled(values, (4,), pipe)
    out = np.empty(4, object)
    pipe.read(store, items, out)
    assert out.tolist() == [b"", b"a", b"\0\xff", b""]


def test_chunks_of_another_shape_than_the_documents():
    pipe = pipeline((4,))
    store = _core.memory_store()
    items = [
        (key(0), (3,), (slice(0, 3),), (slice(0, 3),), True),
        (key(1), (5,), (slice(0, 5),), (slice(3, 8),), True),
    ]
    pipe.write(store, items, np.arange(8, dtype="i4"))
    out = np.zeros(8, "i4")
    pipe.read(store, items, out)
    np.testing.assert_array_equal(out, np.arange(8))
    assert len(store.get(key(1))) == 20


def test_a_complete_chunk_is_not_read():
    counted = _core.counting_store(_core.memory_store())
    pipe = pipeline((4,))
    pipe.write(counted, [(key(0), (4,), (slice(0, 2),), (slice(0, 2),), True)], np.ones(2, "i4"))
    assert counted.counts["get_requests"] == 0
    pipe.write(counted, [(key(0), (4,), (slice(1, 2),), (slice(0, 1),), False)], np.ones(1, "i4"))
    assert counted.counts["get_requests"] == 1


def test_chunks_of_fill():
    pipe = pipeline((4,))
    items = [(key(0), (4,), (slice(0, 4),), (slice(0, 4),), True)]
    for write_empty, stored in ((None, False), (False, False), (True, True)):
        store = _core.memory_store()
        pipe.write(store, items, np.zeros(4, "i4"), write_empty_chunks=write_empty)
        assert store.exists(key(0)) is stored


def test_decode_and_encode():
    pipe = pipeline(
        (2, 3), codecs=[{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "crc32c"}]
    )
    chunks = [
        np.arange(6, dtype="i4").reshape(2, 3),
        None,
        np.zeros((2, 2), ">i4"),
        np.zeros(())[()].astype("i4").reshape(1, 1),
    ]
    encoded = pipe.encode(chunks)
    assert encoded[1] is None
    assert bytes(encoded[0])[:24] == chunks[0].astype(">i4").tobytes()
    shapes = [(2, 3), (2, 3), (2, 2), (1, 1)]
    for dtype in ("<i4", ">i4"):
        decoded = pipe.decode(list(zip(encoded, shapes)), np.dtype(dtype))
        assert decoded[1] is None
        for chunk, found in zip(chunks, decoded):
            if chunk is not None:
                assert found.dtype == dtype
                np.testing.assert_array_equal(found, chunk)
    broken = bytearray(bytes(encoded[0]))
    broken[3] ^= 1
    with pytest.raises(_core_error("CorruptChunkError")):
        pipe.decode([(bytes(broken), (2, 3))], np.dtype("i4"))


def test_decode_strings():
    pipe = pipeline((2,), dtype="string", fill_value="", codecs=[{"name": "vlen-utf8"}])
    chunk = np.array(["a", "βγ"], object)
    (encoded,) = pipe.encode([chunk])
    (decoded,) = pipe.decode([(encoded, (2,))], np.dtype(object))
    assert decoded.tolist() == ["a", "βγ"]
    (decoded,) = pipe.decode([(encoded, (2,))], np.dtype("U2"))
    assert decoded.dtype == "U2"
    assert decoded.tolist() == ["a", "βγ"]


def _core_error(name):
    import zarrive.errors

    return getattr(zarrive.errors, name)


def test_refused():
    pipe = pipeline((4, 4))
    store, _ = filled(np.ones((4, 4), "i4"), (4, 4), pipe)
    out = np.zeros((4, 4), "i4")
    whole = (slice(0, 4), slice(0, 4))

    def read(chunk_selection, places, array=out, drop_axes=(), shape=(4, 4)):
        pipe.read(store, [(key(0, 0), shape, chunk_selection, places)], array, drop_axes)

    unsupported = _core_error("UnsupportedError")
    with pytest.raises(unsupported):
        read((np.array([[0, 1], [1, 2]]), slice(0, 2)), whole)
    with pytest.raises(unsupported):
        read((np.array([[0, 1], [1, 2]]), np.array([[0, 1], [1, 2]])), whole)
    with pytest.raises(ValueError, match="3 positions are selected, and 4 places"):
        read((slice(0, 3), slice(0, 4)), whole)
    with pytest.raises(ValueError, match="has 1 dimensions, the output 2"):
        read((0, slice(0, 4)), whole)
    with pytest.raises(ValueError, match="has 2 positions"):
        read(np.ix_([0, 1], [0]), (slice(0, 1),), np.zeros(1, "i4"), (0,))
    with pytest.raises(IndexError):
        read((slice(0, 4), np.array([0, 1, 2, 4])), whole)
    with pytest.raises(IndexError):
        read((slice(0, 4), np.array([0, 1, 2, -5])), whole)
    with pytest.raises(IndexError):
        read(whole, (slice(0, 4), np.array([0, 1, 2, 4])))
    with pytest.raises(IndexError):
        read((slice(0, 4),) * 3, whole)
    with pytest.raises(IndexError):
        read((np.array([True, False]), slice(0, 4)), whole)
    with pytest.raises(ValueError, match="is none of an array of 2"):
        read((slice(0, 4),), (slice(0, 4),), np.zeros(4, "i4"), (), (4,))
    with pytest.raises(ValueError, match="none of the array's type int32"):
        read(whole, whole, np.zeros((4, 4)))
    read_only = np.zeros((4, 4), "i4")
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        read(whole, whole, read_only)
    with pytest.raises(TypeError):
        pipe.read(store, [("a", (4, 4))], out)
    assert not out.any()


# --- zarr-python's own indexers ---


def random_selections(rng, shape):
    def along(n):
        way = rng.randrange(4)
        if way == 0:
            return rng.randrange(n)
        if way == 1:
            a, b = sorted(rng.randrange(n + 1) for _ in range(2))
            return slice(a, b, rng.randrange(1, 4))
        if way == 2:
            # each once: zarr-python does not sort stably; which of two values for a position stays is open
            return np.array(rng.sample(range(n), rng.randrange(1, n + 1)))
        return np.array([rng.random() < 0.5 for _ in range(n)])

    def basic(n):
        return (
            rng.randrange(n)
            if rng.random() < 0.3
            else slice(*sorted(rng.randrange(n + 1) for _ in range(2)), rng.randrange(1, 4))
        )

    size = int(np.prod(shape))
    points = np.unravel_index(rng.sample(range(size), rng.randrange(1, min(size, 30) + 1)), shape)
    return {
        "basic": tuple(basic(n) for n in shape),
        "orthogonal": tuple(along(n) for n in shape),
        "coordinate": tuple(points),
        "mask": np.array([rng.random() < 0.3 for _ in range(size)]).reshape(shape),
    }


@pytest.mark.parametrize("seed", range(60))
def test_zarr_pythons_indexers(seed):
    indexing = pytest.importorskip("zarr.core.indexing")
    grids = pytest.importorskip("zarr.core.chunk_grids")
    if not hasattr(grids, "ChunkGrid") or not hasattr(grids.ChunkGrid, "from_sizes"):
        pytest.skip("this zarr-python makes its chunk grids in another way")
    rng = random.Random(seed)
    shape = tuple(rng.randrange(1, 14) for _ in range(rng.randrange(1, 4)))
    chunk = tuple(2 * rng.randrange(1, 4) for _ in shape)
    values = np.arange(1, 1 + np.prod(shape), dtype="i4").reshape(shape)
    pipe = pipeline(chunk, inner=(2,) * len(shape) if seed % 2 else None, fill_value=-1)
    store, everything = filled(values, chunk, pipe)
    missing = rng.choice(everything)
    store.erase(missing[0])
    values[missing[3]] = -1
    grid = grids.ChunkGrid.from_sizes(shape, chunk)
    for kind, selection in random_selections(rng, shape).items():
        name = {"basic": "Basic", "orthogonal": "Orthogonal", "coordinate": "Coordinate", "mask": "Mask"}[
            kind
        ]
        indexer = getattr(indexing, f"{name}Indexer")(selection, shape, grid)
        items = [(key(*coords), chunk, *rest) for coords, *rest in indexer]
        expected = indexing.oindex(values, selection) if kind == "orthogonal" else values[selection]
        out = np.zeros(indexer.shape, "i4")
        stored = pipe.read(store, items, out, indexer.drop_axes)
        assert stored == [item[0] != missing[0] for item in items]
        np.testing.assert_array_equal(out.reshape(expected.shape), expected)

        written = np.array([rng.randrange(10**6) for _ in range(out.size)], "i4").reshape(out.shape)
        after = values.copy()
        if kind == "orthogonal":
            indexing.oindex_set(after, selection, written)
        else:
            after[selection] = written.reshape(expected.shape)
        copy, _ = filled(values, chunk, pipe)
        pipe.write(copy, items, written, indexer.drop_axes)
        whole = np.zeros(shape, "i4")
        pipe.read(copy, everything, whole)
        np.testing.assert_array_equal(whole, after)


def test_millions_of_points():
    pipe = pipeline((1000, 1000))
    values = np.arange(10**6, dtype="i4").reshape(1000, 1000)
    store, _ = filled(values, (1000, 1000), pipe)
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(0, 1000, (2, 2_000_000))
    places = rng.permutation(2_000_000)
    out = np.zeros(2_000_000, "i4")
    pipe.read(store, [(key(0, 0), (1000, 1000), (rows, columns), places)], out)
    np.testing.assert_array_equal(out[places], values[rows, columns])
