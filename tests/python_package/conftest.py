"""What the tests of the package share."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # zarr-python's suites for stores are classes of coroutines and async fixtures without marks.
    if hasattr(config.option, "asyncio_mode"):
        config.option.asyncio_mode = "auto"
