#!/usr/bin/env python3
"""Runs the tasks of the bench in turn: us, the peers, the bare loops, us, the peers, ... and says how they compare.

Times on shared machines are not stable, ratios of runs beside each other are: each pair is one run of every contestant, a row's figure is
the median over the pairs of our time divided by the other's, and the spread is the smallest and largest. Each run is a process
of its own that reports the seconds its task took inside, its peak memory, and a sum; a wrong sum, or a failure of ours, fails everything.
"""

import argparse
import datetime
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import free_memory  # noqa: E402
import tables  # noqa: E402
import workload as w  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = ("default", "fused", "zarrs", "tensorstore")
# Who is measured beside them: the C++ library, or the Python package by itself and under zarr-python.
OURS = {"core": ("zarrive",), "python": ("zarrive-python", "zarr+zarrive")}


class Row:
    """One line of the table: a task on an array, warm or cold."""

    def __init__(self, task, array="-", cold=False, concurrency=1, chunk=0, sharded=False, threads=None):
        self.task, self.array, self.cold, self.concurrency = task, array, cold, concurrency
        self.chunk, self.sharded, self.threads = chunk, sharded, threads
        self.limit = task in ("read_all", "read_into")
        self.peers = PEERS
        if task == "open":
            self.peers = ("default",)  # the pipelines have no part in it; TensorStore does not read consolidated metadata
        elif task.startswith("sharding"):
            self.peers = ("tensorstore",)

    @property
    def group(self):
        """What the command line calls it."""
        return "sharding" if self.task.startswith("sharding") else self.task

    @property
    def name(self):
        name = self.task
        if self.task in ("read_chunks", "read_subchunks"):
            name += f" x{self.concurrency}"
        if self.chunk:
            name += f" {self.chunk}^3{' in a shard' if self.sharded else ''} x{self.threads}"
        return name + (", cold" if self.cold else "")

    @property
    def key(self):
        return self.name, self.array

    def options(self, a):
        options = [self.task, self.array, "--data", str(a.data), "--size", a.size]
        options += ["--threads", str(self.threads or a.threads)]
        if self.concurrency != 1:
            options += ["--concurrency", str(self.concurrency)]
        if self.chunk:
            options += ["--chunk", str(self.chunk)] + (["--sharded"] if self.sharded else [])
        return options


def all_rows(size):
    rows = [Row(task, array) for task in ("read_all", "read_into") for array in w.ARRAYS]
    rows += [Row("read_chunks", array, concurrency=c) for array in "ABCD" for c in (1, 2)]
    rows += [Row("read_subchunks", "C")]
    rows += [Row("roundtrip", array) for array in "ABCD"]
    rows += [Row("slices", array) for array in "BCD"]
    rows += [Row(task, array) for task in ("plane", "gather") for array in "ABCD"]
    rows += [Row("open")]
    rows += [Row("read_all", array, cold=True) for array in w.ARRAYS]
    if size == "full":
        rows += [Row(task, array, cold=True) for task in ("slices", "plane") for array in "BCD"]
    # TensorStore's own benchmark. In the short runs one size is enough to keep the programs honest.
    chunks, parallel = ((16, 32, 64, 128), (1, 8, 32)) if size == "full" else ((16,), (1, 8))
    rows += [
        Row(f"sharding_{way}", chunk=chunk, sharded=sharded, threads=threads)
        for way in ("read", "write")
        for sharded in (True, False)
        for chunk in chunks
        for threads in parallel
    ]
    return rows


def python_rows():
    rows = [Row("read_all", array) for array in w.ARRAYS]
    rows += [Row("slices", array) for array in "BCD"]
    rows += [Row("gather", array) for array in "ABCD"]
    rows += [Row("small_reads", "S")]
    rows += [Row("roundtrip", array) for array in "ABCD"]
    for row in rows:
        row.limit = False
    return rows


