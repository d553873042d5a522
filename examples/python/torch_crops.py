"""Random crops of a Zarr array in batches, for training with PyTorch.

    loader = DataLoader(RandomCrops(zarrive.open_array("era5.zarr", path="t2m"), (16, 64, 64), batch_size=32, batches=1000),
                        batch_size=None, num_workers=4)
    for batch in loader:  # a tensor of 32 x 16 x 64 x 64
        ...

A crop that lies anywhere touches several chunks, and each chunk is read whole: crops that are drawn one by one read each of their elements many
times over. So a batch is cut out of a few windows. A window is what the chunks that one random crop touches hold, read in one call; several crops
are cut out of it at random places. With `windows` windows a batch reads at most `windows * chunks_per_window` chunks, however many crops it
has. More windows mix better, fewer read less; crops of one batch that share a window lie near each other.

Without PyTorch, `crop_batches` gives the same batches as NumPy arrays:

    python examples/python/torch_crops.py

shows how much a batch reads.
"""

import math
from collections.abc import Iterator

import numpy as np
import zarrive

try:
    import torch
    from torch.utils.data import IterableDataset, get_worker_info
except ImportError:
    torch = None


def chunks_per_window(array: zarrive.Array, crop: tuple[int, ...]) -> int:
    """How many chunks a window has at most: along each dimension a crop of n elements can lie over (n - 2) // edge + 2 of them."""
    chunk = array.chunks
    return math.prod(
        min((n - 2) // edge + 2 if n > 1 else 1, -(-extent // edge)) for n, edge, extent in zip(crop, chunk, array.shape, strict=True)
    )


def crop_batches(
    array: zarrive.Array, crop: tuple[int, ...], batch_size: int, windows: int = 4, rng: np.random.Generator | None = None
) -> Iterator[np.ndarray]:
    """Endless batches of random crops, each of shape (batch_size, *crop). A batch is a new array and may be kept."""
    if array.chunks is None or len(crop) != array.ndim or any(n < 1 or n > extent for n, extent in zip(crop, array.shape, strict=True)):
        raise ValueError(f"no crops of {crop} in an array of {array.shape}")
    if not 1 <= windows <= batch_size:
        raise ValueError(f"{windows} windows for a batch of {batch_size}")
    rng = rng or np.random.default_rng()
    crop_shape, shape, chunk = np.array(crop), np.array(array.shape), np.array(array.chunks)
    places = np.linspace(0, batch_size, windows + 1).astype(int)  # of each window's crops in the batch
    while True:
        batch = np.empty((batch_size, *crop), array.dtype)
        for begin, end in zip(places, places[1:], strict=False):
            start = rng.integers(0, shape - crop_shape + 1)
            # Outwards to whole chunks, so that what is decoded is used.
            low = start // chunk * chunk
            high = np.minimum(-(-(start + crop_shape) // chunk) * chunk, shape)
            window = array[tuple(map(slice, low, high))]
            batch[begin] = window[tuple(map(slice, start - low, start - low + crop_shape))]
            for i in range(begin + 1, end):
                at = rng.integers(0, high - low - crop_shape + 1)
                batch[i] = window[tuple(map(slice, at, at + crop_shape))]
        rng.shuffle(batch)
        yield batch


if torch is not None:

    class RandomCrops(IterableDataset):
        """`batches` batches of random crops an epoch, shared among the loader's workers. Use it with DataLoader(..., batch_size=None).

        Each worker draws crops of its own, others in each epoch; `torch.manual_seed` makes a run repeatable. Workers may be forked or spawned: the array is
        sent as its path, and a forked worker starts threads of its own.
        """

        def __init__(self, array: zarrive.Array, crop: tuple[int, ...], batch_size: int, batches: int, windows: int = 4) -> None:
            self.array, self.crop, self.batch_size, self.batches, self.windows = array, crop, batch_size, batches, windows

        def __len__(self) -> int:
            return self.batches

        def __iter__(self) -> Iterator["torch.Tensor"]:
            worker = get_worker_info()
            number, of = (worker.id, worker.num_workers) if worker else (0, 1)
            seed = worker.seed if worker else int(torch.randint(2**62, ()))
            batches = crop_batches(self.array, self.crop, self.batch_size, self.windows, np.random.default_rng(seed))
            for _ in range(number, self.batches, of):
                yield torch.from_numpy(next(batches))


def main() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(64, 256, 256)).astype("f4")
    store = zarrive.counting_store(zarrive.memory_store())
    array = zarrive.create_array(store, data=values, chunks=(16, 64, 64))
    crop = (8, 32, 32)
    most = chunks_per_window(array, crop)
    for windows in (1, 4, 32):
        batches = crop_batches(array, crop, batch_size=32, windows=windows, rng=rng)
        store.reset_counts()
        for _ in range(10):
            next(batches)
        print(f"{windows:2} windows: {store.counts['get_requests'] / 10:5.1f} chunks read for a batch of 32 crops, at most {windows * most}")


if __name__ == "__main__":
    main()
