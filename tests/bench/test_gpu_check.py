"""./dev gpu-check with programs that pretend: what it makes of their answers. Plain unittest, no package needed."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import gpu_table  # noqa: E402

LIBRARY = {"path": "libcuda.so.1", "version": "13.0", "reason": ""}
DEVICE = {"name": "GPU of a test", "compute_capability": "9.0", "multiprocessors": 1, "memory_bytes": 2**34}
SPEED = {"seconds": 1.0, "all_seconds": [1.0], "gbs": 5.0}
ARRAY = {
    "kind": "array", "name": "A", "decoded_bytes": 5_000_000, "stored_bytes": 5_000_000, "device": SPEED, "stream": SPEED, "host": SPEED,
    "ways": {"direct": 0, "as stored": 4, "decoded on the device": 0, "decoded on the host": 1, "filled": 0},
    "ceiling": {"seconds": 0.5, "gbs": 10.0, "of": "copy"},
}  # fmt: skip
DECODED = {"device_decodes": {**SPEED, "gbs": 7.25}, "host_decodes": {**SPEED, "gbs": 123.4}}
CHUNKS = {**ARRAY, **DECODED, "kind": "chunks", "name": "zstd", "chunk_bytes": 65536}
ROWS = [
    {"kind": "copy", "name": "host to device", "bytes": 1 << 20, "speed": SPEED},
    {"kind": "read", "name": "page cache to pinned memory", "threads": 2, "speed": SPEED},
    ARRAY,
    CHUNKS,
]


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)
        self.program("bench_generate", "")
        self.program("test_gpu_real", "print('[  PASSED  ] 7 tests.')")
        self.bench_gpu()

    def program(self, name, text):
        path = self.path / name
        path.write_text(f"#!{sys.executable}\n{text}\n")
        path.chmod(0o755)

    def bench_gpu(self, driver=LIBRARY, devices=(DEVICE,), rows=ROWS, status=0):
        parts = {"cufile": {**LIBRARY, "reason": "no libcufile here"}, "nvcomp": {**LIBRARY, "version": "5.3"}, "kernels": {**LIBRARY, "version": ""}}
        info = json.dumps({"driver": driver, "devices": list(devices), **parts})
        lines = "\n".join(map(json.dumps, rows))
        self.program("bench_gpu", f"import sys\nprint({info!r} if sys.argv[1] == 'info' else {lines!r})\nsys.exit(sys.argv[1] == 'run' and {status})")

    def check(self, *options, status):
        command = [sys.executable, str(BENCH / "gpu_check.py"), "--quick", "--programs", str(self.path), "--data", str(self.path / "data")]
        done = subprocess.run([*command, *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_figures_come_as_a_table_and_as_json(self):
        text = self.check("--json", str(self.path / "out/figures.json"), "--seed", "5", status=0)
        self.assertRegex(text, r"GPU of a test \(16 GiB, compute capability 9.0\), driver for CUDA 13.0, cuFile none, nvCOMP 5.3, own kernels found")
        self.assertIn("no cufile: no libcufile here", text)
        self.assertRegex(text, r"host to device, GB/s +1 MiB 5")
        self.assertRegex(text, r"array A +5.0 +5 +5 +- +- +10 \(copy\) +50% +5 +as stored 80%, decoded on the host 20%")
        self.assertRegex(text, r"zstd, chunks of 64 KiB +5.0 +5 +5 +7.25 +123 +10")
        self.assertIn("7 passed, ZARRIVE_GPU_SEED=5", text)
        result = json.loads((self.path / "out/figures.json").read_text())
        self.assertEqual(result["rows"], ROWS)
        self.assertTrue(result["good"])
        self.assertFalse(result["fake"])

    def test_no_gpu_does_not_look_like_success(self):
        self.bench_gpu(driver={"path": "", "version": "", "reason": "no CUDA driver: switched off"}, devices=())
        self.assertIn("NOTHING WAS CHECKED: no GPU here: no CUDA driver: switched off", self.check(status=77))

    def test_failures_fail(self):
        self.program("test_gpu_real", "print('a test that failed'); raise SystemExit(1)")
        self.assertIn("a test that failed", self.check(status=1))
        self.program("test_gpu_real", "print('[  PASSED  ] 0 tests.')")
        self.check(status=1)

    def test_wrong_values_fail(self):
        self.bench_gpu(rows=[*ROWS, {"kind": "array", "name": "B", "error": "wrong value at (0, 0, 0)"}], status=1)
        text = self.check(status=1)
        self.assertIn("wrong value at (0, 0, 0)", text)
        self.assertIn("FAILED: array B", text)
        self.bench_gpu(status=1)
        self.check(status=1)

    def test_what_is_no_claim_stays_out_of_the_docs(self):
        self.assertIn("only the full size on a real GPU", self.check("--write-docs", status=1))
        self.bench_gpu(devices=[{**DEVICE, "name": "Fake device 0"}])
        self.assertIn("only the full size on a real GPU", self.check("--write-docs", "--size", "full", status=1))
        self.assertIn("the figures below mean nothing", self.check(status=0))

    def test_the_table_of_the_docs(self):
        page = self.path / "page.md"
        page.write_text(f"before\n{gpu_table.BEGIN}\n\nNot yet run on a GPU.\n\n{gpu_table.END}\nafter\n")
        result = {"made": "2030-01-01", "revision": "r", "size": "full", "threads": 2, "runs": 5, "machine": "m",
                  "gpu": {"driver": LIBRARY, "devices": [DEVICE], "cufile": {**LIBRARY, "version": "1.15"}}, "rows": ROWS}  # fmt: skip
        gpu_table.write_docs(result, page)
        text = page.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        self.assertNotIn("Not yet run", text)
        self.assertIn("2030-01-01, revision r", text)
        self.assertIn("GPU of a test (16 GiB, compute capability 9.0), driver for CUDA 13.0, cuFile 1.15", text)
        self.assertIn("| array A | 5.0 | 5 | 5 | - | - | 10 (copy) | 50% | 5 | as stored 80%, decoded on the host 20% |", text)

    def test_the_docs_have_the_marks(self):
        text = (BENCH.parent / "docs/benchmarks.md").read_text()
        self.assertEqual((text.count(gpu_table.BEGIN), text.count(gpu_table.END)), (1, 1))


if __name__ == "__main__":
    unittest.main()
