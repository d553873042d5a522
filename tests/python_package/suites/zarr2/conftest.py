"""What the suites share: stores to run on, and CuPy, or its double when there is no GPU but a driver that
does as if."""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))

if "ZARRIVE_LIBCUDA" in os.environ:
    import cupy_double

    cupy_double.install()

from zarr.tests.test_storage import dimension_separator_fixture  # noqa: E402, F401
from zarr.tests.test_storage_v3 import dimension_separator_fixture_v3  # noqa: E402, F401

from zarrive.zarr2 import Store  # noqa: E402

KINDS = ["memory", "filesystem", "zip"]
_numbers = itertools.count()
_folder: Path | None = None


@pytest.fixture(scope="session", autouse=True)
def _make_folder(tmp_path_factory):
    global _folder
    _folder = tmp_path_factory.mktemp("stores")
    yield


def make_store(kind: str, make=Store, **options):
    """A new store of a kind; it goes with the session."""
    if kind == "memory":
        return make(**options)
    suffix = ".zip" if kind == "zip" else ".zarr"
    return make(_folder / f"{next(_numbers)}{suffix}", **options)
