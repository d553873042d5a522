"""The bench's runner: its sums are the formula's, and whoever reports another one fails the run. Plain unittest, no package needed."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import run  # noqa: E402
import tables  # noqa: E402
import workload as w  # noqa: E402


def value(z, y, x):
    return (x + y * y // 32 + z * z * z) % 65536


class Sums(unittest.TestCase):
    def test_row_sum_is_the_sum_of_the_values(self):
        for modulus in (65536, 256):
            for z, y, x, count in [(0, 0, 0, 1), (40, 7, 1500, 1024), (1023, 1023, 65535, 3), (3, 9, 0, 70000)]:
                expected = sum((x + i + w.row_offset(z, y)) % modulus for i in range(count))
                self.assertEqual(w.row_sum(z, y, x, count, modulus), expected)

    def test_every_task_on_the_tiny_arrays(self):
        edge, chunk, inner = 64, 16, 4  # of C
        every = range(edge)
        self.assertEqual(w.expected_sum("read_all", "C", "tiny"), sum(value(z, y, x) for z in every for y in every for x in every))
        for task, piece in (("read_chunks", chunk), ("read_subchunks", inner)):
            rows = [y for y in every if y % piece in (0, piece - 1)]
            expected = sum(value(z, y, x) for z in every for y in rows for x in every)
            self.assertEqual(w.expected_sum(task, "C", "tiny"), expected)
        self.assertEqual(w.expected_sum("plane", "C", "tiny"), sum(value(z, y, edge // 3) for z in every for y in every))
        expected = sum(value(z, edge // 2 + 1, x) for z in w.gather_rows(edge) for x in every)
        self.assertEqual(w.expected_sum("gather", "C", "tiny"), expected)
        dz, dy, dx = w.slice_extent(edge)
        boxes = [(z + i, y + j, x + k) for z, y, x in w.slice_places(edge) for i in range(dz) for j in range(dy) for k in range(dx)]
        self.assertEqual(w.expected_sum("slices", "C", "tiny"), sum(value(*place) for place in boxes))

    def test_small_reads(self):
        places = w.small_places()
        self.assertEqual(len(set(places)), 1000)
        chunk = [(z, y, x) for z in range(8) for y in range(16) for x in range(16)]
        self.assertEqual(2 * len(chunk), 4096)  # bytes
        expected = sum(value(z + i, y + j, x + k) for z, y, x in places for i, j, k in chunk)
        self.assertEqual(w.expected_sum("small_reads", "S", "tiny"), expected)

    def test_random_is_splitmix64(self):
        random = w.Random(0)  # the first numbers of the reference implementation
        self.assertEqual([random.below(1 << 64) for _ in range(3)], [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F])

    def test_pieces_stay_inside(self):
        for edge in (32, 64, 256, 1024):
            extent = w.slice_extent(edge)
            for place in w.slice_places(edge):
                self.assertTrue(all(0 <= p and p + e <= edge for p, e in zip(place, extent)))
            rows = w.gather_rows(edge)
            self.assertEqual(rows, sorted(rows))
            self.assertTrue(0 <= rows[0] and rows[-1] < edge)


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def program(self, name, text):
        path = self.path / name
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(0o755)

    def bench(self, reported, *options):
        self.program("bench_generate", "")
        line = {"seconds": 0.5, "sum": reported, "peak_bytes": 3_000_000, "base_bytes": 1_000_000}
        for name in ("bench_zarrive", "bench_limit"):
            self.program(name, f"print({json.dumps(json.dumps(line))})")
        command = [sys.executable, str(BENCH / "run.py"), "read_all", "--arrays", "A", "--warm", "--size", "tiny", "--pairs", "2",
                   "--peers", "none", "--programs", str(self.path), "--data", str(self.path / "data"), *options]
        return subprocess.run(command, capture_output=True, text=True)

    def test_right_sums_pass(self):
        done = self.bench(w.expected_sum("read_all", "A", "tiny"))
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads((self.path / "data/bench-tiny.json").read_text())
        row = result["rows"][0]
        self.assertEqual(row["contestants"]["zarrive"]["all_seconds"], [0.5, 0.5])
        self.assertEqual(row["limit"]["median"], 1)
        self.assertIn("| read_all | A | 0.500 |", (self.path / "data/bench-tiny.md").read_text())

    def python_bench(self, reported):
        """The Python bench, with one program in place of every contestant."""
        self.program("bench_generate", "")
        line = {"seconds": 0.5, "sum": reported, "peak_bytes": 70_000_000, "base_bytes": 50_000_000}
        versions = {"Python": "3"}
        self.program("python", f"import sys\nprint({json.dumps(json.dumps(versions))} if sys.argv[1] == '-c' else {json.dumps(json.dumps(line))})")
        command = [sys.executable, str(BENCH / "run.py"), "--suite", "python", "read_all", "small_reads", "--arrays", "A", "--size", "tiny",
                   "--pairs", "2", "--peers", "default,tensorstore", "--python", str(self.path / "python"), "--programs", str(self.path),
                   "--data", str(self.path / "data")]
        return subprocess.run(command, capture_output=True, text=True)

    def test_the_python_bench_names_both_ways_to_use_us(self):
        done = self.python_bench(w.expected_sum("read_all", "A", "tiny"))
        self.assertIn("WRONG SUM", done.stderr)  # of small_reads, whose sum is another
        rows = json.loads((self.path / "data/bench-python-tiny.json").read_text())["rows"]
        self.assertEqual(set(rows[0]["contestants"]), {"zarrive-python", "zarr+zarrive", "default", "tensorstore"})
        self.assertEqual((rows[0]["best_peer"]["median"], rows[0]["plugged_in"]["median"]), (1, 1))
        self.assertEqual(rows[1]["contestants"], {})
        beyond = (20_000_000 - 64**3 * 2) / 1e6  # the result is no overhead
        self.assertIn(f"| {beyond:.0f} | {beyond:.0f} | {beyond:.0f} |", (self.path / "data/bench-python-tiny.md").read_text())

    def test_a_wrong_sum_fails(self):
        done = self.bench(w.expected_sum("read_all", "A", "tiny") + 1)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("WRONG SUM", done.stderr)

    def test_a_program_that_fails_is_named_with_its_message(self):
        a = run.argparse.Namespace(timeout=60, suite="core")
        self.program("fails", "import sys; sys.exit('no such array')")
        with self.assertRaisesRegex(run.Failure, "no such array"):
            run.Bench.call(run.argparse.Namespace(a=a), [str(self.path / "fails")])

    def test_the_words_around_the_table_stay(self):
        page = self.path / "page.md"
        page.write_text(f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n")
        result = {"made": "2030-01-01", "revision": "r", "size": "tiny", "threads": 2, "pairs": 1, "machine": "m",
                  "versions": {"zarr": "3"}, "rows": []}
        tables.write_docs(result, page)
        text = page.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        self.assertNotIn("old", text)


if __name__ == "__main__":
    unittest.main()
