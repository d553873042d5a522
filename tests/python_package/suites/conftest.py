"""Others' suites have environments of their own: their `run` starts them, not the tests of the package."""

collect_ignore = ["zarr2"]
