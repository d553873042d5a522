#!/usr/bin/env python3
"""coverage_gate.py SUMMARY MIN [FILE...]: exits 1 when line coverage is below MIN per cent over all, or any line of FILE is uncovered.

SUMMARY is what gcovr --json-summary writes.
"""

import json
import sys


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        summary = json.load(file)
    minimum, full = float(sys.argv[2]), sys.argv[3:]
    files = {entry["filename"]: entry for entry in summary["files"]}
    failed = False

    total, covered = summary["line_total"], summary["line_covered"]
    print(f"line coverage: {100 * covered / max(total, 1):.2f} % ({covered} of {total} lines)")
    if total == 0 or 100 * covered < minimum * total:
        print(f"FAILED: that is below {minimum} %")
        failed = True

    parts: dict[str, list[int]] = {}
    for name, entry in files.items():
        part = parts.setdefault(name.rsplit("/", 1)[0], [0, 0])
        part[0] += entry["line_covered"]
        part[1] += entry["line_total"]
    for name, (hit, lines) in sorted(parts.items()):
        print(f"  {name}: {100 * hit / max(lines, 1):.1f} % of {lines}")

    for name in full:
        entry = files.get(name)
        if entry is None:
            print(f"FAILED: {name} was to be covered in full, but is not in the summary")
        elif entry["line_covered"] < entry["line_total"]:
            print(f"FAILED: {name} was to be covered in full; {entry['line_total'] - entry['line_covered']} lines are not")
        else:
            continue
        failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
