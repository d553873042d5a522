#!/usr/bin/env python3
"""./dev gpu-check: the tests for a real GPU, then the bench on it, as a table and a JSON file.

Exit status: 0 when all tests passed and every value that was measured is right, 1 when not, 77 when this machine has no GPU that can be used: nothing
was checked then, and the reason is printed.
"""

import argparse
import datetime
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gpu_table  # noqa: E402
import run  # noqa: E402
import workload as w  # noqa: E402

ROOT = run.ROOT
NO_GPU = 77


def say(text):
    print(text, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tiny arrays, one run: seconds; its figures mean nothing")
    parser.add_argument("--size", choices=w.SCALE, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help="where the figures go; default: gpu-<size>.json beside the data")
    parser.add_argument("--write-docs", action="store_true", help="puts the table into docs/benchmarks.md")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of the tests' random arrays")
    parser.add_argument("--device", type=int, default=0, help="which one is measured; the tests use all")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--programs", type=Path, default=ROOT / "build/bin", help="built already, here or elsewhere: nothing is built then")
    parser.add_argument("--data", type=Path, default=os.environ.get("ZARRIVE_BENCH_DATA") or ROOT / "build-bench/data")
    a = parser.parse_args()
    a.size = a.size or ("tiny" if a.quick else "full")
    a.runs = 1 if a.quick else 5
    return a


def gpus(a):
    """What bench_gpu finds; None, and the reason is printed, when there is no GPU."""
    done = subprocess.run([str(a.programs / "bench_gpu"), "info"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"gpu-check: {done.stderr.strip() or done.returncode}")
    info = json.loads(done.stdout)
    if info["devices"]:
        return info
    say(f"gpu-check: NOTHING WAS CHECKED: no GPU here: {info['driver']['reason'] or 'the driver sees no device'}")
    return None


def tests(a):
    """Runs them, and says how it went; what goes into the JSON file."""
    temporary = a.data / "tmp"  # on a disk, as the data are: cuFile does not read from tmpfs
    temporary.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "TMPDIR": str(temporary), "ZARRIVE_GPU_SEED": str(a.seed)}
    env["ZARRIVE_GPU_CASES"] = "20" if a.quick else "1000"
    env["ZARRIVE_GPU_EDGE"] = "1" if a.quick else "3"
    done = subprocess.run([str(a.programs / "test_gpu_real"), "--gtest_brief=1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    passed = re.search(r"\[  PASSED  \] (\d+) tests?", done.stdout)
    count = int(passed[1]) if passed else 0
    good = done.returncode == 0 and count > 0
    if not good:
        say(done.stdout)
    say(f"tests: {count} passed{'' if good else ', THE OTHERS FAILED'}, ZARRIVE_GPU_SEED={a.seed}")
    return {"good": good, "passed": count, "seed": a.seed, "cases": int(env["ZARRIVE_GPU_CASES"])}


def bench(a, result, out):
    """Adds the rows to the result as they come, and prints them. True when none failed."""
    if subprocess.run([str(a.programs / "bench_generate"), str(a.data), a.size, *w.ARRAYS]).returncode:
        say("gpu-check: the data could not be made")
        return False
    command = [str(a.programs / "bench_gpu"), "run", "--data", str(a.data), "--size", a.size, "--device", str(a.device)]
    command += ["--runs", str(a.runs), "--threads", str(a.threads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        for text in program.stdout:
            row = json.loads(text)
            result["rows"].append(row)
            if row["kind"] in ("array", "chunks"):
                if not any(other["kind"] in ("array", "chunks") for other in result["rows"][:-1]):
                    say("\n".join(gpu_table.ceilings_text(result["rows"])) + "\n\n" + gpu_table.header())
                say(gpu_table.line(row))
            out.write_text(json.dumps(result, indent=1) + "\n")
    bad = [gpu_table.name(row) for row in result["rows"] if "error" in row]
    if bad:
        say("gpu-check: FAILED: " + ", ".join(bad))
    elif program.returncode:
        say(f"gpu-check: FAILED: bench_gpu ended with status {program.returncode}")
    return not bad and program.returncode == 0


def main():
    a = parse()
    info = gpus(a)
    if info is None:
        return NO_GPU
    if a.device not in range(len(info["devices"])):
        sys.exit(f"gpu-check: no device {a.device}; there are {len(info['devices'])}")
    info["devices"].insert(0, info["devices"].pop(a.device))  # the one that is measured
    fake = info["devices"][0]["name"].startswith("Fake device")
    if a.write_docs and (fake or a.size != "full"):
        sys.exit("gpu-check: only the full size on a real GPU goes into the docs")
    result = {
        "made": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "revision": run.revision(),
        "machine": run.machine(),
        "gpu": info,
        "fake": fake,
        "size": a.size,
        "threads": a.threads,
        "runs": a.runs,
        "rows": [],
    }
    say(f"{gpu_table.machine(result)}. Devices: {len(info['devices'])}")
    for what in ("cufile", "nvcomp", "kernels"):
        if info[what]["reason"]:
            say(f"no {what}: {info[what]['reason']}")
    if fake:
        say("This is the driver of the tests and no GPU: the figures below mean nothing, the values are checked.")
    elif a.size != "full":
        say("The arrays are small: the figures below mean nothing, the values are checked.")
    out = a.json or a.data / f"gpu-{a.size}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    result["tests"] = tests(a)
    good = bench(a, result, out) and result["tests"]["good"]
    result["good"] = good
    out.write_text(json.dumps(result, indent=1) + "\n")
    if good and a.write_docs:
        gpu_table.write_docs(result, ROOT / "docs/benchmarks.md")
    say(f"gpu-check: {'all is well' if good else 'FAILED'}; {out}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