def rows_of(suite, size):
    return python_rows() if suite == "python" else all_rows(size)


def tasks_of(suite):
    return list(dict.fromkeys(row.group for row in rows_of(suite, "full")))


def evict(folder):
    """Drops a folder's files from the page cache."""
    for path in Path(folder).rglob("*"):
        if path.is_file():
            fd = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)


class Failure(Exception):
    pass


class Bench:
    def __init__(self, a):
        self.a = a
        self.failures = []
        self.copy = a.data / "copy"

    def command(self, contestant):
        if contestant == "zarrive":
            return [str(self.a.programs / "bench_zarrive")]
        if contestant == "limit":
            return [str(self.a.programs / "bench_limit")]
        if contestant == "tensorstore":
            return [str(self.a.python), str(HERE / "peers/tensorstore_peer.py")]
        if contestant == "zarrive-python":
            return [str(self.a.python), str(HERE / "peers/zarrive_python.py")]
        if contestant == "zarr+zarrive":
            contestant = "zarrive"
        return [str(self.a.python), str(HERE / "peers/zarr_python.py"), "--pipeline", contestant]

    def call(self, command):
        # The peers are as good as their wheels; nothing is to be written beside our sources.
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        if self.a.suite == "python":
            env["PYTHONPATH"] = str(self.a.package)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.a.timeout, env=env)
        except subprocess.TimeoutExpired:
            raise Failure(f"took longer than {self.a.timeout} s") from None
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise Failure(lines[-1])
        return json.loads(done.stdout.splitlines()[-1])

    def once(self, row, contestant):
        """One run; its line with the sum checked."""
        if row.cold:
            evict(self.a.data / self.a.size / f"{row.array}.zarr")
        if self.a.leave and result_bytes(row, self.a.size) >= 256e6:
            free_memory.compact()
        command = self.command(contestant) + row.options(self.a)
        if row.task == "roundtrip":
            shutil.rmtree(self.copy, ignore_errors=True)
            command += ["--out", str(self.copy)]
        line = self.call(command)
        if row.task == "roundtrip":
            check = [str(self.a.programs / "bench_zarrive"), "verify", row.array, "--size", self.a.size]
            found = self.call(check + ["--out", str(self.copy)])["sum"]
            shutil.rmtree(self.copy, ignore_errors=True)
            expected = w.expected_sum("verify", row.array, self.a.size)
        else:
            found = line["sum"]
            expected = w.expected_sum(row.task, row.array, self.a.size)
        if found != expected:
            raise Failure(f"WRONG SUM: {found}, expected {expected}")
        return line

    def row(self, row):
        """All pairs of a row; {contestant: [line, ...]}."""
        contestants = list(OURS[self.a.suite])
        contestants += [p for p in row.peers if p in self.a.peers]
        contestants += ["limit"] if row.limit and self.a.limit else []
        runs = {c: [] for c in contestants}
        broken = set()
        # What is measured warm is read once before it counts.
        warm_up = [] if row.cold or row.array == "-" else [None]
        for pair in warm_up + list(range(self.a.pairs)):
            # Each pair has an order of its own: memory that the one before has just freed is cheaper to touch.
            order = contestants[:1] if pair is None else random.Random(f"{row.key} {pair}").sample(contestants, len(contestants))
            for contestant in order:
                if contestant in broken:
                    continue
                try:
                    line = self.once(row, contestant)
                except Failure as failure:
                    broken.add(contestant)
                    ours = contestant in (*OURS[self.a.suite], "limit")
                    fatal = ours or "WRONG SUM" in str(failure) or "wrong value" in str(failure)
                    text = f"{row.name} {row.array} {contestant}: {failure}"
                    print(f"bench: {'FAILED: ' if fatal else 'no figure: '}{text}", file=sys.stderr, flush=True)
                    if fatal:
                        self.failures.append(text)
                    continue
                if pair is not None:
                    runs[contestant].append(line)
        return {c: lines for c, lines in runs.items() if lines and c not in broken}


