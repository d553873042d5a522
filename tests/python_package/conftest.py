"""What the tests of the package share."""

from collections.abc import Iterator

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # zarr-python's suites for stores are classes of coroutines and async fixtures without marks.
    if hasattr(config.option, "asyncio_mode"):
        config.option.asyncio_mode = "auto"


@pytest.fixture(params=[False, True], ids=["loop", "direct"])
def native_pipeline(request: pytest.FixtureRequest) -> Iterator[None]:
    """zarr-python 3 with our pipeline, which may leave nothing to Python's, and counters at zero."""
    import zarrive.zarr

    zarrive.zarr.enable(strict=True, direct=request.param)
    zarrive.zarr.reset_counters()
    yield
    zarrive.zarr.disable()
