"""What zarr-python 3 needs of CuPy beyond the stand-in that zarr-python 2's suite has."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "suites" / "zarr2"))
import cupy_double  # noqa: E402


def install() -> types.ModuleType:
    """As the module `cupy`."""
    cupy_double.install()
    module = sys.modules["cupy"]
    up, down = cupy_double.asarray, cupy_double.asnumpy
    module.asanyarray = up
    module.frombuffer = lambda data, dtype=float: up(np.frombuffer(data, dtype))
    module.empty = lambda shape, dtype=float, order="C": up(np.empty(shape, dtype, order), order=order)
    module.concatenate = lambda arrays: up(np.concatenate([down(array) for array in arrays]))
    module.cuda = types.SimpleNamespace(Device=lambda: types.SimpleNamespace(id=0))
    return module