def result_bytes(row, size):
    """What a task gives its caller; 0 where that is small beside the array, or not kept."""
    if row.array not in w.EDGE or row.task not in ("read_all", "read_into", "gather"):
        return 0
    edge = w.EDGE[row.array] // w.SCALE[size]
    return (edge**3 if row.task != "gather" else 1024 * edge) * (4 if row.array == "G" else 2)


def summary(row, runs, suite, size):
    """A row of the table from its runs."""
    out = {"task": row.task, "name": row.name, "array": row.array, "cold": row.cold, "contestants": {}}
    out["result_bytes"] = result_bytes(row, size)
    us = OURS[suite][0]
    for contestant, lines in runs.items():
        times = [line["seconds"] for line in lines]
        out["contestants"][contestant] = {
            "seconds": statistics.median(times),
            "all_seconds": times,
            "peak_bytes": max(line["peak_bytes"] for line in lines),
            "base_bytes": statistics.median(line["base_bytes"] for line in lines),
        }
    if us not in runs:
        return out

    def ratio(other, one=us):
        ratios = [ours["seconds"] / theirs["seconds"] for ours, theirs in zip(runs[one], runs[other])]
        return {"with": other, "median": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}

    peers = [c for c in runs if c in PEERS]
    if peers:
        best = min(peers, key=lambda c: out["contestants"][c]["seconds"])
        out["best_peer"] = ratio(best)
        if "zarr+zarrive" in runs:
            out["plugged_in"] = ratio(best, "zarr+zarrive")
    if "limit" in runs:
        out["limit"] = ratio("limit")
    return out


def in_order(kept, done, rows):
    """Rows of this run, and of the file those that it has not; in the order of a whole run."""
    found = {(old["name"], old["array"]): old for old in kept} | done
    order = {row.key: place for place, row in enumerate(rows)}
    return [found[key] for key in sorted(found, key=lambda key: order.get(key, len(order)))]


def versions(python):
    if python is None:
        return {}
    code = (
        "import json, platform; from importlib.metadata import version as v;"
        "print(json.dumps({'Python': platform.python_version(), **{n: v(n) for n in ('zarr', 'zarrs', 'tensorstore', 'numcodecs', 'numpy')}}))"
    )
    return json.loads(subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout)


def machine():
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{len(os.sched_getaffinity(0))} x {model}, {memory / 2**30:.0f} GiB, Linux {platform.release()}"


