"""The package as a whole: what importing it costs, what it says of itself, and the examples in its docstrings."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import zarrive
import zarrive._core

PACKAGE = Path(zarrive.__file__).parent
PLUGINS = ("zarr", "zarr2", "xarray")  # need what they plug into; their own tests try their examples


def test_import_brings_in_numpy_and_nothing_else():
    code = "import sys, numpy; before = set(sys.modules); import zarrive; print(*sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.split(".")[0] for name in run.stdout.split()} - {"zarrive"}
    foreign = {name for name in imported if name not in sys.stdlib_module_names}
    assert not foreign
    assert not imported & {"asyncio", "concurrent", "multiprocessing", "ssl", "socket", "unittest", "doctest", "http", "urllib"}


def test_the_plugins_are_imported_only_when_asked_for():
    code = "import sys, zarrive; print(*sorted(name for name in sys.modules if name.startswith('zarrive.')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {f"zarrive.{name}" for name in PLUGINS} & set(run.stdout.split())


def test_version_is_that_of_the_core():
    header = Path(__file__).parents[2] / "include/zarrive/version.hpp"
    numbers = re.findall(r"^#define ZARRIVE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header.read_text(), re.MULTILINE)
    assert zarrive.__version__ == ".".join(numbers)
    assert importlib.metadata.version("zarrive") == zarrive.__version__


@pytest.mark.parametrize(
    ("group", "value"),
    [("zarr.codec_pipeline", "zarrive.zarr:CodecPipeline"), ("xarray.backends", "zarrive.xarray:ZarriveBackendEntrypoint")],
)
def test_plugins_are_found_by_their_entry_points(group, value):
    (entry,) = entry_points(group=group, name="zarrive")
    assert entry.value == value
    assert isinstance(entry.load(), type)


def test_type_checkers_find_stubs_of_all_of_the_core():
    assert (PACKAGE / "py.typed").exists()
    stubs = (PACKAGE / "_core.pyi").read_text()
    compile(stubs, "_core.pyi", "exec")
    for name, value in vars(zarrive._core).items():
        if not name.startswith("_"):
            kind = "class" if isinstance(value, type) else "def"
            if kind == "class" or callable(value):
                assert re.search(rf"^{kind} {name}\b", stubs, re.MULTILINE), name


def test_the_extension_exports_its_entry_alone():
    run = subprocess.run(["nm", "-D", "--defined-only", zarrive._core.__file__], capture_output=True, text=True, check=True)
    strong = {line.split()[-1] for line in run.stdout.splitlines() if line.split()[-2] not in "VWuv"}
    assert strong - {"_init", "_fini"} == {"PyInit__core"}


def modules():
    for module in pkgutil.walk_packages(zarrive.__path__, "zarrive."):
        if module.name.split(".")[1] not in (*PLUGINS, "_core"):
            yield module.name


@pytest.mark.parametrize("name", ["zarrive", *modules()])
def test_examples_in_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where an example may leave files
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples_in_docstrings():
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = ["zarrive", *modules()]
    assert sum(len(test.examples) for name in names for test in finder.find(importlib.import_module(name))) >= 10
