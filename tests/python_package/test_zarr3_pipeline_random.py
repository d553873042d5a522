"""`zarrive.zarr.CodecPipeline`: random arrays and selections, equal to NumPy's."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3.1")
pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from zarr.storage import MemoryStore  # noqa: E402

from pipeline_counters import nothing_ran_in_python  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("native_pipeline")]


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    ndim = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(1, 9)) for _ in range(ndim))
    chunks = tuple(draw(st.integers(1, 5)) for _ in range(ndim))
    seed = draw(st.integers(0, 2**32 - 1))
    layout = draw(st.sampled_from(["v2 C", "v2 F", "v3", "shards"]))
    dtype = draw(st.sampled_from(["<i4", ">f8", "bool", "U3", "M8[s]", "string"]))
    return {"shape": shape, "chunks": chunks, "seed": seed, "layout": layout, "dtype": dtype}


def _data(shape: tuple[int, ...], dtype: str, random: np.random.Generator) -> np.ndarray[Any, Any]:
    numbers = random.integers(0, 100, shape)
    if dtype == "string":
        return numbers.astype("U3").astype(np.dtypes.StringDType())
    return numbers.astype("m8[s]").astype("M8[s]") if dtype == "M8[s]" else numbers.astype(dtype)


def _selection(kind: str, shape: tuple[int, ...], random: np.random.Generator) -> tuple[Any, Any]:
    """(for zarr-python, for NumPy)."""

    def part(n: int) -> slice:
        start, stop = np.sort(random.integers(0, n + 1, 2))
        return slice(int(start), int(stop), int(random.integers(1, 4)))

    if kind == "mask":
        mask = random.random(shape) < 0.3
        return mask, mask
    if kind == "coordinate":
        count = int(random.integers(1, 8))
        points = tuple(random.integers(0, n, count) for n in shape)
        return points, points
    items: list[Any] = []
    for n in shape:
        choice = int(random.integers(0, 4 if kind == "orthogonal" else 2))
        if choice == 0:
            items.append(int(random.integers(0, n)))
        elif choice == 1:
            items.append(part(n))
        elif choice == 2:
            items.append(random.integers(0, n, int(random.integers(1, 6))))
        else:
            items.append(random.random(n) < 0.5)
    if kind == "basic":
        return tuple(items), tuple(items)
    grid = [np.atleast_1d(np.arange(n)[item]) for n, item in zip(shape, items, strict=True)]
    return tuple(items), (np.ix_(*grid), tuple(i for i, item in enumerate(items) if isinstance(item, int)))


# Each example makes one array and tries so many selections on it, every fourth a
# write.
CASES = int(os.environ.get("ZARRIVE_INDEXING_CASES", "2000"))
SELECTIONS = 25
KINDS = ["basic", "orthogonal", "coordinate", "mask", "block"]


@settings(
    deadline=None,
    max_examples=max(1, CASES // SELECTIONS),
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(cases())
def test_random_selections_equal_numpy(case: dict[str, Any]) -> None:
    random = np.random.default_rng(case["seed"])
    data = _data(case["shape"], case["dtype"], random)
    layout = case["layout"]
    array = zarr.create_array(
        MemoryStore(),
        shape=data.shape,
        dtype=data.dtype,
        chunks=case["chunks"],
        shards=tuple(2 * n for n in case["chunks"]) if layout == "shards" else None,
        zarr_format=2 if layout.startswith("v2") else 3,
        **({"order": layout[-1]} if layout.startswith("v2") else {}),
    )
    array[...] = data
    for i in range(SELECTIONS):
        check_selection(array, data, case, KINDS[i % len(KINDS)], random, write=i % 4 == 3)
    assert np.array_equal(array[...], data)
    assert nothing_ran_in_python()


def check_selection(
    array: Any, data: Any, case: dict[str, Any], kind: str, random: np.random.Generator, write: bool
) -> None:
    if kind == "block":
        sizes = [2 * n for n in case["chunks"]] if case["layout"] == "shards" else case["chunks"]
        at = tuple(int(random.integers(0, -(-n // size))) for n, size in zip(data.shape, sizes, strict=True))
        there = tuple(slice(i * size, (i + 1) * size) for i, size in zip(at, sizes, strict=True))
        mine, place = array.blocks, at
    else:
        place, there = _selection(kind, data.shape, random)
        mine = {"basic": array, "orthogonal": array.oindex, "coordinate": array.vindex, "mask": array.vindex}[
            kind
        ]
    dropped: tuple[int, ...] = ()
    if kind == "orthogonal":
        there, dropped = there
    if not write:
        expected = np.squeeze(data[there], axis=dropped) if dropped else data[there]
        assert np.array_equal(mine[place], expected)
        return
    if kind in ("orthogonal", "coordinate"):
        # a place that comes twice may get either value: one value
        value = data.flat[0]
        mine[place] = value
        data[there] = value
        return
    value = _data(np.shape(data[there]), case["dtype"], random)
    mine[place] = value if value.shape else value[()]
    data[there] = value