def revision():
    try:
        git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="of {}; all when none is named. With --suite python: {}".format(*(", ".join(tasks_of(suite)) for suite in OURS)))
    parser.add_argument("--suite", choices=OURS, default="core", help="the C++ library (core), or the Python package")
    parser.add_argument("--arrays", default=w.ARRAYS, help="only these, e.g. ABC")
    parser.add_argument("--small", action="store_true", help="1/64 of the data, one pair: under five minutes")
    parser.add_argument("--size", choices=w.SCALE, help=argparse.SUPPRESS)
    parser.add_argument("--pairs", type=int, help="5 by default")
    parser.add_argument("--warm", action="store_true", help="no cold rows")
    parser.add_argument("--cold", action="store_true", help="only cold rows")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="for each contestant")
    parser.add_argument("--leave", type=float, metavar="GB", help="hold the machine's free memory but for this much (free_memory.py says why); 4 is enough for all tasks")
    parser.add_argument("--peers", default="all", help=f"of {','.join(PEERS)}; all, or none")
    parser.add_argument("--no-limit", dest="limit", action="store_false", help="without the bare loops")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--data", type=Path, default=os.environ.get("ZARRIVE_BENCH_DATA") or ROOT / "build-bench/data")
    parser.add_argument("--python", type=Path, default=ROOT / ".venv-bench/bin/python", help="that has the peers")
    parser.add_argument("--package", type=Path, default=ROOT / "build/python", help="where the Python package is, for --suite python")
    parser.add_argument("--skip-without-peers", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--timeout", type=int, default=900, help="seconds for one run")
    parser.add_argument("--json", type=Path, help="where the figures go; default: bench.json beside the data")
    parser.add_argument("--keep", action="store_true", help="rows in that file that are not run now stay, and say of which revision they are")
    parser.add_argument("--write-docs", action="store_true", help="docs/benchmarks.md and docs/benchmarks.svg, from these figures")
    a = parser.parse_args()
    for task in a.tasks:
        if task not in tasks_of(a.suite):
            parser.error(f"no task {task}; there are {', '.join(tasks_of(a.suite))}")
    a.size = a.size or ("small" if a.small else "full")
    a.pairs = a.pairs or (1 if a.size == "small" else 5)
    a.peers = PEERS if a.peers == "all" else () if a.peers == "none" else tuple(a.peers.split(","))
    if (a.peers or a.suite == "python") and not a.python.exists():
        if a.skip_without_peers:
            print("NOT RUN: no environment with the peers (./dev bench makes one)")
            sys.exit(77)
        parser.error(f"{a.python} is not there; ./dev bench makes it (or --peers none)")
    return a


def main():
    a = parse()
    rows = [
        row
        for row in rows_of(a.suite, a.size)
        if (not a.tasks or row.group in a.tasks)
        and (row.array in "-S" or row.array in a.arrays)
        and not (row.cold and a.warm)
        and not (not row.cold and a.cold)
    ]
    a.data.mkdir(parents=True, exist_ok=True)
    needed = sorted({row.array for row in rows if row.array in w.EDGE})
    needed += ["group"] if any(row.task == "open" for row in rows) else []
    if needed and subprocess.run([str(a.programs / "bench_generate"), str(a.data), a.size, *needed]).returncode:
        sys.exit("bench: the data could not be made")
    if any(row.array == "S" for row in rows):
        subprocess.run([str(a.python), str(HERE / "peers/make_small.py"), str(a.data / a.size / "S.zarr")], check=True)

    bench = Bench(a)
    held = free_memory.hold_all_but(int(a.leave * 1e9)) if a.leave else []  # noqa: F841, until the end
    result = {
        "made": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "revision": revision(),
        "machine": machine(),
        "suite": a.suite,
        "size": a.size,
        "threads": a.threads,
        "pairs": a.pairs,
        "versions": versions(a.python if a.peers or a.suite == "python" else None),
        "rows": [],
    }
    out = a.json or a.data / f"bench-{'python-' if a.suite == 'python' else ''}{a.size}.json"
    kept = json.loads(out.read_text()) if a.keep and out.exists() else {"rows": []}
    for old in kept["rows"]:
        old.setdefault("revision", kept["revision"])
        old.setdefault("pairs", kept["pairs"])
    done = {}
    print(tables.header(a.suite), flush=True)
    for row in rows:
        line = done[row.key] = summary(row, bench.row(row), a.suite, a.size) | {"revision": result["revision"], "pairs": a.pairs}
        print(tables.line(line, a.suite), flush=True)
        result["rows"] = in_order(kept["rows"], done, rows_of(a.suite, a.size))
        out.write_text(json.dumps(result, indent=1) + "\n")
    out.with_suffix(".md").write_text(tables.markdown(result))
    print(f"bench: {out} and {out.with_suffix('.md').name}", file=sys.stderr)
    if a.write_docs:
        tables.write_docs(result, ROOT / "docs/benchmarks.md")
    if a.write_docs and a.suite == "core":
        subprocess.run([str(a.python), str(HERE / "plot.py"), str(out), str(ROOT / "docs/benchmarks.svg")], check=True)
    if bench.failures:
        sys.exit("bench: FAILED\n" + "\n".join(bench.failures))


if __name__ == "__main__":
    main()
