"""zarr-python's tests of indexing. They make arrays without naming a store: here these come to lie in
ours."""

import pytest
import zarr.storage
from conftest import KINDS, make_store
from zarr.tests.test_indexing import *  # noqa: F403


@pytest.fixture(autouse=True, params=KINDS)
def _no_store_is_ours(request, monkeypatch):
    if request.param == "filesystem" and request.node.originalname == "test_set_orthogonal_selection_3d":
        pytest.skip("it writes files for minutes; in memory and in a zip archive it runs")
    normalize = zarr.storage._normalize_store_arg_v2
    monkeypatch.setattr(
        zarr.storage,
        "_normalize_store_arg_v2",
        lambda store, *options, **named: normalize(
            make_store(request.param) if store is None else store, *options, **named
        ),
    )
