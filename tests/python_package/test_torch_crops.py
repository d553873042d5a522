"""examples/python/torch_crops.py: what a batch holds and reads, and that workers of all kinds can make batches."""

import importlib.util
import itertools
import multiprocessing
import sys
from pathlib import Path

import numpy as np
import pytest
import zarrive

EXAMPLE = Path(__file__).parents[2] / "examples/python/torch_crops.py"
CROP = (3, 8, 5)


def load():
    spec = importlib.util.spec_from_file_location("torch_crops", EXAMPLE)
    module = sys.modules["torch_crops"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


crops = load()


def make(store, **layout):
    values = np.arange(12 * 40 * 30, dtype="i4").reshape(12, 40, 30)
    return zarrive.create_array(store, data=values, **layout)


def start_of(crop, shape):
    """Where a crop was cut, by its first element; checks all others."""
    start = np.unravel_index(int(crop.flat[0]), shape)
    expected = np.arange(np.prod(shape)).reshape(shape)[tuple(slice(s, s + n) for s, n in zip(start, crop.shape, strict=True))]
    np.testing.assert_array_equal(crop, expected)
    return start


@pytest.mark.parametrize("layout", [{"chunks": (4, 10, 10)}, {"chunks": (2, 10, 10), "shards": (4, 20, 30)}, {"chunks": (5, 7, 30), "zarr_format": 2}])
def test_crops_are_parts_of_the_array_and_reads_are_bounded(layout):
    store = zarrive.counting_store(zarrive.memory_store())
    array = make(store, **layout)
    most = crops.chunks_per_window(array, CROP)
    for windows in (1, 3):
        batches = crops.crop_batches(array, CROP, 10, windows, np.random.default_rng(windows))
        starts = set()
        for _ in range(30):
            store.reset_counts()
            batch = next(batches)
            # Of each chunk one request, and of each shard one more for its index.
            assert 0 < store.counts["get_requests"] <= windows * most * (2 if array.shards else 1)
            assert batch.shape == (10, *CROP) and batch.dtype == array.dtype
            starts |= {start_of(crop, array.shape) for crop in batch}
        assert len(starts) > 150  # they are not the same ones again and again


def test_every_crop_is_drawn():
    array = make({}, chunks=(4, 10, 10))
    crop = (11, 39, 28)
    batches = crops.crop_batches(array, crop, 4, 4, np.random.default_rng(1))
    starts = {start_of(c, array.shape) for batch in itertools.islice(batches, 60) for c in batch}
    assert starts == set(itertools.product(range(2), range(2), range(3)))


def test_the_bound_of_a_window():
    array = make({}, chunks=(4, 10, 10))
    for crop, most in (((1, 1, 1), 1), ((2, 1, 1), 2), ((4, 10, 10), 8), ((5, 11, 11), 8), ((6, 12, 12), 27), ((12, 40, 30), 36)):
        assert crops.chunks_per_window(array, crop) == most, crop


def test_what_cannot_be_cut_is_refused():
    array = make({}, chunks=(4, 10, 10))
    for crop, batch_size, windows in (((13, 1, 1), 4, 1), ((1, 1), 4, 1), ((1, 1, 0), 4, 1), ((1, 1, 1), 4, 5), ((1, 1, 1), 4, 0)):
        with pytest.raises(ValueError):
            next(crops.crop_batches(array, crop, batch_size, windows))


def work(array, seed, results):
    """What a worker of a DataLoader does, without PyTorch."""
    batches = load().crop_batches(array, CROP, 8, 2, np.random.default_rng(seed))
    results.put((seed, [next(batches) for _ in range(5)]))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers(tmp_path, method):
    """The parent has read, its threads run, then workers are forked (or spawned) and read the same array."""
    array = zarrive.open_array(make(tmp_path / "a.zarr", chunks=(4, 10, 10)).store)
    assert array[...].sum() > 0
    context = multiprocessing.get_context(method)
    results = context.SimpleQueue()
    workers = [context.Process(target=work, args=(array, seed, results), daemon=True) for seed in range(2)]
    for worker in workers:
        worker.start()
    got = dict(results.get() for _ in workers)
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    for seed, batches in got.items():
        again = crops.crop_batches(array, CROP, 8, 2, np.random.default_rng(seed))
        for batch in batches:
            np.testing.assert_array_equal(batch, next(again))
    assert not np.array_equal(got[0][0], got[1][0])


@pytest.mark.parametrize("method", [None, "fork", "spawn"])
def test_data_loader(tmp_path, method):
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader

    array = zarrive.open_array(make(tmp_path / "a.zarr", chunks=(4, 10, 10)).store)
    workers = {"num_workers": 2, "multiprocessing_context": method} if method else {}
    loader = DataLoader(crops.RandomCrops(array, CROP, 8, batches=5, windows=2), batch_size=None, **workers)
    epochs = []
    for _ in range(2):
        batches = list(loader)
        assert len(batches) == 5 and all(isinstance(batch, torch.Tensor) and batch.shape == (8, *CROP) for batch in batches)
        epochs.append({start_of(crop, array.shape) for batch in batches for crop in batch.numpy()})
    assert epochs[0] != epochs[1]


def test_the_program(capsys):
    crops.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "4", "32"]
    for line in lines:
        words = line.split()
        assert float(words[2]) <= float(words[-1])
