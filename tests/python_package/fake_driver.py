"""Programs on the C++ tests' CUDA driver, whose device memory the host cannot touch and whose streams do nothing until somebody waits for
them. Each runs in a process of its own, for a driver is looked for once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from zarrive import _core

HERE = Path(__file__).parent


def environment(**changes: str) -> dict[str, str]:
    """That of this process with the driver; skips the test where it is not built. `changes` may replace what it sets."""
    build = os.environ.get("ZARRIVE_BUILD", Path(_core.__file__).parents[2])
    fakes = Path(build).absolute() / "tests" / "fakes"
    if not (fakes / "libcuda.so.1").exists():
        pytest.skip("the tests' CUDA driver is built with the C++ tests")
    return {
        **os.environ,
        "ZARRIVE_LIBCUDA": str(fakes / "libcuda.so.1"),
        "ZARRIVE_GPU_KERNELS": str(fakes / "libcuda.so.1"),
        "ZARRIVE_LIBCUFILE": str(fakes / "libcufile.so.0"),
        "ZARRIVE_LIBNVCOMP": str(fakes / "libnvcomp.so.5"),
        **changes,
    }


def run(program: str, environment: dict[str, str]) -> str:
    """What the program prints. Modules beside the tests can be imported."""
    text = f"import sys; sys.path.insert(0, {str(HERE)!r})\n" + program
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
