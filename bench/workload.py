"""What is measured, in Python: the twin of support/workload.hpp, with the sums that every program has to come to. Needs no package.

The value at (z, y, x) is (x + y*y//32 + z*z*z) mod 65536, so the sum over a piece of a row has a closed form.
"""

from functools import lru_cache
from itertools import product

ARRAYS = "ABCDEFG"
EDGE = {"A": 1024, "B": 1024, "C": 1024, "D": 1024, "E": 512, "F": 512, "G": 512}
CHUNK = {"A": 256, "B": 256, "C": 256, "D": 128, "E": 32, "F": 128, "G": 128}
INNER = {"C": 64}
SCALE = {"full": 1, "small": 4, "tiny": 16}
GROUP = {"full": (100, 999), "small": (16, 99), "tiny": (16, 99)}
GROUP_ARRAY = "station7/variable42"
GROUP_ARRAY_SIZE = 8760 * 721 * 1440

# S, of the Python bench: chunks of 4 KiB, of which a thousand are read one by one. The same at every scale.
SMALL_EDGE = 128
SMALL_CHUNK = (8, 16, 16)

SHARDING_EDGE = 1024  # of the sharding benchmark; divided by the scale as well


def row_offset(z, y):
    return y * y // 32 + z * z * z


def row_sum(z, y, x, count, modulus=65536):
    """The sum over (z, y, x) to (z, y, x + count - 1)."""
    first = (row_offset(z, y) + x) % modulus
    whole, rest = divmod(count, modulus)

    def up_to(n):  # n < modulus values from `first` on
        wrapped = max(first + n - modulus, 0)
        return n * first + n * (n - 1) // 2 - wrapped * modulus

    return whole * (modulus * (modulus - 1) // 2) + up_to(rest)


class Random:
    """SplitMix64, as in C++."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % bound


def slice_extent(edge):
    return tuple(max(e * edge // 1024, 1) for e in (64, 64, 8))


def slice_places(edge):
    random = Random(2024)
    extent = slice_extent(edge)
    return [tuple(random.below(edge - e + 1) for e in extent) for _ in range(1000 if edge == 1024 else 100)]


def small_places():
    """A thousand of S's 1024 chunks, in random order."""
    places = [tuple(c * e for c, e in zip(index, SMALL_CHUNK)) for index in product(*(range(SMALL_EDGE // e) for e in SMALL_CHUNK))]
    random = Random(4096)
    for i in range(len(places) - 1, 0, -1):
        j = random.below(i + 1)
        places[i], places[j] = places[j], places[i]
    return places[:1000]


def gather_rows(edge):
    random = Random(1024)
    return sorted(random.below(edge) for _ in range(1024))


def gather_y(edge):
    return edge // 2 + 1


def plane_x(edge):
    return edge // 3


def tiles(edge, piece):
    steps = range(0, edge, piece)
    return [(z, y, x) for z in steps for y in steps for x in steps]


@lru_cache(maxsize=None)
def expected_sum(task, array, size, chunk=0):
    """What a program has to report as its sum; None where it has nothing to sum (roundtrip, whose copy is read back)."""
    scale = SCALE[size]
    if task == "open":
        groups, arrays = GROUP[size]
        return groups * (arrays + 1) + GROUP_ARRAY_SIZE
    if task == "roundtrip":
        return None
    if task.startswith("sharding"):
        return _cube(SHARDING_EDGE // scale, 256)
    if task == "small_reads":
        dz, dy, dx = SMALL_CHUNK
        return sum(row_sum(z0 + z, y0 + y, x0, dx) for z0, y0, x0 in small_places() for z in range(dz) for y in range(dy))
    edge = EDGE[array] // scale
    if task in ("read_all", "read_into", "verify"):
        return _cube(edge, 65536)
    if task in ("read_chunks", "read_subchunks"):  # of each piece, the first and last row of each z
        piece = (INNER.get(array, CHUNK[array]) if task == "read_subchunks" else CHUNK[array]) // scale
        rows = [y for start in range(0, edge, piece) for y in sorted({start, start + piece - 1})]
        return sum(row_sum(z, y, 0, edge) for z in range(edge) for y in rows)
    if task == "plane":
        x = plane_x(edge)
        return sum((x + row_offset(z, y)) % 65536 for z in range(edge) for y in range(edge))
    if task == "gather":
        return sum(row_sum(z, gather_y(edge), 0, edge) for z in gather_rows(edge))
    if task == "slices":
        dz, dy, dx = slice_extent(edge)
        return sum(
            row_sum(z, y, x0, dx)
            for z0, y0, x0 in slice_places(edge)
            for z in range(z0, z0 + dz)
            for y in range(y0, y0 + dy)
        )
    raise ValueError(f"no task {task}")


@lru_cache(maxsize=None)
def _cube(edge, modulus):
    return sum(row_sum(z, y, 0, edge, modulus) for z in range(edge) for y in range(edge))
